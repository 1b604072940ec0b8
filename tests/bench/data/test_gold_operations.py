"""What has to be computed, as questions state it."""

from pathlib import Path

import msgspec
import pytest

from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.gold_operations import GoldFilter, GoldOperation, GoldSet
from fedkg.errors import DatasetError

STATED = GoldOperation(
    sets=(GoldSet(("http://x.org/a",), ("^http://x.org/p",)),),
    filters=(GoldFilter(("http://x.org/q",), "between", ("1990", "2000")),),
    result="count",
)


def test_a_row_states_its_operation(tmp_path: Path) -> None:
    """It is read from the file; a row without one states none."""
    rows = [{"question": "How many?", "answers": [2], "operation": STATED}, {"question": "Who?", "answers": ["x"]}]
    file = tmp_path / "asked.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    assert [question.operation for question in loaders.questions(file)] == [STATED, None]


def test_an_operation_that_is_none_is_a_fault_of_the_row(tmp_path: Path) -> None:
    """An unknown result, or an unknown key, names the row."""
    row = {"question": "How many?", "answers": [2], "operation": {"sets": [], "result": "average"}}
    file = tmp_path / "asked.jsonl"
    file.write_bytes(msgspec.json.encode(row))
    with pytest.raises(DatasetError, match=r"asked\.jsonl, line 1.*average"):
        loaders.questions(file)


def test_our_own_questions_state_theirs() -> None:
    """All that have an answer, of every result."""
    read, _ = loaders.read(definitions.find("operators-codex-m-test"), None)
    assert all((question.operation is None) == bool(question.unanswerable) for question in read)
    results = {question.operation.result for question in read if question.operation}
    assert results == {"ends", "count", "extreme", "compare", "group"}
