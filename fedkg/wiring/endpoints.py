"""What -e takes, as graphs: profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE and SPARQLWrapper objects."""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.config import profiles
from fedkg.config.endpoint_spec import CachedEndpoint, Endpoint, EndpointResolver, SparqlWrapper
from fedkg.config.graph_files import graph_files
from fedkg.config.profiles import Profile
from fedkg.config.settings import Settings
from fedkg.core.meter import Meter
from fedkg.errors import InputError, ProfileError, SettingsError
from fedkg.graph.base import EndpointSource, no_engines
from fedkg.graph.endpoint import SparqlGraph, has_shape
from fedkg.graph.identity import Identity
from fedkg.sparql.results import accept
from fedkg.transport import embedded, mediawiki
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.transport.host_state import HostRegistry
from fedkg.transport.offline import OfflineClient

__all__ = ["ConnectedEndpoint", "EndpointObject", "check_endpoint", "connect", "parted"]

EndpointObject = SparqlWrapper | CachedEndpoint
"""An endpoint that is given as an object: a SPARQLWrapper, or what the cache holds of one."""

log = logging.getLogger(__name__)

WIKIDATA = ("http://www.wikidata.org/entity/",)


class ConnectedEndpoint(NamedTuple):
    """One endpoint of a session: the graph, and what is asked for it and for its entities by words; both are closed."""

    graph: SparqlGraph
    select: EndpointClient | OfflineClient
    lookup: EndpointClient | OfflineClient | None = None


def check_endpoint(endpoint: object) -> None:
    """Raises InputError for what can be no endpoint, whatever it holds."""
    if not isinstance(endpoint, str | Path | CachedEndpoint) and not hasattr(endpoint, "_createRequest"):
        kind = type(endpoint).__name__
        raise InputError(f"expected a profile name, URL, file or SPARQLWrapper object, got {kind}")


def parted(endpoints: Iterable[Endpoint | Sequence[Endpoint]]) -> tuple[list[str], list[EndpointObject]]:
    """The endpoints that are named, and those that are objects. Raises InputError for what can be none."""
    specs: list[str] = []
    objects: list[EndpointObject] = []
    for given in endpoints:
        for endpoint in given if isinstance(given, list | tuple | set | frozenset) else (given,):
            check_endpoint(endpoint)
            if isinstance(endpoint, str | Path):
                specs.append(str(endpoint))
            else:
                objects.append(endpoint)
    return specs, objects


async def connect(
    specs: Sequence[str],
    objects: Sequence[EndpointObject],
    settings: Settings,
    meter: Meter,
    store: Store,
    *,
    transport: Transport | None = None,
    host_registry: Callable[[], HostRegistry] = HostRegistry,
    identity: Identity | None = None,
    connections: AsyncExitStack | None = None,
) -> list[ConnectedEndpoint]:
    """The graphs of all endpoints, with distinct names: of two that are called alike the second has " #2".

    `host_registry` opens what is remembered of hosts; it is called where something is asked over the network. By
    `identity` several endpoints are asked which of their entities are copies of others; one by itself is not asked for
    these. `connections` closes all but the `transport`, which belongs to the caller.

    Raises InputError for what is no endpoint, and EndpointError; nothing stays open then.
    """
    places = dict.fromkeys(specs)
    number = len(places) + len(objects) + (transport is not None)
    if not number:
        raise ProfileError("no endpoint is given", hint="name one with -e: a profile, a URL or an RDF file")
    async with AsyncExitStack() as opened:
        wiring = _EndpointWiring(
            settings, meter, store, opened, host_registry, identity=identity if number > 1 else None
        )
        members = [await wiring.named(spec) for spec in places]
        members += [
            wiring.kept(endpoint) if isinstance(endpoint, CachedEndpoint) else wiring.wrapped(endpoint)
            for endpoint in objects
        ]
        members += [await wiring.over(transport)] if transport is not None else []
        (connections or AsyncExitStack()).push_async_exit(opened.pop_all())
    log.info("connected: %s", ", ".join(member.graph.name for member in members))
    return members


