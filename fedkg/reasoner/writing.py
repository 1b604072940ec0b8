"""Calls that a model answers token by token, held to what is offered; beside any other reasoner that does the rest."""

from typing import TypeVar

from fedkg.config.settings import ConstraintLevel
from fedkg.core.question import Kind
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.exchange import CallObserver, Exchange, observed
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.base import Call, ReasoningModel

__all__ = ["TOKEN_LIMIT", "AssistedReasoner", "PathWriter"]

TOKEN_LIMIT = 100_000
"""Most paths that are held in one trie: one of so many is made in seconds (eval/measure/trie.py)."""

Reply = TypeVar("Reply")


class PathWriter:
    """A model whose tokens can be held to the texts that a call offers."""

    def __init__(self, model: BudgetedModel, ledger: Ledger, observer: CallObserver) -> None:
        self.ledger = ledger
        self._model = model
        self._observer = observer

    async def write(self, call: Call[Reply], request: Request) -> Reply:
        """What it decodes: it can write nothing but what is offered, so that a fault is not repaired.

        Raises ModelError and BudgetError.
        """
        with observed(Exchange(call.name, self._model, self.ledger), self._observer) as exchange:
            reply = await exchange.send(request)
            offered = len(request.constraint.texts) if request.constraint else 0
            try:
                result = call.read(reply, offered)
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
        request = call.constrained()
        if request is None:
            return await self._reasoner.ask(call)
        known = call.trivial()
        return await self._writer.write(call, request) if known is None else known

    async def close(self) -> None:
        """Closes the reasoner."""
        await self._reasoner.close()
