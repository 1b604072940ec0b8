"""Entities of one endpoint looked up by words, in the way that its profile names or its engine brings along.

A look-up helps where no entity has just that label. It is never in the way: what cannot be looked up has no candidates.
"""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence

from fedkg.cache.off_loop import keep, look_up
from fedkg.config.dialects import Dialect
from fedkg.config.settings import DAY
from fedkg.core.gaps import miss
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal, Term
from fedkg.core.usage import Gap
from fedkg.errors import EndpointError, FedkgError, InputError, QueryRejectedError
from fedkg.graph.base import EndpointSource
from fedkg.sparql import text_search as queries
from fedkg.sparql.reply import Rows
from fedkg.transport import mediawiki

__all__ = ["ALIKE", "SEARCHES", "EntityLookup"]

SEARCHES = "searches"
"""The namespace of what was searched."""
ALIKE = 0.8
"""The score of a name that differs in nothing but case, marks and the order of its words: below those of all exact
matches."""
CANDIDATES = 50
"""Entities that are asked for: the order of an endpoint is not ours, so some more than are shown."""
REFUSED_TEXT = re.compile(r"XM0\d\d|FT\d{3}")
"""Virtuoso's full text speaking: this text cannot be searched, others can."""

log = logging.getLogger(__name__)


class EntityLookup:
    """Looks entities of one endpoint up; `key` distinguishes its content, shape and languages in the cache."""

    def __init__(self, source: EndpointSource, languages: Sequence[str], key: str) -> None:
        self._source = source
        self._profile = source.profile
        self._languages = tuple(languages)
        self._barred = f"{key} no look-up {self._profile.lookup.kind}"

    async def find(self, text: str) -> list[Match] | None:
        """The entities whose names are like the text, the best first; None where they cannot be looked up."""
        if self._profile.lookup.kind == "none" or await self._is_barred():
            return None
        try:
            rows = await self._ask(text)
        except (EndpointError, InputError) as error:
            log.info("no look-up of %r at %s: %s", text[:100], self._source.name, error)
            await self._note(error)
            if isinstance(error, EndpointError) and not isinstance(error, QueryRejectedError):
                miss(Gap(self._source.name, f"the look-up of {text[:100]!r}", str(error)))
            return None
        return _scored(text, rows.rows)

    async def _ask(self, text: str) -> Rows:
        kind = self._profile.lookup.kind
        if kind == "wikidata":
            if self._source.lookup is None:
                raise InputError("the web API is not connected")
            asked = mediawiki.entity_search(text, self._languages[0], CANDIDATES)
            return await self._source.lookup.select(asked, "look-up")

        def query(dialect: Dialect) -> str:
            way = dialect.text if kind == "auto" else kind
            return queries.by_words(way, text, self._profile.shape.labels, self._languages, CANDIDATES)

        return await self._source.select.select(query, "look-up")

    async def _is_barred(self) -> bool:
        kept = await look_up(self._source.store, SEARCHES, [self._barred])
        return bool(kept)

    async def _note(self, error: FedkgError) -> None:
        """Remembers for a day that the endpoint takes no such query."""
        rejected = isinstance(error, QueryRejectedError) and not REFUSED_TEXT.search(error.message)
        if rejected and self._profile.lookup.kind != "wikidata":
            store, seconds = self._source.store, self._source.ttl.nothing * DAY
            await keep(store, SEARCHES, {self._barred: b"rejected"}, seconds)


def likeness(text: str, name: str) -> float:
    """How much two names are spelled alike, 0..1, whatever their case, marks and order of words."""
    from rapidfuzz import fuzz, utils  # noqa: PLC0415  # only names that no label matches need it

    # of a name that is nothing but marks none may be left out: "!!!" is a band, "???" is another one
    clean = utils.default_process if utils.default_process(text) else None
    alike = max(fuzz.ratio(text, name, processor=clean), fuzz.token_sort_ratio(text, name, processor=clean))
    return ALIKE * alike / 100


def _scored(text: str, rows: Iterable[Mapping[str, Term]]) -> list[Match]:
    """Each entity once, by its best name; of equal ones the endpoint's order stays."""
    best: dict[Iri, Match] = {}
    for match in sorted((match for row in rows if (match := _match(text, row))), key=lambda match: -match.score):
        best.setdefault(match.iri, match)
    return list(best.values())


def _match(text: str, row: Mapping[str, Term]) -> Match | None:
    """What a row (e, l) says, or (e, l, m, d) where another name matched and there is a description."""
    entity, label, about = row.get("e"), row.get("l"), row.get("d")
    name = row.get("m", label)
    if not (isinstance(entity, Iri) and entity.queryable and isinstance(label, Literal) and isinstance(name, Literal)):
        return None
    return Match(entity, label.value, likeness(text, name.value), about.value if isinstance(about, Literal) else "")
