"""The only place that wires adapters from settings: transports into graphs, models, embedders, the cache."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from fedkg.cache.fallback import FallbackStore
from fedkg.cache.journal import RecordingStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.common.per_loop import PerLoop
from fedkg.config import profiles
from fedkg.config.endpoint_spec import CachedEndpoint, hosted
from fedkg.config.settings import Settings, load, masked
from fedkg.core.answer import Answer
from fedkg.core.events import Answered, Event
from fedkg.core.meter import Meter
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Kind, Match, check_options, check_question
from fedkg.core.terms import Direction, Edge, Term
from fedkg.core.usage import Usage
from fedkg.embed.base import Similarity
from fedkg.embed.label_index import LabelIndex
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine import linking
from fedkg.engine import transcript as transcripts
from fedkg.engine.estimate import Asked, Estimate, estimate
from fedkg.engine.question_run import QuestionRun
from fedkg.engine.transcript import Transcript, TranscriptSink
from fedkg.errors import FedkgError, InputError, SettingsError
from fedkg.graph.base import Graph, chunks
from fedkg.graph.federated import FederatedGraph
from fedkg.graph.identity import Identity
from fedkg.graph.identity import load as load_identity
from fedkg.llm import prices
from fedkg.llm.base import ChatModel
from fedkg.llm.cached import CachedModel
from fedkg.llm.exchange import CallObserver
from fedkg.llm.ledger import Account, Ledger, Spend
from fedkg.methods import registry
from fedkg.methods.base import Method
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.lexical import LocalModel
from fedkg.reasoner.prompted import PromptedModel, doors
from fedkg.reasoner.prompts import context_fit
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.retrieval import registry as retrievers
from fedkg.transport.host_state import HostRegistry
from fedkg.wiring.adapters import chat_model, fallback_store, open_manners, path_model, text_similarity
from fedkg.wiring.endpoint_check import EndpointCheck, EndpointReport
from fedkg.wiring.endpoints import ConnectedEndpoint, check_endpoint, connect

__all__ = ["Checked", "Session"]

T = TypeVar("T")

# who closes a session waits for its labels to be embedded, but not for long
KEEP_SECONDS = 10.0
KEEP_LABELS = 200
CACHE_FAILED = "the cache failed: this was answered without it, and what was fetched may not be kept"

log = logging.getLogger(__name__)


class Checked(msgspec.Struct, frozen=True):
    """One edge that was asked for again, and whether its endpoint still says it; None where it could not be asked."""

    path: int
    edge: Edge
    holds: bool | None


class Session:
    """Endpoints, a model, an embedder and a cache, ready to be asked.

    `endpoints` are profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE, or SPARQLWrapper objects, whose
    authentication and headers are kept. Other settings are keyword arguments by name, nested ones by dots in a mapping:
    `Session("sample", model="local", **{"search.depth": 2})`. `chat` and `similarity` replace the named model and embedder,
    `store` the cache. `account` is that of several sessions which share the budget `run`. `transcript` is a file, or a sink of
    the caller's, that each call of the model is written into.

    Use it as an asynchronous context manager, or as a plain one with `run`; nothing is opened before its first use, and
    what the caller brought along is left open. Raises InputError for what cannot be wired.
    """

    def __init__(
        self,
        *endpoints: Any,
        settings: Settings | None = None,
        chat: ChatModel | None = None,
        similarity: Similarity | None = None,
        store: Store | None = None,
        account: Account | None = None,
        transcript: str | Path | TranscriptSink | None = None,
        **options: Any,
    ) -> None:
        for endpoint in endpoints:
            check_endpoint(endpoint)
        names = [str(endpoint) for endpoint in endpoints if isinstance(endpoint, str | Path)]
        self.settings = _settings(names, settings, options)
        self.meter = Meter()
        self._wrappers = [endpoint for endpoint in endpoints if not isinstance(endpoint, str | Path)]
        self._similarity = similarity
        self._store = store
        self._lasting: FallbackStore | None = None
        self._transcript_target = transcript
        self._manners: HostRegistry | None = None
        self._members: Sequence[ConnectedEndpoint] = ()
        self._graph: Graph | None = None
        self._recall: LabelIndex | None = None
        self._shown: dict[Term, str] = {}
        self._asked: list[str] = []
        self._connecting = PerLoop(asyncio.Lock)
        self._runner: asyncio.Runner | None = None
        self._closed = False
        self._connections = AsyncExitStack()
        self._files = ExitStack()
        self._chat = chat
        if chat is None and self.settings.model != "local":
            self._chat = chat_model(self.settings, lambda: self.store)
            self._connections.push_async_callback(self._chat.close)
        if chat is not None:
            self.settings = msgspec.structs.replace(
                self.settings, model=masked(chat.name)
            )  # the document says who was asked
        self._writer = path_model(self.settings, self._chat, lambda: self.store)
        if self._writer and self._writer is not self._chat:
            self._connections.push_async_callback(self._writer.close)
        if self._chat:
            context_fit.check(masked(self._chat.name), self._chat.capability)
        self._account = account or Account(self.settings.total_budget)
        limits = (self.settings.budget, self.settings.total_budget)
        self._prices = prices.table(self._chat.name, limits, self.settings.models_dir) if self._chat else ()

    async def graph(self) -> Graph:
        """The endpoints as one graph; connected on first use. Raises InputError after `aclose`."""
        self._check_open()
        if self._graph is None:
            async with self._connecting.here():
                # another task may have connected while this one waited
                self._graph = self._graph or await self._connect()
        return self._graph

    async def kept(self) -> list[CachedEndpoint]:
        """The endpoints as a session elsewhere knows them that has the cache and asks nobody; none where the method asks none."""
        if self.method.graph:
            await self.graph()
        graphs = [member.graph for member in self._members]
        return [CachedEndpoint(graph.name, graph.identity, graph.profile) for graph in graphs]

    @property
    def store(self) -> Store:
        """The cache, opened at its first use. Offline it raises CacheError where it cannot be used."""
        if self._store is None:
            self._check_open()
            self._store = self._recorded() if self.settings.cache else MemoryStore()
        return self._store

    def _recorded(self) -> RecordingStore:
        """The cache that outlives the session, closed with it; what was touched is noted as a run before."""
        self._lasting = fallback_store(self.settings)
        self._files.callback(self._lasting.close)
        recorder = RecordingStore(self._lasting, self.settings.mode, refresh=self.settings.refresh)
        self._files.callback(recorder.keep, self._asked)
        return recorder

    @property
    def method(self) -> Method:
        """How questions are answered. Raises MethodError where it is not known, or the model cannot serve it."""
        method = registry.find(self.settings.method, prompted=self._chat is not None)
        retrievers.find(self.settings.search.retriever)
        logprobs = self._chat is not None and self._chat.capability.logprobs
        registry.check(method, self.settings.search, masked(self.settings.model), logprobs=logprobs)
        offered = doors(self._chat, self._writer) if self._chat else (LocalModel.door,)
        registry.check_door(method, self.settings.search.door, offered, masked(self.settings.model))
        return method

    @property
    def manners(self) -> HostRegistry:
        """What is remembered of hosts, opened at its first use, in a place of its own: without a cache a ban still holds."""
        if self._manners is None:
            self._manners = open_manners(self.settings, self._files)
        return self._manners

    @cached_property
    def identity(self) -> Identity:
        """What joins the copies of one entity: the bundled table and the user's own. Raises ProfileError."""
        return load_identity(self.settings.profiles_dir)

    @cached_property
    def wordings(self) -> PromptLibrary:
        """The prompts: the bundled ones and the user's own. Raises PromptError."""
        vendor = self._chat.name.partition(":")[0] if self._chat else ""
        return PromptLibrary(self.settings.prompts_dir, vendor)

    @property
    def similarity(self) -> Similarity:
        """The similarity of texts; heavy libraries load at its first use."""
        if self._similarity is None:
            self._similarity = text_similarity(self.settings, self.store)
            if isinstance(self._similarity, LazySimilarity):
                self._files.callback(self._similarity.close)
        return self._similarity

    @cached_property
    def transcript(self) -> Transcript:
        """What the calls of the model are written into, opened at its first use. Raises SettingsError where that cannot be."""
        names = [self._chat.name] if self._chat else []
        transcript = transcripts.opened(self._transcript_target, self.settings, names)
        self._files.callback(transcript.close)
        return transcript

    async def events(
        self, question: str, topics: str | Sequence[str] = (), kind: Kind | None = None, options: Sequence[str] = ()
    ) -> AsyncIterator[Event]:
        """The walk of one question as it happens; the last event is Answered. The arguments are those of `ask`."""
        self._check_open()
        observer = self.transcript.observer(question)
        self._account.begin()
        graph, meter = await self.graph() if self.method.graph else FederatedGraph(()), Meter()
        ledger = Ledger(self._prices, self._account)
        self._asked.append(question)
        topics = [topics] if topics and isinstance(topics, str) else topics
        model, settings = self._model(ledger, observer), self.settings

        def cost() -> Usage:
            return _cost(meter, ledger.total)

        run = QuestionRun(question, graph, model, self.similarity, settings, cost, topics, kind, options, ledger)
        walk = run.events()
        try:
            while event := await _step(walk, meter):
                yield self._with_notice(event)
        except FedkgError as error:
            error.usage = run.usage()
            raise
        finally:
            self._shown |= run.names

    async def ask(
        self,
        question: str,
        topics: str | Sequence[str] = (),
        on_event: Callable[[Event], None] = lambda _: None,
        *,
        kind: Kind | None = None,
        options: Sequence[str] = (),
    ) -> Answer:
        """The answer to one question; `topics` are labels or IRIs (one, or several) of the entities where the walk starts.

        `kind` says what is asked for where the question leaves that open; `options` are those of a multiple choice.
        """
        answer: Answer | None = None
        async for event in self.events(question, topics, kind, options):
            on_event(event)
            if isinstance(event, Answered):
                answer = event.answer
        assert answer is not None, "a run ends with its answer"
        return answer

    async def estimate(
        self, question: str, topics: str | Sequence[str] = (), *, kind: Kind | None = None, options: Sequence[str] = ()
    ) -> Estimate:
        """What `ask` would cost with these arguments. Nobody is asked; in offline mode no key is needed either."""
        if self.method.graph:
            await self.graph()
        asked = Asked(check_question(question), bool(topics), *check_options(kind, options))
        ends = len(self._members)
        return await estimate(asked, self.settings, self._chat, self.wordings, self._prices, endpoints=ends)

    def usage(self) -> Usage:
        """What all questions of the session together have really cost so far: kept replies cost nothing again.

        Of the model what all sessions with its account have cost.
        """
        return _cost(self.meter, self._account.total)

    @property
    def spent(self) -> str:
        """What of the budget of all questions together (`run`) is spent, so that a further one finds nothing; "" if none."""
        return self._account.spent

    async def search(self, text: str, limit: int = 10) -> list[Match]:
        """The candidates for that text, the best first, with what they are: description and type.

        First the entities with that label or alias, then those that a look-up by words finds; where there are none, those
        with a similar label.
        """
        graph = await self.graph()
        self._asked.append(f"search {text}")
        exact, alike = (await graph.search([text], limit))[text], (await graph.lookup([text], limit))[text]
        known = {match.iri for match in exact}
        found = [*exact, *(match for match in alike if match.iri not in known)][:limit]
        return await graph.describe(found or await graph.nearest(text, limit))

    async def similar(self, text: str, limit: int = 10) -> list[Match]:
        """The entities and relations nearest in meaning, among all labels that walks over these endpoints have shown.

        Without a cache these are the walks of this session. Raises InputError where the similarity is lexical and has no
        vectors.
        """
        await self.graph()
        recall = self._recalled()
        if recall is None:
            raise InputError(f"the embedder {self.similarity.name} has no vectors", hint="use --embedder minilm")
        await recall.add(self._shown)
        return await recall.nearest(text, limit)

    async def neighbours(
        self, entity: str, directions: Sequence[Direction] = ("out", "in")
    ) -> tuple[Match, list[Neighbourhood], Mapping[Any, str]]:
        """The entity of that IRI or label, its edges, and the labels of all that stands on them."""
        graph = await self.graph()
        self._asked.append(f"neighbours {entity}")
        match = (await linking.given(graph, [entity]))[0]
        found = [near for way in directions for near in await graph.neighbours([match.iri], way)]
        terms = (term for near in found for edge in near.edges for term in edge.terms)
        names = await graph.labels(dict.fromkeys([match.iri, *terms]))
        return msgspec.structs.replace(match, label=names[match.iri]), found, names

    async def verify(self, answer: Answer) -> list[Checked]:
        """Asks for every edge of every path again."""
        graph = await self.graph()
        edges = [(number, shown.edge) for number, path in enumerate(answer.paths) for shown in path.edges]
        holds = await graph.holds([edge for _, edge in edges])
        return [Checked(number, edge, said) for (number, edge), said in zip(edges, holds, strict=True)]

    async def check(self) -> list[EndpointReport]:
        """What the doctor finds of each endpoint, one after the other; what is wrong with one stands in its report."""
        await self.graph()
        own = self.settings.profiles_dir
        known = [profiles.find(name, own) for name in profiles.names(own)]
        return [await EndpointCheck(member, self.settings.languages, known).report() for member in self._members]

    async def forget(self) -> list[str]:
        """Forgets what is remembered of the endpoints' hosts: bans, pauses, failures, engines. Returns the endpoints' URLs."""
        urls = hosted(self.settings)
        for url in urls:
            await self.manners.forget(url)
        return [masked(url) for url in urls]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs one of the session's coroutines to its end, for callers that are not asynchronous.

        Raises InputError inside a running event loop, such as a notebook's, and after `close`.
        """
        try:
            _check_no_loop()
            self._check_open()
        except InputError:
            work.close()
            raise
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(work)

    async def aclose(self) -> None:
        """Keeps the labels that were shown, and frees what the session has opened, all of it whatever fails.

        The first call counts; raises the last error of what could not be closed.
        """
        self._closed = True
        with self._files:
            async with self._connections:
                await self._keep_labels()

    def close(self) -> None:
        """`aclose` for callers that are not asynchronous.

        Inside a running event loop it frees files and threads only, and raises InputError: connections need `aclose`.
        """
        if self._closed and self._runner is None:
            return
        if _in_loop():
            self._shown.clear()
            self._files.close()
            self._closed = True
            raise InputError("an event loop is running already", hint="await Session.aclose instead")
        with self._runner or asyncio.Runner() as runner:
            self._runner = None
            runner.run(self.aclose())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hurry(kind)
        await self.aclose()

    def __enter__(self) -> Self:
        _check_no_loop()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hurry(kind)
        self.close()

    def _hurry(self, kind: type[BaseException] | None) -> None:
        """Who interrupts a session does not wait for labels to be embedded."""
        if kind and not issubclass(kind, Exception):
            self._shown.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("the session is closed", hint="make a new Session; what it fetched is in the cache")

    async def _connect(self) -> Graph:
        members = await connect(
            self.settings.endpoints,
            self._wrappers,
            self.settings,
            self.meter,
            self.store,
            manners=lambda: self.manners,
            identity=self.identity,
        )
        for member in members:
            self._connections.push_async_callback(member.select.close)
            if member.lookup:
                self._connections.push_async_callback(member.lookup.close)
        self._members = members
        graphs = [member.graph for member in members]
        return graphs[0] if len(graphs) == 1 else FederatedGraph(graphs, self.identity)

    async def _keep_labels(self) -> None:
        """Puts the labels that the walks have shown into the index on disk, if that can be done, as many as there is time for.

        What a thread has begun cannot be interrupted, so they go in parts. Offline what is kept is used, and nothing added:
        one new label would load the embedder.
        """
        shown, self._shown = self._shown, {}
        if not shown or not self.settings.cache or self.settings.mode == "offline":
            return
        try:
            if recall := self._recalled():
                end = time.monotonic() + KEEP_SECONDS
                for part in chunks(list(shown.items()), KEEP_LABELS):
                    await recall.add(dict(part))
                    if time.monotonic() >= end:
                        break
                await asyncio.to_thread(recall.save)
        except (FedkgError, ValueError, RuntimeError, OSError) as error:
            log.warning("the labels that were shown could not be kept: %s", error)

    def _recalled(self) -> LabelIndex | None:
        """The labels of this graph, whatever its endpoints are called and in which order; None for a lexical similarity."""
        if self._recall is None and isinstance(self.similarity, LazySimilarity):
            folder = self.settings.cache_path / "labels" if self.settings.cache else None
            graph = "\n".join(sorted(member.graph.identity for member in self._members))
            self._recall = LabelIndex(folder, graph, self.similarity)
        return self._recall

    def _with_notice(self, event: Event) -> Event:
        """The event; an answer that was found without the cache, because that fails, says so."""
        if not isinstance(event, Answered) or self._lasting is None or not self._lasting.failed:
            return event
        warnings = (*event.answer.warnings, CACHE_FAILED)
        return Answered(msgspec.structs.replace(event.answer, warnings=warnings))

    def _model(self, ledger: Ledger, observer: CallObserver) -> ReasoningModel:
        if self._chat is None:
            return LocalModel(self.similarity)
        make = partial(PromptedModel, ledger=ledger, budget=self.settings.budget, wordings=self.wordings)
        make = partial(make, door=self.settings.search.door, observer=observer)
        if not self.settings.keeps_replies:
            return make(self._chat, writer=self._writer)
        kept, writer = CachedModel(self._chat, self.store), self._writer and CachedModel(self._writer, self.store)
        return make(kept, writer=writer, forget=kept.forget)


async def _step(walk: AsyncIterator[Event], meter: Meter) -> Event | None:
    """The next event; what it costs is counted by the question's meter, and by no other that is asked meanwhile."""
    with meter.own():
        return await anext(walk, None)


def _cost(meter: Meter, spend: Spend) -> Usage:
    """What was asked of endpoints and of the model, as one usage."""
    return msgspec.structs.replace(
        meter.usage(),
        model_calls=spend.calls,
        tokens_in=spend.tokens_in,
        tokens_out=spend.tokens_out,
        cached=spend.cached,
        price=spend.price,
    )


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _check_no_loop() -> None:
    if _in_loop():
        raise InputError(
            "an event loop is running already", hint="await the coroutine instead: fedkg.aask, Session.ask"
        )


def _settings(names: Sequence[str], settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """What the caller gave: ready settings, or options by name; endpoints go with both."""
    made = _given(names, settings, options)
    if made.refresh and made.mode == "offline":
        raise SettingsError("nothing can be refreshed in offline mode", hint="leave out --refresh, or --mode offline")
    return made


def _given(names: Sequence[str], settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    if settings is None:
        return load(flags={"endpoints": names, **options})
    if given := ", ".join(sorted(name for name, value in options.items() if value is not None)):
        raise SettingsError(f"settings are given, and options besides: {given}", hint="put them into the settings")
    return msgspec.structs.replace(settings, endpoints=tuple(names)) if names else settings
