"""What -e takes, as graphs: profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE and SPARQLWrapper objects."""

import asyncio
import errno
import hashlib
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from fedkg import profiles
from fedkg.errors import InputError, ProfileError, SettingsError
from fedkg.fetch import embedded, mediawiki
from fedkg.fetch.base import Transport
from fedkg.fetch.http import HttpTransport
from fedkg.fetch.manners import Manners
from fedkg.fetch.offline import Offline
from fedkg.fetch.polite import Polite
from fedkg.fetch.wrapper import WrapperTransport
from fedkg.graph.base import Source
from fedkg.graph.endpoint import SparqlGraph, has_shape
from fedkg.identity import Identity
from fedkg.meter import Meter
from fedkg.profiles import Profile
from fedkg.settings import Settings, masked
from fedkg.sparql.results import accept
from fedkg.store import MemoryStore, Store

__all__ = ["Member", "check_endpoint", "connect", "hosted", "wants_contact"]

WEB = ("http://", "https://")
# Wikimedia's policy on user agents asks for a contact, whatever the profile says
WIKIMEDIA = ("wikidata.org", "wikimedia.org", "wikipedia.org", "wmcloud.org")
WIKIDATA = ("http://www.wikidata.org/entity/",)


class Member(NamedTuple):
    """One endpoint of a session: the graph, who is asked for it, and who for its entities by words; both have to be closed."""

    graph: SparqlGraph
    select: Polite | Offline
    lookup: Polite | Offline | None = None


def check_endpoint(endpoint: Any) -> None:
    """Raises InputError for what can be no endpoint, whatever it holds."""
    if not isinstance(endpoint, str | Path) and not hasattr(endpoint, "_createRequest"):
        kind = type(endpoint).__name__
        raise InputError(f"expected a profile name, URL, file or SPARQLWrapper object, got {kind}")


async def connect(
    specs: Sequence[str],
    wrappers: Sequence[Any],
    settings: Settings,
    meter: Meter,
    store: Store,
    *,
    manners: Callable[[], Manners] = Manners,
    identity: Identity | None = None,
) -> list[Member]:
    """The graphs of all endpoints, with distinct names: of two that are called alike the second has " #2".

    `manners` opens what is remembered of hosts; it is called where something is asked over the network. By `identity`
    several endpoints say which entities of theirs are copies of others; one by itself is not asked for these.

    Raises InputError for what is no endpoint, and EndpointError; nothing stays open then.
    """
    if not specs and not wrappers:
        raise ProfileError("no endpoint is given", hint="name one with -e: a profile, a URL or an RDF file")
    async with AsyncExitStack() as opened:
        places = dict.fromkeys(specs)
        several = len(places) + len(wrappers) > 1
        wiring = _Wiring(settings, meter, store, opened, manners, identity=identity if several else None)
        members = [await wiring.named(spec) for spec in places]
        members += [wiring.wrapped(wrapper) for wrapper in wrappers]
        opened.pop_all()
    return members


def wants_contact(settings: Settings) -> str:
    """The first endpoint whose operator wants a contact that the settings do not name; "" where there is none.

    Raises ProfileError for what is no endpoint.
    """
    wiring = _idle(settings)
    online = [place for spec in settings.endpoints if (place := wiring.online(spec))]
    return next((place.name for place in online if wiring.lacks_contact(place)), "")


def hosted(settings: Settings) -> list[str]:
    """The URLs of all endpoints that are served on the web, no files. Raises ProfileError for what is no endpoint."""
    online = map(_idle(settings).online, settings.endpoints)
    return [url for place in online if place for url in place.urls]


def _idle(settings: Settings) -> "_Wiring":
    """One that reads what is said of endpoints, and opens none."""
    return _Wiring(settings, Meter(), MemoryStore(), AsyncExitStack(), Manners)


class _Online(NamedTuple):
    """An endpoint on the web: its profile, where it is served, and what it is called."""

    profile: Profile
    urls: Sequence[str]
    name: str


