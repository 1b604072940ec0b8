"""The typed calls over any chat model: a template goes out, one JSON object comes back and is checked.

Nothing in a reply is believed. Numbers must be among those that were offered, verdicts must be yes or no, a mention must
stand in the question; what does not fit is dropped, and a reply of which nothing remains is sent back once with the error.
A model can therefore pick badly, but it cannot bring in anything that it was not shown.
"""

import contextlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from fedkg.errors import ModelReplyError
from fedkg.llm.base import ChatModel, Message
from fedkg.llm.budget import BudgetedModel, Ledger
from fedkg.prompts import line, load
from fedkg.records import Conclusion, Kind, Offer, Pick, Plan, Verdict
from fedkg.settings import Budget

__all__ = ["CALLS", "PromptedModel", "extract"]

CALLS = ("plan", "beam", "deductive", "choose", "answer")
REPAIR = "That reply cannot be used: {fault}. Do the same task again. Reply with one JSON object as described, and nothing else."

# bounds on what a reply may bring in; all far above what a sensible reply holds
REPLY = 200_000
ECHO = 4_000
KEYWORDS, STEPS, MENTIONS = 30, 12, 20

PLACEHOLDER = re.compile(r"[*\[<{]*\bplaceholder\b[*\]>}]*", re.IGNORECASE)
THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
WORDS = {"yes": True, "true": True, "no": False, "false": False}
# kinds whose answer is yes or no
JUDGED = ("yesno", "claim")

T = TypeVar("T")


class Whole(int):
    """A number in a reply: an integer, also written 2.0 or "2"."""


class Flag(int):
    """A verdict in a reply: a boolean, also written "yes", "No" or "true"."""


class Numbered(msgspec.Struct):
    """An entry that consists of its number."""

    number: Whole


class Judged(msgspec.Struct):
    """A path or offer with its two verdicts."""

    number: Whole
    follows: Flag
    deducible: Flag


class Cited(msgspec.Struct):
    """A path with the ends that answer the question."""

    number: Whole
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


Entry = TypeVar("Entry", Numbered, Judged, Cited)


