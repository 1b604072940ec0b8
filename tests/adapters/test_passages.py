import asyncio
from pathlib import Path as File

import pytest

from fedkg.adapters.passages import completed, passages
from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.terms import Iri, Literal, Qualifier
from tests.support.pets import ask_about_pets, session_of

ANN, PET, REX = Iri("http://x/ann"), Iri("http://x/has_pet"), Iri("http://x/rex")
SINCE = (Qualifier(Iri("http://x/since"), Literal("1990")),)


def answer() -> Answer:
    """Two paths, the first of which proves Rex, walked backwards."""
    edge = PathEdge(ANN, PET, REX, "in", "pets", "2026-01-01", SINCE, labels={REX.text: "Rex\x1b[2J\u202e"})
    other = PathEdge(ANN, PET, Literal("Tom"), "out", "zoo", "2026-01-02")
    values = (AnswerValue("Rex", "http://x/rex", grounded=True, paths=(0,)),)
    caveats = (Caveat(CaveatKind.CUT, ""), Caveat(CaveatKind.GUESS, "0.3"))
    paths = (Path(0.5, (edge,)), Path(0.25, (other,)))
    return Answer("Which pet?", "entities", Status.ANSWERED, values, paths, caveats=caveats, confidence=0.3)


def test_a_path_is_told_in_words() -> None:
    """In the direction in which the graph states it, with its qualifiers, and without what a label hides."""
    first, second = passages(answer(), 10)
    assert first.text == "ann → has pet → Rex (since: 1990)"
    assert (second.text, second.score) == ("ann → has pet → Tom", 0.25)


def test_a_passage_tells_where_it_comes_from() -> None:
    """What it proves, all IRIs on it, endpoints, caveats in sentences."""
    first, second = (passage.metadata for passage in passages(answer(), 10))
    assert (first["answers"], first["answer_iris"], second["answers"]) == (["Rex"], ["http://x/rex"], [])
    assert first["iris"] == ["http://x/ann", "http://x/has_pet", "http://x/rex"]
    assert (first["endpoints"], first["retrieved_at"], first["score"]) == (["pets"], "2026-01-01", 0.5)
    assert first["caveats"] == ["there is more than was looked at", "the answer is a guess: 0.3"]
    assert (first["status"], first["confidence"]) == ("answered", 0.3)


@pytest.mark.parametrize("most", [0, 1, 5])
def test_the_best_paths_come_first(most: int) -> None:
    """As many as are asked for."""
    assert len(passages(answer(), most)) == min(most, 2)


def test_a_plain_program_waits_for_the_answer(pets: File) -> None:
    """And so does a notebook, in whose event loop a session cannot be run."""
    with session_of(pets, cache=False) as session:
        assert completed(session, ask_about_pets(session)) == ["Rex"]

        async def notebook() -> list[str]:
            return completed(session, ask_about_pets(session))

        assert asyncio.run(notebook()) == ["Rex"]
