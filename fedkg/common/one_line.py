"""Text from outside as one safe line: folded, bounded, without what could break out of its place in a prompt."""

import re
import unicodedata

__all__ = ["Line", "line"]
# format and control characters, lone surrogates; line separators count as white space and become blanks
DROPPED = {"Cc", "Cf", "Cs"}
# drawn as nothing although Unicode files them under letters and marks: they can carry hidden text
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# the delimiters of our own prompts, replaced by characters that look alike
DELIMITERS = {"<": "‹", ">": "›", "`": "'"}
TILDES = re.compile(r"~{3,}")


class Line(str):
    """Text that has passed `line`: one bounded line."""

    __slots__ = ()


def line(text: object, limit: int = 200) -> Line:
    """`text` as one line of at most `limit` characters, with an ellipsis where it was cut.

    White space is folded; control, direction-changing and invisible characters are removed; angle brackets, backticks
    and tilde fences, which delimit data in our prompts, are replaced by look-alikes.
    """
    raw = str(text)
    head = raw[: 20 * limit]  # a label of a megabyte is not worth reading to its end
    seen = head if head.isprintable() else "".join(filter(_drawn, head))
    plain = TILDES.sub("~~", " ".join(INVISIBLE.sub("", seen).split()))
    for delimiter, alike in DELIMITERS.items():  # several times as fast as one translation
        plain = plain.replace(delimiter, alike)
    if len(plain) <= limit and len(head) == len(raw):
        return Line(plain)
    return Line(plain[: max(0, limit - 1)].rstrip() + "…")


def _drawn(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) not in DROPPED
