"""Session: the endpoints, the model, the embedder and the cache of many questions, behind one door."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Unpack

import msgspec

from fedkg.cache.store import Store
from fedkg.common.concurrency import concurrently
from fedkg.common.lifecycle import Lifecycle
from fedkg.common.per_loop import PerLoop
from fedkg.config import profiles
from fedkg.config.endpoint_spec import CachedEndpoint, Endpoint, hosted
from fedkg.config.keywords import SettingsKeywords
from fedkg.config.settings import Settings, masked
from fedkg.core import deadline
from fedkg.core.answer import Answer
from fedkg.core.conversation import Turn
from fedkg.core.events import Answered, Event
from fedkg.core.meter import Meter, asker
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Kind, Match, check_options, check_question
from fedkg.core.terms import Direction, Iri, Term
from fedkg.core.usage import Usage
from fedkg.embed.base import IndexedLabels, NearestLabels, Similarity
from fedkg.embed.label_search import LabelSearch
from fedkg.engine import lookup, query_check
from fedkg.engine.conversation import FollowUp, known_entities, understood
from fedkg.engine.documents import PathsDocument
from fedkg.engine.estimate import Asked, Estimate, estimate
from fedkg.engine.listing import listed
from fedkg.engine.lookup import Checked
from fedkg.engine.query_check import QueryCheck
from fedkg.engine.question_run import QuestionRun
from fedkg.engine.transcript import Transcript, TranscriptSink
from fedkg.errors import FedkgError, InputError
from fedkg.graph.base import Graph
from fedkg.graph.federated import FederatedGraph
from fedkg.graph.hidden_edges import HiddenEdges
from fedkg.graph.identity import Identity
from fedkg.graph.shortest_paths import Bounds
from fedkg.llm.base import ChatModel
from fedkg.llm.ledger import Account, Ledger, usage_of
from fedkg.methods.base import Method
from fedkg.reasoner.base import ReasonerFactory, ReasoningModel
from fedkg.retrieval.base import Retriever
from fedkg.transport.base import Transport
from fedkg.transport.host_state import HostRegistry
from fedkg.wiring.check.report import EndpointReport
from fedkg.wiring.endpoints import ConnectedEndpoint, parted
from fedkg.wiring.own_parts import OwnParts, chosen_settings
from fedkg.wiring.services import Services

__all__ = ["Session"]

AT_ONCE = 64
"""Questions of one event loop that are on their way at once: more only make each other, and the memory, wait."""
CACHE_FAILED = "the cache failed: this was answered without it, and what was fetched may not be kept"


class Session(Lifecycle):
    """Endpoints, a model, an embedder and a cache, ready to be asked.

    `endpoints`, one after the other or in a list, are profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE, or
    SPARQLWrapper objects, whose authentication and headers are kept. Settings are keyword arguments by name, those of
    the search and the budgets as well: `Session("sample", model="local", depth=2, max_calls=5)`.

    Objects stand in for what settings name: `transport` is one more endpoint, `graph` is used as it is and needs none,
    `reasoner` stands for the model and its prompts, or is a function that makes one around these for each question,
    whose calls the answer's ledger then has; `chat` stands for the model alone, `similarity` for the embedder, `store`
    for the cache, `retriever` and `method` for those of that name. `account` is that of several sessions which share
    the budget `run`. `transcript` is a file, or a sink of the caller's, that each call of the model is written into.

    Use it as an asynchronous context manager, or as a plain one with `run`, from as many threads and event loops as you
    like; nothing is opened before its first use, and what the caller brought along is left open. Closing ends what is
    under way with a SessionClosedError. Raises InputError for what cannot be wired.
    """

    def __init__(
        self,
        *endpoints: Endpoint | Sequence[Endpoint],
        transport: Transport | None = None,
        graph: Graph | None = None,
        reasoner: ReasoningModel | ReasonerFactory | None = None,
        chat: ChatModel | None = None,
        similarity: Similarity | None = None,
        store: Store | None = None,
        retriever: str | Retriever | None = None,
        method: str | Method | None = None,
        account: Account | None = None,
        transcript: str | Path | TranscriptSink | None = None,
        settings: Settings | None = None,
        **options: Unpack[SettingsKeywords],
    ) -> None:
        super().__init__()
        specs, objects = parted(endpoints)
        named: dict[str, object] = {"method": method, "retriever": retriever}
        named = {name: part for name, part in named.items() if isinstance(part, str)}
        parts = OwnParts(
            objects,
            transport,
            graph,
            reasoner,
            chat,
            similarity,
            store,
            None if isinstance(retriever, str) else retriever,
            None if isinstance(method, str) else method,
            transcript,
        )
        parts.check(specs)
        self._services = Services(chosen_settings(specs, settings, {**named, **options}), parts)
        self._turns = PerLoop(partial(asyncio.Semaphore, AT_ONCE))
        self._account = account or Account(self.settings.total_budget)
        self._indexed = False
        self._labels = LabelSearch(
            self.settings.cache_path / "labels" if self.settings.cache else None,
            offline=self.settings.mode == "offline",
        )

    # ---- what it works with ----

    @property
    def settings(self) -> Settings:
        """The settings, with the names of what the caller brought along."""
        return self._services.settings

    @property
    def store(self) -> Store:
        """The cache, opened at its first use. Offline it raises CacheError where it cannot be used."""
        return self._services.cache.store()

    @property
    def method(self) -> Method:
        """How questions are answered. Raises MethodError where it is not known, or the model cannot serve it."""
        return self._services.method()

    def find_method(self, name: str) -> Method:
        """The method of that name, as a question may name it. Raises MethodError as `method` does."""
        return self._services.method(name)

    @property
    def host_registry(self) -> HostRegistry:
        """What is remembered of hosts: bans, pauses, failures, engines."""
        return self._services.host_registry

    @property
    def identity(self) -> Identity:
        """What joins the copies of one entity. Raises ProfileError."""
        return self._services.identity

    @property
    def similarity(self) -> Similarity:
        """The similarity of texts; heavy libraries load at its first use."""
        return self._services.similarity

    @property
    def meter(self) -> Meter:
        """What was asked of endpoints, by all questions together."""
        return self._services.meter

    @property
    def transcript(self) -> Transcript:
        """What the calls of the model are written into, opened at its first use. Raises SettingsError."""
        return self._services.transcript

    async def graph(self) -> Graph:
        """The endpoints as one graph; connected on first use. Raises SessionClosedError after `aclose`."""
        async with self._in_flight.one():
            return await self._services.graph()

    async def kept(self) -> list[CachedEndpoint]:
        """The endpoints as a session with nothing but the cache sees them; none where the method asks none."""
        if self.method.graph:
            await self.graph()
        graphs = [member.graph for member in self._services.members]
        return [CachedEndpoint(graph.name, graph.identity, graph.profile) for graph in graphs]

    # ---- questions ----

    async def events(
        self,
        question: str,
        topics: str | Sequence[str] = (),
        kind: Kind | None = None,
        options: Sequence[str] = (),
        *,
        method: str = "",
        endpoints: Sequence[str] = (),
        charge: Callable[[Usage], None] = lambda _: None,
        spent: Callable[[Usage], None] = lambda _: None,
    ) -> AsyncGenerator[Event, None]:
        """The walk of one question as it happens; the last event is Answered. The arguments are those of `ask`.

        `charge` is told before each call of the model what the question has cost so far; an error that it raises ends
        the question. `spent` is told at the end, also where nothing more of it is asked for.
        """
        self._in_flight.check()
        services, observer = self._services, self.transcript.observer(question)
        self._account.begin()
        settings, graph = await self._chosen(method, endpoints)
        meter, ledger = Meter(), Ledger(services.prices, self._account, lambda: charge(run.usage()))
        services.cache.note(question)
        run = QuestionRun(
            question,
            graph,
            services.reasoner(ledger, observer),
            services.similarity,
            settings,
            lambda: usage_of(meter, ledger.total),
            [topics] if topics and isinstance(topics, str) else topics,
            kind,
            options,
            ledger,
            method=None if method else services.parts.method,
            retriever=services.parts.retriever,
            similar=self._alike,
            top=self._top,
        )
        try:
            async with contextlib.aclosing(run.events()) as walk:
                while event := await self._step(walk, meter):
                    yield await self._with_notice(event)
        except FedkgError as error:
            error.usage = run.usage()
            raise
        finally:
            self._labels.shown.add(run.names)
            spent(run.usage())
            ledger.close()

    async def ask(
        self,
        question: str,
        topics: str | Sequence[str] = (),
        on_event: Callable[[Event], None] = lambda _: None,
        *,
        kind: Kind | None = None,
        options: Sequence[str] = (),
        method: str = "",
        endpoints: Sequence[str] = (),
    ) -> Answer:
        """The answer to one question; `topics` are labels or IRIs (one, or several) of the entities where it starts.

        `kind` says what is asked for where the question leaves that open; `options` are those of a multiple choice.
        `method` stands for that of the session, `endpoints` for all of its endpoints: some of them, by the names that
        proofs have. Raises MethodError and ProfileError where there is none called so. Of very many questions at once
        64 are on their way; the time of the others begins when their turn comes.
        """
        answer: Answer | None = None
        walk = self.events(question, topics, kind, options, method=method, endpoints=endpoints)
        async with self._turn(), contextlib.aclosing(walk):
            async for event in walk:
                on_event(event)
                if isinstance(event, Answered):
                    answer = event.answer
        assert answer is not None, "a run ends with its answer"
        return answer

    async def follow_up(self, message: str, turns: Sequence[Turn]) -> FollowUp:
        """What a further message of a conversation asks; `turns` are the earlier ones, the oldest first.

        The model `local` goes by pronouns and bare relations, a language model is asked in one small call: it picks
        numbers of known entities and questions. Raises InputError, EndpointError and ModelError.
        """
        text = check_question(message)
        if not turns:
            return FollowUp(text)
        async with self._in_flight.one():
            graph = await self.graph()
            entities = await lookup.with_types(graph, known_entities(turns))
            reasoner = self._services.reasoner(
                Ledger(self._services.prices, self._account), self.transcript.observer(text)
            )
            return await understood(reasoner, text, turns, entities)

    async def estimate(
        self, question: str, topics: str | Sequence[str] = (), *, kind: Kind | None = None, options: Sequence[str] = ()
    ) -> Estimate:
        """What `ask` would cost with these arguments. Nothing is sent; in offline mode no key is needed either."""
        services, method = self._services, self.method
        if method.graph:
            await self.graph()
        return await estimate(
            Asked(check_question(question), bool(topics), *check_options(kind, options)),
            self.settings,
            services.chat,
            services.prompts,
            services.prices,
            endpoints=len(services.members),
            method=method,
            retriever=services.parts.retriever,
            own_reasoner=services.parts.reasoner is not None,
        )

    def usage(self) -> Usage:
        """What all questions of the session together have really cost so far: kept replies cost nothing again.

        Of the model what all sessions with its account have cost.
        """
        return usage_of(self.meter, self._account.total)

    @property
    def spent(self) -> str:
        """What of the budget of all questions (`run`) is spent, so that a further one finds nothing; "" if none."""
        return self._account.spent

    # ---- looking around ----

    async def search(self, text: str, limit: int = 10) -> list[Match]:
        """The candidates for that text, the best first, with what they are: description and type.

        First the entities with that label or alias, then those that a look-up by words finds; where there are none,
        those with a similar label.
        """
        async with self._in_flight.one():
            graph = await self.graph()
            self._services.cache.note(f"search {text}")
            return await lookup.candidates(graph, text, limit)

    async def similar(self, text: str, limit: int = 10) -> list[Match]:
        """The entities and relations nearest in meaning, among all labels that walks over these endpoints have shown.

        Without a cache these are the walks of this session. Raises InputError where the similarity is lexical and has
        no vectors.
        """
        async with self._in_flight.one():
            await self.graph()
            return await self._labels.nearest(text, limit, self._services.graph_identity, self.similarity)

    async def neighbours(
        self, entity: str, directions: Sequence[Direction] = ("out", "in")
    ) -> tuple[Match, list[Neighbourhood], Mapping[Term, str]]:
        """The entity of that IRI or label, its edges, and the labels of all that stands on them."""
        async with self._in_flight.one():
            graph = await self.graph()
            self._services.cache.note(f"neighbours {entity}")
            return await lookup.surroundings(graph, entity, directions)

    async def paths(self, start: str, end: str, hops: int = 3, frontier: int = 200) -> PathsDocument:
        """The shortest walks between two entities, each given by IRI or label, of at most `hops` steps.

        It is searched from both ends; `frontier` entities around an end are gone through at a step. The time of a
        question bounds it, and what is left out then is told. Raises TopicError and InputError.
        """
        async with self._in_flight.one():
            graph = await self.graph()
            self._services.cache.note(f"paths {start} {end}")
            with deadline.within(self.settings.budget.seconds):
                ends, shortest, names = await lookup.connected(graph, start, end, Bounds(hops, frontier))
            walks = (path.walks(path.tails[0]) for path in shortest.paths)
            return PathsDocument.of(ends, hops, walks, shortest.cut, names)

    async def entities(self, limit: int = 1_000) -> list[Iri]:
        """Some entities that have a label, of each endpoint at most so many, in no order that means anything.

        Raises EndpointError, and InputError where the session has a graph of the caller's instead of endpoints.
        """
        async with self._in_flight.one():
            await self.graph()
            lists = await concurrently(*(member.graph.labelled(limit) for member in self._listing_members()))
            return list(dict.fromkeys(entity for some in lists for entity in some))

    def _listing_members(self) -> Sequence[ConnectedEndpoint]:
        if not self._services.members:
            raise InputError("entities can be listed of endpoints, and not of a graph of your own")
        return self._services.members

    @property
    def indexed(self) -> bool:
        """Whether this session has embedded the labels of the whole graph."""
        return self._indexed

    async def index(self, limit: int = 1_000_000) -> IndexedLabels:
        """Embeds the labels of the whole graph: its relations, and of each endpoint at most `limit` entities.

        What walks show is found by meaning without it; the retriever `global` needs it. It goes on from where it was
        left, and without what an endpoint cannot list. Raises EndpointError where nothing can be listed, InputError as
        `entities` does and where the similarity has no vectors, and what the embedder raises.
        """
        async with self._in_flight.one():
            graph = await self.graph()
            listing = await listed([member.graph for member in self._listing_members()], limit)
            labels = await graph.labels([*listing.entities, *listing.relations])
            apart: dict[Term, str] = {relation: labels[relation] for relation in listing.relations}
            identity = self._services.graph_identity
            added = await self._labels.embed(labels, apart, identity, self.similarity)
            self._indexed = True
            return IndexedLabels(len(labels) - len(apart), len(apart), added, listing.missing)

    async def hidden(self, entity: Iri, directions: Sequence[Direction] = ("out", "in")) -> list[HiddenEdges]:
        """How many edges of the entity each endpoint's profile hides; of no endpoint where that cannot be told."""
        async with self._in_flight.one():
            return await lookup.hidden(await self.graph(), [entity], directions)

    async def verify(self, answer: Answer) -> list[Checked]:
        """Asks for every edge of every path again."""
        async with self._in_flight.one():
            return await lookup.verified(await self.graph(), answer)

    async def check_query(self, answer: Answer) -> QueryCheck | None:
        """What the answer's query returns at its endpoint, beside its answers; None where it has no query."""
        async with self._in_flight.one():
            return await query_check.check_query(await self.graph(), answer)

    async def check(self) -> list[EndpointReport]:
        """What is found of each endpoint, one after the other; what is wrong with one stands in its report."""
        async with self._in_flight.one():
            from fedkg.wiring.check.examination import EndpointCheck  # noqa: PLC0415  # no question needs it

            await self.graph()
            known, _ = profiles.readable(self.settings.profiles_dir)
            languages, contact = self.settings.languages, self.settings.contact
            checks = [EndpointCheck(member, languages, known, contact) for member in self._services.members]
            return [await check.report() for check in checks]

    async def forget(self) -> list[str]:
        """Forgets what is remembered of the endpoints' hosts: bans, pauses, failures, engines. Returns their URLs."""
        async with self._in_flight.one():
            urls = hosted(self.settings)
            for url in urls:
                await self.host_registry.forget(url)
            return [masked(url) for url in urls]

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """The turn of a question; one that is asked on the way of another is part of it."""
        if asker():
            yield
            return
        turns = self._turns.here()
        async with self._in_flight.one():
            await turns.acquire()
        try:
            yield
        finally:
            turns.release()

    async def _chosen(self, method: str, endpoints: Sequence[str]) -> tuple[Settings, Graph]:
        """The settings of one question and the graph that it is asked of; an empty one where the method asks none."""
        services = self._services
        settings = msgspec.structs.replace(services.settings, method=method) if method else services.settings
        if not services.method(method).graph:
            return settings, FederatedGraph(())
        async with self._in_flight.one():
            graph, specs = await services.part(endpoints)
        return msgspec.structs.replace(settings, endpoints=specs), graph

    async def _alike(self, names: Sequence[str]) -> Mapping[str, list[Match]]:
        """The labels near to the names in meaning, among those that a search by meaning has embedded."""
        return await self._labels.named(names, self._services.graph_identity, self.similarity)

    async def _top(self, text: str, m: int) -> NearestLabels:
        """The entities and relations of the whole graph nearest to the text, after `index`."""
        return await self._labels.top(text, m, self._services.graph_identity, self.similarity)

    async def _with_notice(self, event: Event) -> Event:
        """The event; an answer once all is kept, with a notice where the cache fails."""
        if not isinstance(event, Answered) or not await self._services.cache.has_failed():
            return event
        warnings = (*event.answer.warnings, CACHE_FAILED)
        return Answered(msgspec.structs.replace(event.answer, warnings=warnings))

    async def _step(self, walk: AsyncIterator[Event], meter: Meter) -> Event | None:
        """The next event; what it costs is counted by the question's meter, and by no other that is asked meanwhile."""
        async with self._in_flight.one():
            with meter.own():
                return await anext(walk, None)

    async def _free(self) -> None:
        """Writes down the labels that were shown, and frees what was opened."""
        try:
            await asyncio.to_thread(self._save_labels)
        finally:
            await self._services.aclose()

    def _free_files(self) -> None:
        self._services.close_files()

    def _save_labels(self) -> None:
        """Does so once, and not where the files are closed already."""
        if self._labels.shown.all() and not self._services.closed:
            self._labels.save(self._services.graph_identity, self.similarity)
