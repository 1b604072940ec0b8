"""Whether a question may ask for something to be computed over sets, by its words: the list is a data file."""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

import msgspec

__all__ = ["may_compute", "may_name"]


class CueWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The phrases, those of names, the ending of superlatives, and the words that end so by chance."""

    phrases: tuple[str, ...]
    names: tuple[str, ...]
    superlative: str
    no_superlative: str


@lru_cache(1)
def _words() -> CueWords:
    data = tomllib.loads((files("fedkg.common") / "operator_cues.toml").read_text(encoding="utf-8"))
    return msgspec.convert(data, CueWords)


@lru_cache(1)
def _of_names() -> re.Pattern[str]:
    """What matches a cue of names."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, _words().names))})\b", re.IGNORECASE)


@lru_cache(1)
def _cues() -> re.Pattern[str]:
    """What matches a cue."""
    words = _words()
    phrases = "|".join(map(re.escape, (*words.phrases, *words.names)))
    others = "|".join(words.no_superlative.split())
    return re.compile(rf"\b(?:{phrases}|(?!(?:{others})\b)[a-z]{{3,}}{words.superlative})\b|n['’]t\b", re.IGNORECASE)


@lru_cache(1_000)
def may_compute(question: str) -> bool:
    """Whether the question has a word of an operator; any question in a script other than Latin may have one."""
    letters = [letter for letter in question if letter.isalpha()]
    foreign = sum(ord(letter) > 0x24F for letter in letters)
    return bool(_cues().search(question)) or 2 * foreign > len(letters)


def may_name(question: str) -> bool:
    """Whether the question has a condition on names: "in the title", "starts with"."""
    return bool(_of_names().search(question))
