"""The documents beside an answer's."""

from collections.abc import Iterator

import pytest

from fedkg.core.answer import Answer, Status
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Direction, Edge, Iri
from fedkg.engine.documents import MethodDocument, NeighboursDocument, VerifyDocument
from fedkg.engine.lookup import Checked
from fedkg.methods.registry import METHODS

ANN, REX, PET = Iri("http://x/ann"), Iri("http://x/rex"), Iri("http://x/pet")
NOW = "2026-01-01T00:00:00Z"


def edge(direction: Direction = "out") -> Edge:
    """Ann's pet, seen from one end."""
    return Edge(ANN, PET, REX, direction, "pets", NOW)


def checks(*holds: bool | None) -> Iterator[Checked]:
    """Edges that were asked for again."""
    return (Checked(0, edge(), verdict) for verdict in holds)


def test_edges_of_an_entity_are_cut_and_counted() -> None:
    """Each edge once, as many as were asked for; failures are gaps."""
    near = [
        Neighbourhood(ANN, "out", (edge(), edge()), "pets", NOW),
        Neighbourhood(ANN, "in", (edge("in"),), "pets", NOW),
        Neighbourhood(ANN, "in", (), "zoo", NOW, failed="timed out"),
    ]
    document = NeighboursDocument.of(Match(ANN, "Ann", 1.0), near, {REX: "Rex"}, [], 1)
    assert [shown.label(shown.object) for shown in document.edges] == ["Rex"]
    assert document.more == 1
    assert [(gap.endpoint, gap.asked, gap.reason) for gap in document.gaps] == [
        ("zoo", "http://x/ann (in)", "timed out")
    ]


@pytest.mark.parametrize(
    ("holds", "unproven", "proven"),
    [
        ((True, True), (), True),
        ((True, False), (), False),
        ((None,), (), False),
        ((True,), ("Rex",), False),
        ((), (), True),
    ],
)
def test_an_answer_is_proven_where_all_holds(
    holds: tuple[bool | None, ...], unproven: tuple[str, ...], proven: bool
) -> None:
    """Every edge, and a path to each answer."""
    answer = Answer("Which pet has Ann?", "entities", Status.ANSWERED)
    document = VerifyDocument.of(answer, [*checks(*holds)], unproven)
    assert document.proven is proven
    assert document.holds + document.gone + document.unasked == len(holds)
    assert document.question == answer.question


def test_a_method_has_its_name_and_paper() -> None:
    """As the registry has it."""
    document = MethodDocument.of("gcr", METHODS["gcr"])
    assert (document.name, document.paper, document.prompts) == ("gcr", METHODS["gcr"].paper, METHODS["gcr"].prompts)
