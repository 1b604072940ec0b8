"""What each call's reply becomes: a record, checked against what the call offered."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from fedkg.common.one_line import line
from fedkg.core.choice import Choice, Conclusion, ModelOnlyAnswer, PromptCandidate, Verdict
from fedkg.core.question import FEWEST_OPTIONS, JUDGED, MOST_OPTIONS, Kind, Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.reply_parsing import Flag, Numbered, entries, fit, flag, numbers, renamed, texts

__all__ = [
    "conclusion",
    "plan",
    "recalled",
    "step_picks",
    "verdicts",
    "verified_picks",
]

# bounds on what a reply may bring in; all far above what a sensible reply holds
KEYWORDS, STEPS, MENTIONS, RECALLED = 30, 12, 20, 50
# bounded as well: of a hundred thousand stars each would be tried as the first one
PLACEHOLDER = re.compile(r"[*\[<{]{0,4}\bplaceholder\b[*\]>}]{0,4}", re.IGNORECASE)
# kinds whose answer is yes or no
YES_NO = ("yesno", "claim")


class JudgedPath(Numbered):
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
    options: list[Any] = []


class PicksReply(msgspec.Struct):
    """The reply to `beam` and `choose`."""

    picks: list[Any]


class VerdictsReply(msgspec.Struct):
    """The reply to `deductive`."""

    verdicts: list[Any]


class ModelOnlyReply(msgspec.Struct):
    """The reply to `model-only`, where it is no verdict or option; its reasoning is not read."""

    answers: list[Any]


class AnswerReply(msgspec.Struct):
    """The reply to `answer`: paths with their ends, or the numbers of those that a verdict or an option rests on."""

    paths: list[Any]
    verdict: Any = ""
    option: Any = 0


def step_picks(reply: object, offers: Sequence[PromptCandidate], width: int) -> tuple[Choice, ...]:
    """The picks of `beam`, the best first, unverified."""
    picked = numbers(fit(reply, PicksReply).picks, _offered(offers))
    return tuple(Choice(number) for number in picked[:width])


def verified_picks(reply: object, offers: Sequence[PromptCandidate], width: int) -> tuple[Choice, ...]:
    """The picks of `choose`, the best first, each with its verdicts."""
    judged = entries(renamed(fit(reply, PicksReply).picks, "offer"), JudgedPath, _offered(offers))
    return tuple(Choice(int(entry.number), bool(entry.follows), _finishes(entry)) for entry in judged[:width])


def verdicts(reply: object, paths: Sequence[PromptCandidate]) -> tuple[Verdict, ...]:
    """The verdicts of `deductive`, in the order of the paths; a path that the reply leaves out has failed both."""
    judged = entries(renamed(fit(reply, VerdictsReply).verdicts, "path"), JudgedPath, _offered(paths))
    if not judged:
        raise ModelReplyError("it has no verdict on any path")
    passed = {int(entry.number): (bool(entry.follows), _finishes(entry)) for entry in judged}
    return tuple(Verdict(path.number, *passed.get(path.number, (False, False))) for path in paths)


def plan(reply: object, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
    """The plan, of the kind and with the options that were given; only what was asked is a mention or an option."""
    read = fit({**reply, "kind": kind} if kind and isinstance(reply, dict) else reply, PlanReply)
    keywords = texts(read.keywords, KEYWORDS)
    if not keywords:
        raise ModelReplyError("it has no keywords")
    return Plan(
        keywords=keywords,
        steps=texts(read.planning_steps, STEPS),
        statement=_statement(read.declarative_statement, read.kind),
        kind=read.kind,
        mentions=_mentions(read.mentions, " ".join([question, *options])),
        options=tuple(options) or (_options(read.options, question) if read.kind == "choice" else ()),
    )


def _statement(text: str, kind: Kind) -> str:
    """The statement with its placeholder; one without would carry the model's own answer into the verification."""
    statement = PLACEHOLDER.sub("*placeholder*", text)
    if kind not in YES_NO and "*placeholder*" not in statement:
        raise ModelReplyError("its declarative_statement lacks the text *placeholder* where the answer goes")
    return str(line(statement, 4_000))


