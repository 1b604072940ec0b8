"""Reads what models write: one JSON object, numbers that were offered, verdicts that are yes or no.

Nothing in a reply is believed. What does not fit is dropped, and where nothing remains of what was listed the reply is
refused with a ModelReplyError, whose text the model is shown.
"""

import contextlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from fedkg.common.one_line import line
from fedkg.core.choice import Choice, PromptCandidate
from fedkg.errors import ModelReplyError

__all__ = [
    "YES_NO",
    "Cited",
    "Flag",
    "JudgedPath",
    "Numbered",
    "Share",
    "Whole",
    "checked",
    "chosen",
    "clause",
    "entries",
    "extract",
    "fit",
    "flag",
    "mean_ends",
    "numbers",
    "option",
    "picks",
    "renamed",
    "texts",
    "verdict",
]

REPLY = 200_000
"""Characters beyond which no reply is sensible."""
PASSED = 1_000
"""Characters that were read before they are cut off: an error of json counts the lines of all that precedes it."""
THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
# half a pair of surrogates is no text: msgspec cannot compare it
UNFIT = (msgspec.ValidationError, UnicodeEncodeError)
YES_NO = ("yesno", "claim")
"""Kinds of question whose answer is yes or no."""
WORDS = {"yes": True, "true": True, "no": False, "false": False}
NOTHING = {"", "none", "no", "n/a", "null", "nothing"}
"""What models write where there is no text."""

T = TypeVar("T")


class Whole(int):
    """A number in a reply: an integer, also written 2.0 or "2"."""


class Flag(int):
    """A verdict in a reply: a boolean, also written "yes", "No" or "true"."""


class Share(float):
    """A score or weight in a reply: a number from 0 to 1, also written "0.8"."""


class Numbered(msgspec.Struct):
    """An entry of a reply, by the number of what was offered."""

    number: Whole


class Cited(Numbered):
    """A path with those of its ends that answer; or, as a `check`, that lead to which of the ends before answer."""

    ends: list[Any] = []
    check: Flag = Flag(0)


class JudgedPath(Numbered):
    """A path or candidate with its two verdicts."""

    follows: Flag
    deducible: Flag

    @property
    def finishes(self) -> bool:
        """Local and global verification together: C_global alone does not finish a path (FiDeLiS v4 section 3.2)."""
        return bool(self.follows and self.deducible)


class PicksReply(msgspec.Struct):
    """A reply with the numbers of candidates, or with entries that have them."""

    picks: list[Any]


Entry = TypeVar("Entry", bound=Numbered)


def extract(text: str) -> dict[str, Any]:
    """The one JSON object in a reply; a code fence, a thinking block and text around it are passed over.

    Raises ModelReplyError where there is none, or where a second one, or a key that stands twice, leaves open what is
    meant.
    """
    if len(text) > REPLY:
        raise ModelReplyError(f"it is longer than {REPLY} characters")
    rest = THOUGHT.sub("", text, count=1) if THOUGHT.match(text) else text
    objects: list[dict[str, Any]] = []
    start = rest.find("{")
    while start >= 0:
        try:
            value, end = DECODER.raw_decode(rest, start)
        except RecursionError as error:
            raise ModelReplyError("its JSON is nested too deeply") from error
        except json.JSONDecodeError as error:  # a brace in the text around; what was read once is not looked at again
            end = max(error.pos, start + 1)
        except ValueError as error:
            raise ModelReplyError("it has a number of thousands of digits") from error
        else:
            objects.append(value)
        if len(objects) > 1:
            raise ModelReplyError("it has more than one JSON object")
        if end > PASSED:
            rest, end = rest[end:], 0
        start = rest.find("{", end)
    if not objects:
        raise ModelReplyError("it has no complete JSON object")
    return objects[0]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, no key of which stands twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ModelReplyError("an object of its JSON has a key twice")
    return members


DECODER = json.JSONDecoder(object_pairs_hook=_once)


def fit(reply: object, kind: type[T]) -> T:
    """The reply as that record. Raises ModelReplyError."""
    try:
        return msgspec.convert(reply, kind, dec_hook=_lenient)
    except UNFIT as error:
        raise ModelReplyError(f"its JSON does not fit: {error}") from error


