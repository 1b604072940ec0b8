"""Our own questions for operators: their number and shapes, and their gold answers in the graphs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from eval.quality.natural import graph
from eval.quality.operators import GRAPHS, before, faults, figures, questions
from eval.support.operator_rows import HALVES, OperatorQuestion
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, QuestionRecord

SAMPLE = 12
"""Every so many questions are checked in each run of the tests; `--all` checks all."""


def half(name: str) -> list[OperatorQuestion]:
    """One half, over both graphs."""
    return [question for graph_name in GRAPHS for question in questions(graph_name, name)]


def test_each_half_has_all_operators_and_a_tenth_has_no_answer() -> None:
    """At least 100 questions, each once, and of each operator six; facts, entities and relations are lacking."""
    for name in HALVES:
        asked = half(name)
        assert len(asked) >= 100
        assert len({question.question for question in asked}) == len({question.id for question in asked}) == len(asked)
        shapes = Counter(question.shape for question in asked if not question.unanswerable)
        assert len(shapes) == 10
        assert min(shapes.values()) >= 4
        lacking = [question.unanswerable for question in asked if question.unanswerable]
        assert 10 * len(lacking) >= len(asked)
        assert set(lacking) == {"fact", "entity", "relation"}


def test_the_halves_share_no_topic() -> None:
    """What is tuned on one half has not seen the other."""
    tuning, test = (
        {(topic.label or "").casefold() for question in half(name) for topic in question.topics} for name in HALVES
    )
    assert tuning.isdisjoint(test)


@pytest.mark.parametrize("name", [f"operators-{graph_name}-{part}" for graph_name in GRAPHS for part in HALVES])
def test_each_half_is_read_as_a_benchmark(name: str) -> None:
    """Without any data folder: the questions are ours."""
    read, bad = loaders.read(definitions.find(name), None)
    assert not bad
    assert all(bool(question.answers) != bool(question.unanswerable) for question in read)


def test_gold_answers_are_those_of_the_graph(data: Path) -> None:
    """A sample of each half over the biomedical graph."""
    store = graph("biomed", data)
    for name in HALVES:
        assert list(faults(store, questions("biomed", name)[::SAMPLE])) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", GRAPHS)
def test_all_gold_answers_are_those_of_the_graph(data: Path, name: str) -> None:
    """Of both halves, with the query in the row."""
    store = graph(name, data)
    assert list(faults(store, [*questions(name, "tuning"), *questions(name, "test")])) == []


def test_figures_are_told_by_operator() -> None:
    """A right count, a wrong extreme without a caveat, and a refusal: each in all, and in its own group."""
    gold = (Gold("2"),)
    right = QuestionRecord(
        id="a", question="?", kind="count", status="answered", gold=gold, answers=(GivenAnswer("2"),)
    )
    wrong = QuestionRecord(
        id="b", question="?", kind="count", status="answered", gold=gold, answers=(GivenAnswer("3"),)
    )
    refused = QuestionRecord(id="c", question="?", kind="count", status="not_found", unanswerable="fact")
    measured = figures([right, wrong, refused], {"a": "count", "b": "extreme", "c": "count"})
    assert list(measured) == ["all", "count", "extreme", "unanswerable"]
    assert measured["count"] == {"questions": 1, "hits@1": 1.0, "f1": 1.0, "exact": 1.0, "wrong unmarked": 0.0}
    assert measured["extreme"]["wrong unmarked"] == 1.0
    assert measured["unanswerable"] == {"questions": 1, "wrong unmarked": 0.0, "refused": 1.0}
    assert measured["all"]["hits@1"] == 0.5


def test_figures_of_other_models_are_kept(tmp_path: Path) -> None:
    """Those of the same half; a model that is asked is measured anew."""
    file = tmp_path / "operators.json"
    file.write_text(json.dumps({"figures": {"asked": {"half": "test"}, "local": {"all": {}}, "guide:gold": {}}}))
    assert before("test", ["guide:gold"], file) == {"local": {"all": {}}}
    assert before("tuning", [], file) == {}
    assert before("test", [], tmp_path / "none.json") == {}
