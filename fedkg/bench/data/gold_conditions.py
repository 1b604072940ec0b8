"""The conditions of published gold queries, as steps of a graph without mediators.

The queries of ComplexWebQuestions follow one template: `?x` is what is asked for, and what is said of it leads to an
entity, at once (`?x ns:film.film.produced_by ns:m.016qtt`) or over one mediator (`ns:m.0dl567 ns:film.actor.film ?y .
?y ns:film.performance.film ?x`), which FB15k-237 has as one relation, `film.actor.film..film.performance.film`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fedkg.core.terms import DirectedRelation, Direction, Iri

__all__ = ["GoldCondition", "gold_conditions"]

ASKED = "?x"
FREEBASE = "http://rdf.freebase.com/ns/"
TRIPLE = re.compile(r"(\?\w+|ns:[\w.]+)\s+ns:([\w.]+)\s+(\?\w+|ns:[\w.]+)")
Triple = tuple[str, str, str]


class GoldCondition(NamedTuple):
    """What is said of the answers: a step from each of them leads to that entity."""

    step: DirectedRelation
    value: Iri


def gold_conditions(query: str) -> tuple[GoldCondition, ...]:
    """The conditions of a published query on what it asks for, each once; none of a query that has another form.

    Filters, comparisons of values, and what is said of anything but the answers are left out.
    """
    triples = [(start, relation, end.rstrip(".")) for start, relation, end in TRIPLE.findall(query)]
    return tuple(dict.fromkeys((*_forwards(triples), *_backwards(triples))))


def _forwards(triples: Iterable[Triple]) -> Iterator[GoldCondition]:
    """Those that are walked along their relations, away from what is asked for."""
    triples = list(triples)
    for start, relation, end in triples:
        if start == ASKED:
            legs = [(relation, end)] if _entity(end) else _legs(relation, end, triples)
            yield from (_condition(name, "out", value) for name, value in legs if _entity(value))


def _legs(relation: str, mediator: str, triples: Iterable[Triple]) -> Iterator[tuple[str, str]]:
    """The relations over a mediator, with where they lead."""
    return ((f"{relation}..{last}", end) for start, last, end in triples if start == mediator)


def _backwards(triples: Iterable[Triple]) -> Iterator[GoldCondition]:
    """Those that lead to what is asked for."""
    triples = list(triples)
    for start, relation, end in filter(lambda triple: _entity(triple[0]), triples):
        if end == ASKED:
            yield _condition(relation, "in", start)
        elif not _entity(end):
            yield from (_condition(name, "in", start) for name, last in _legs(relation, end, triples) if last == ASKED)


def _condition(relation: str, direction: Direction, value: str) -> GoldCondition:
    step = DirectedRelation(Iri(FREEBASE + relation), direction)
    return GoldCondition(step, Iri(FREEBASE + value.removeprefix("ns:")))


def _entity(term: str) -> bool:
    return term.startswith("ns:")
