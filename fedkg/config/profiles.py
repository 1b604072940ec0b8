"""Endpoint profiles: one TOML file each under `endpoints/`, or in the user's own folder.

A profile says where an endpoint is and what its graph is like: engine, limits, labels, plumbing, mediators, search. The
shape of a graph is data, so another endpoint is another file and no code. An error names file and key.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from fedkg.common import toml
from fedkg.common.file_cache import FileCache
from fedkg.config import dialects
from fedkg.config.resources import folder, layers
from fedkg.core.terms import Direction, Iri
from fedkg.errors import ProfileError, SettingsError

__all__ = [
    "IDENTITY",
    "UNHELPFUL",
    "Edges",
    "Labels",
    "Limits",
    "LookupService",
    "Mediators",
    "Profile",
    "Shape",
    "find",
    "load",
    "names",
    "parse",
    "readable",
]

Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
Batch = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Rows = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
IDENTITY = "identity"
"""The file beside the profiles that is none of them: the table of identities."""
UNHELPFUL = "unhelpful"
"""Another such file: the relations that are ranked last."""
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
NAMES_HINT = "`fedkg endpoints list` shows them"
KEYS_HINT = "docs/endpoints.md lists every key"


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be asked of the endpoint.

    concurrency: requests at once. interval: least seconds between two requests. timeout: seconds for one request. rows:
    most rows that a reply may have before it counts as cut; also sent as LIMIT. known_cap: the row count at which this
    endpoint is known to cut silently (0: none known). batch: entities per neighbour request. label_batch: IRIs per
    label request. relation: most edges kept per relation and direction of a hub. entity: most edges kept per entity and
    direction; more make it a hub. max_bytes: most bytes of one reply. patience: seconds for one request with all its
    waiting: queue, pace, retries. errors: most failed requests in a minute, over all processes; more shut the endpoint
    for a while.
    """

    concurrency: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4
    interval: Annotated[float, msgspec.Meta(ge=0, le=3_600)] = 0.0
    timeout: Seconds = 30.0
    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3
    rows: Rows = 9_998
    known_cap: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    batch: Batch = 50
    label_batch: Batch = 400
    relation: Rows = 200
    entity: Rows = 2_000
    max_bytes: Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)] = 64_000_000
    patience: Seconds = 120.0
    errors: Rows = 40

    def shared(self, clients: int) -> "Limits":
        """What one of so many clients may ask that ask at the same time: all together they keep these limits."""
        return msgspec.structs.replace(
            self, concurrency=max(1, self.concurrency // clients), interval=self.interval * clients
        )


class Labels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How things are named.

    predicates: label predicates, the best first. aliases: further names that search accepts. description: predicate of
    a short description ("" for none). property_of: the predicate that leads from a property entity to the relation it
    describes (Wikidata's directClaim); relations are then labelled by their property entities, all in one request.
    type: predicate of what an entity is ("" for none), shown beside candidates of a search.
    """

    predicates: tuple[str, ...] = (RDFS_LABEL,)
    aliases: tuple[str, ...] = ()
    description: str = ""
    property_of: str = ""
    type: str = ""


class LookupService(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where entities are looked up by words, beside the exact match that every endpoint is asked for.

    kind: `auto` takes what the engine brings along, `none` nothing; `bif` (Virtuoso's full text), `qlever` (its text
    index), `mwapi` (Wikidata's search from within Blazegraph), `wikidata` (its web API, at `url`).
    """

    kind: Literal["auto", "none", "bif", "qlever", "mwapi", "wikidata"] = "auto"
    url: str = ""


class Edges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which triples are edges.

    only: a prefix that an edge's predicate must have ("" for any). skip: plumbing predicates. skip_prefixes: prefixes
    of such. skip_property_types: Wikidata property types that are plumbing (external identifiers, images). inverse: the
    predicate by which the graph itself says that two relations are twins (Freebase's reverse_property, "" for none): an
    edge that is also said the other way round is then shown once.
    """

    only: str = ""
    skip: tuple[str, ...] = ()
    skip_prefixes: tuple[str, ...] = ()
    skip_property_types: tuple[str, ...] = ()
    inverse: str = ""

    def leaves_out(self, predicate: str) -> bool:
        """Whether triples of this predicate are no edges; the empty one is of none."""
        return bool(predicate) and (
            not predicate.startswith(self.only) or predicate in self.skip or predicate.startswith(self.skip_prefixes)
        )


class Mediators(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nodes that stand for an n-ary fact and are collapsed into one edge with qualifiers.

    blank: blank nodes are mediators. unnamed: IRIs under one of these prefixes without `name` are mediators (Freebase
    CVTs). statements: Wikidata's statement nodes, by the prefixes of claim (p:), statement (ps:) and qualifier (pq:);
    they add qualifiers to the truthy edge. rank, deprecated: the predicate of a statement's rank, and the rank of those
    that do not count ("" for none).
    """

    blank: bool = True
    unnamed: tuple[str, ...] = ()
    name: str = ""
    claim: str = ""
    statement: str = ""
    qualifier: str = ""
    truthy: str = ""
    rank: str = ""
    deprecated: str = ""

    def towards(self, direction: Direction) -> str:
        """The prefix of what joins an entity to a statement: one about it, or one whose value it is."""
        return self.claim if direction == "out" else self.statement


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything about a graph that does not depend on where it is served.

    marker: a predicate that gives it away. unknown: the prefix of IRIs that stand for a value that is not known
    (Wikidata's genid); blank nodes mean the same there ("" for none). entity_type: the type (`labels.type`) that only
    entities have: a node of it is no mediator, named or not ("" for none).
    """

    labels: Labels = Labels()
    edges: Edges = Edges()
    mediators: Mediators = Mediators()
    marker: str = ""
    unknown: str = ""
    entity_type: str = ""


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One endpoint.

    urls: where it is served, the first choice first; an empty list stands for a shape that is put on a URL or file by
    `PROFILE@WHERE`. file: an RDF file beside the profile, served in process. engine: what is believed to answer there
    (generic: not known). detects: the engine that its replies show counts more, and is remembered; false keeps to
    `engine` whatever they say. contact_required: whether its operator wants a contact in the User-Agent. like: another
    profile whose shape this one has, but for the keys that it gives itself. authorities: prefixes of the IRIs that it
    has anything to say of; where several endpoints are asked it is asked of no others (empty: it is found out by
    asking).
    """

    name: str
    title: str = ""
    urls: tuple[str, ...] = ()
    file: str = ""
    engine: str = "generic"
    detects: bool = True
    contact_required: bool = False
    like: str = ""
    authorities: tuple[str, ...] = ()
    lookup: LookupService = LookupService()
    limits: Limits = Limits()
    shape: Shape = Shape()
    source: str = ""


LOADED: FileCache[Path, tuple[Profile, dict[str, Any]]] = FileCache()


def names(user: str = "") -> list[str]:
    """The known profile names, sorted; `own` is a further folder."""
    return sorted(_paths(user))


def find(name: str, user: str = "") -> Profile:
    """The profile of that name. Raises ProfileError where there is none or its file does not fit."""
    if path := _paths(user).get(name):
        return load(path)
    raise ProfileError(
        f"no endpoint profile is called {name[:100]!r}; known: {', '.join(names(user))}", hint=NAMES_HINT
    )


def readable(user: str = "") -> tuple[list[Profile], list[ProfileError]]:
    """All profiles that can be read, by name, and the errors of the others: one bad file costs no other one."""
    known, errors = [], []
    for _, path in sorted(_paths(user).items()):
        try:
            known.append(load(path))
        except ProfileError as error:
            errors.append(error)
    return known, errors


def load(path: Path) -> Profile:
    """The profile in that file. Raises ProfileError."""
    return _shaped(*LOADED.get(path, [path], lambda: _parsed(_text(path), str(path), path.stem)))


def parse(text: str, source: str, name: str) -> Profile:
    """The profile that TOML text describes; `source` stands in errors and in the profile. Raises ProfileError."""
    return _shaped(*_parsed(text, source, name))


def _text(path: Path) -> str:
    if path.is_fifo() or path.is_char_device():  # would be waited for without an end, and the other profiles with it
        raise ProfileError(f"{path}: not a regular file", hint="name a readable file")
    return toml.read_text(path, ProfileError)


def _parsed(text: str, source: str, name: str) -> tuple[Profile, dict[str, Any]]:
    """The profile without what it takes from the one that it is like, and the values as they stand in the file."""
    values = toml.parse(text, source, dict[str, Any], ProfileError)
    whole = {"name": name, **values, "source": source}
    profile = toml.convert(whole, source, Profile, ProfileError, hint=KEYS_HINT)
    if dialects.find(profile.engine) is None:
        known = f"known: {', '.join(dialects.known_names())}"
        raise ProfileError(f"{source}: engine: no engine is called {profile.engine[:100]!r}; {known}", hint=KEYS_HINT)
    _check_iris(profile)
    return profile, values


def _shaped(profile: Profile, values: dict[str, Any]) -> Profile:
    """The profile with the shape of the one that it is like, and what it says of its own in place of that."""
    if not profile.like:
        return profile
    model = _files(folder("endpoints")).get(profile.like)
    if model is None or model == Path(profile.source):
        raise ProfileError(f"{profile.source}: like: no bundled profile is called {profile.like!r}")
    shape = msgspec.to_builtins(msgspec.structs.replace(load(model).shape, marker=""))
    for key, value in values.get("shape", {}).items():
        shape[key] = {**shape[key], **value} if isinstance(value, dict) else value
    return msgspec.structs.replace(profile, shape=msgspec.convert(shape, Shape))


def _check_iris(profile: Profile) -> None:
    """Raises ProfileError where a text that stands for an IRI, or for the beginning of some, is none."""
    api = [profile.lookup.url] if profile.lookup.url or profile.lookup.kind == "wikidata" else []
    for key, urls in {"urls": profile.urls, "lookup.url": api}.items():
        for url in urls:
            if not url.startswith(("http://", "https://")) or not Iri(url).queryable:
                raise ProfileError(f"{profile.source}: {key}: not an http URL: {url!r}", hint=KEYS_HINT)
    shape = msgspec.to_builtins(profile.shape)
    for table, values in {"": {key: shape.pop(key) for key in ("marker", "unknown", "entity_type")}, **shape}.items():
        for key, value in values.items():
            if wrong := [text for text in _texts(value) if not Iri(text).queryable]:
                raise ProfileError(
                    f"{profile.source}: {'.'.join(filter(None, ('shape', table, key)))}: not an IRI: {wrong[0]!r}",
                    hint=KEYS_HINT,
                )


def _texts(value: object) -> list[str]:
    """The IRIs of one key: a list of them, or one, where "" stands for none."""
    if isinstance(value, str):
        return [value] if value else []
    return list(value) if isinstance(value, list | tuple) else []


def _paths(user: str) -> dict[str, Path]:
    """All profiles by name: the user's own, and the bundled ones that have no name of these."""
    return {name: path for place in reversed(_folders(user)) for name, path in _files(place).items()}


def _files(place: Path) -> dict[str, Path]:
    """The profiles in a folder by name; a name from outside is looked up here, never made into a path."""
    return {path.stem: path for path in place.glob("*.toml") if path.stem not in {IDENTITY, UNHELPFUL}}


def _folders(user: str) -> list[Path]:
    """The user's own folder before that of the bundled ones. Raises SettingsError where the user's is none."""
    hint = "profiles_dir is the folder of your own endpoint profiles"
    return layers("endpoints", user, SettingsError, what="profiles", hint=hint)[::-1]
