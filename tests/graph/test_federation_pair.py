"""Diseases on one engine, drugs on another: questions that only identity links can answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from fedkg.core.answer import Answer, Status
from fedkg.session import Session
from tests.conftest import ServeFiles

OBO, UMLS, DRUG = "http://purl.obolibrary.org/obo/", "http://identifiers.org/umls/", "http://identifiers.org/drugbank/"
EXACT = "http://www.w3.org/2004/02/skos/core#exactMatch"
HYPERTENSION, SAME = f"{OBO}DOID_10763", f"{UMLS}C0020538"
METFORMIN, DIABETES = f"{DRUG}DB00331", f"{UMLS}C0011860"

pytestmark = pytest.mark.exhaustive  # the drugs are loaded into Virtuoso, which takes seconds


@pytest.fixture(scope="module")
def pair(oxigraph: ServeFiles, virtuoso: ServeFiles, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The URLs of the disease side on Oxigraph and of the drug side on Virtuoso."""
    folder = request.path.resolve().parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public graphs are not beside the project")
    with oxigraph([folder / "biomed-disease.nt.gz"]) as disease, virtuoso([folder / "biomed-drug.nt.gz"]) as drug:
        yield disease, drug


def ask(pair: tuple[str, str], question: str, topic: str, depth: int) -> Answer:
    """The answer of the local model, without a cache; every edge of it holds where it was said."""
    options: dict[str, Any] = {"model": "local", "embedder": "bm25", "cache": False, "search.depth": depth}
    with Session(*pair, **options) as session:
        answer = session.run(session.ask(question, topic))
        assert answer.unproven(session.identity.allows) == ()
        assert all(check.holds for check in session.run(session.verify(answer)))
    return answer


def shown(answer: Answer, number: int = 0) -> list[tuple[str, str, str, int]]:
    """The edges of one path: subject, relation, object, and which engine said it (0: diseases, 1: drugs)."""
    endpoints = sorted({edge.endpoint for path in answer.paths for edge in path.edges})
    edges = answer.paths[number].edges
    return [
        (edge.subject.text[1:-1], edge.relation.value, edge.object.text[1:-1], endpoints.index(edge.endpoint))
        for edge in edges
    ]


def test_which_drug_treats_a_disease(pair: tuple[str, str]) -> None:
    """From the ontology's IRI over the link to the drugs; nobody knows both, and the proof has both endpoints."""
    answer = ask(pair, "Which drug treats hypertension?", HYPERTENSION, 1)
    assert answer.status is Status.ANSWERED
    assert "Ramipril" in {value.value for value in answer.answers}
    for path in answer.paths:
        link, fact = path.edges
        assert (link.subject.text, link.relation.value, link.object.text) == (f"<{HYPERTENSION}>", EXACT, f"<{SAME}>")
        assert (fact.relation.local_name, fact.object) == ("treats", link.object)
        assert [endpoint.partition("?")[0] for endpoint in (link.endpoint, fact.endpoint)] == [
            url.partition("?")[0] for url in pair
        ]
    assert answer.gaps == ()


def test_a_hop_costs_two_requests_and_a_probe_each(pair: tuple[str, str]) -> None:
    """For one hop over both engines; labels come besides."""
    answer = ask(pair, "Which drug treats hypertension?", HYPERTENSION, 1)
    assert answer.usage.by_kind["neighbours"] == 2 * len(pair)
    assert answer.usage.by_kind["probe"] == len(pair)


def test_where_a_treated_disease_sits(pair: tuple[str, str]) -> None:
    """From a drug to diseases under the one name, and from these under the other name on to anatomy."""
    answer = ask(pair, "To which anatomy localizes what Metformin treats?", METFORMIN, 2)
    paths = [shown(answer, number) for number in range(len(answer.paths))]
    assert any(len(path) == 3 for path in paths), "treats, the link, localizes"
    for treats, link, localizes in (path for path in paths if len(path) == 3):
        assert treats[0] == METFORMIN
        assert link[1:3] == (EXACT, treats[2])
        assert localizes[0] == link[0]


@pytest.mark.parametrize("entity", [f"{OBO}DOID_9352", DIABETES])
def test_a_disease_is_one_whatever_it_is_called(pair: tuple[str, str], entity: str) -> None:
    """Under either IRI it has its anatomy and its drugs, and one label."""
    with Session(*pair, model="local", embedder="bm25", cache=False) as session:
        match, neighbourhoods, _ = session.run(session.neighbours(entity))
    edges = [edge for near in neighbourhoods for edge in near.edges]
    assert {"localizes", "treats"} <= {edge.relation.local_name for edge in edges}
    assert "diabetes" in match.label.lower()
    assert METFORMIN in {edge.subject.text[1:-1] for edge in edges if edge.relation.local_name == "treats"}
    assert not [edge for edge in edges if edge.relation.value == EXACT]
