"""The paths of a prompt, as a person reads them: a step below `From …:` goes on from what stands there."""

import re

__all__ = ["chains", "whole_paths"]

LINE = re.compile(r"(?m)^(?:From (?:path (\d+)|(.*)):|(\d+)\. (.*(?:[→←] |: ).*))$")
STEP = re.compile(r"(← )?(.*?): (.*)")


def whole_paths(prompt: str) -> dict[int, str]:
    """The text of each numbered path, from its topic."""
    texts: dict[int, str] = {}
    stem = ""
    for beyond, written, number, text in LINE.findall(prompt):
        if number:
            texts[int(number)] = _whole(stem, text)
        else:
            stem = texts[int(beyond)] if beyond else written
    return texts


def _whole(stem: str, text: str) -> str:
    """The path of a line below that stem: of a step, or of a path that is written as a whole."""
    step = STEP.fullmatch(text)
    if not step or "→" in text or "←" in text[1:]:
        return text
    arrow = "←" if step[1] else "→"
    return f"{stem} {arrow} {step[2]} {arrow} {step[3]}"


def chains(prompt: str) -> dict[int, list[str]]:
    """The relations of each numbered path."""
    return {number: re.split(" [→←] ", text)[1::2] for number, text in whole_paths(prompt).items()}
