"""Calls that a model answers token by token, held to what is offered; beside any other reasoner that does the rest."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from fedkg.config.settings import ConstraintLevel
from fedkg.core.question import Kind
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.exchange import CallObserver, Exchange, observed
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.base import Call, ReasoningModel
from fedkg.reasoner.path_format import PathForm, has_form

__all__ = ["TOKEN_LIMIT", "AssistedReasoner", "PathWriter"]

TOKEN_LIMIT = 100_000
"""Most paths that are held in one trie: one of so many is made in seconds (eval/measure/trie.py)."""

Reply = TypeVar("Reply")


class WritingRequest(NamedTuple):
    """A request to a writer, and the form in which it is made and read."""

    request: Request
    form: PathForm


class PathWriter:
    """A model that writes the texts of a call in a form of its own; its tokens may be held to those that are offered.

    `form` reads that of a call.
    """

    def __init__(
        self, model: BudgetedModel, ledger: Ledger, observer: CallObserver, form: Callable[[str], PathForm]
    ) -> None:
        self.ledger = ledger
        self._model = model
        self._observer = observer
        self._form = form

    def request(self, call: Call[object]) -> WritingRequest | None:
        """How the call is made to a writer; None where it has no such form."""
        if not has_form(call.name):
            return None
        form = self._form(call.name)
        request = call.constrained(form)
        return None if request is None else WritingRequest(request, form)

    async def write(self, call: Call[Reply], writing: WritingRequest) -> Reply:
        """What it writes; a fault is not repaired: it writes only what is offered, or as it likes.

        Raises ModelError and BudgetError.
        """
        with observed(Exchange(call.name, self._model, self.ledger), self._observer) as exchange:
            reply = await exchange.send(writing.request)
            try:
                result = call.read_written(reply, writing.form)
            except ModelReplyError as fault:
                exchange.refuse(fault)
                raise
            exchange.result = result
            return result


class AssistedReasoner:
    """A reasoner for which a writer answers the calls that can be held to a trie: GCR without any vendor."""

    constraint_level: ConstraintLevel = "token"
    constraint_limit = TOKEN_LIMIT

    def __init__(self, reasoner: ReasoningModel, writer: PathWriter) -> None:
        self.name = reasoner.name
        self.exhaustive = reasoner.exhaustive
        self.abstains: frozenset[Kind] = reasoner.abstains
        self._reasoner = reasoner
        self._writer = writer

    @property
    def left_out(self) -> int:
        """Candidates that the reasoner had no room for."""
        return self._reasoner.left_out

    async def ask(self, call: Call[Reply]) -> Reply:
        """The reply to the call; no request where there is nothing to ask about. Raises ModelError, BudgetError."""
        known = call.trivial()
        if known is not None:
            return known
        writing = self._writer.request(call)
        return await (self._reasoner.ask(call) if writing is None else self._writer.write(call, writing))

    async def close(self) -> None:
        """Closes the reasoner."""
        await self._reasoner.close()
