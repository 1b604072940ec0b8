"""Text from outside as a screen may show it: one line, without what steers a terminal or turns the writing."""

import re

__all__ = ["block", "plain"]

ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[@-_]")
# control characters, line separators, half characters, and what changes the direction of writing
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
LABEL = 200


def plain(text: str, limit: int = LABEL) -> str:
    """The text as one line of at most `limit` characters, without terminal sequences and control characters."""
    folded = " ".join(ANSI.sub("", text[: 20 * limit]).split())
    shown = UNSAFE.sub("", folded)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def block(text: str) -> str:
    """Text of several lines, as it is but for terminal sequences and control characters."""
    return "\n".join(UNSAFE.sub("", ANSI.sub("", line).expandtabs()) for line in text.split("\n"))
