"""Calls through a PromptedModel over a chat model whose replies are given."""

import json
from typing import Any

from fedkg.core.choice import Conclusion, Decision, PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.calls.answer import AnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

__all__ = [
    "GOOD_PLAN",
    "KEPT",
    "OFFERS",
    "PLAN",
    "beam",
    "choose",
    "conclude",
    "judged",
    "planned",
    "scripted",
    "settled",
]

OFFERS = tuple(
    PromptCandidate(n, f"A → r{n} → B{n}", (f"r{n}",), tuple(f"B{i}" for i in range(n))) for n in range(1, 5)
)


KEPT = (PromptCandidate(9, "A → r9 → B9", ("r9",), ("B9",)),)


PLAN = Plan(("k",), ("step",), "A r *placeholder*.", "entities", ("A",))


GOOD_PLAN = {
    "keywords": ["author", "place of death"],
    "planning_steps": ["from Momo by author to a person"],
    "declarative_statement": "The author of Momo died in *placeholder*.",
    "kind": "entities",
    "mentions": ["Momo"],
}


def scripted(*replies: Any) -> tuple[PromptedModel, ScriptedModel]:
    """A PromptedModel whose chat model gives these replies, as text or as JSON."""
    chat = ScriptedModel([reply if isinstance(reply, str) else json.dumps(reply) for reply in replies])
    return PromptedModel(chat), chat


def judged(*entries: tuple[Any, Any, Any], key: str = "offer") -> list[dict[str, Any]]:
    """Entries with two verdicts."""
    return [{key: number, "follows": follows, "deducible": deducible} for number, follows, deducible in entries]


async def choose(reply: dict[str, Any], kind: Any = "entities", width: int = 4) -> Decision:
    """What `choose` makes of a reply."""
    plan = Plan(("k",), kind=kind, options=("one", "two") if kind == "choice" else ())
    return await scripted(reply, reply)[0].ask(ChooseCall("Q?", plan, OFFERS, width, KEPT))


async def beam(picks: list[Any], width: int = 4) -> tuple[int, ...]:
    """The numbers that `beam` makes of a reply with these picks."""
    model = scripted({"picks": picks}, {"picks": picks})[0]
    return tuple(pick.number for pick in await model.ask(BeamCall("Q?", PLAN, None, OFFERS, width)))


async def conclude(reply: dict[str, Any], kind: Any = "entities") -> Conclusion:
    """What `answer` makes of a reply."""
    plan = Plan(("k",), kind=kind, options=("one", "two") if kind == "choice" else ())
    return await scripted(reply, reply)[0].ask(AnswerCall("Q?", plan, OFFERS))


async def planned(question: str, **changes: Any) -> Plan:
    """What `plan` makes of the good reply with changes."""
    reply = {**GOOD_PLAN, **changes}
    return await scripted(reply, reply)[0].ask(PlanCall(question))


async def settled(call: Any) -> Any:
    """What a call returns, or () where it raises ModelReplyError."""
    try:
        return await call
    except ModelReplyError:
        return ()