class _EndpointWiring:
    """Puts graphs together; `opened` closes what was made for them."""

    def __init__(
        self,
        settings: Settings,
        meter: Meter,
        store: Store,
        opened: AsyncExitStack,
        host_registry: Callable[[], HostRegistry],
        *,
        identity: Identity | None = None,
    ) -> None:
        self._settings = settings
        self._meter = meter
        self._store = store
        self._opened = opened
        self._host_registry = host_registry
        self._identity = identity
        self._names: set[str] = set()
        self._places = EndpointResolver(settings)

    async def named(self, spec: str) -> ConnectedEndpoint:
        """A graph from what -e was given."""
        place = self._places.find(spec)
        if self._places.lacks_contact(place):
            raise SettingsError(
                f"the operator of {place.name} wants to know whom to write to",
                hint="set FEDKG_CONTACT (or --contact) to your mail address or web page; "
                "it goes into the User-Agent only",
            )
        if place.file:
            return await self._from_file(place.profile, place.file, place.name)
        assert place.profile, "what is on the web has one"
        return self._from_urls(place.profile, place.urls, place.name)

    async def over(self, transport: Transport) -> ConnectedEndpoint:
        """A graph over the caller's own transport.

        One without a URL is in this process, like a file: its shape is looked for, and what it replies is kept no
        longer than the session, since nothing tells it from another one.
        """
        name = str(getattr(transport, "name", "")) or transport.url or type(transport).__name__
        if transport.url:
            return self._connect(profiles.find("generic"), [transport], name, transport.url, opened_here=False)
        profile = await self._detect(transport, name)
        return self._connect(profile, [transport], name, name, inside=True, opened_here=False, store=MemoryStore())

    def wrapped(self, wrapper: SparqlWrapper) -> ConnectedEndpoint:
        """A graph over a SPARQLWrapper object."""
        from fedkg.transport.sparqlwrapper import WrapperTransport  # noqa: PLC0415  # imports urllib's clients

        transport = WrapperTransport(wrapper)
        # its name is cut short; objects that differ in their URL's query or their parameters show different graphs
        identity = f"{wrapper.endpoint} {sorted(getattr(wrapper, 'parameters', {}).items())}"
        return self._connect(profiles.find("generic"), [transport], transport.name, identity)

    def kept(self, kept: CachedEndpoint) -> ConnectedEndpoint:
        """A graph over what the cache holds of it. Raises SettingsError where it could be asked for more."""
        if self._settings.mode != "offline":
            raise SettingsError(f"of {kept.name} there is only what is kept", hint="use mode offline")
        return self._connect(kept.profile, (), kept.name, kept.identity)

    def _from_urls(self, profile: Profile, urls: Sequence[str], name: str) -> ConnectedEndpoint:
        if not urls:
            raise ProfileError(f"the profile {name} has no URL of its own", hint=f"use -e {name}@URL or {name}@FILE")
        limits, contact = profile.limits, self._settings.contact
        transports = [_http()(url, timeout=limits.timeout, contact=contact, max_bytes=limits.max_bytes) for url in urls]
        return self._connect(profile, transports, name, " ".join(urls))

    async def _from_file(self, profile: Profile | None, path: Path, name: str) -> ConnectedEndpoint:
        opened: list[tuple[Transport, str]] = []
        # not as the thread's result: the future that brings it is part of a cycle, and would keep the whole graph
        await asyncio.to_thread(lambda: opened.append(_open_file(path)))
        [(transport, identity)] = opened
        profile = profile or await self._detect(transport, name)
        return self._connect(profile, [transport], name, identity, inside=True)

    async def _detect(self, transport: Transport, name: str) -> Profile:
        """The profile whose shape the graph has, else the generic one."""
        select = EndpointClient([transport], partial(accept, endpoint=name), endpoint=name)
        for profile in self._places.known():
            if await has_shape(select, profile):
                # whose entities these are is not known: a file may have the relations of one graph and IRIs of its own
                return msgspec.structs.replace(profiles.find("generic"), name=profile.name, shape=profile.shape)
        return profiles.find("generic")

    def _connect(
        self,
        profile: Profile,
        transports: Sequence[Transport],
        name: str,
        identity: str,
        *,
        inside: bool = False,
        opened_here: bool = True,
        store: Store | None = None,
    ) -> ConnectedEndpoint:
        """The graph over these transports; one `inside` this process is asked offline too, for all labels at once.

        Those that were not `opened_here` are not closed either. `store` stands for that of all endpoints.
        """
        name = self._distinct(name)
        offline = self._settings.mode == "offline" and not inside
        select = OfflineClient(name, self._meter) if offline else self._client(profile, transports, name)
        if opened_here:
            self._opened.push_async_callback(select.close)
        lookup = self._lookup(profile, name) if profile.lookup.url else None
        engines = no_engines if inside or isinstance(select, OfflineClient) else partial(_engines, select)
        kept, ttl = store or self._store, self._settings.ttl
        source = EndpointSource(name, identity, profile, select, kept, ttl, lookup, engines)
        return ConnectedEndpoint(
            SparqlGraph(source, self._settings.languages, scan=inside, identity=self._identity), select, lookup
        )

    def _client(self, profile: Profile, transports: Sequence[Transport], name: str) -> EndpointClient:
        check = partial(accept, endpoint=name, known_cap=profile.limits.known_cap)
        return EndpointClient(
            transports,
            check,
            endpoint=name,
            limits=profile.limits.shared(self._settings.clients),
            meter=self._meter,
            host_registry=self._host_registry() if any(transport.url for transport in transports) else None,
            engine=profile.engine,
            detects=profile.detects,
        )

    def _lookup(self, profile: Profile, name: str) -> EndpointClient | OfflineClient:
        """Who is asked for entities by words: a service of its own, with its own host registry."""
        name, limits = f"{name} (search)", mediawiki.LIMITS
        if self._settings.mode == "offline":
            return OfflineClient(name, self._meter)
        transport = _http()(
            profile.lookup.url,
            timeout=limits.timeout,
            contact=self._settings.contact,
            max_bytes=limits.max_bytes,
            headers=mediawiki.HEADERS,
            form=mediawiki.form,
        )
        check = partial(mediawiki.accept, endpoint=name, authorities=profile.authorities or WIKIDATA)
        select = EndpointClient(
            [transport],
            check,
            endpoint=name,
            limits=limits.shared(self._settings.clients),
            meter=self._meter,
            host_registry=self._host_registry(),
            detects=False,
        )
        self._opened.push_async_callback(select.close)
        return select

    def _distinct(self, name: str) -> str:
        """The name, numbered where another endpoint has it: an edge is known by the name of who said it."""
        free, number = name, 1
        while free in self._names:
            number += 1
            free = f"{name} #{number}"
        self._names.add(free)
        return free


async def _engines(select: EndpointClient) -> list[str]:
    """The engines that are believed of an endpoint's replicas, by what it or its host has replied."""
    await select.recall()
    await select.identify()
    return list(select.engines.values())


def _http() -> Callable[..., Transport]:
    """What makes a transport over HTTP: its library takes a third of a second to import, and a file needs none."""
    from fedkg.transport.http import HttpTransport  # noqa: PLC0415

    return HttpTransport


def _open_file(path: Path) -> tuple[Transport, str]:
    """The graph in that file or folder, and the digest of its bytes: what is kept of it holds wherever it lies."""
    transport = embedded.load(path)
    if path.is_dir():
        files = "\n".join(f"{file.relative_to(path)} {_digest(file)}" for file in graph_files(path))
        return transport, f"sha256:{hashlib.sha256(files.encode()).hexdigest()}"
    return transport, f"sha256:{_digest(path)}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
