"""The seam to reasoning models: typed calls in, choices among what was offered out.

A reasoning model never writes IRIs or queries; it picks numbers of candidates. An implementation has already
checked the numbers: one that was not offered does not come back.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

import msgspec

from fedkg.config.settings import ConstraintLevel
from fedkg.core.question import Kind, Plan
from fedkg.errors import ModelDeclinedError
from fedkg.llm.base import Completion, Constraint, Request
from fedkg.llm.exchange import CallObserver
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.path_format import PathForm
from fedkg.reasoner.reply_parsing import extract
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["Call", "CallTable", "PlannedCall", "ReasonerFactory", "ReasoningModel"]

Reply = TypeVar("Reply")
Reply_co = TypeVar("Reply_co", covariant=True)


class Call(msgspec.Struct, Generic[Reply_co], frozen=True):
    """What a reasoning model is asked, once; each kind declares its reply: `class AdequacyCall(PlannedCall[bool], …)`.

    `name` is that of its folder of prompts. `alternatives`: so many of each token are wanted with their
    log-probabilities.
    """

    name: ClassVar[str]
    alternatives: ClassVar[int] = 0

    question: str

    @property
    def prompt_kind(self) -> Kind | None:
        """The kind of question whose wording is sent."""
        return None

    @property
    def sample_number(self) -> int:
        """Which sample is wanted, as in a Request: 0 for the surest reply."""
        return 0

    def values(self) -> dict[str, object]:
        """What the template is given."""
        raise NotImplementedError

    def trivial(self) -> Reply_co | None:
        """The reply where there is nothing to ask about, without a call; None where a model has to be asked."""
        return None

    def adapted(self, template: "PromptTemplate") -> "PromptTemplate":
        """The template as this call needs it."""
        return template

    def lengths(self, shown: int) -> Mapping[str, int]:
        """How long the lists and texts of the reply can sensibly be, by their keys (see `prompts.reply_length`).

        `shown` candidates are shown, the first ones.
        """
        return {}

    def likely(self, shown: int) -> Constraint | None:
        """The beginnings of a reply whose probabilities are the reply (`weighed`), where the setting is `likelihood`.

        None where the call is no choice among numbers. `shown` candidates are shown, the first ones.
        """
        return None

    def weighed(self, shares: Sequence[float], shown: int) -> Reply_co:
        """What the share of the probability that each of these texts has comes to. Raises ModelReplyError."""
        raise NotImplementedError

    def constrained(self, form: PathForm) -> Request | None:
        """The request to a model whose tokens can be constrained to what is offered, in that form.

        None where the call has no such form.
        """
        return None

    @property
    def free(self) -> bool:
        """Whether that request goes to any model, which nothing constrains."""
        return False

    def read_written(self, reply: Completion, form: PathForm) -> Reply_co:
        """What the reply to the request of `constrained` says. Raises ModelReplyError."""
        return self.parse(extract(reply.text), sys.maxsize)

    def read(self, reply: Completion, shown: int) -> Reply_co:
        """What the reply says; `shown` candidates were shown, the first ones. Raises ModelReplyError."""
        return self.parse(extract(reply.text), shown)

    def parse(self, reply: Mapping[str, object], shown: int) -> Reply_co:
        """What the reply's one JSON object says. Raises ModelReplyError."""
        raise NotImplementedError

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "Call[Reply_co]":
        """The call as a walk like that makes it."""
        raise NotImplementedError


class PlannedCall(Call[Reply_co], Generic[Reply_co], frozen=True):
    """A call within a walk: its wording depends on the kind of question that the plan tells."""

    plan: Plan

    @property
    def prompt_kind(self) -> Kind | None:
        """The kind that the plan tells."""
        return self.plan.kind


@runtime_checkable
class ReasoningModel(Protocol):
    """What replies to the calls of a question.

    `exhaustive` says that candidates cost nothing, so that all of them are offered instead of the best few;
    `abstains` are the kinds of question that it cannot answer. `constraint_level` is what constrains it to the paths
    that a ReasoningPathsCall shows it, and `constraint_limit` how many of them it can be constrained to in one call
    (0: it cannot be). At the level `token` each path that it is shown has one end.
    """

    name: str
    exhaustive: bool
    abstains: frozenset[Kind]
    constraint_level: ConstraintLevel
    constraint_limit: int

    @property
    def left_out(self) -> int:
        """Candidates that were not shown so far, since there was no room for them."""
        ...

    async def ask(self, call: Call[Reply]) -> Reply:
        """The reply, checked against what the call offers. Raises ModelError and BudgetError."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


class ReasonerFactory(Protocol):
    """Makes the reasoning model of a question, so that its calls are in the question's ledger, usage and transcript."""

    def __call__(self, model: ReasoningModel, ledger: Ledger, observer: CallObserver, /) -> ReasoningModel:
        """The reasoning model of one question; the session's own `model` is there to reply through.

        What goes through `model` is entered by itself: in the `ledger`, and handed to the `observer`. A reasoner that
        asks a model in another way enters it there.
        """
        ...


Model = TypeVar("Model")
Kind_co = TypeVar("Kind_co", bound=Call[object], covariant=True)
Replier = Callable[[Model, Kind_co], Awaitable[Reply]]


class CallTable(Generic[Model]):
    """The method of a model for each kind of call: mypy refuses one with another reply than the call declares."""

    def __init__(self) -> None:
        self._repliers: dict[type[Call[object]], Replier[Model, Call[object], object]] = {}

    def replies_to(self, kind: type[Kind_co]) -> "_Registration[Model, Kind_co]":
        """A decorator for the method that replies to this kind of call, and to those made of it without their own."""
        return _Registration(self._repliers, kind)

    async def ask(self, model: Model, call: Call[Reply]) -> Reply:
        """What the model replies. Raises ModelDeclinedError for a kind of call that it has no method for."""
        kinds = (kind for kind in type(call).__mro__ if kind in self._repliers)
        replier = self._repliers.get(next(kinds, type(call)))
        if replier is None:
            raise ModelDeclinedError(f"{type(model).__name__} has no reply to `{call.name}`", asked=call.name)
        return cast("Reply", await replier(model, call))


class _Registration(Generic[Model, Kind_co]):
    """Puts a method into the table."""

    def __init__(
        self, repliers: dict[type[Call[object]], Replier[Model, Call[object], object]], kind: type[Kind_co]
    ) -> None:
        self._repliers, self._kind = repliers, kind

    def __call__(
        self: "_Registration[Model, Call[Reply]]", replier: Callable[[Model, Kind_co], Awaitable[Reply]]
    ) -> Callable[[Model, Kind_co], Awaitable[Reply]]:
        self._repliers[self._kind] = cast("Replier[Model, Call[object], object]", replier)
        return replier
