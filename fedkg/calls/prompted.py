"""The typed calls over any chat model: a template goes out, one JSON object comes back and is checked.

Nothing in a reply is believed: see `reading` and `replies`. What cannot be used is sent back once with the error. A model can
therefore pick badly, but it cannot bring in anything that it was not shown.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from fedkg.calls import replies
from fedkg.calls.reading import extract
from fedkg.errors import ModelReplyError
from fedkg.llm.base import ChatModel, Message, Request
from fedkg.llm.budget import BudgetedModel, Ledger
from fedkg.prompts import Template, Wordings, line
from fedkg.records import Conclusion, Kind, Offer, Pick, Plan, Verdict
from fedkg.settings import Budget

__all__ = ["PromptedModel"]

REPAIR = "That reply cannot be used: {fault}. Do the same task again. Reply with one JSON object as described, and nothing else."
ECHO = 4_000
"""Characters of an unusable reply that the model is shown again."""

T = TypeVar("T")


class PromptedModel:
    """A ReasoningModel over a chat model and the templates.

    Every call goes into `ledger` under its template's version; `budget` bounds the calls. All calls raise ModelError where
    the model fails or replies unusably twice, and BudgetError.
    """

    exhaustive: bool = False
    abstains: frozenset[Kind] = frozenset()

    def __init__(
        self,
        model: ChatModel,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        wordings: Wordings | None = None,
    ) -> None:
        self.name = model.name
        self.ledger = ledger or Ledger()
        self._wordings = wordings or Wordings(vendor=model.name.partition(":")[0])
        self._model = BudgetedModel(model, budget or Budget(), self.ledger)

    async def plan(self, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
        """The question's keywords, steps, statement, kind and mentions; only what stands in the question is a mention."""

        def read(reply: object) -> Plan:
            return replies.plan(reply, question)

        return await self._ask("plan", read, kind, question=question)

    async def beam(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer], width: int
    ) -> tuple[Pick, ...]:
        """At most `width` of the offers, best first, unverified; no call where nothing is offered."""

        def read(reply: object) -> tuple[Pick, ...]:
            return replies.step_picks(reply, offers, width)

        shown = {"question": question, "plan": plan, "path": path, "offers": offers, "width": width}
        return await self._ask("beam", read, plan.kind, **shown) if offers else ()

    async def deductive(self, question: str, plan: Plan, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
        """A verdict on each path, in the order of the paths; a path that the reply leaves out has failed both."""

        def read(reply: object) -> tuple[Verdict, ...]:
            return replies.verdicts(reply, paths)

        shown = {"question": question, "plan": plan, "paths": paths}
        return await self._ask("deductive", read, plan.kind, **shown) if paths else ()

    async def choose(
        self, question: str, plan: Plan, offers: Sequence[Offer], width: int, kept: Sequence[Offer] = ()
    ) -> tuple[Pick, ...]:
        """At most `width` of the offers, best first, each verified; no call where nothing is offered."""

        def read(reply: object) -> tuple[Pick, ...]:
            return replies.verified_picks(reply, offers, width)

        shown = {"question": question, "plan": plan, "offers": offers, "width": width, "kept": kept}
        return await self._ask("choose", read, plan.kind, **shown) if offers else ()

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """Which paths and ends answer the question; an empty Conclusion where these paths do not, or none are given."""

        def read(reply: object) -> Conclusion:
            return replies.conclusion(reply, plan.kind, paths)

        shown = {"question": question, "plan": plan, "paths": paths}
        return await self._ask("answer", read, plan.kind, **shown) if paths else Conclusion()

    async def close(self) -> None:
        """Closes the chat model."""
        await self._model.close()

    async def _ask(self, call: str, read: Callable[[object], T], kind: Kind | None, **values: object) -> T:
        """What `read` makes of the reply; an unusable reply is sent back once."""
        template = self._wordings.get(call, kind)
        system, user = template.render(**values)
        task = [Message("system", system), Message("user", user)]
        text = await self._reply(template, task)
        try:
            return read(extract(text))
        except ModelReplyError as fault:
            # vendors refuse empty turns
            echo = Message("assistant", text.strip()[:ECHO] or "(nothing)")
            task += [echo, Message("user", REPAIR.format(fault=line(fault, 300)))]
        text = await self._reply(template, task)
        try:
            return read(extract(text))
        except ModelReplyError as fault:
            raise ModelReplyError(f"{self.name}: two unusable replies to `{call}`: {fault}", asked=call) from fault

    async def _reply(self, template: Template, task: Sequence[Message]) -> str:
        request = Request(template.call, tuple(task), template.schema, template.version)
        return (await self._model.complete(request)).text
