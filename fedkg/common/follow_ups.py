"""English words of conversations: openings, pronouns, and what a graph calls people; the lists are a data file."""

import tomllib
from functools import lru_cache
from importlib.resources import files

import msgspec

__all__ = ["FollowUpWords", "follow_up_words"]


class FollowUpWords(msgspec.Struct, frozen=True):
    """The word lists, in small letters.

    `openings` are phrases, longer ones first. `pronouns` maps each form to he, she, it or they; `possessive` are those
    that stand before what somebody has, but not before `not_before`; `pointing` are none where a noun follows.
    """

    openings: tuple[tuple[str, ...], ...]
    asking: frozenset[str]
    pronouns: dict[str, str]
    possessive: frozenset[str]
    not_before: frozenset[str]
    pointing: frozenset[str]
    people: frozenset[str]


@lru_cache(maxsize=1)
def follow_up_words() -> FollowUpWords:
    """The lists of `follow_ups.toml`."""
    file = tomllib.loads(files("fedkg.common").joinpath("follow_ups.toml").read_text(encoding="utf-8"))
    return FollowUpWords(
        tuple(tuple(opening.split()) for opening in file["openings"]),
        frozenset(file["asking"].split()),
        {form: name for name, forms in file["pronouns"].items() for form in forms.split()},
        frozenset(file["possessive"]["words"].split()),
        frozenset(file["possessive"]["not_before"].split()),
        frozenset(file["pointing"].split()),
        frozenset(file["people"]["types"].split()),
    )
