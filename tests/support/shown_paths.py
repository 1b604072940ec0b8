"""The paths of a prompt, as a person reads them: a step below `From …:` goes on from what stands there."""

import re

__all__ = ["chains", "whole_paths"]

LINE = re.compile(r"(?m)^(?:From (?:path (\d+)|(.*)):|(\d+)\. (.*[→←] .*))$")


def whole_paths(prompt: str) -> dict[int, str]:
    """The text of each numbered path, from its topic."""
    texts: dict[int, str] = {}
    stem = ""
    for beyond, written, number, text in LINE.findall(prompt):
        if number:
            texts[int(number)] = f"{stem} {text}" if text[0] in "→←" else text
        else:
            stem = texts[int(beyond)] if beyond else written
    return texts


def chains(prompt: str) -> dict[int, list[str]]:
    """The relations of each numbered path."""
    return {number: re.split(" [→←] ", text)[1::2] for number, text in whole_paths(prompt).items()}
