"""What a profile hides: the edges of an entity that its `only`, `skip` and `skip_prefixes` leave out, counted.

Names, descriptions and links to copies are no edges, whatever the profile says of them; nor is what stands beside the
plain edges to say more of them, such as statement nodes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from fedkg.cache.off_loop import keep
from fedkg.config.profiles import Shape
from fedkg.config.settings import DAY
from fedkg.core.encoding import decode, encode
from fedkg.core.terms import BOTH, Direction, Iri, Literal, Term
from fedkg.graph.base import EndpointSource
from fedkg.graph.cache_keys import digest, load
from fedkg.sparql import probes
from fedkg.sparql.reply import counted

__all__ = ["CountsHiddenEdges", "HiddenEdges", "HiddenEdgesCount", "hides", "tally"]

NAMESPACE = "hidden"
RDFS, SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
OWL, SCHEMA = "http://www.w3.org/2002/07/owl#", "http://schema.org/"
ANNOTATIONS = (
    *(f"{RDFS}{name}" for name in ("label", "comment", "isDefinedBy", "seeAlso")),
    *(f"{SKOS}{name}" for name in ("prefLabel", "altLabel", "hiddenLabel", "definition", "notation")),
    *(f"{SKOS}{name}" for name in ("exactMatch", "closeMatch", "note", "scopeNote")),
    *(f"{SCHEMA}{name}" for name in ("name", "alternateName", "description", "image", "version", "dateModified")),
    *(f"http://purl.org/dc/{place}/{name}" for place in ("terms", "elements/1.1") for name in ("title", "description")),
    *(f"http://xmlns.com/foaf/0.1/{name}" for name in ("name", "depiction", "thumbnail", "isPrimaryTopicOf", "page")),
    f"{OWL}sameAs",
    "http://rdf.freebase.com/ns/type.object.name",
)
"""Predicates of names, descriptions, pictures and links to copies."""
MOST = 10_000_000


class HiddenEdges(msgspec.Struct, frozen=True):
    """How many edges of an entity one endpoint's profile hides.

    held: whether the endpoint has any triple of the entity. shown: how many of its triples may be edges. hidden: by
    predicate how many are left out. Of a hub, only the first triples are counted.
    """

    entity: Iri
    endpoint: str
    profile: str
    held: bool
    shown: int = 0
    hidden: dict[str, int] = {}

    @property
    def number(self) -> int:
        """How many are hidden."""
        return sum(self.hidden.values())


@runtime_checkable
class CountsHiddenEdges(Protocol):
    """A graph that can tell what its profiles hide; a graph of somebody's own need not."""

    async def hidden(
        self, entities: Sequence[Iri], directions: Sequence[Direction] = BOTH, *, always: bool = True
    ) -> list[HiddenEdges]:
        """What each endpoint has and hides of each entity.

        Without `always` an endpoint whose profile hides nothing is not asked. Raises EndpointError.
        """
        ...


class HiddenEdgesCount:
    """Counts what one endpoint has and its profile hides; kept like neighbourhoods."""

    def __init__(self, source: EndpointSource) -> None:
        self._source = source
        self._key = digest(("hidden", source.identity, probes.MOST_COUNTED))

    async def get(self, entities: Sequence[Iri], directions: Sequence[Direction]) -> list[HiddenEdges]:
        """One record per entity, in their order. Raises EndpointError."""
        source, way = self._source, " ".join(directions)
        keys = {f"{self._key} {way} {entity.value}": entity for entity in entities if entity.queryable}
        counts = await load(source.store, NAMESPACE, keys, lambda value, _: decode(value, dict[str, int]))
        if missing := [entity for entity in keys.values() if entity not in counts]:
            asked = await self._ask(missing, directions)
            values = {key: encode(asked[entity]) for key, entity in keys.items() if entity in asked}
            await keep(source.store, NAMESPACE, values, source.ttl.neighbours * DAY)
            counts |= asked
        return [tally(source, entity, counts.get(entity, {})) for entity in entities]

    async def _ask(self, entities: Sequence[Iri], directions: Sequence[Direction]) -> dict[Iri, dict[str, int]]:
        rows = (await self._source.select.select(probes.predicates(entities, directions), "hidden")).rows
        counts: dict[Term, dict[str, int]] = {entity: defaultdict(int) for entity in entities}
        for row in rows:
            entity, predicate, number = row.get("e") or row.get("f"), row.get("p"), row.get("n")
            if entity in counts and isinstance(predicate, Iri) and isinstance(number, Literal):
                counts[entity][predicate.value] += min(counted(number), MOST)
        return {entity: dict(counts[entity]) for entity in entities}


def tally(source: EndpointSource, entity: Iri, counts: Mapping[str, int]) -> HiddenEdges:
    """What the profile shows and hides of an entity with so many triples by predicate."""
    shape = source.profile.shape
    edges = {predicate: number for predicate, number in counts.items() if not _annotates(predicate, shape)}
    hidden = {predicate: number for predicate, number in edges.items() if shape.edges.leaves_out(predicate)}
    shown = sum(edges.values()) - sum(hidden.values())
    ordered = dict(sorted(hidden.items(), key=lambda item: (-item[1], item[0])))
    return HiddenEdges(entity, source.name, source.profile.name, bool(counts), shown, ordered)


def hides(shape: Shape) -> bool:
    """Whether a profile of that shape leaves out anything that may be an edge."""
    edges = shape.edges
    return bool(edges.only or edges.skip_prefixes or any(not _annotates(name, shape) for name in edges.skip))


def _annotates(predicate: str, shape: Shape) -> bool:
    """Whether triples of this predicate name or describe the entity, or say more of its plain edges."""
    labels, mediators = shape.labels, shape.mediators
    beside = tuple(filter(None, (mediators.claim, mediators.statement, mediators.qualifier)))
    named = (*labels.predicates, *labels.aliases, labels.description, labels.property_of, *ANNOTATIONS)
    return predicate in named or predicate.startswith(beside)
