"""Nodes without a name: one that behaves like a fact is a mediator, one that behaves like an entity is not."""

import pytest

from fedkg.config.profiles import Labels, Mediators, Shape
from fedkg.core.terms import Blank, Iri, Literal, Term
from fedkg.sparql.mediators import MOST_LEGS, Row, entity_marks, mediated

SHAPE = Shape(
    Labels(predicates=("http://x/name",), aliases=("http://x/alias",), type="http://x/type"),
    mediators=Mediators(unnamed=("http://x/m.",), name="http://x/name"),
    entity_type="http://x/topic",
)
NODE = Iri("http://x/m.1")


def rows(relation: str, legs: list[tuple[str, Term]], node: Term = NODE) -> list[Row]:
    """What a reply has of one node: (s, p, m, q, v) for each leg."""
    start = Iri("http://x/a")
    return [{"s": start, "p": Iri(relation), "m": node, "q": Iri(leg), "v": value} for leg, value in legs]


FACT: list[tuple[str, Term]] = [("http://x/film", Iri("http://x/b")), ("http://x/year", Literal("1990"))]


def test_a_node_like_a_fact_is_a_mediator() -> None:
    """A few legs, no names, a type that is not that of entities: all of its rows stay."""
    fact = rows("http://x/roles", [*FACT, ("http://x/type", Iri("http://x/performance"))])
    assert mediated(fact, SHAPE) == fact


@pytest.mark.parametrize(
    "leg",
    [
        ("http://x/name", Literal("Ada", language="ru")),
        ("http://x/alias", Literal("Ada")),
        ("http://x/type", Iri("http://x/topic")),
        ("http://x/a.b..c.d", Iri("http://x/c")),
    ],
    ids=["name", "alias", "type", "relation over a mediator"],
)
def test_marks_of_an_entity(leg: tuple[str, Term]) -> None:
    """A name of its own, the type of entities or a relation that leads over a mediator already; blank nodes aside."""
    assert mediated(rows("http://x/roles", [*FACT, leg]), SHAPE) == []
    blank = rows("http://x/roles", [*FACT, leg], Blank("b"))
    assert mediated(blank, SHAPE) == blank


@pytest.mark.parametrize(
    ("relation", "through"),
    [
        ("http://x/film.film.starring", True),
        ("http://x/people.person.spouse_s", True),
        ("http://x/award.category.winners", True),
        ("http://x/film.film.directed_by", False),
        ("http://x/award.award_honor.award_winner", False),
        ("http://x/organization.founders", False),
        ("http://x/film.actor.film..film.performance.film", False),
    ],
)
def test_the_relation_that_leads_there(relation: str, *, through: bool) -> None:
    """What a relation to persons, or over a mediator that was left out, leads to is an entity."""
    assert bool(mediated(rows(relation, FACT), SHAPE)) == through


def test_many_legs() -> None:
    """More legs than a fact has are an entity's."""
    legs: list[tuple[str, Term]] = [(f"http://x/{number}", Iri("http://x/b")) for number in range(MOST_LEGS + 1)]
    assert (mediated(rows("http://x/r", legs), SHAPE), len(mediated(rows("http://x/r", legs[1:]), SHAPE))) == (
        [],
        MOST_LEGS,
    )


def test_no_marks_without_iris_that_may_be_mediators() -> None:
    """Where only blank nodes are mediators nothing more is asked for."""
    assert entity_marks(Shape()) == ((), ())
