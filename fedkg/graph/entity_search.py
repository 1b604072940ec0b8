"""Entities of one endpoint by what they are called: exact labels and aliases, look-ups by words, and suggestions."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from fedkg.cache.off_loop import keep
from fedkg.common.bounded import BoundedDict
from fedkg.common.concurrency import concurrently
from fedkg.common.normalize import spellings
from fedkg.config.settings import DAY
from fedkg.core.encoding import decode, encode
from fedkg.core.meter import count
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal, Term
from fedkg.errors import EndpointError, OfflineError, TruncatedError
from fedkg.graph.base import EndpointSource, all_in_halves, chunks, in_halves
from fedkg.graph.cache_keys import load
from fedkg.graph.entity_lookup import ALIKE, SEARCHES, EntityLookup
from fedkg.graph.labels import LabelLookup, Ranked, best_label
from fedkg.sparql import build
from fedkg.sparql import text_search as queries

__all__ = ["EntitySearch"]

T = TypeVar("T")

SCAN_ROWS = 200_000
TEXTS_PER_SEARCH = 40
SPARE = 10
"""Matches beyond the wanted ones that are looked at, since some of the best may be relations."""
ENTITIES_PER_REQUEST = 100
MOST_USED = 50_000
"""IRIs of which is remembered whether they are relations."""
WIDE = 20
NEAR = 60.0
"""Least similarity, in percent, of a label that is suggested instead of one that nothing matches."""
NOTHING: Ranked = (99, 99, "")


class EntitySearch:
    """Entities by label at one endpoint.

    `scan` allows to read all labels at once for suggestions: right for a graph in process, wrong for Wikidata.
    """

    def __init__(self, source: EndpointSource, languages: Sequence[str], names: LabelLookup, scan: bool) -> None:
        self._select = source.select
        self._store = source.store
        self._ttl = source.ttl
        self._labels = source.profile.shape.labels
        self._rows = source.profile.limits.rows
        self._languages = tuple(languages)
        self._names = names
        self._lookup = EntityLookup(source, languages, names.key)
        self._scan = scan
        self._all: dict[Iri, str] | None = None
        self._used: BoundedDict[Iri, bool] = BoundedDict(MOST_USED)

    async def exact(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """For each text the entities with that label or alias: exact matches first, then by IRI length.

        What was searched before costs no request. Raises EndpointError.
        """
        return await self._kept("exact", texts, limit, self._find)

    async def lookup(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """For each text the entities that are found by its words, the most alike first.

        None where that cannot be done.
        """
        matches = await self._kept("words", texts, limit, self._look_up)
        return {text: matches.get(text, []) for text in texts}

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The matches with type and, where they had none, description, as far as these are kept or can be asked for."""
        about = await self._about(list(dict.fromkeys(match.iri for match in matches if match.iri.queryable)))
        return [_with(match, about.get(match.iri, _About())) for match in matches]

    async def _kept(
        self,
        way: str,
        texts: Sequence[str],
        limit: int,
        find: Callable[[Sequence[str], int], Awaitable[Mapping[str, list[Match]]]],
    ) -> dict[str, list[Match]]:
        """What was found before, and what is found now; that nothing is called so is kept for a shorter time."""
        keys = {f"{self._names.key} {way} {limit} {text}": text for text in texts}
        known = await load(self._store, SEARCHES, keys, lambda value, _: decode(value, list[Match]))
        count("cache_hits", len(known))
        fetched = await find([text for text in keys.values() if text not in known], limit)
        for some, days in ((True, self._ttl.searches), (False, self._ttl.nothing)):
            values = {
                key: encode(fetched[text])
                for key, text in keys.items()
                if text in fetched and bool(fetched[text]) == some
            }
            if values:
                await keep(self._store, SEARCHES, values, days * DAY)
        results = known | dict(fetched)
        # in the order asked for, whatever was known before: the order of topics breaks ties in rankings
        return {text: results[text] for text in texts if text in results}

    async def _look_up(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """Like `_find`; what could not be looked up this time is left out."""
        answers = await concurrently(*(self._lookup.find(text) for text in texts))
        results = {text: matches for text, matches in zip(texts, answers, strict=True) if matches is not None}
        try:
            return await self._entities(results, limit) if results else {}
        except EndpointError:
            return {}

    async def _find(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        if not texts:
            return {}
        _, replies = await concurrently(self._names.properties(), self._ask_in_parts(texts))
        matches = {text: _ordered(some) for part in replies for text, some in part.items()}
        return await self._entities(matches, limit)

    async def _ask_in_parts(self, texts: Sequence[str]) -> Sequence[Mapping[str, list[Match]]]:
        """What the search service returns, part by part; no part is begun where this itself is cancelled before."""
        parts = chunks(texts, TEXTS_PER_SEARCH)
        return await concurrently(*(all_in_halves(part, self._ask) for part in parts))

    async def _entities(self, matches: Mapping[str, list[Match]], limit: int) -> dict[str, list[Match]]:
        """The first matches of each text that are no relations."""
        tops = [match.iri for some in matches.values() for match in some[: limit + SPARE]]
        properties = await self._names.properties()
        relations = properties | await self._relations(list(dict.fromkeys(tops)))
        return {text: [match for match in some if match.iri not in relations][:limit] for text, some in matches.items()}

    async def nearest(self, text: str, limit: int) -> list[Match]:
        """Entities whose label is spelled like the text, among all labels of a small graph, else among those seen.

        Raises EndpointError.
        """
        properties = await self._names.properties()
        labels = {iri: label for iri, label in (await self._known()).items() if iri not in properties}
        ranked = await asyncio.to_thread(_spelled_alike, text, labels, limit)
        return [Match(iri, label, ALIKE * score / 100) for label, score, iri in ranked]

    async def _relations(self, entities: Sequence[Iri]) -> frozenset[Iri]:
        """Those of the entities that are relations themselves; a catalogue has told the rest of the relations apart."""
        if self._labels.property_of:
            return frozenset()
        used: dict[Iri, bool] = {}
        asked = [iri for iri in entities if iri not in self._used and iri.queryable]
        for part in chunks(asked, TEXTS_PER_SEARCH):
            used |= await all_in_halves(part, self._ask_used)
            self._used.keep(used)
        return frozenset(iri for iri in entities if used.get(iri, self._used.get(iri)))

    async def _ask_used(self, entities: Sequence[Iri]) -> dict[Iri, bool]:
        rows = (await self._select.select(build.used(entities), "search")).rows
        names = {name for row in rows for name in row}
        return {iri: f"x{number}" in names for number, iri in enumerate(entities)}

    async def _ask(self, texts: Sequence[str]) -> dict[str, list[Match]]:
        forms = {text: [form for form in spellings(text) if Literal(form).queryable] for text in texts}
        by_form = await self._called(list(dict.fromkeys(itertools.chain.from_iterable(forms.values()))))
        return {text: list(_scored(spelled, by_form)) for text, spelled in forms.items()}

    async def _called(self, names: Sequence[str]) -> dict[str, list["_LabelHit"]]:
        """Who is called so, by name.

        Names that fill a reply crowd out the others, which are asked for again without them.
        """
        branches = len(self._labels.predicates) + len(self._labels.aliases)
        if not names or not branches:
            return {}
        limit = max(1, self._rows // branches)
        rows = (
            await self._select.select(partial(build.named, names, self._labels, self._languages, limit), "search")
        ).rows
        called: dict[str, list[_LabelHit]] = {}
        for row in rows:
            if hit := _hit(row, len(self._labels.predicates), self._languages):
                called.setdefault(hit.label, []).append(hit)
        common = {name for name, hits in called.items() if len(hits) * len(names) >= limit}
        if len(rows) < limit or not common:
            return called
        return called | await self._called([name for name in names if name not in common])

    async def _about(self, entities: Sequence[Iri]) -> dict[Iri, "_About"]:
        """What the entities are, from the store, then from the endpoint in one request for all that fit into one.

        Where the endpoint fails, what it has told by then; an entity that it fails over takes none from the others.
        """
        keys = {f"{self._names.key} about {iri.value}": iri for iri in entities}
        known = await load(self._store, SEARCHES, keys, lambda value, _: decode(value, _About))
        missing = [iri for iri in entities if iri not in known]
        with contextlib.suppress(OfflineError):
            for part in chunks(missing, ENTITIES_PER_REQUEST) if self._labels.type or self._labels.description else ():
                descriptions, failed = await in_halves(part, self._ask_about)
                values = {key: encode(descriptions[iri]) for key, iri in keys.items() if iri in descriptions}
                await keep(self._store, SEARCHES, values, self._ttl.searches * DAY)
                known |= descriptions
                if failed and not descriptions:
                    break
        return known

    async def _ask_about(self, entities: Sequence[Iri]) -> dict[Iri, "_About"]:
        query = queries.about(entities, self._labels, self._languages, self._rows + 1)
        rows = (await self._select.select(query, "search")).rows
        if len(rows) > self._rows:
            raise TruncatedError(f"more than {self._rows:,} types and descriptions", asked="search")
        described: dict[Term, Ranked] = {}
        types: dict[Term, dict[Term, Ranked]] = {iri: {} for iri in entities}
        for row in rows:
            entity, kind = row.get("e"), row.get("t")
            if entity not in types:
                continue
            if "d" in row and (ranked := best_label({"l0": row["d"]}, self._languages)):
                described[entity] = min(described.get(entity, ranked), ranked)
            elif kind and (ranked := best_label(row, self._languages)):
                types[entity][kind] = min(types[entity].get(kind, ranked), ranked)
        return {iri: _About(described.get(iri, NOTHING)[2], _first(types[iri].values())) for iri in entities}

    async def _known(self) -> dict[Iri, str]:
        if not self._scan:
            return self._names.seen.snapshot()
        if self._all is None:
            rows = (await self._select.select(build.scan_labels(self._labels, SCAN_ROWS), "labels")).rows
            best: dict[Iri, Ranked] = {}
            for row in rows:
                entity, ranked = row.get("e"), best_label(row, self._languages)
                if isinstance(entity, Iri) and ranked:
                    best[entity] = min(best.get(entity, ranked), ranked)
            self._all = {iri: label for iri, (_, _, label) in best.items()}
        return self._all


class _About(msgspec.Struct, frozen=True):
    """What an entity is, in words."""

    description: str = ""
    type: str = ""


class _LabelHit(NamedTuple):
    """An entity that is called so; `description` with its rank before it."""

    alias: bool
    description: Ranked
    entity: Iri
    label: str


def _spelled_alike(text: str, labels: Mapping[Iri, str], limit: int) -> list[tuple[str, float, Iri]]:
    """The labels like the text, with their similarity in percent.

    A weighted ratio finds names inside of texts, and thereby every short word: the plain one puts those behind.
    """
    from rapidfuzz import fuzz, process, utils  # noqa: PLC0415  # only names that no label matches need it

    clean = utils.default_process
    candidates = process.extract(
        text, labels, scorer=fuzz.WRatio, processor=clean, limit=WIDE * limit, score_cutoff=NEAR
    )
    scored = [(label, (score + fuzz.ratio(text, label, processor=clean)) / 2, iri) for label, score, iri in candidates]
    return sorted(scored, key=lambda near: (-near[1], len(near[2].value), near[2].value))[:limit]


def _hit(row: Mapping[str, Term], labels: int, languages: Sequence[str]) -> _LabelHit | None:
    """What a row (e<n>, l<n>, d<n>) says; n counts label predicates, then those of aliases."""
    number = next((name[1:] for name in row if name[0] == "e"), "")
    entity, label, about = row.get(f"e{number}"), row.get(f"l{number}"), row.get(f"d{number}")
    if not number.isdecimal() or not isinstance(entity, Iri) or not isinstance(label, Literal):
        return None
    described = best_label({"l0": about}, languages) if about else None
    return _LabelHit(int(number) >= labels, described or NOTHING, entity, label.value)


def _scored(spelled: Sequence[str], by_form: Mapping[str, list[_LabelHit]]) -> Iterable[Match]:
    """The matches of one text's spellings: 1.0 for a label as written, less for another case and for an alias."""
    for place, form in enumerate(spelled):
        for hit in sorted(by_form.get(form, ())):
            yield Match(hit.entity, hit.label, 1.0 - 0.01 * place - 0.1 * hit.alias, hit.description[2])


def _ordered(matches: Iterable[Match]) -> list[Match]:
    """Each entity once, by score; equal ones by length of IRI: on Wikidata the older and better known item."""
    best: dict[Iri, Match] = {}
    for match in sorted(matches, key=_order):
        best.setdefault(match.iri, match)
    return list(best.values())


def _order(match: Match) -> tuple[float, int, str]:
    return -match.score, len(match.iri.value), match.iri.value


def _first(labels: Iterable[Ranked]) -> str:
    """Of several labels the first in the order of the alphabet, "" for none."""
    return min((label for _, _, label in labels), default="")


def _with(match: Match, about: _About) -> Match:
    description = match.description or about.description
    return msgspec.structs.replace(match, description=description, type=match.type or about.type)
