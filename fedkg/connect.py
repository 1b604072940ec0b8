"""What -e takes, as graphs: profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE and SPARQLWrapper objects."""

import asyncio
import errno
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from fedkg import profiles
from fedkg.errors import InputError, ProfileError, SettingsError
from fedkg.fetch import embedded
from fedkg.fetch.base import Transport
from fedkg.fetch.http import HttpTransport
from fedkg.fetch.polite import Meter, Polite
from fedkg.fetch.wrapper import WrapperTransport
from fedkg.graph.base import Source
from fedkg.graph.endpoint import SparqlGraph, has_shape
from fedkg.profiles import Profile
from fedkg.settings import Settings, masked
from fedkg.sparql.results import accept
from fedkg.store import Store

__all__ = ["Member", "check_endpoint", "connect"]

WEB = ("http://", "https://")


class Member(NamedTuple):
    """One endpoint of a session: the graph, and who is asked for it, who has to be closed."""

    graph: SparqlGraph
    select: Polite


def check_endpoint(endpoint: Any) -> None:
    """Raises InputError for what can be no endpoint, whatever it holds."""
    if not isinstance(endpoint, str | Path) and not hasattr(endpoint, "_createRequest"):
        kind = type(endpoint).__name__
        raise InputError(f"expected a profile name, URL, file or SPARQLWrapper object, got {kind}")


async def connect(
    specs: Sequence[str], wrappers: Sequence[Any], settings: Settings, meter: Meter, store: Store
) -> list[Member]:
    """The graphs of all endpoints, with distinct names: of two that are called alike the second has " #2".

    Raises InputError for what is no endpoint, and EndpointError; nothing stays open then.
    """
    if not specs and not wrappers:
        raise ProfileError("no endpoint is given", hint="name one with -e: a profile, a URL or an RDF file")
    async with AsyncExitStack() as opened:
        wiring = _Wiring(settings, meter, store, opened)
        members = [await wiring.named(spec) for spec in dict.fromkeys(specs)]
        members += [wiring.wrapped(wrapper) for wrapper in wrappers]
        opened.pop_all()
    return members


class _Wiring:
    """Puts graphs together; `opened` closes what was made for them."""

    def __init__(self, settings: Settings, meter: Meter, store: Store, opened: AsyncExitStack) -> None:
        self._settings = settings
        self._meter = meter
        self._store = store
        self._opened = opened
        self._names: set[str] = set()
        self._known = profiles.names(settings.profiles_dir)

    async def named(self, spec: str) -> Member:
        """A graph from what -e was given."""
        shape, where = self._parted(spec)
        if not shape and where in self._known:
            profile = self._profile(where)
            if profile.file:
                return await self._from_file(profile, Path(profile.source).parent / profile.file, where)
            return self._from_urls(profile, profile.urls, where)
        given = self._profile(shape) if shape else None
        if where.startswith(WEB):
            return self._from_urls(_moved(given, self._known_at(where)), (where,), masked(spec))
        if not _looks_like_file(where):
            raise self._unknown(spec)
        return await self._from_file(_moved(given, None) if given else None, Path(where), masked(spec))

    def wrapped(self, wrapper: Any) -> Member:
        """A graph over a SPARQLWrapper object."""
        transport = WrapperTransport(wrapper)
        # its name is cut short; objects that differ in their URL's query or their parameters show different graphs
        identity = f"{wrapper.endpoint} {sorted(getattr(wrapper, 'parameters', {}).items())}"
        return self._connect(profiles.find("generic"), [transport], transport.name, identity)

    def _parted(self, spec: str) -> tuple[str, str]:
        """PROFILE and WHERE of `PROFILE@WHERE`, else "" and the whole: an @ may also stand in a URL or a file's name."""
        first, at, where = spec.partition("@")
        if not at or spec in self._known or spec.startswith(WEB) or _exists(spec):
            return "", spec
        if first in self._known:
            return first, where
        if where.startswith(WEB):
            raise self._unknown(spec)
        return "", spec

    def _profile(self, name: str) -> Profile:
        return profiles.find(name, self._settings.profiles_dir)

    def _known_at(self, url: str) -> Profile | None:
        """The profile of the host that the URL names, if there is one: its operator's limits hold for every path."""
        known = (self._profile(name) for name in self._known)
        return next((profile for profile in known if profile.urls and _host(url) == _host(profile.urls[0])), None)

    def _unknown(self, spec: str) -> ProfileError:
        known = ", ".join(self._known)
        return ProfileError(f"{masked(spec)[:100]!r} is no profile, URL or RDF file; known profiles: {known}")

    def _from_urls(self, profile: Profile, urls: Sequence[str], name: str) -> Member:
        if not urls:
            raise ProfileError(f"the profile {name} has no URL of its own", hint=f"use -e {name}@URL or {name}@FILE")
        contact = self._settings.contact
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

    async def _from_file(self, profile: Profile | None, path: Path, name: str) -> Member:
        transport, identity = await asyncio.to_thread(_open_file, path)
        profile = profile or await self._detect(transport, name)
        return self._connect(profile, [transport], name, identity, scan=True)

    async def _detect(self, transport: Transport, name: str) -> Profile:
        """The profile whose shape the graph has, else the generic one."""
        select = Polite([transport], partial(accept, endpoint=name), endpoint=name)
        for known in self._known:
            profile = self._profile(known)
            if await has_shape(select, profile):
                return _moved(profile, None)
        return profiles.find("generic")

    def _connect(
        self, profile: Profile, transports: Sequence[Transport], name: str, identity: str, *, scan: bool = False
    ) -> Member:
        name = self._distinct(name)
        check = partial(accept, endpoint=name, known_cap=profile.limits.known_cap)
        select = Polite(
            transports, check, endpoint=name, limits=profile.limits, meter=self._meter, engine=profile.engine
        )
        self._opened.push_async_callback(select.close)
        source = Source(name, identity, profile, select, self._store)
        return Member(SparqlGraph(source, self._settings.languages, scan=scan), select)

    def _distinct(self, name: str) -> str:
        """The name, numbered where another endpoint has it: an edge is known by the name of who said it."""
        free, number = name, 1
        while free in self._names:
            number += 1
            free = f"{name} #{number}"
        self._names.add(free)
        return free


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
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""  # whoever opens the URL says what is wrong with it


def _exists(text: str) -> bool:
    """Whether a file has that name; one in a folder that may not be entered has, a name too long for a file has not."""
    try:
        return Path(text).exists()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG


def _looks_like_file(text: str) -> bool:
    if not text or "\0" in text or max(map(len, Path(text).parts), default=0) > 255:
        return False
    return _exists(text) or Path(text.removesuffix(".gz")).suffix in {".nt", ".ttl", ".nq"} or "/" in text