class _Wiring:
    """Puts graphs together; `opened` closes what was made for them."""

    def __init__(
        self,
        settings: Settings,
        meter: Meter,
        store: Store,
        opened: AsyncExitStack,
        manners: Callable[[], Manners],
        *,
        identity: Identity | None = None,
    ) -> None:
        self._settings = settings
        self._meter = meter
        self._store = store
        self._opened = opened
        self._manners = manners
        self._identity = identity
        self._names: set[str] = set()
        self._known = profiles.names(settings.profiles_dir)

    async def named(self, spec: str) -> Member:
        """A graph from what -e was given."""
        if place := self.online(spec):
            return self._from_urls(place)
        shape, where = self._parted(spec)
        if not shape and where in self._known:
            profile = self._profile(where)
            return await self._from_file(profile, Path(profile.source).parent / profile.file, where)
        if not _looks_like_file(where):
            raise self._unknown(spec)
        given = _moved(self._profile(shape), None) if shape else None
        return await self._from_file(given, Path(where), masked(spec))

    def online(self, spec: str) -> _Online | None:
        """The endpoint that -e names; None where it is a file, or nothing."""
        shape, where = self._parted(spec)
        if not shape and where in self._known:
            profile = self._profile(where)
            return None if profile.file else _Online(profile, profile.urls, where)
        if not where.startswith(WEB):
            return None
        given = self._profile(shape) if shape else None
        return _Online(_moved(given, self._known_at(where)), (where,), masked(spec))

    def lacks_contact(self, place: _Online) -> bool:
        """Whether its operator is asked, wants to know whom to write to, and nobody said."""
        wanted = place.profile.contact_required or any(map(_is_wikimedia, (*place.urls, place.profile.lookup.url)))
        return wanted and not self._settings.contact and self._settings.mode != "offline"

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
        """The profile of what is served at that URL; else that of its server, if there is one."""
        server, path = _place(url)
        near = [
            (there[1] != path, choice, profile.name, profile)
            for profile in map(self._profile, self._known)
            for choice, own in enumerate(profile.urls)
            if (there := _place(own))[0] == server
        ]
        elsewhere, _, _, profile = min(near, default=(False, 0, "", None))
        return _operated(profile) if profile and elsewhere else profile

    def _unknown(self, spec: str) -> ProfileError:
        known = ", ".join(self._known)
        return ProfileError(f"{masked(spec)[:100]!r} is no profile, URL or RDF file; known profiles: {known}")

    def _from_urls(self, place: _Online) -> Member:
        profile, urls, name = place
        if not urls:
            raise ProfileError(f"the profile {name} has no URL of its own", hint=f"use -e {name}@URL or {name}@FILE")
        contact = self._settings.contact
        if self.lacks_contact(place):
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
        return self._connect(profile, [transport], name, identity, inside=True)

    async def _detect(self, transport: Transport, name: str) -> Profile:
        """The profile whose shape the graph has, else the generic one."""
        select = Polite([transport], partial(accept, endpoint=name), endpoint=name)
        for known in self._known:
            profile = self._profile(known)
            if await has_shape(select, profile):
                # whose entities these are is not known: a file may have the relations of one graph and IRIs of its own
                return msgspec.structs.replace(profiles.find("generic"), shape=profile.shape)
        return profiles.find("generic")

    def _connect(
        self, profile: Profile, transports: Sequence[Transport], name: str, identity: str, *, inside: bool = False
    ) -> Member:
        """The graph over these transports; one `inside` of this process is asked offline too, and for all labels at once."""
        name = self._distinct(name)
        offline = self._settings.mode == "offline" and not inside
        select = Offline(name, self._meter) if offline else self._polite(profile, transports, name)
        self._opened.push_async_callback(select.close)
        lookup = self._lookup(profile, name) if profile.lookup.url else None
        source = Source(name, identity, profile, select, self._store, self._settings.ttl, lookup)
        return Member(
            SparqlGraph(source, self._settings.languages, scan=inside, identity=self._identity), select, lookup
        )

    def _polite(self, profile: Profile, transports: Sequence[Transport], name: str) -> Polite:
        check = partial(accept, endpoint=name, known_cap=profile.limits.known_cap)
        return Polite(
            transports,
            check,
            endpoint=name,
            limits=profile.limits,
            meter=self._meter,
            manners=self._manners() if any(transport.url for transport in transports) else None,
            engine=profile.engine,
            detects=profile.detects,
        )

    def _lookup(self, profile: Profile, name: str) -> Polite | Offline:
        """Who is asked for entities by words: a service of its own, with its own manners."""
        name, limits = f"{name} (search)", mediawiki.LIMITS
        if self._settings.mode == "offline":
            return Offline(name, self._meter)
        transport = HttpTransport(
            profile.lookup.url,
            timeout=limits.timeout,
            contact=self._settings.contact,
            max_bytes=limits.max_bytes,
            headers=mediawiki.HEADERS,
            form=mediawiki.form,
        )
        check = partial(mediawiki.accept, endpoint=name, authorities=profile.authorities or WIKIDATA)
        select = Polite(
            [transport], check, endpoint=name, limits=limits, meter=self._meter, manners=self._manners(), detects=False
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


def _open_file(path: Path) -> tuple[Transport, str]:
    """The graph in that file, and the digest of its bytes: what is kept of it holds wherever the file lies."""
    transport = embedded.load(path)
    with path.open("rb") as file:
        return transport, f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _moved(shape: Profile | None, host: Profile | None) -> Profile:
    """A graph of one profile's shape, with its IRIs, at another place: pace and limits are the host's."""
    base = host or profiles.find("generic")
    return msgspec.structs.replace(base, shape=shape.shape, authorities=shape.authorities) if shape else base


def _operated(profile: Profile) -> Profile:
    """Another graph on that profile's server: how its operator wants to be asked holds for it too, the shape does not."""
    asked = {key: getattr(profile, key) for key in ("engine", "contact_required", "limits")}
    return msgspec.structs.replace(profiles.find("generic"), **asked)


def _place(url: str) -> tuple[tuple[str, int | None], str]:
    """Server and path that a URL names, however it is written; over http and https it is the same graph."""
    try:
        parts = urlsplit(url)
        port = None if parts.port in {80, 443} else parts.port
    except ValueError:
        return ("", None), ""  # whoever opens the URL says what is wrong with it
    return ((parts.hostname or "").rstrip("."), port), f"{parts.path.rstrip('/')}?{parts.query}"


def _is_wikimedia(url: str) -> bool:
    (host, _), _ = _place(url)
    return any(host == domain or host.endswith(f".{domain}") for domain in WIKIMEDIA)


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
