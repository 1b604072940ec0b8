"""The desk of a server: takes what clients ask, within its limits, and counts what that costs."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from fedkg.config.endpoint_spec import CachedEndpoint
from fedkg.config.settings import masked
from fedkg.core import deadline
from fedkg.core.answer import DOCUMENT_VERSION, Answer
from fedkg.core.events import Answered, Event
from fedkg.core.question import Match
from fedkg.core.terms import Direction
from fedkg.core.usage import Usage
from fedkg.engine.documents import MethodDocument, NeighboursDocument, PathsDocument, VerifyDocument
from fedkg.engine.proof_queries import ProofQuery, proof_queries
from fedkg.errors import DocumentError, EndpointTimeoutError, MethodError, ProfileError
from fedkg.methods import registry
from fedkg.serve.clients import ClientBook, ClientShare
from fedkg.serve.gate import Gate
from fedkg.serve.metrics import ServerMetrics
from fedkg.serve.records import AskRequest, Health, Offer, ServedEndpoint
from fedkg.serve.shelf import AnswerShelf
from fedkg.session import Session

__all__ = ["Desk"]

LOOKING = 60.0
"""Seconds that a search, a neighbourhood and a verification may take."""
ENOUGH = 50.0
"""Seconds after which a search for paths ends with what it has."""


class Desk:
    """One session, asked by many clients: each question waits at the `gate` and is booked on its client.

    The session's method is asked where none is named; `offered` are further ones that may be. `shelf` keeps the
    answers; None: they are not kept. Raises MethodError for a method that is not known, or not served by the model.
    """

    def __init__(
        self, session: Session, offered: Sequence[str], gate: Gate, clients: ClientBook, shelf: AnswerShelf | None
    ) -> None:
        self.session = session
        self.methods = tuple(dict.fromkeys((session.settings.method, *offered)))
        for name in self.methods:
            session.find_method(name)
        self.gate = gate
        self.clients = clients
        self.shelf = shelf
        self.metrics = ServerMetrics(gate)

    async def open(self) -> None:
        """Connects the endpoints, and closes the session where that fails. Raises InputError, EndpointError."""
        try:
            await self.session.graph()
        except BaseException:
            await self.session.aclose()
            raise

    async def events(self, asked: AskRequest, client: str) -> AsyncGenerator[Event, None]:
        """The walk of a question as it happens. Raises what `Session.events` does, and OverLimitError."""
        method = self._method(asked.method)
        async with self._turn(client) as share:
            walk = self.session.events(
                asked.question,
                asked.topics,
                asked.kind,
                asked.options,
                method=method,
                endpoints=asked.endpoints,
                charge=share.charge,
                spent=partial(self._book, share),
            )
            async with contextlib.aclosing(walk):
                while event := await _step(walk, share):
                    if isinstance(event, Answered):
                        self.metrics.answered(event.answer)
                    yield event

    async def answer(self, asked: AskRequest, client: str) -> Answer:
        """The answer to a question."""
        answer: Answer | None = None
        async with contextlib.aclosing(self.events(asked, client)) as walk:
            async for event in walk:
                if isinstance(event, Answered):
                    answer = event.answer
        assert answer is not None, "a walk ends with its answer"
        return answer

    async def search(self, text: str, limit: int, client: str) -> list[Match]:
        """The entities for that text."""
        async with self._looking(client):
            return await self.session.search(text, limit)

    async def neighbours(
        self, entity: str, directions: tuple[Direction, ...], limit: int, client: str
    ) -> NeighboursDocument:
        """The edges of an entity."""
        async with self._looking(client):
            match, near, names = await self.session.neighbours(entity, directions)
            hidden = await self.session.hidden(match.iri, directions)
            return NeighboursDocument.of(match, near, names, hidden, limit)

    async def paths(self, start: str, end: str, hops: int, client: str) -> PathsDocument:
        """The shortest walks between two entities, as far as there is time."""
        async with self._looking(client):
            with deadline.within(ENOUGH):
                return await self.session.paths(start, end, hops)

    async def verify(self, answer: Answer, client: str) -> VerifyDocument:
        """The edges of an answer, asked for again. Raises ProfileError for edges of endpoints that are not served."""
        if answer.version != DOCUMENT_VERSION:
            raise DocumentError(f"answer document version {answer.version} is not known (this is {DOCUMENT_VERSION})")
        async with self._looking(client):
            names = {endpoint.name for endpoint in await self._endpoints()}
            named = {edge.endpoint for path in answer.paths for edge in path.edges}
            if unknown := sorted(named - names):
                raise ProfileError(f"edges of {unknown[0][:100]!r}, which this server does not ask", hint=str(names))
            checked = await self.session.verify(answer)
            unproven = await asyncio.to_thread(answer.unproven, self.session.identity.allows)
        return VerifyDocument.of(answer, checked, [value.value for value in unproven])

    async def queries(self, answer: Answer, client: str) -> list[ProofQuery]:
        """The queries with which its edges are asked for again, endpoint by endpoint."""
        async with self._looking(client):
            kept = await self.session.kept()
            return await asyncio.to_thread(_queries, answer, kept)

    async def offer(self) -> Offer:
        """What may be asked for."""
        known = registry.usable()
        methods = tuple(MethodDocument.of(name, known[name]) for name in self.methods)
        return Offer(methods, await self._endpoints(), masked(self.session.settings.model), version("fedkg"))

    def health(self) -> Health:
        """How busy the server is."""
        return Health("draining" if self.gate.closed else "ok", self.gate.under_way, self.gate.waiting)

    async def _endpoints(self) -> tuple[ServedEndpoint, ...]:
        return tuple(ServedEndpoint(kept.name, kept.profile.title) for kept in await self.session.kept())

    def _method(self, name: str) -> str:
        """The method that was asked for. Raises MethodError for one that the server was not started with."""
        if name and name not in self.methods:
            hint = f"this server has: {', '.join(self.methods)}"
            raise MethodError(f"no method of this server is called {name[:100]!r}", hint=hint)
        return name or self.methods[0]

    def _book(self, share: ClientShare, usage: Usage) -> None:
        """Books what a question has cost, however it ended: a client that leaves in its midst pays for it, too."""
        share.book(usage)
        self.metrics.spent(usage)

    @asynccontextmanager
    async def _turn(self, client: str) -> AsyncIterator[ClientShare]:
        with self.clients.asking(client) as share:
            async with self.gate.turn():
                share.begin()
                yield share

    @asynccontextmanager
    async def _looking(self, client: str) -> AsyncIterator[None]:
        """A turn of limited time. Raises EndpointTimeoutError."""
        async with self._turn(client) as share:
            try:
                async with share.time(), asyncio.timeout(LOOKING):
                    yield
            except TimeoutError as error:
                raise EndpointTimeoutError(f"the endpoints took longer than {LOOKING:.0f} seconds") from error


async def _step(walk: AsyncGenerator[Event, None], share: ClientShare) -> Event | None:
    """The next event; None after the last. Raises OverLimitError where the client has no more time."""
    async with share.time():
        return await anext(walk, None)


def _queries(answer: Answer, endpoints: Sequence[CachedEndpoint]) -> list[ProofQuery]:
    unknown = {kept.name: kept.profile.shape.unknown for kept in endpoints}
    return [query for name, prefix in unknown.items() for query in proof_queries(answer, name, prefix)]