class PromptedModel:
    """A ReasoningModel over a chat model and the templates.

    Every call goes into `ledger` under its template's version; `budget` bounds calls and tokens; `own` is the user's
    folder of templates. All calls raise ModelError where the model fails or replies unusably twice, and BudgetError.
    """

    exhaustive: bool = False
    abstains: frozenset[Kind] = frozenset()

    def __init__(
        self, model: ChatModel, ledger: Ledger | None = None, budget: Budget | None = None, own: str = ""
    ) -> None:
        self.name = model.name
        self.ledger = ledger or Ledger()
        vendor = model.name.partition(":")[0]
        self._templates = {call: load(call, own, vendor) for call in CALLS}
        versions = {call: template.version for call, template in self._templates.items()}
        self._model = BudgetedModel(model, budget or Budget(), self.ledger, versions)

    async def plan(self, question: str) -> Plan:
        """The question's keywords, steps, statement, kind and mentions; only what stands in the question is a mention."""
        return await self._ask("plan", lambda reply: _plan(reply, question), question=question)

    async def beam(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer], width: int
    ) -> tuple[Pick, ...]:
        """At most `width` of the offers, best first, unverified; no call where nothing is offered."""
        if not offers:
            return ()

        def read(reply: object) -> tuple[Pick, ...]:
            numbers = _numbers(_fit(reply, PicksReply).picks, _offered(offers))
            return tuple(Pick(number) for number in numbers[:width])

        return await self._ask("beam", read, question=question, plan=plan, path=path, offers=offers, width=width)

    async def deductive(self, question: str, plan: Plan, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
        """A verdict on each path, in the order of the paths; a path that the reply leaves out has failed both."""
        if not paths:
            return ()

        def read(reply: object) -> tuple[Verdict, ...]:
            entries = _entries(_renamed(_fit(reply, VerdictsReply).verdicts, "path"), Judged, _offered(paths))
            if not entries:
                raise ModelReplyError("it has no verdict on any path")
            passed = {entry.number: (bool(entry.follows), _finishes(entry)) for entry in entries}
            return tuple(Verdict(path.number, *passed.get(Whole(path.number), (False, False))) for path in paths)

        return await self._ask("deductive", read, question=question, plan=plan, paths=paths)

    async def choose(self, question: str, plan: Plan, offers: Sequence[Offer], width: int) -> tuple[Pick, ...]:
        """At most `width` of the offers, best first, each verified; no call where nothing is offered."""
        if not offers:
            return ()

        def read(reply: object) -> tuple[Pick, ...]:
            entries = _entries(_renamed(_fit(reply, PicksReply).picks, "offer"), Judged, _offered(offers))
            return tuple(Pick(int(entry.number), bool(entry.follows), _finishes(entry)) for entry in entries[:width])

        return await self._ask("choose", read, question=question, plan=plan, offers=offers, width=width)

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """Which paths and ends answer the question; an empty Conclusion where these paths do not, or none are given."""
        if not paths:
            return Conclusion()
        return await self._ask(
            "answer", lambda reply: _conclusion(reply, plan.kind, paths), question=question, plan=plan, paths=paths
        )

    async def close(self) -> None:
        """Closes the chat model."""
        await self._model.close()

    async def _ask(self, call: str, read: Callable[[object], T], **values: object) -> T:
        """What `read` makes of the reply; an unusable reply is sent back once."""
        template = self._templates[call]
        system, user = template.render(**values)
        task = [Message("system", system), Message("user", user)]
        text = (await self._model.complete(task, template.schema, call)).text
        try:
            return read(extract(text))
        except ModelReplyError as fault:
            # vendors refuse empty turns
            echo = Message("assistant", text.strip()[:ECHO] or "(nothing)")
            task += [echo, Message("user", REPAIR.format(fault=line(fault, 300)))]
        text = (await self._model.complete(task, template.schema, call)).text
        try:
            return read(extract(text))
        except ModelReplyError as fault:
            raise ModelReplyError(f"{self.name}: two unusable replies to `{call}`: {fault}", asked=call) from fault


def extract(text: str) -> dict[str, Any]:
    """The one JSON object in a reply; a code fence, a thinking block and text around it are passed over.

    Raises ModelReplyError where there is none or a second one, which would leave open what is meant.
    """
    if len(text) > REPLY:
        raise ModelReplyError(f"it is longer than {REPLY} characters")
    rest = THOUGHT.sub("", text, count=1) if THOUGHT.match(text) else text
    found: list[dict[str, Any]] = []
    start = rest.find("{")
    while start >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(rest, start)
        except RecursionError as error:
            raise ModelReplyError("its JSON is nested too deeply") from error
        except ValueError:  # a brace in the text around, or a number of thousands of digits
            end = start + 1
        else:
            found.append(value)
        if len(found) > 1:
            raise ModelReplyError("it has more than one JSON object")
        start = rest.find("{", end)
    if not found:
        raise ModelReplyError("it has no complete JSON object")
    return found[0]


def _fit(reply: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(reply, kind)
    except msgspec.ValidationError as error:
        raise ModelReplyError(f"its JSON does not fit: {error}") from error


def _flag(value: object) -> Flag:
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


def _lenient(kind: type, value: object) -> object:
    """A Flag or a Whole from how models write them."""
    return _flag(value) if kind is Flag else _whole(value)


def _entries(listed: list[Any], kind: type[Entry], offered: Collection[int]) -> list[Entry]:
    """The entries that fit and were offered, each number once; raises where something was listed and nothing fits."""
    kept: dict[int, Entry] = {}
    for item in listed:
        with contextlib.suppress(msgspec.ValidationError):
            entry = msgspec.convert(item, kind, dec_hook=_lenient)
            if entry.number in offered:
                kept.setdefault(entry.number, entry)
    if listed and not kept:
        raise ModelReplyError("none of its entries is complete and has a number that was offered")
    return list(kept.values())


def _numbers(listed: list[Any], offered: Collection[int]) -> list[int]:
    return [int(entry.number) for entry in _entries([{"number": item} for item in listed], Numbered, offered)]


def _renamed(listed: list[Any], name: str) -> list[Any]:
    """The entries with the key that the prompt uses for their number as `number`."""
    return [{**item, "number": item.get(name)} if isinstance(item, dict) else item for item in listed]


def _offered(offers: Sequence[Offer]) -> set[int]:
    return {offer.number for offer in offers}


def _finishes(entry: Judged) -> bool:
    """Local and global verification together: C_global alone does not finish a path (FiDeLiS v4 section 3.2)."""
    return bool(entry.follows and entry.deducible)


def _texts(listed: list[Any], most: int) -> tuple[str, ...]:
    lines = (str(line(item)) for item in listed if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in lines if text))[:most]


def _plan(reply: object, question: str) -> Plan:
    read = _fit(reply, PlanReply)
    keywords = _texts(read.keywords, KEYWORDS)
    if not keywords:
        raise ModelReplyError("it has no keywords")
    return Plan(
        keywords=keywords,
        steps=_texts(read.planning_steps, STEPS),
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


def _conclusion(reply: object, kind: Kind, paths: Sequence[Offer]) -> Conclusion:
    read = _fit(reply, AnswerReply)
    tails = {path.number: len(path.tails) for path in paths}
    cited = {int(entry.number): entry.ends for entry in _entries(_renamed(read.paths, "path"), Cited, tails)}
    ends: dict[int, tuple[int, ...]] = {}
    for number, listed in cited.items():
        # a path whose named ends all do not exist is dropped: no ends would mean all of them
        with contextlib.suppress(ModelReplyError):
            ends[number] = tuple(_numbers(listed, range(1, tails[number] + 1)))
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
        return "yes" if _flag(value) else "no"
    except ValueError as error:
        raise ModelReplyError('its verdict is none of "yes", "no" and ""') from error