def _mentions(listed: list[Any], question: str) -> tuple[str, ...]:
    """What the question really names: a mention from elsewhere would start the search at the model's own guess.

    Where nothing is left the names are looked for among the question's words: no reason to lose the rest of the plan.
    """
    return _copied(listed, question)[:MENTIONS]


def _options(listed: list[Any], question: str) -> tuple[str, ...]:
    """The options that stand in the question."""
    options = _copied(listed, question)
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise ModelReplyError("its options are not two or more that are copied from the question")
    return options


def _copied(listed: list[Any], source: str) -> tuple[str, ...]:
    """Those of the listed texts that the source has, whatever their case, each once."""
    asked = " ".join(source.split()).casefold()
    texts = (" ".join(item.split()) for item in listed if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in texts if text and text.casefold() in asked))


def conclusion(reply: object, kind: Kind, paths: Sequence[PromptCandidate], options: Sequence[str] = ()) -> Conclusion:
    """Which paths and ends answer; or the verdict or the option, and the paths that it rests on."""
    read = fit(reply, AnswerReply)
    return _judgement(read, kind, paths, options) if kind in JUDGED else _ends(read, paths)


def _judgement(read: AnswerReply, kind: Kind, paths: Sequence[PromptCandidate], options: Sequence[str]) -> Conclusion:
    """Without evidence there is no verdict and no option, and without these there is no answer."""
    cited = [item.get("path") if isinstance(item, dict) else item for item in read.paths]
    evidence = tuple(numbers(cited, _offered(paths)))
    option = _option(read.option, options) if kind == "choice" else 0
    verdict = _verdict(read.verdict) if kind in YES_NO else ""
    if not (verdict or option):
        return Conclusion()
    if not evidence:
        said = f"option {option}" if option else repr(verdict)
        return Conclusion(note=f"the model says {said}, but names no path that this rests on: it is not taken")
    return Conclusion(evidence, {}, verdict, option)


def _ends(read: AnswerReply, paths: Sequence[PromptCandidate]) -> Conclusion:
    """The paths that answer, each with those of its ends that do."""
    tails = {path.number: len(path.tails) for path in paths}
    cited = {int(entry.number): entry.ends for entry in entries(renamed(read.paths, "path"), Cited, tails)}
    ends: dict[int, tuple[int, ...]] = {}
    for number, listed in cited.items():
        # a path whose named ends all do not exist is dropped: no ends would mean all of them
        with contextlib.suppress(ModelReplyError):
            ends[number] = tuple(numbers(listed, range(1, tails[number] + 1)))
    if cited and not ends:
        raise ModelReplyError("none of the ends that it names was offered")
    return Conclusion(tuple(ends), {number: some for number, some in ends.items() if some})


def _verdict(value: object) -> Literal["yes", "no", ""]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    try:
        return "yes" if flag(value) else "no"
    except ValueError as error:
        raise ModelReplyError('its verdict is none of "yes", "no" and ""') from error


def _offered(offers: Sequence[PromptCandidate]) -> set[int]:
    return {offer.number for offer in offers}


def _finishes(entry: JudgedPath) -> bool:
    """Local and global verification together: C_global alone does not finish a path (FiDeLiS v4 section 3.2)."""
    return bool(entry.follows and entry.deducible)


def recalled(reply: dict[str, Any], kind: Kind, options: Sequence[str]) -> ModelOnlyAnswer:
    """What `model-only` answers, by the kind of question; nothing where the model does not know."""
    if kind in YES_NO:
        return ModelOnlyAnswer(verdict=_verdict(_said(reply, "verdict")))
    if kind == "choice":
        return ModelOnlyAnswer(option=_option(_said(reply, "option"), options))
    answers = fit(reply, ModelOnlyReply).answers
    # a count may come as a number
    values = texts([str(item) if type(item) is int else item for item in answers], RECALLED)
    if answers and not values:
        raise ModelReplyError("none of its answers is a text")
    return ModelOnlyAnswer(values)


def _said(reply: Mapping[str, Any], key: str) -> Any:
    if key not in reply:
        raise ModelReplyError(f"it has no {key}")
    return reply[key]


def _option(value: object, options: Sequence[str]) -> int:
    """The number of the option, 0 for none of them, however a model writes nothing."""
    [number] = numbers([value or 0], range(len(options) + 1))
    return number
