"""The conditions of published queries."""

import pytest

from fedkg.bench.data.gold_conditions import gold_conditions

ROLE = "?x ns:film.film.language ns:m.02h40lc ."
MEDIATED = "ns:m.0dl567 ns:film.actor.film ?y . ?y ns:film.performance.film ?x ."
OFFICE = "?x ns:government.held ?c . ?c ns:government.title ns:m.0f6c3 ."


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (ROLE, [("film.film.language", "out", "m.02h40lc")]),
        (MEDIATED, [("film.actor.film..film.performance.film", "in", "m.0dl567")]),
        (OFFICE, [("government.held..government.title", "out", "m.0f6c3")]),
        ("ns:m.0d3k14 ns:people.sibling ?x .", [("people.sibling", "in", "m.0d3k14")]),
        (f"{ROLE} {ROLE}", [("film.film.language", "out", "m.02h40lc")]),
        ('FILTER(?x != ns:m.1) ?c ns:a.b ns:m.2 . ?x ns:a.c ?n . FILTER(?n > "1")', []),
        ("", []),
    ],
)
def test_what_a_query_demands_of_the_answers(patterns: str, expected: list[tuple[str, str, str]]) -> None:
    """Each step between an answer and an entity, over a mediator too, as one relation; nothing else."""
    conditions = gold_conditions(f"PREFIX ns: <http://rdf.freebase.com/ns/> SELECT ?x WHERE {{ {patterns} }}")
    steps = [(step.relation.value, step.direction, value.value) for step, value in conditions]
    assert [tuple(part.removeprefix("http://rdf.freebase.com/ns/") for part in step) for step in steps] == expected
