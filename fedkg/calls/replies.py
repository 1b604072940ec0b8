"""What each call's reply becomes: a record, checked against what the call offered."""

import contextlib
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from fedkg.calls.reading import Flag, Numbered, entries, fit, flag, numbers, renamed, texts
from fedkg.errors import ModelReplyError
from fedkg.prompts import line
from fedkg.records import Conclusion, Kind, Offer, Pick, Plan, Verdict

__all__ = ["conclusion", "plan", "step_picks", "verdicts", "verified_picks"]

# bounds on what a reply may bring in; all far above what a sensible reply holds
KEYWORDS, STEPS, MENTIONS = 30, 12, 20
PLACEHOLDER = re.compile(r"[*\[<{]*\bplaceholder\b[*\]>}]*", re.IGNORECASE)
# kinds whose answer is yes or no
JUDGED = ("yesno", "claim")


class Judged(Numbered):
    """A path or offer with its two verdicts."""

    follows: Flag
    deducible: Flag


class Cited(Numbered):
    """A path with the ends that answer the question."""

    ends: list[Any] = []


class PlanReply(msgspec.Struct):
    """The reply to `plan`."""

    keywords: list[Any]
    declarative_statement: str
    kind: Kind
    planning_steps: list[Any] = []
    mentions: list[Any] = []


class PicksReply(msgspec.Struct):
    """The reply to `beam` and `choose`."""

    picks: list[Any]


class VerdictsReply(msgspec.Struct):
    """The reply to `deductive`."""

    verdicts: list[Any]


class AnswerReply(msgspec.Struct):
    """The reply to `answer`."""

    paths: list[Any]
    verdict: Any = ""


def step_picks(reply: object, offers: Sequence[Offer], width: int) -> tuple[Pick, ...]:
    """The picks of `beam`, the best first, unverified."""
    picked = numbers(fit(reply, PicksReply).picks, _offered(offers))
    return tuple(Pick(number) for number in picked[:width])


def verified_picks(reply: object, offers: Sequence[Offer], width: int) -> tuple[Pick, ...]:
    """The picks of `choose`, the best first, each with its verdicts."""
    judged = entries(renamed(fit(reply, PicksReply).picks, "offer"), Judged, _offered(offers))
    return tuple(Pick(int(entry.number), bool(entry.follows), _finishes(entry)) for entry in judged[:width])


def verdicts(reply: object, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
    """The verdicts of `deductive`, in the order of the paths; a path that the reply leaves out has failed both."""
    judged = entries(renamed(fit(reply, VerdictsReply).verdicts, "path"), Judged, _offered(paths))
    if not judged:
        raise ModelReplyError("it has no verdict on any path")
    passed = {int(entry.number): (bool(entry.follows), _finishes(entry)) for entry in judged}
    return tuple(Verdict(path.number, *passed.get(path.number, (False, False))) for path in paths)


def plan(reply: object, question: str) -> Plan:
    """The plan; only what stands in the question is a mention."""
    read = fit(reply, PlanReply)
    keywords = texts(read.keywords, KEYWORDS)
    if not keywords:
        raise ModelReplyError("it has no keywords")
    return Plan(
        keywords=keywords,
        steps=texts(read.planning_steps, STEPS),
        statement=_statement(read.declarative_statement, read.kind),
        kind=read.kind,
        mentions=_mentions(read.mentions, question),
    )


def _statement(text: str, kind: Kind) -> str:
    """The statement with its placeholder; one without would carry the model's own answer into the verification."""
    statement = PLACEHOLDER.sub("*placeholder*", text)
    if kind not in JUDGED and "*placeholder*" not in statement:
        raise ModelReplyError("its declarative_statement lacks the text *placeholder* where the answer goes")
    return str(line(statement, 4_000))


def _mentions(listed: list[Any], question: str) -> tuple[str, ...]:
    """What the question really names: a mention from elsewhere would start the search at the model's own guess."""
    asked = " ".join(question.split()).casefold()
    texts = (" ".join(item.split()) for item in listed if isinstance(item, str))
    mentions = tuple(dict.fromkeys(text for text in texts if text and text.casefold() in asked))[:MENTIONS]
    if listed and not mentions:
        raise ModelReplyError("its mentions are not copied from the question")
    return mentions


def conclusion(reply: object, kind: Kind, paths: Sequence[Offer]) -> Conclusion:
    """Which paths and ends answer; without evidence there is no verdict."""
    read = fit(reply, AnswerReply)
    tails = {path.number: len(path.tails) for path in paths}
    cited = {int(entry.number): entry.ends for entry in entries(renamed(read.paths, "path"), Cited, tails)}
    ends: dict[int, tuple[int, ...]] = {}
    for number, listed in cited.items():
        # a path whose named ends all do not exist is dropped: no ends would mean all of them
        with contextlib.suppress(ModelReplyError):
            ends[number] = tuple(numbers(listed, range(1, tails[number] + 1)))
    if cited and not ends:
        raise ModelReplyError("none of the ends that it names was offered")
    verdict = _verdict(read.verdict) if kind in JUDGED else ""
    if kind in JUDGED and not (verdict and ends):
        return Conclusion()  # without evidence there is no verdict, and without a verdict no answer
    return Conclusion(tuple(ends), {number: some for number, some in ends.items() if some}, verdict)


def _verdict(value: object) -> Literal["yes", "no", ""]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    try:
        return "yes" if flag(value) else "no"
    except ValueError as error:
        raise ModelReplyError('its verdict is none of "yes", "no" and ""') from error


def _offered(offers: Sequence[Offer]) -> set[int]:
    return {offer.number for offer in offers}


def _finishes(entry: Judged) -> bool:
    """Local and global verification together: C_global alone does not finish a path (FiDeLiS v4 section 3.2)."""
    return bool(entry.follows and entry.deducible)
