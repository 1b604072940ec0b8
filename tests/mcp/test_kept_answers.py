import pytest

from fedkg.core.answer import Answer, Status
from fedkg.errors import DocumentError
from fedkg.mcp.kept_answers import KeptAnswers


def answer(question: str) -> Answer:
    """An answer to that question."""
    return Answer(question, "entities", Status.NONE)


def test_the_latest_answers_are_kept() -> None:
    """Under names that are never given twice; the oldest is forgotten, and the error names those that are there."""
    kept = KeptAnswers(most=2)
    assert [kept.put("ann", answer(question)) for question in "abc"] == ["a1", "a2", "a3"]
    assert kept.get("ann", "a3").question == "c"
    with pytest.raises(DocumentError, match="'a1'") as error:
        kept.get("ann", "a1")
    assert "a2, a3" in error.value.hint


def test_no_client_sees_the_answers_of_another() -> None:
    """Neither by name nor in the list."""
    kept = KeptAnswers()
    name = kept.put("ann", answer("q"))
    with pytest.raises(DocumentError):
        kept.get("ben", name)
    assert (list(kept.of("ann")), list(kept.of("ben"))) == ([name], [])
