"""What a session works with: each thing made from its settings at its first use, or brought along by the caller."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from functools import cached_property, partial
from typing import TYPE_CHECKING

from fedkg.cache.journal import ASKED, RecordingStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.cache.write_behind import WriteBehindStore
from fedkg.common.bounded import BoundedDict
from fedkg.common.per_loop import PerLoop
from fedkg.config.settings import ConstraintLevel, Settings, masked
from fedkg.core.meter import Meter
from fedkg.embed.base import Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine import transcript as transcripts
from fedkg.engine.transcript import Transcript
from fedkg.errors import ProfileError, SessionClosedError, SettingsError
from fedkg.graph.base import Graph
from fedkg.graph.federated import FederatedGraph
from fedkg.graph.identity import Identity
from fedkg.graph.identity import load as load_identity
from fedkg.llm import prices
from fedkg.llm.base import ChatModel
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.cached import CachedModel
from fedkg.llm.exchange import CallObserver
from fedkg.llm.ledger import Ledger
from fedkg.methods import registry
from fedkg.methods.base import Method
from fedkg.reasoner import path_format
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.trained import TrainedLocalModel
from fedkg.reasoner.local.trained_graphs import TrainedGraph
from fedkg.reasoner.path_format import PathForm
from fedkg.reasoner.writing import AssistedReasoner, PathWriter
from fedkg.retrieval import registry as retrievers
from fedkg.transport.host_state import HostRegistry
from fedkg.wiring.adapters import (
    chat_model,
    check_scorer,
    fallback_store,
    open_host_registry,
    path_model,
    scorer_calibration,
    scorer_graphs,
    scorer_similarity,
    text_similarity,
)
from fedkg.wiring.endpoints import ConnectedEndpoint, connect
from fedkg.wiring.own_parts import OwnParts

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.library import PromptLibrary

__all__ = ["Cache", "Services"]

MOST_PARTS = 100
"""Choices among a session's endpoints whose graphs are remembered."""