def flag(value: object) -> Flag:
    """Yes or no, as models write them. Raises ValueError."""
    flag = WORDS.get(value.strip().lower()) if isinstance(value, str) else value
    if isinstance(flag, bool):
        return Flag(flag)
    raise ValueError("neither yes nor no")


def _whole(value: object) -> Whole:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,6}", value):
        return Whole(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise ValueError("no whole number")
    return Whole(value)


def _share(value: object) -> Share:
    if isinstance(value, str) and re.fullmatch(r"[01](\.[0-9]{1,20})?", value):
        return _share(float(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("no number from 0 to 1")
    return Share(value)


READ: dict[type, Callable[[object], object]] = {Flag: flag, Share: _share, Whole: _whole}


def _lenient(kind: type, value: object) -> object:
    """A Flag, Share or Whole from how models write them."""
    return READ[kind](value)


def entries(listed: list[Any], kind: type[Entry], offered: Collection[int]) -> list[Entry]:
    """The entries that fit and were offered, each number once; raises where something was listed and nothing fits."""
    kept: dict[int, Entry] = {}
    for item in listed:
        with contextlib.suppress(*UNFIT):
            entry = msgspec.convert(item, kind, dec_hook=_lenient)
            if entry.number in offered:
                kept.setdefault(entry.number, entry)
    if listed and not kept:
        raise ModelReplyError("none of its entries is complete and has a number that was offered")
    return list(kept.values())


def numbers(listed: list[Any], offered: Collection[int]) -> list[int]:
    """The listed numbers that were offered, each once; raises where something was listed and nothing fits."""
    return [int(entry.number) for entry in entries([{"number": item} for item in listed], Numbered, offered)]


def mean_ends(offered: Sequence[PromptCandidate]) -> int:
    """Ends of an offer in the mean, rounded up: so many entries a list of some of them has."""
    return -(-sum(len(candidate.tails) for candidate in offered) // max(1, len(offered)))


def checked(cited: Sequence[Cited], offered: Sequence[PromptCandidate]) -> tuple[int, ...]:
    """The numbers of those that are checks. Raises where the path has no ends before its last step to be checked."""
    steps = {candidate.number: len(candidate.relations) for candidate in offered}
    checks = tuple(int(entry.number) for entry in cited if entry.check)
    if any(steps[number] < 2 for number in checks):
        raise ModelReplyError("a check is a path of two steps or more: its last step tells which ends before it answer")
    return checks


def renamed(listed: list[Any], name: str) -> list[Any]:
    """The entries with the key that the prompt uses for their number as `number`."""
    return [{**item, "number": item.get(name)} if isinstance(item, dict) else item for item in listed]


def texts(listed: list[Any], most: int) -> tuple[str, ...]:
    """At most `most` of the listed texts, as safe lines, each once."""
    lines = (str(line(item)) for item in listed if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in lines if text))[:most]


def clause(value: object) -> str:
    """A text as one safe line; "" however a model writes nothing."""
    text = line(value) if isinstance(value, str) else ""
    return "" if text.strip(" .-\"'").casefold() in NOTHING else str(text)


def picks(reply: object) -> list[Any]:
    """What a reply lists as its choices, whatever that is."""
    return fit(reply, PicksReply).picks


def chosen(reply: object, candidates: Sequence[PromptCandidate], width: int) -> tuple[Choice, ...]:
    """At most `width` of the candidates, as the reply numbers them, the best first and unverified."""
    picked = numbers(picks(reply), {candidate.number for candidate in candidates})
    return tuple(Choice(number) for number in picked[:width])


def verdict(value: object) -> Literal["yes", "no", ""]:
    """Yes or no, and "" however a model writes nothing."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    try:
        return "yes" if flag(value) else "no"
    except ValueError as error:
        raise ModelReplyError('its verdict is none of "yes", "no" and ""') from error


def option(value: object, options: Sequence[str]) -> int:
    """The number of the option, 0 for none of them, however a model writes nothing."""
    [number] = numbers([value or 0], range(len(options) + 1))
    return number
