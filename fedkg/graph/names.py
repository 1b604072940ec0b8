"""Names of one endpoint's entities and relations, both ways: labels of terms, and entities by what they are called.

Labels come in batches, those of relations by one catalogue where there is one; all are kept, negatives too.
"""

import asyncio
import hashlib
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from rapidfuzz import fuzz, process, utils

from fedkg.errors import EndpointError
from fedkg.graph.base import Source, all_in_halves, chunks, in_halves
from fedkg.records import Match, decode, encode
from fedkg.sparql import build
from fedkg.terms import Iri, Literal, Term, own_name
from fedkg.words import spellings

__all__ = ["Names", "Search"]

LABELS = "labels"
LABEL_SECONDS = 30 * 86_400.0
CATALOGUE_SECONDS = 21 * 86_400.0
CATALOGUE_PAUSE = 300.0
PROPERTY_TYPE = "http://wikiba.se/ontology#propertyType"

SCAN_ROWS = 200_000
TEXTS_PER_SEARCH = 40
SPARE = 10
"""Matches beyond the wanted ones that are looked at, since some of the best may be relations."""
WIDE = 20
NEAR = 60.0
"""Least similarity, in percent, of a label that is suggested instead of one that nothing matches."""

Ranked = tuple[int, int, str]
"""A label with its rank before it: language, then predicate; the least is the best."""


class Property(msgspec.Struct, frozen=True):
    """What the catalogue says of a relation: its label, its property entity and its Wikidata property type ("" for none)."""

    label: str = ""
    entity: str = ""
    kind: str = ""


