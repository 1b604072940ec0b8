"""Entities of one endpoint by what they are called: exact labels and aliases, and suggestions for what nothing matches."""

import asyncio
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from rapidfuzz import fuzz, process, utils

from fedkg.errors import TermError
from fedkg.graph.base import Source, all_in_halves, chunks
from fedkg.graph.names import Names, Ranked, best_label
from fedkg.records import Match, decode, encode
from fedkg.sparql import build
from fedkg.terms import Iri, Literal, Term
from fedkg.words import spellings

__all__ = ["Search"]

SCAN_ROWS = 200_000
TEXTS_PER_SEARCH = 40
SPARE = 10
"""Matches beyond the wanted ones that are looked at, since some of the best may be relations."""
WIDE = 20
NEAR = 60.0
"""Least similarity, in percent, of a label that is suggested instead of one that nothing matches."""
SEARCHES = "searches"
SEARCH_SECONDS = 7 * 86_400.0
NOTHING_SECONDS = 86_400.0
"""What no entity is called today may be somebody's name tomorrow."""


class Search:
    """Entities by label at one endpoint.

    `scan` allows to read all labels at once for suggestions: right for a graph in process, wrong for Wikidata.
    """

    def __init__(self, source: Source, languages: Sequence[str], names: Names, scan: bool) -> None:
        self._select = source.select
        self._store = source.store
        self._labels = source.profile.shape.labels
        self._rows = source.profile.limits.rows
        self._languages = tuple(languages)
        self._names = names
        self._scan = scan
        self._all: dict[Iri, str] | None = None
        self._used: dict[Iri, bool] = {}

    async def exact(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        """For each text the entities with that label or alias: exact matches first, then by IRI length.

        What was searched before costs no request. Raises EndpointError.
        """
        keys = {f"{self._names.key} {limit} {text}": text for text in texts}
        kept = await asyncio.to_thread(self._store.get_many, SEARCHES, list(keys))
        self._names.hits += len(kept)
        read = {keys[key]: _read_matches(value) for key, value in kept.items()}
        known = {text: matches for text, matches in read.items() if matches is not None}
        found = await self._find([text for text in keys.values() if text not in known], limit)
        for some, seconds in ((True, SEARCH_SECONDS), (False, NOTHING_SECONDS)):
            values = {
                key: encode(found[text]) for key, text in keys.items() if text in found and bool(found[text]) == some
            }
            if values:
                await asyncio.to_thread(self._store.put_many, SEARCHES, values, seconds)
        return known | found

    async def _find(self, texts: Sequence[str], limit: int) -> dict[str, list[Match]]:
        if not texts:
            return {}
        parts = chunks(texts, TEXTS_PER_SEARCH)
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
                entity, ranked = row.get("e"), best_label(row, self._languages)
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
    described = best_label({"l0": about}, languages) if about else None
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


def _read_matches(value: bytes) -> list[Match] | None:
    try:
        return decode(value, list[Match])
    except (msgspec.MsgspecError, TermError):
        return None
