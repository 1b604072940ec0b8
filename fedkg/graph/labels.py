"""Names of one endpoint's entities and relations, both ways: labels of terms, and entities by what they are called.

Labels come in batches, those of relations by one catalogue where there is one; the store keeps all, negatives too.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

import msgspec

from fedkg.cache.off_loop import keep, look_up
from fedkg.common.bounded import BoundedDict
from fedkg.common.concurrency import concurrently
from fedkg.config.settings import DAY
from fedkg.core.gaps import miss
from fedkg.core.meter import count
from fedkg.core.terms import Iri, Literal, Term, own_name
from fedkg.core.usage import Gap
from fedkg.errors import TruncatedError
from fedkg.graph.base import EndpointSource, chunks, in_halves
from fedkg.graph.cache_keys import digest
from fedkg.graph.catalogue import Catalogue
from fedkg.sparql import build

__all__ = ["LabelLookup", "Ranked", "best_label"]

LABELS = "labels"
MOST_SEEN = 50_000
"""Labels that are remembered to suggest names from; the store has all."""
REMEMBERED = 3600.0
"""Seconds that a label is remembered without a look at the store, which knows when it gets stale."""
PROPERTY_TYPE = "http://wikiba.se/ontology#propertyType"

Ranked = tuple[int, int, str]
"""A label with its rank before it: language, then predicate; the least is the best."""


class Property(msgspec.Struct, frozen=True):
    """What the catalogue says of a relation.

    Its label, its property entity and its Wikidata property type ("" for none).
    """

    label: str = ""
    entity: str = ""
    kind: str = ""


class LabelLookup:
    """The labels of one endpoint; `seen` holds the last of them, at most MOST_SEEN. `clock` gives seconds."""

    def __init__(
        self, source: EndpointSource, languages: Sequence[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = source.name
        self.seen: BoundedDict[Iri, str] = BoundedDict(MOST_SEEN)
        self._select = source.select
        self._shape = source.profile.shape
        self._limits = source.profile.limits
        self._store = source.store
        self._ttl = source.ttl
        self._languages = tuple(languages)
        self._clock = clock
        self._known: BoundedDict[Iri, tuple[float, str]] = BoundedDict(MOST_SEEN)
        what = (source.identity, build.DIALECT_VERSION, self._shape.labels, self._languages)
        self.key = digest(what)
        read = dict[str, Property], _by_iri
        self._catalogue = Catalogue(source, LABELS, f"{self.key} catalogue", read)

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term; IRIs without a label, or whose label cannot be had, get their local name."""
        wanted = list(dict.fromkeys(terms))
        properties = await self.catalogue()
        entities = [term for term in wanted if isinstance(term, Iri)]
        described = entities if properties else ()
        known = {iri: kept.label for iri in described if (kept := properties.get(self._truthy(iri))) and kept.label}
        known |= await self._lookup([iri for iri in entities if iri not in known and iri.queryable])
        self.seen.keep({iri: label for iri, label in known.items() if label})
        return {term: (isinstance(term, Iri) and known.get(term)) or own_name(term) for term in wanted}

    async def catalogue(self) -> Mapping[Iri, Property]:
        """The relations that the endpoint describes by property entities; empty where it fails."""
        return (await self._catalogue.get(self._ask_catalogue) or {}) if self._shape.labels.property_of else {}

    async def technical_predicates(self) -> frozenset[Iri]:
        """The relations whose property type the profile skips."""
        skipped = set(self._shape.edges.skip_property_types)
        properties = await self.catalogue() if skipped else {}
        return frozenset(iri for iri, known in properties.items() if known.kind in skipped)

    async def properties(self) -> frozenset[Iri]:
        """The property entities: things that describe relations, not things that questions are about."""
        return frozenset(Iri(known.entity) for known in (await self.catalogue()).values() if known.entity)

    async def _lookup(self, entities: Sequence[Iri]) -> dict[Iri, str]:
        """Labels from memory, from the store, then from the endpoint; "" where it has none, which is stored too."""
        labels = self._remembered(entities)
        keys = {f"{self.key} {iri.value}": iri for iri in entities if iri not in labels}
        kept = await look_up(self._store, LABELS, list(keys)) if keys else {}
        count("cache_hits", len(labels) + len(kept))
        stored = {keys[key]: value.decode(errors="replace") for key, value in kept.items()}
        missing = [iri for iri in keys.values() if iri not in stored]
        parts = await concurrently(*(self._ask(part) for part in chunks(missing, self._limits.label_batch)))
        new = stored | {iri: label for part in parts for iri, label in part.items()}
        self._remember(new)
        return labels | new

    def _remembered(self, entities: Iterable[Iri]) -> dict[Iri, str]:
        """The labels of those that were remembered no longer than REMEMBERED ago."""
        oldest = self._clock() - REMEMBERED
        known = {iri: self._known.get(iri) for iri in entities}
        return {iri: entry[1] for iri, entry in known.items() if entry and entry[0] > oldest}

    def _remember(self, labels: Mapping[Iri, str]) -> None:
        """Keeps what has a label; what has none may get one."""
        now = self._clock()
        if named := {iri: (now, label) for iri, label in labels.items() if label}:
            self._known.keep(named)

    async def _ask(self, batch: Sequence[Iri]) -> dict[Iri, str]:
        """The labels of one batch, kept at once; those that the endpoint failed to give are left out and not kept."""
        asked, failed = await in_halves(batch, self._select_labels)
        for reason, number in Counter(map(str, failed.values())).items():
            miss(Gap(self._name, f"{number} label{'s' if number > 1 else ''}", reason))
        values = {f"{self.key} {iri.value}": label.encode() for iri, label in asked.items()}
        await keep(self._store, LABELS, values, self._ttl.labels * DAY)
        return asked

    async def _select_labels(self, batch: Sequence[Iri]) -> dict[Iri, str]:
        """The best label of each, "" for none.

        Raises EndpointError, also where the reply may have been cut silently.
        """
        query = partial(build.labels, batch, self._shape.labels, self._languages)
        rows = (await self._select.select(query, "labels")).rows
        if len(rows) > self._limits.rows:
            raise TruncatedError(f"more than {self._limits.rows:,} labels", endpoint=self._name, asked="labels")
        best: dict[Term, Ranked] = {}
        for row in rows:
            entity, ranked = row.get("e"), best_label(row, self._languages)
            if entity is not None and ranked and ((known := best.get(entity)) is None or ranked < known):
                best[entity] = ranked
        return {entity: ranked[2] if (ranked := best.get(entity)) else "" for entity in batch}

    async def _ask_catalogue(self) -> dict[str, Property]:
        query = build.catalogue(self._shape.labels, self._languages, PROPERTY_TYPE)
        best: dict[Iri, tuple[Ranked, str, str]] = {}
        for row in (await self._select.select(query, "catalogue")).rows:
            relation, entity, kind = row.get("p"), _value(row.get("e")), _value(row.get("t"))
            if isinstance(relation, Iri):
                named = (best_label({"l0": row["l"]}, self._languages) if "l" in row else None) or (99, 99, "")
                best[relation] = min(best.get(relation, (named, entity, kind)), (named, entity, kind))
        return {iri.value: Property(label, entity, kind) for iri, ((_, _, label), entity, kind) in best.items()}

    def _truthy(self, relation: Iri) -> Iri:
        """The relation that the catalogue knows a qualifier's or claim's predicate by."""
        mediators = self._shape.mediators
        for prefix in filter(None, (mediators.qualifier, mediators.statement, mediators.claim)):
            if relation.value.startswith(prefix):
                return Iri(mediators.truthy + relation.value.removeprefix(prefix))
        return relation


def best_label(row: Mapping[str, Term], languages: Sequence[str]) -> Ranked | None:
    """The label of a row (l<n>), with its rank before it; None where the row has none that can be read.

    Language before predicate: a German user would rather read an alternative German name than an English one.
    """
    tags = _tags(tuple(languages))
    for name, label in row.items():
        if name[:1] == "l" and name[1:].isdecimal() and isinstance(label, Literal) and label.value.strip():
            language = tags.index(label.language) if label.language in tags else len(tags)
            return language, int(name[1:]), label.value.strip()
    return None


@cache
def _tags(languages: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that labels have, the best first; a session has few sets of languages."""
    return (*(tag.lower() for tag in languages), "mul", "")


def _value(term: Term | None) -> str:
    return term.value if isinstance(term, Iri) else ""


def _by_iri(properties: dict[str, Property]) -> dict[Iri, Property]:
    return {Iri(iri): entry for iri, entry in properties.items()}