class Names:
    """The labels of one endpoint; `hits` counts labels that needed no request, `seen` holds all labels so far."""

    def __init__(self, source: Source, languages: Sequence[str]) -> None:
        self.hits = 0
        self.seen: dict[Iri, str] = {}
        self._select = source.select
        self._shape = source.profile.shape
        self._limits = source.profile.limits
        self._store = source.store
        self._languages = tuple(languages)
        what = (source.identity, build.DIALECT_VERSION, self._shape.labels, self._languages)
        self._key = hashlib.blake2s(encode(what), digest_size=12).hexdigest()
        self._catalogue: dict[Iri, Property] | None = None
        self._asked_again_at = float("-inf")
        self._lock = asyncio.Lock()

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term; IRIs without a label, or whose label cannot be had, get their local name."""
        wanted = list(dict.fromkeys(terms))
        properties = await self.catalogue()
        entities = [term for term in wanted if isinstance(term, Iri)]
        known = {iri: kept.label for iri in entities if (kept := properties.get(self._truthy(iri))) and kept.label}
        known |= await self._lookup([iri for iri in entities if iri not in known and iri.queryable])
        found: dict[Term, str] = {iri: label for iri, label in known.items() if label}
        self.seen |= {iri: label for iri, label in known.items() if label}
        return {term: found.get(term) or own_name(term) for term in wanted}

    async def catalogue(self) -> Mapping[Iri, Property]:
        """The relations that the endpoint describes by property entities: asked once, kept for weeks.

        Empty where the endpoint fails: it is asked again some minutes later, not at every hop.
        """
        if not self._shape.labels.property_of:
            return {}
        if self._catalogue is None:
            async with self._lock:
                await self._open_catalogue()
        return self._catalogue or {}

    async def plumbing(self) -> frozenset[Iri]:
        """The relations whose property type the profile skips."""
        skipped = set(self._shape.edges.skip_property_types)
        properties = await self.catalogue() if skipped else {}
        return frozenset(iri for iri, known in properties.items() if known.kind in skipped)

    async def properties(self) -> frozenset[Iri]:
        """The property entities: things that describe relations, not things that questions are about."""
        return frozenset(Iri(known.entity) for known in (await self.catalogue()).values() if known.entity)

    async def _lookup(self, entities: Sequence[Iri]) -> dict[Iri, str]:
        """Labels from the store, then from the endpoint; "" where it has none, which is kept too."""
        keys = {f"{self._key} {iri.value}": iri for iri in entities}
        kept = await asyncio.to_thread(self._store.get_many, LABELS, list(keys))
        self.hits += len(kept)
        found = {keys[key]: value.decode(errors="replace") for key, value in kept.items()}
        missing = [iri for iri in entities if iri not in found]
        parts = await asyncio.gather(*(self._ask(part) for part in chunks(missing, self._limits.label_batch)))
        return found | {iri: label for part in parts for iri, label in part.items()}

    async def _ask(self, batch: Sequence[Iri]) -> dict[Iri, str]:
        """The labels of one batch, kept at once; those that the endpoint failed to give are left out and not kept."""
        asked, _ = await in_halves(batch, self._select_labels)
        values = {f"{self._key} {iri.value}": label.encode() for iri, label in asked.items()}
        await asyncio.to_thread(self._store.put_many, LABELS, values, LABEL_SECONDS)
        return asked

    async def _select_labels(self, batch: Sequence[Iri]) -> dict[Iri, str]:
        rows = (await self._select.select(build.labels(batch, self._shape.labels, self._languages), "labels")).rows
        best: dict[Term, Ranked] = {}
        for row in rows:
            entity, ranked = row.get("e"), _best_label(row, self._languages)
            if entity is not None and ranked:
                best[entity] = min(best.get(entity, ranked), ranked)
        return {entity: best[entity][2] if entity in best else "" for entity in batch}

    async def _open_catalogue(self) -> None:
        if self._catalogue is not None or time.monotonic() < self._asked_again_at:
            return
        key = f"{self._key} catalogue"
        kept = await asyncio.to_thread(self._store.get_many, LABELS, [key])
        try:
            known = _read_catalogue(kept.get(key, b""))
            self._catalogue = known if known is not None else await self._ask_catalogue()
        except EndpointError:
            self._asked_again_at = time.monotonic() + CATALOGUE_PAUSE
            return
        if known is None:
            value = encode({iri.value: entry for iri, entry in self._catalogue.items()})
            await asyncio.to_thread(self._store.put_many, LABELS, {key: value}, CATALOGUE_SECONDS)

    async def _ask_catalogue(self) -> dict[Iri, Property]:
        query = build.catalogue(self._shape.labels, self._languages, PROPERTY_TYPE)
        best: dict[Iri, tuple[Ranked, str, str]] = {}
        for row in (await self._select.select(query, "catalogue")).rows:
            relation, entity, kind = row.get("p"), _value(row.get("e")), _value(row.get("t"))
            if isinstance(relation, Iri):
                named = (_best_label({"l0": row["l"]}, self._languages) if "l" in row else None) or (99, 99, "")
                best[relation] = min(best.get(relation, (named, entity, kind)), (named, entity, kind))
        return {iri: Property(label, entity, kind) for iri, ((_, _, label), entity, kind) in best.items()}

    def _truthy(self, relation: Iri) -> Iri:
        """The relation that the catalogue knows a qualifier's or claim's predicate by."""
        mediators = self._shape.mediators
        for prefix in filter(None, (mediators.qualifier, mediators.statement, mediators.claim)):
            if relation.value.startswith(prefix):
                return Iri(mediators.truthy + relation.value.removeprefix(prefix))
        return relation


class Search:
    """Entities by label at one endpoint.

    `scan` allows to read all labels at once for suggestions: right for a graph in process, wrong for Wikidata.
    """

    def __init__(self, source: Source, languages: Sequence[str], names: Names, scan: bool) -> None:
        self._select = source.select
        self._labels = source.profile.shape.labels
        self._rows = source.profile.limits.rows
        self._languages = tuple(languages)
        self._names = names
        self._scan = scan
        self._all: dict[Iri, str] | None = None
        self._used: dict[Iri, bool] = {}

    async def exact(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """For each text the entities with that label or alias: exact matches first, then by IRI length.

        Raises EndpointError.
        """
        parts = chunks(list(dict.fromkeys(texts)), TEXTS_PER_SEARCH)
        asked = asyncio.gather(*(all_in_halves(part, self._ask) for part in parts))
        properties, found = await asyncio.gather(self._names.properties(), asked)
        matches = {text: _ordered(some) for part in found for text, some in part.items()}
        tops = [match.iri for some in matches.values() for match in some[: limit + SPARE]]
        relations = properties | await self._relations(list(dict.fromkeys(tops)))
        return {text: [match for match in some if match.iri not in relations][:limit] for text, some in matches.items()}

    async def nearest(self, text: str, limit: int) -> list[Match]:
        """Entities whose label is spelled like the text, among all labels of a small graph, else among those seen.

        Raises EndpointError.
        """
        properties = await self._names.properties()
        labels = {iri: label for iri, label in (await self._known()).items() if iri not in properties}
        found = await asyncio.to_thread(_spelled_alike, text, labels, limit)
        return [Match(iri, label, score / 100) for label, score, iri in found]

    async def _relations(self, entities: Sequence[Iri]) -> frozenset[Iri]:
        """Those of the entities that are relations themselves; a catalogue has told the rest of the relations apart."""
        if self._labels.property_of:
            return frozenset()
        asked = [iri for iri in entities if iri not in self._used and iri.queryable]
        for part in chunks(asked, TEXTS_PER_SEARCH):
            self._used |= await all_in_halves(part, self._ask_used)
        return frozenset(iri for iri in entities if self._used.get(iri))

    async def _ask_used(self, entities: Sequence[Iri]) -> dict[Iri, bool]:
        rows = (await self._select.select(build.used(entities), "search")).rows
        names = {name for row in rows for name in row}
        return {iri: f"x{number}" in names for number, iri in enumerate(entities)}

    async def _ask(self, texts: Sequence[str]) -> dict[str, list[Match]]:
        forms = {text: [form for form in spellings(text) if Literal(form).queryable] for text in texts}
        every = list(dict.fromkeys(itertools.chain.from_iterable(forms.values())))
        branches = len(self._labels.predicates) + len(self._labels.aliases)
        if not every or not branches:
            return {text: [] for text in texts}
        query = build.named(every, self._labels, self._languages, max(1, self._rows // branches))
        by_form: dict[str, list[_Found]] = {}
        for row in (await self._select.select(query, "search")).rows:
            if found := _found(row, len(self._labels.predicates), self._languages):
                by_form.setdefault(found.label, []).append(found)
        return {text: list(_scored(spelled, by_form)) for text, spelled in forms.items()}

    async def _known(self) -> dict[Iri, str]:
        if not self._scan:
            return self._names.seen
        if self._all is None:
            rows = (await self._select.select(build.scan_labels(self._labels, SCAN_ROWS), "labels")).rows
            best: dict[Iri, Ranked] = {}
            for row in rows:
                entity, ranked = row.get("e"), _best_label(row, self._languages)
                if isinstance(entity, Iri) and ranked:
                    best[entity] = min(best.get(entity, ranked), ranked)
            self._all = {iri: label for iri, (_, _, label) in best.items()}
        return self._all


class _Found(NamedTuple):
    """An entity that is called so; `description` with its rank before it."""

    alias: bool
    description: Ranked
    entity: Iri
    label: str


def _spelled_alike(text: str, labels: Mapping[Iri, str], limit: int) -> list[tuple[str, float, Iri]]:
    """The labels like the text, with their similarity in percent.

    A weighted ratio finds names inside of texts, and thereby every short word: the plain one puts those behind.
    """
    clean = utils.default_process
    found = process.extract(text, labels, scorer=fuzz.WRatio, processor=clean, limit=WIDE * limit, score_cutoff=NEAR)
    scored = [(label, (score + fuzz.ratio(text, label, processor=clean)) / 2, iri) for label, score, iri in found]
    return sorted(scored, key=lambda near: (-near[1], len(near[2].value), near[2].value))[:limit]


def _found(row: Mapping[str, Term], labels: int, languages: Sequence[str]) -> _Found | None:
    """What a row (e<n>, l<n>, d<n>) says; n counts label predicates, then those of aliases."""
    number = next((name[1:] for name in row if name[0] == "e"), "")
    entity, label, about = row.get(f"e{number}"), row.get(f"l{number}"), row.get(f"d{number}")
    if not number.isdecimal() or not isinstance(entity, Iri) or not isinstance(label, Literal):
        return None
    described = _best_label({"l0": about}, languages) if about else None
    return _Found(int(number) >= labels, described or (99, 99, ""), entity, label.value)


def _scored(spelled: Sequence[str], by_form: Mapping[str, list[_Found]]) -> Iterable[Match]:
    """The matches of one text's spellings: 1.0 for a label as written, less for another case and for an alias."""
    for place, form in enumerate(spelled):
        for found in sorted(by_form.get(form, ())):
            yield Match(found.entity, found.label, 1.0 - 0.02 * place - 0.1 * found.alias, found.description[2])


