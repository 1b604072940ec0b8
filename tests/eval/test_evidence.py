"""Asking for the evidence of a confidence."""

from pathlib import Path

from eval.quality.evidence import READ, Noting, Robbed, parts
from fedkg.core.choice import ChainEvidence
from fedkg.core.terms import Iri
from fedkg.embed.bm25 import Bm25Similarity
from tests.support.pets import session_of


def test_no_weights_are_fitted_on_questions_that_the_reading_was_learned_from() -> None:
    """They are in the tuning half, and are not drawn; the older ones and the other half all are."""
    found = {part.half: asked for part, _, asked in parts("natural-biomed", Path(), 1_000)}
    numbers = {half: [int(question.id[-3:]) for question in asked] for half, asked in found.items()}
    assert all(number < READ for listed in numbers.values() for number in listed)
    assert {half: len(listed) for half, listed in numbers.items()} == {"tuning": 67, "test": 67}


async def test_a_robbed_graph_returns_no_edge_to_what_is_gone(pets: Path) -> None:
    """All other edges stay, and what was asked before is not remembered."""
    async with session_of(pets) as owner:
        graph = Robbed(await owner.graph())
        [ann] = (await graph.search(["Ann"]))["Ann"]
        [before] = await graph.neighbours([ann.iri], "out")
        graph.gone = {edge.end.value for edge in before.edges[:1] if isinstance(edge.end, Iri)}
        [after] = await graph.neighbours([ann.iri], "out")
    assert graph.gone
    assert set(before.edges) - set(after.edges) == set(before.edges[:1])


async def test_a_robbed_graph_has_no_other_answer(pets: Path) -> None:
    """What else the relation to an answer leads to from the same entity is gone with it; other relations stay."""
    more = "".join(f"<http://x/ann> <http://x/{name}> <http://x/tom> .\n" for name in ("has_pet", "likes"))
    pets.write_text(pets.read_text() + more)
    async with session_of(pets) as owner:
        graph = Robbed(await owner.graph())
        [ann] = (await graph.search(["Ann"]))["Ann"]
        [before] = await graph.neighbours([ann.iri], "out")
        graph.gone = {"http://x/rex"}
        [after] = await graph.neighbours([ann.iri], "out")
    assert {edge.relation.value for edge in set(before.edges) - set(after.edges)} == {"http://x/has_pet"}
    assert {edge.relation.value for edge in after.edges if isinstance(edge.end, Iri)} == {"http://x/likes"}


async def test_a_robbed_graph_has_no_answer_by_the_other_name(pets: Path) -> None:
    """Parents backwards are gone with the children, in either direction that is asked for; others stay."""
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    names = "".join(f'<http://x/{name}> <{label}> "{name}" .\n' for name in ("children", "parents"))
    facts = "<http://x/ann> <http://x/children> <http://x/rex> .\n<http://x/tom> <http://x/parents> <http://x/ann> .\n"
    pets.write_text(pets.read_text() + names + facts)
    async with session_of(pets) as owner:
        graph = Robbed(await owner.graph())
        [ann] = (await graph.search(["Ann"]))["Ann"]
        [before] = await graph.neighbours([ann.iri], "in")
        graph.gone = {"http://x/rex"}
        [after] = await graph.neighbours([ann.iri], "in")
    assert {edge.relation.value for edge in set(before.edges) - set(after.edges)} == {"http://x/parents"}


async def test_the_evidence_of_an_answer_is_noted(pets: Path) -> None:
    """The latest conclusion of the model is that of the question asked last."""
    model = Noting(Bm25Similarity())
    async with session_of(pets, reasoner=model, refuse_below=0.0) as session:
        answer = await session.ask("Which pet has Ann?", ["Ann"])
    assert answer.answers
    assert isinstance(model.latest.evidence, ChainEvidence)
    assert answer.confidence == round(model.latest.confidence or -1, 3)
