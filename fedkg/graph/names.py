"""Names of one endpoint's entities and relations: labels, and entities by label."""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from rapidfuzz import fuzz, process, utils

from fedkg.graph.base import Source, chunks
from fedkg.records import Match, decode, encode
from fedkg.sparql import build
from fedkg.terms import Iri, Literal, Term, own_name

__all__ = ["Names"]

LABELS = "labels"
LABEL_SECONDS = 30 * 86_400.0
CATALOGUE_SECONDS = 21 * 86_400.0
PROPERTY_TYPE = "http://wikiba.se/ontology#propertyType"
SCAN_ROWS = 200_000
TEXTS_PER_SEARCH = 40
NEAR = 60.0
"""Least similarity, in percent, of a label that is suggested instead of one that nothing matches."""


class Property(msgspec.Struct, frozen=True):
    """What the catalogue says of a relation: its label ("" for none) and its Wikidata property type ("" for none)."""

    label: str
    kind: str = ""


class Names:
    """Labels and search at one endpoint; `hits` counts labels that needed no request.

    `scan` allows to read all labels at once for suggestions: right for a graph in process, wrong for Wikidata.
    """

    def __init__(self, source: Source, languages: Sequence[str], scan: bool) -> None:
        self.hits = 0
        self._select = source.select
        self._shape = source.profile.shape
        self._limits = source.profile.limits
        self._store = source.store
        self._languages = tuple(languages)
        self._scan = scan
        self._key = hashlib.blake2s(
            encode((source.identity, self._shape.labels, self._languages)), digest_size=12
        ).hexdigest()
        self._seen: dict[Iri, str] = {}
        self._catalogue: dict[Iri, Property] | None = None
        self._lock = asyncio.Lock()

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term; IRIs without a label get their local name."""
        wanted = list(dict.fromkeys(terms))
        names: dict[Term, str] = {term: own_name(term) for term in wanted}
        properties = await self.catalogue()
        entities = [term for term in wanted if isinstance(term, Iri)]
        known = {iri: kept.label for iri in entities if (kept := properties.get(self._truthy(iri))) and kept.label}
        known |= await self._lookup([iri for iri in entities if iri not in known and iri.queryable])
        self._seen |= {iri: label for iri, label in known.items() if label}
        return names | {iri: label for iri, label in known.items() if label}

    async def catalogue(self) -> Mapping[Iri, Property]:
        """The relations that the endpoint describes by property entities: asked once, kept for weeks."""
        if not self._shape.labels.property_of:
            return {}
        async with self._lock:
            if self._catalogue is None:
                self._catalogue = await self._load_catalogue()
        return self._catalogue

    async def plumbing(self) -> frozenset[Iri]:
        """The relations whose property type the profile skips."""
        skipped = set(self._shape.edges.skip_property_types)
        properties = await self.catalogue() if skipped else {}
        return frozenset(iri for iri, known in properties.items() if known.kind in skipped)

    async def search(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """For each text the entities with that label or alias, exact matches first, then by IRI length."""
        parts = await asyncio.gather(*(self._search(part, limit) for part in chunks(texts, TEXTS_PER_SEARCH)))
        return {text: found for part in parts for text, found in part.items()}

    async def nearest(self, text: str, limit: int) -> list[Match]:
        """Entities whose label is spelled like the text, among all labels of a small graph, else among those seen."""
        labels = self._seen | (await self._scan_labels() if self._scan else {})
        found = process.extract(
            text, labels, scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=NEAR
        )
        return [Match(iri, label, score / 100) for label, score, iri in found]

    async def _lookup(self, entities: Sequence[Iri]) -> dict[Iri, str]:
        """Labels from the store, then from the endpoint; "" where it has none, which is kept too."""
        keys = {f"{self._key} {iri.value}": iri for iri in entities}
        kept = await asyncio.to_thread(self._store.get_many, LABELS, list(keys))
        self.hits += len(kept)
        found = {keys[key]: value.decode() for key, value in kept.items()}
        missing = [iri for iri in entities if iri not in found]
        parts = await asyncio.gather(*(self._ask(part) for part in chunks(missing, self._limits.label_batch)))
        asked = {iri: label for part in parts for iri, label in part.items()}
        if asked:
            values = {f"{self._key} {iri.value}": label.encode() for iri, label in asked.items()}
            await asyncio.to_thread(self._store.put_many, LABELS, values, LABEL_SECONDS)
        return found | asked

    async def _ask(self, batch: Sequence[Iri]) -> dict[Iri, str]:
        rows = (await self._select.select(build.labels(batch, self._shape.labels, self._languages), "labels")).rows
        best: dict[Iri, tuple[int, int, str]] = {}
        for row in rows:
            entity, predicate, label = row.get("e"), row.get("p"), row.get("l")
            if (
                isinstance(entity, Iri)
                and isinstance(predicate, Iri)
                and isinstance(label, Literal)
                and label.value.strip()
            ):
                rank = (*self._rank(predicate, label), label.value.strip())
                best[entity] = min(best.get(entity, rank), rank)
        return {entity: best[entity][2] if entity in best else "" for entity in batch}

    def _rank(self, predicate: Iri, label: Literal) -> tuple[int, int]:
        """Language before predicate: a German user would rather read an alternative German name than an English one."""
        tags = (*self._languages, "mul", "")
        language = tags.index(label.language) if label.language in tags else len(tags)
        predicates = self._shape.labels.predicates
        return language, predicates.index(predicate.value) if predicate.value in predicates else len(predicates)

    async def _load_catalogue(self) -> dict[Iri, Property]:
        key = f"{self._key} catalogue"
        kept = await asyncio.to_thread(self._store.get_many, LABELS, [key])
        if kept:
            return {Iri(iri): entry for iri, entry in decode(kept[key], dict[str, Property]).items()}
        query = build.catalogue(self._shape.labels, self._languages, PROPERTY_TYPE)
        best: dict[Iri, tuple[int, int, str, str]] = {}
        for row in (await self._select.select(query, "catalogue")).rows:
            relation, label, kind = row["p"], row.get("l"), row.get("t")
            if isinstance(relation, Iri):
                rank = self._rank(Iri(""), label) if isinstance(label, Literal) else (99, 99)
                entry = (
                    *rank,
                    label.value if isinstance(label, Literal) else "",
                    kind.value if isinstance(kind, Iri) else "",
                )
                best[relation] = min(best.get(relation, entry), entry)
        catalogue = {iri: Property(label, kind) for iri, (*_, label, kind) in best.items()}
        value = encode({iri.value: entry for iri, entry in catalogue.items()})
        await asyncio.to_thread(self._store.put_many, LABELS, {key: value}, CATALOGUE_SECONDS)
        return catalogue

    def _truthy(self, relation: Iri) -> Iri:
        """The relation that the catalogue knows a qualifier's or claim's predicate by."""
        mediators = self._shape.mediators
        for prefix in filter(None, (mediators.qualifier, mediators.statement, mediators.claim)):
            if relation.value.startswith(prefix):
                return Iri(mediators.truthy + relation.value.removeprefix(prefix))
        return relation

    async def _search(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        forms = {text: _forms(text) for text in texts}
        every = list(dict.fromkeys(form for found in forms.values() for form in found))
        query = build.named(every, self._shape.labels, self._languages, limit * max(1, len(every)))
        found: dict[str, list[Match]] = {text: [] for text in texts}
        for row in (await self._select.select(query, "search")).rows if every else ():
            for text, match in _matches(row, forms, len(self._shape.labels.predicates)):
                found[text].append(match)
        return {text: _best(matches, limit) for text, matches in found.items()}

    async def _scan_labels(self) -> dict[Iri, str]:
        rows = (await self._select.select(build.scan_labels(self._shape.labels, SCAN_ROWS), "labels")).rows
        pairs = ((row["e"], row["l"]) for row in rows)
        return {iri: label.value for iri, label in pairs if isinstance(iri, Iri) and isinstance(label, Literal)}


def _forms(text: str) -> list[str]:
    """The spellings that are tried: labels are compared exactly, because no index of an endpoint ignores case."""
    text = " ".join(text.split())
    return list(dict.fromkeys(form for form in (text, text.lower(), text.title(), text[:1].upper() + text[1:]) if form))


def _matches(row: Mapping[str, Term], forms: Mapping[str, list[str]], labels: int) -> Iterable[tuple[str, Match]]:
    """The match that a row (e<n>, l<n>, d<n>) gives to each text: 1.0 for a label as written, less for case and alias."""
    number = next(name[1:] for name in row if name[0] == "e")
    entity, label, description = row[f"e{number}"], row[f"l{number}"], row.get(f"d{number}")
    if not isinstance(entity, Iri) or not isinstance(label, Literal):
        return
    about = description.value if isinstance(description, Literal) else ""
    for text, spelled in forms.items():
        if label.value in spelled:
            score = 1.0 - 0.02 * spelled.index(label.value) - (0.1 if int(number) >= labels else 0.0)
            yield text, Match(entity, label.value, score, about)


def _best(matches: Iterable[Match], limit: int) -> list[Match]:
    """Each entity once, by score; equal ones by length of IRI: on Wikidata the older and better known item."""
    ordered = sorted(matches, key=lambda match: (-match.score, len(match.iri.value), match.iri.value))
    return list({match.iri: match for match in reversed(ordered)}.values())[::-1][:limit]
