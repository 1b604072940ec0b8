import sys

import pytest

from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.terms import Iri, Literal
from fedkg.display.frame import COLUMNS
from fedkg.errors import MissingExtraError
from tests.support.extras import needs

ADA, BOB, KNOWS = (Iri(f"http://ex.org/{name}") for name in ("ada", "bob", "knows"))
LABELS = {ADA.text: "Ada", BOB.text: "Bob"}
FIRST = PathEdge(ADA, KNOWS, BOB, "out", "g.ttl", "2026-11-22", labels=LABELS)
SECOND = PathEdge(BOB, KNOWS, Literal("7"), "out", "h.ttl", "2026-11-22", labels=LABELS)
ANSWERS = (
    AnswerValue("7", term=Literal("7"), grounded=True, paths=(0,)),
    AnswerValue("remembered"),
)
ANSWER = Answer("q", "literal", Status.ANSWERED, ANSWERS, (Path(0.5, (FIRST, SECOND)), Path(0.25, (FIRST,))))


@needs("notebook", "pandas")
def test_a_row_for_each_step() -> None:
    """Of answers with their paths, then of paths that prove none; what there is not is missing."""
    table = ANSWER.to_dataframe()
    assert list(table.columns) == COLUMNS
    assert table["answer"].fillna("").tolist() == ["7", "7", "remembered", ""]
    assert table["path"].fillna(0).tolist() == [1, 1, 0, 2]
    assert table["step"].fillna(0).tolist() == [1, 2, 0, 1]
    assert table["endpoint"].fillna("").tolist() == ["g.ttl", "h.ttl", "", "g.ttl"]
    assert table["score"].fillna(0).tolist() == [0.5, 0.5, 0, 0.25]
    assert table["object"].fillna("").tolist() == ["Bob", "7", "", "Bob"]
    assert table["object_iri"].fillna("").tolist() == [BOB.value, "", "", BOB.value]


@needs("notebook", "pandas")
def test_no_answer_is_an_empty_table() -> None:
    """With the same columns, so that tables of many answers can be put together."""
    table = Answer("q", "entities", Status.NONE).to_dataframe()
    assert (list(table.columns), len(table)) == (COLUMNS, 0)


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how it is installed."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas") as caught:
        ANSWER.to_dataframe()
    assert "fedkg[notebook]" in caught.value.hint