class Cache:
    """The cache of one session: the caller's own, or the one that the settings name, opened at its first use.

    What was asked and touched is noted as a run when `files` are closed. It is opened under the session's `lock`, and
    only if `check_open` does not raise.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store | None,
        files: ExitStack,
        lock: threading.RLock,
        check_open: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._files = files
        self._lasting: WriteBehindStore | None = None
        self._asked: list[str] = []
        self._lock = lock
        self._check_open = check_open

    def store(self) -> Store:
        """The cache. Offline it raises CacheError where it cannot be used; SessionClosedError if opened too late."""
        with self._lock:
            if self._store is None:
                self._check_open()
                self._store = self._recorded() if self._settings.cache else MemoryStore()
            return self._store

    async def has_failed(self) -> bool:
        """Whether the lasting store has failed, so that something may not be kept; waits until all is written."""
        if self._lasting is None:
            return False
        if self._lasting.waiting:
            await asyncio.to_thread(self._lasting.flush)
        return self._lasting.failed

    def note(self, asked: str) -> None:
        """Notes what the session was asked; a run is known by the first of it."""
        if len(self._asked) < ASKED:
            self._asked.append(asked)

    def _recorded(self) -> RecordingStore:
        """The cache that outlives the session, closed with it; what was touched is noted as a run before."""
        self._lasting = WriteBehindStore(fallback_store(self._settings))
        self._files.callback(self._lasting.close)
        recorder = RecordingStore(self._lasting, self._settings.mode, refresh=self._settings.refresh)
        self._files.callback(recorder.keep, self._asked)
        return recorder


class Services:
    """What one session works with. What is made here is closed here; what the caller brought along is left open.

    Models are made at once, so that a missing key is said before anything is fetched; nothing else is opened before its
    first use, and nothing at all once it is closed: that raises SessionClosedError, since it would stay open.
    Several threads and event loops may use it.
    """

    def __init__(self, settings: Settings, parts: OwnParts | None = None) -> None:
        self.parts = parts = parts or OwnParts()
        self.settings = settings = parts.in_settings(settings)
        self.meter = Meter()
        self.members: Sequence[ConnectedEndpoint] = ()
        self._connections, self._files = AsyncExitStack(), ExitStack()
        self.closed = False
        self._lock = threading.RLock()
        self.cache = Cache(settings, parts.store, self._files, self._lock, self._check_open)
        self._similarity = parts.similarity
        self._transcript: Transcript | None = None
        self._host_registry: HostRegistry | None = None
        self._graph = parts.graph
        self._parts_of_graph: BoundedDict[tuple[str, ...], Graph] = BoundedDict(MOST_PARTS)
        self._connecting = PerLoop(asyncio.Lock)
        self.chat = self._chat_model() if parts.chat is None else parts.chat
        self._writer = self._path_model()
        if self.chat:
            from fedkg.reasoner.prompts import context_fit  # noqa: PLC0415  # Jinja is for hosted models only

            context_fit.check(masked(self.chat.name), self.chat.capability)
        limits = (settings.budget, settings.total_budget)
        self.prices = prices.table(self.chat.name, limits, settings.models_dir) if self.chat else ()

    # ---- the graph ----

    async def graph(self) -> Graph:
        """The endpoints as one graph, or the caller's own; connected at first use. Raises InputError, EndpointError."""
        async with self._connecting.here():
            return await self._connect() if self._graph is None else self._graph

    async def part(self, names: Sequence[str]) -> tuple[Graph, tuple[str, ...]]:
        """The endpoints of these names as one graph, and what `-e` was given for them; all of them where none is named.

        Raises ProfileError for a name that none of them has.
        """
        graph = await self.graph()
        if not names:
            return graph, self.settings.endpoints
        by_name = {member.graph.name: member.graph for member in self.members}
        if unknown := [name for name in names if name not in by_name]:
            hint = f"it has: {', '.join(by_name)}"
            raise ProfileError(f"the session has no endpoint called {unknown[0][:100]!r}", hint=hint)
        specs = zip(dict.fromkeys(self.settings.endpoints), by_name, strict=False)  # objects follow, without any
        chosen = tuple(name for name in by_name if name in names)
        return self._federated(chosen), tuple(spec for spec, name in specs if name in chosen)

    def _federated(self, names: tuple[str, ...]) -> Graph:
        """The graph of some of the endpoints; what it remembers of copies is kept for the next question."""
        if names not in self._parts_of_graph:
            graphs = [member.graph for member in self.members if member.graph.name in names]
            graph = graphs[0] if len(graphs) == 1 else FederatedGraph(graphs, self.identity)
            self._parts_of_graph[names] = graph
        return self._parts_of_graph[names]

    @property
    def graph_identity(self) -> str:
        """What tells the graph's content from that of others, whatever endpoints are called; "" where nothing does."""
        if self.parts.transport is not None and not self.parts.transport.url:
            return ""
        return "\n".join(sorted(member.graph.identity for member in self.members))

    @cached_property
    def identity(self) -> Identity:
        """What joins the copies of one entity: the bundled table and the user's own. Raises ProfileError."""
        return load_identity(self.settings.profiles_dir)

    @property
    def host_registry(self) -> HostRegistry:
        """What is remembered of hosts, opened at its first use; not in the cache, without which a ban still holds."""
        with self._lock:
            if self._host_registry is None:
                self._check_open()
                self._host_registry = open_host_registry(self.settings, self._files)
            return self._host_registry

    async def _connect(self) -> Graph:
        async with AsyncExitStack() as opened:
            members = await connect(
                self.settings.endpoints,
                self.parts.endpoints,
                self.settings,
                self.meter,
                self.cache.store(),
                transport=self.parts.transport,
                host_registry=lambda: self.host_registry,
                identity=self.identity,
                connections=opened,
            )
            graphs = [member.graph for member in members]
            graph = graphs[0] if len(graphs) == 1 else FederatedGraph(graphs, self.identity)
            with self._lock:
                self._check_open()
                if self._graph is None:  # another thread may have been quicker
                    self.members, self._graph = members, graph
                    self._connections.push_async_exit(opened.pop_all())
                return self._graph

    # ---- the models ----

    @property
    def similarity(self) -> Similarity:
        """The similarity of texts; heavy libraries load at its first use."""
        with self._lock:
            if self._similarity is None:
                self._check_open()
                self._similarity = text_similarity(self.settings, self.cache.store())
                if isinstance(self._similarity, LazySimilarity):
                    self._files.callback(self._similarity.close)
            return self._similarity

    @cached_property
    def _scorer(self) -> LazySimilarity:
        """The trained scorer of `local:FOLDER`, closed with the session."""
        self._check_open()
        similarity = scorer_similarity(self.settings, self.cache.store())
        self._files.callback(similarity.close)
        return similarity

    @cached_property
    def _trained_graphs(self) -> tuple[TrainedGraph, ...]:
        """What that scorer knows of its graphs, read once: it holds all questions that were trained on."""
        return scorer_graphs(self.settings)

    @cached_property
    def prompts(self) -> "PromptLibrary":
        """The prompts: the bundled ones in the forms that are switched on, and the user's own. Raises PromptError."""
        from fedkg.reasoner.prompts import library  # noqa: PLC0415  # Jinja is for hosted models only

        vendor = self.chat.name.partition(":")[0] if self.chat else ""
        return library.PromptLibrary(self.settings.prompts_dir, vendor, library.forms_of(self.settings.search))

    def method(self, name: str = "") -> Method:
        """How questions are answered: the method of that name, else the one of the settings.

        Raises MethodError where it is not known, or the model cannot serve it.
        """
        settings, chat, model = self.settings, self.chat, masked(self.settings.model)
        prompted = chat is not None or self.parts.reasoner is not None
        named = registry.find(name, prompted=prompted) if name else self.parts.method
        method = named or registry.find(settings.method, prompted=prompted)
        registry.check_prompted(method, name or settings.method, prompted=prompted)
        if settings.fallback == "model" and not prompted:
            hint = "name a language model with --model, or leave out --fallback"
            raise SettingsError("the fallback model needs a language model, and the model local is none", hint=hint)
        if self.parts.retriever is None:
            retrievers.find(settings.search.retriever)
        own = self.parts.reasoner is not None
        logprobs = chat.capability.logprobs if chat else own
        registry.check(method, settings.search, model, logprobs=logprobs)
        registry.check_last_step(method, settings.search)
        registry.check_choices(settings.search, model, grammar=chat.capability.grammar if chat else own)
        registry.check_constraint(method, settings.search.door, self._constraint_levels, model)
        registry.check_decoding(method, settings.search, model, writes=prompted or self._writer is not None)
        return method

    @property
    def transcript(self) -> Transcript:
        """What the calls of the model are written into, opened at its first use. Raises SettingsError."""
        with self._lock:
            if self._transcript is None:
                self._check_open()
                models = [self.chat.name] if self.chat else []
                self._transcript = transcripts.opened(self.parts.transcript, self.settings, models)
                self._files.callback(self._transcript.close)
            return self._transcript

    def reasoner(self, ledger: Ledger, observer: CallObserver) -> ReasoningModel:
        """The model of one question, whose calls go into the ledger and to the observer.

        The caller's one is made around that of the settings, or sees to itself.
        """
        reasoner = self.parts.reasoner
        if reasoner is not None and isinstance(reasoner, ReasoningModel):
            return self._assisted(reasoner, ledger, observer)
        model = self._reasoner(ledger, observer)
        return model if reasoner is None else reasoner(model, ledger, observer)

    def _reasoner(self, ledger: Ledger, observer: CallObserver) -> ReasoningModel:
        """The model that the settings name, or that has the caller's chat model; its paths are written where asked."""
        if self.chat is None:
            return self._assisted(self._local(), ledger, observer)
        from fedkg.reasoner.prompted import PromptedModel  # noqa: PLC0415  # Jinja is for hosted models only

        make = partial(PromptedModel, ledger=ledger, budget=self.settings.budget, prompts=self.prompts)
        make = partial(make, constraint_level=self.settings.search.door, observer=observer)
        make = partial(make, temperature=self.settings.temperature or 0.0, choices=self.settings.search.choices)
        if not self.settings.keeps_replies:
            return make(self.chat, writer=self._writer)
        store = self.cache.store()
        cached, writer = CachedModel(self.chat, store), self._writer and CachedModel(self._writer, store)
        return make(cached, writer=writer, forget=cached.forget)

    def _local(self) -> ReasoningModel:
        if not self.settings.scorer:
            return LocalModel(self.similarity)
        calibration, graphs = scorer_calibration(self.settings), self._trained_graphs
        return TrainedLocalModel(self.similarity, self._scorer, calibration=calibration, graphs=graphs)

    def _assisted(self, reasoner: ReasoningModel, ledger: Ledger, observer: CallObserver) -> ReasoningModel:
        """The reasoner, for which the path model writes paths, where there is one and the door lets it."""
        if self._writer is None or self.settings.search.door not in {None, "token"}:
            return reasoner
        kept = CachedModel(self._writer, self.cache.store()) if self.settings.keeps_replies else self._writer
        budgeted = BudgetedModel(kept, self.settings.budget, ledger)
        return AssistedReasoner(reasoner, PathWriter(budgeted, ledger, observer, self._path_form))

    def _path_form(self, call: str) -> PathForm:
        return path_format.read(call, self.settings.prompts_dir)

    @property
    def _constraint_levels(self) -> Sequence[ConstraintLevel]:
        """How the model can be held to paths, the closest way first."""
        if whole := self.parts.whole_reasoner:
            return (*(("token",) if self._writer else ()), whole.constraint_level)
        if self.chat is None:
            return (*(("token",) if self._writer else ()), LocalModel.constraint_level)
        from fedkg.reasoner.prompted import constraint_levels  # noqa: PLC0415  # Jinja is for hosted models only

        return constraint_levels(self.chat, self._writer)

    def _chat_model(self) -> ChatModel | None:
        """The chat model that the settings name; None where the caller or fedkg itself reasons."""
        if self.parts.whole_reasoner is not None or self.settings.local:
            check_scorer(self.settings)
            return None
        chat = chat_model(self.settings, self.cache.store)
        self._connections.push_async_callback(chat.close)
        return chat

    def _path_model(self) -> ChatModel | None:
        writer = path_model(self.settings, self.chat, self.cache.store)
        if writer and writer is not self.chat:
            self._connections.push_async_callback(writer.close)
        return writer

    # ---- closing ----

    def _check_open(self) -> None:
        """Called, under the lock, before anything is opened. Raises SessionClosedError after closing."""
        if self.closed:
            raise SessionClosedError("the session is closed")

    async def aclose(self) -> None:
        """Frees all that was opened here, whatever fails. Raises the last error of what could not be closed."""
        with self._lock:
            self.closed, self._graph, self.members = True, None, ()
        with self._files:
            async with self._connections:
                pass

    def close_files(self) -> None:
        """Frees files and threads, what can be freed without an event loop."""
        with self._lock:
            self.closed = True
        self._files.close()
