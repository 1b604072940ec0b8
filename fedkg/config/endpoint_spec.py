"""What -e names, before anything is opened: where an endpoint is, and what is known of it."""

import errno
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec

from fedkg.config import profiles
from fedkg.config.graph_files import graph_suffix
from fedkg.config.profiles import Profile
from fedkg.config.settings import Settings, masked
from fedkg.errors import ProfileError

if TYPE_CHECKING:
    from urllib.request import Request

__all__ = ["CachedEndpoint", "Endpoint", "EndpointResolver", "EndpointSpec", "SparqlWrapper", "hosted", "wants_contact"]

log = logging.getLogger(__name__)

WEB = ("http://", "https://")
# Wikimedia's policy on user agents asks for a contact, whatever the profile says
WIKIMEDIA = ("wikidata.org", "wikimedia.org", "wikipedia.org", "wmcloud.org")


class EndpointSpec(NamedTuple):
    """An endpoint: what it is called, its profile (None: what is in its file will tell), and its URLs or its file."""

    name: str
    profile: Profile | None
    urls: Sequence[str] = ()
    file: Path | None = None


class CachedEndpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An endpoint that only the cache stands for: its name in proofs, its identity in the cache, its profile."""

    name: str
    identity: str
    profile: Profile


class SparqlWrapper(Protocol):
    """What fedkg takes of a SPARQLWrapper object: its URL and its requests; the package need not be installed."""

    @property
    def endpoint(self) -> str:
        """The endpoint's URL."""
        ...

    @property
    def timeout(self) -> int | None:
        """Seconds until a request is given up."""
        ...

    def setQuery(self, query: str, /) -> None:  # noqa: N802  # the package's own name
        """Sets the query's text."""
        ...

    def setMethod(self, method: str, /) -> None:  # noqa: N802
        """Sets the HTTP method."""
        ...

    def setRequestMethod(self, method: str, /) -> None:  # noqa: N802
        """Sets how the query is sent."""
        ...

    def setReturnFormat(self, format: str, /) -> None:  # noqa: A002, N802
        """Sets the format of the result."""
        ...

    def _createRequest(self) -> "Request":  # noqa: N802
        """The request, with the object's credentials, headers and parameters."""
        ...


Endpoint = str | Path | SparqlWrapper | CachedEndpoint
"""An endpoint as a caller gives it: a profile's name, a URL, an RDF file or a folder of such, PROFILE@URL or
PROFILE@FILE, a SPARQLWrapper object, or, offline, what the cache holds of one."""


class EndpointResolver:
    """Reads what -e is given against the bundled profiles and the user's own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._names = profiles.names(settings.profiles_dir)

    def find(self, spec: str) -> EndpointSpec:
        """The endpoint of that name, URL or file, or of `PROFILE@WHERE`. Raises ProfileError for anything else."""
        shape, where = self._parted(spec)
        if not shape and where in self._names:
            profile = self._profile(where)
            file = Path(profile.source).parent / profile.file if profile.file else None
            return EndpointSpec(where, profile, profile.urls, file)
        given = self._profile(shape) if shape else None
        if where.startswith(WEB):
            return EndpointSpec(masked(spec), _moved(given, self._at(where)), (where,))
        if not _looks_like_file(where):
            raise self._unknown(spec)
        return EndpointSpec(masked(spec), _moved(given, profiles.find("generic")) if given else None, file=Path(where))

    def known(self) -> Iterator[Profile]:
        """All profiles that can be read; of the others the log tells."""
        known, errors = profiles.readable(self._settings.profiles_dir)
        for error in errors:
            log.warning("a profile is left out: %s", error)
        return iter(known)

    def lacks_contact(self, place: EndpointSpec) -> bool:
        """Whether an endpoint wants a contact, and none is set."""
        if place.profile is None or self._settings.contact or self._settings.mode == "offline":
            return False
        return place.profile.contact_required or any(map(_is_wikimedia, (*place.urls, place.profile.lookup.url)))

    def _parted(self, spec: str) -> tuple[str, str]:
        """PROFILE and WHERE of `PROFILE@WHERE`, else "" and the whole: URLs and names of files may hold an @ too."""
        first, at, where = spec.partition("@")
        if not at or spec in self._names or spec.startswith(WEB) or _exists(spec):
            return "", spec
        if first in self._names:
            return first, where
        if where.startswith(WEB):
            raise self._unknown(spec)
        return "", spec

    def _profile(self, name: str) -> Profile:
        return profiles.find(name, self._settings.profiles_dir)

    def _at(self, url: str) -> Profile:
        """The profile of what is served at that URL, else one that says how its server is asked."""
        server, path = _address(url)
        near = [
            (there[1] != path, choice, profile.name, profile)
            for profile in self.known()
            for choice, url in enumerate(profile.urls)
            if (there := _address(url))[0] == server
        ]
        if not near:
            return profiles.find("generic")
        elsewhere, _, _, profile = min(near)
        return _operated(profile) if elsewhere else profile

    def _unknown(self, spec: str) -> ProfileError:
        known = ", ".join(self._names)
        return ProfileError(f"{masked(spec)[:100]!r} is no profile, URL or RDF file; known profiles: {known}")


def wants_contact(settings: Settings) -> str:
    """The first endpoint whose operator wants a contact that the settings do not name; "" where there is none.

    Raises ProfileError for what is no endpoint.
    """
    places = EndpointResolver(settings)
    return next((place.name for place in map(places.find, settings.endpoints) if places.lacks_contact(place)), "")


def hosted(settings: Settings) -> list[str]:
    """The URLs of all endpoints that are served on the web, no files. Raises ProfileError for what is no endpoint."""
    return [url for place in map(EndpointResolver(settings).find, settings.endpoints) for url in place.urls]


def _moved(shape: Profile | None, host: Profile) -> Profile:
    """A graph of one profile's shape and name, with its IRIs, at another place: pace and limits are the host's."""
    shaped = ("name", "shape", "authorities")
    return msgspec.structs.replace(host, **{key: getattr(shape, key) for key in shaped}) if shape else host


def _operated(profile: Profile) -> Profile:
    """Another graph on that profile's server: its operator's limits hold for it too, the shape does not."""
    asked = {key: getattr(profile, key) for key in ("engine", "contact_required", "limits")}
    return msgspec.structs.replace(profiles.find("generic"), **asked)


def _address(url: str) -> tuple[tuple[str, int | None], str]:
    """Server and path that a URL names, however it is written; over http and https it is the same graph."""
    try:
        parts = urlsplit(url)
        port = None if parts.port in {80, 443} else parts.port
    except ValueError:
        return ("", None), ""  # opening the URL tells what is wrong with it
    return ((parts.hostname or "").rstrip("."), port), f"{parts.path.rstrip('/')}?{parts.query}"


def _is_wikimedia(url: str) -> bool:
    (host, _), _ = _address(url)
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
    return _exists(text) or bool(graph_suffix(Path(text))) or "/" in text
