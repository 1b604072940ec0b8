"""A small graph of films, and questions about it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedkg.bench.data.gold_chains import QuestionSet
from tests.support.films import X, write


@pytest.fixture
def films(tmp_path: Path) -> QuestionSet:
    """Two questions about a director whose two films have an actor each, and one about somebody unknown."""
    write(tmp_path)
    chain = [f"{X}r/directed", f"{X}r/starring"]
    rows = [
        question_row("one", "who starred in films directed by lee", "lee", ["ann", "bob"], gold_relations=chain),
        question_row("two", "who directed wave", "wave", ["lee"], gold_relations=[f"^{X}r/directed"]),
        question_row("lost", "who directed rain", "rain", ["lee"], gold_relations=chain),
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "films.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return QuestionSet("films", "films.nt.gz", f"<{X}r/", "generic")


def question_row(name: str, question: str, topic: str, answers: list[str], **more: Any) -> dict[str, Any]:
    """A line of a question set."""
    topics = [{"iri": X + topic, "label": topic.title()}]
    answering = [{"iri": X + answer, "label": answer.title()} for answer in answers]
    return {"id": name, "question": question, "topic_entities": topics, "answers": answering, **more}


@pytest.fixture(name="row")
def _row() -> Callable[..., dict[str, Any]]:
    """Makes a line of a question set."""
    return question_row