def _ordered(matches: Iterable[Match]) -> list[Match]:
    """Each entity once, by score; equal ones by length of IRI: on Wikidata the older and better known item."""
    best: dict[Iri, Match] = {}
    for match in sorted(matches, key=_order):
        best.setdefault(match.iri, match)
    return list(best.values())


def _order(match: Match) -> tuple[float, int, str]:
    return -match.score, len(match.iri.value), match.iri.value


def _best_label(row: Mapping[str, Term], languages: Sequence[str]) -> Ranked | None:
    """The label of a row (l<n>), with its rank before it; None where the row has none that can be read.

    Language before predicate: a German user would rather read an alternative German name than an English one.
    """
    tags = (*(tag.lower() for tag in languages), "mul", "")
    for name, label in row.items():
        if name[:1] == "l" and name[1:].isdecimal() and isinstance(label, Literal) and label.value.strip():
            language = tags.index(label.language) if label.language in tags else len(tags)
            return language, int(name[1:]), label.value.strip()
    return None


def _value(term: Term | None) -> str:
    return term.value if isinstance(term, Iri) else ""


def _read_catalogue(value: bytes) -> dict[Iri, Property] | None:
    """The kept catalogue; None where there is none, or one that cannot be read."""
    try:
        return {Iri(iri): known for iri, known in decode(value, dict[str, Property]).items()}
    except msgspec.MsgspecError:
        return None
