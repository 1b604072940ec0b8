"""Answering: the ends of the chosen paths."""

from collections.abc import Callable

from fedkg.graph.endpoint import SparqlGraph
from fedkg.session import Session
from tests.support.neighbourhoods import iri

GENE = """
:egfr rdfs:label "EGFR"@en ; r:in :growth, :signal, :membrane, :odd . r:in rdfs:label "participates in"@en .
:growth rdfs:label "growth"@en ; a :process . :signal rdfs:label "signalling"@en ; a :pathway .
:membrane rdfs:label "membrane"@en ; a :component . :odd rdfs:label "odd"@en .
:process rdfs:label "biological process"@en . :pathway rdfs:label "pathway"@en . :component rdfs:label "component"@en .
"""


async def test_only_ends_of_the_kind_asked_for_answer(make_graph: Callable[..., SparqlGraph]) -> None:
    """What its type says to be something else is none; what has no type may be; of another noun all ends answer."""
    async with Session(graph=make_graph(GENE), model="local", embedder="bm25", refuse_below=0.0) as session:
        pathways = await session.ask("Which pathways does EGFR participate in?")
        all_ends = await session.ask("What does EGFR participate in?")
    assert sorted(answer.label for answer in pathways.answers) == ["odd", "signalling"]
    assert sorted(answer.label for answer in all_ends.answers) == ["growth", "membrane", "odd", "signalling"]


async def test_types_of_all_ends_come_at_once(make_graph: Callable[..., SparqlGraph]) -> None:
    """A question that asks for a kind costs no request and no round trip more than one that does not."""
    usages = []
    for question in ("Which pathways does EGFR participate in?", "What does EGFR participate in?"):
        async with Session(graph=make_graph(GENE), model="local", embedder="bm25", refuse_below=0.0) as session:
            usages.append((await session.ask(question, [iri("egfr").value])).usage)
    assert [usage.requests for usage in usages] == [9, 9]
    assert [usage.round_trips for usage in usages] == [4, 4]
