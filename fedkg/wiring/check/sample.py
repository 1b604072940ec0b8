"""The sample: entities of the graph that have edges, and neither relations nor classes, which a walk hardly meets.

What an engine returns first is often its schema. So some candidates, those with a label first, are asked for the
predicates that they have on both sides; what is used as a predicate, described like a relation or class, or has
instances, is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from fedkg.core.terms import BOTH, Iri, Literal, Term
from fedkg.errors import EndpointError, RefusedError, UnreachableError
from fedkg.graph.hidden_edges import HiddenEdges, tally
from fedkg.sparql import build, probes
from fedkg.sparql.reply import counted
from fedkg.wiring.check.subject import Subject

__all__ = ["GONE", "candidates", "choose"]

AT_ONCE, ROUNDS = 10, 4
"""Candidates that are looked at in one request, and most such requests."""
CHOSEN = 5
WIDE = 300
"""Triples whose subjects are candidates."""
GONE = (UnreachableError, RefusedError)
"""After these nothing more is asked."""
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
OWL, WIKIBASE = "http://www.w3.org/2002/07/owl#", "http://wikiba.se/ontology#"
TYPE = f"{RDF}type"
DESCRIBES_SCHEMA = {
    *(f"{RDFS}{name}" for name in ("domain", "range", "subPropertyOf", "subClassOf")),
    *(f"{OWL}{name}" for name in ("inverseOf", "equivalentClass", "equivalentProperty", "disjointWith")),
    *(f"{WIKIBASE}{name}" for name in ("directClaim", "propertyType", "claim")),
}
"""Predicates that only relations and classes have."""
LEADS_TO_SCHEMA = {TYPE, *(f"{RDFS}{name}" for name in ("domain", "range", "subClassOf", "subPropertyOf"))}
"""Predicates that lead to relations and classes only."""


async def candidates(subject: Subject) -> list[Iri]:
    """The entities seen so far, those with a label first, without those that are used as predicates.

    Where few have a label, subjects of some more triples too. Raises EndpointError where the endpoint is gone.
    """
    if subject.pool:
        return subject.pool
    entities = [match.iri for match in subject.named]
    if len(entities) < AT_ONCE:
        rows = (await subject.ask(build.subjects(WIDE))).rows
        entities += [term for row in rows if isinstance(term := row.get("s"), Iri) and term.queryable]
    entities = list(dict.fromkeys([*entities, *subject.entities]))
    relations = await _used(subject, entities[: AT_ONCE * ROUNDS])
    subject.pool = [entity for entity in entities if entity not in relations]
    return subject.pool


async def choose(subject: Subject) -> list[HiddenEdges]:
    """Puts the entities with most edges into `subject.chosen`; returns what the profile shows and hides of them.

    Empty where the server cannot count: then the first candidates are taken. Raises EndpointError where it is gone.
    """
    everything = await candidates(subject)
    for start in range(0, min(len(everything), AT_ONCE * ROUNDS), AT_ONCE):
        counts = await _counted(subject, everything[start : start + AT_ONCE])
        if counts is None:
            break
        best = sorted((count for count in counts if count.shown), key=lambda count: -min(count.shown, WIDE))
        if best:
            subject.chosen = [count.entity for count in best[:CHOSEN]]
            return best[:CHOSEN]
        hidden = [count for count in counts if count.hidden]
        if hidden:
            subject.chosen = subject.chosen or [count.entity for count in hidden[:CHOSEN]]
    subject.chosen = subject.chosen or everything[:CHOSEN] or subject.entities[:CHOSEN]
    return []


async def _used(subject: Subject, entities: Sequence[Iri]) -> set[Iri]:
    """Those of the entities that are used as predicates; none where the server cannot tell."""
    try:
        rows = (await subject.ask(build.used(entities))).rows if entities else []
    except GONE:
        raise
    except EndpointError:
        return set()
    bound = {name for row in rows for name in row}
    return {entity for number, entity in enumerate(entities) if f"x{number}" in bound}


async def _counted(subject: Subject, entities: Sequence[Iri]) -> list[HiddenEdges] | None:
    """What the profile shows and hides of those that are no schema; None where the server cannot count."""
    try:
        rows = (await subject.ask(probes.predicates(entities, BOTH))).rows
    except GONE:
        raise
    except EndpointError:
        return None
    out: dict[Term, Counter[str]] = defaultdict(Counter)
    into: dict[Term, Counter[str]] = defaultdict(Counter)
    for row in rows:
        predicate, number = row.get("p"), row.get("n")
        if isinstance(predicate, Iri) and isinstance(number, Literal):
            side, entity = (out, row["e"]) if "e" in row else (into, row.get("f", predicate))
            side[entity][predicate.value] += counted(number)
    things = [
        entity
        for entity in entities
        if not DESCRIBES_SCHEMA & out[entity].keys() and not LEADS_TO_SCHEMA & into[entity].keys()
    ]
    return [tally(subject.graph.source, entity, _untyped(out[entity] + into[entity])) for entity in things]


def _untyped(counts: Counter[str]) -> dict[str, int]:
    """Without types: they lead to classes."""
    return {predicate: number for predicate, number in counts.items() if predicate != TYPE}
