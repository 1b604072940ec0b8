"""Our own natural questions: their number and shapes, and their gold answers in the graphs."""

from pathlib import Path

import pytest

from eval.quality.natural import GRAPHS, HALVES, NaturalQuestion, faults, figures, found, graph, questions
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, QuestionRecord

SAMPLE = 10
"""Every so many questions are checked here; `python -m eval.quality.natural --check` checks all."""


def half(name: str) -> list[NaturalQuestion]:
    """One half, over both graphs."""
    return [question for graph_name in GRAPHS for question in questions(graph_name, name)]


def test_there_are_enough_of_them_and_a_third_has_no_answer() -> None:
    """At least 300 of 12 shapes; each half has every shape, and lacks facts, entities and relations."""
    for name in HALVES:
        asked = half(name)
        assert len(asked) >= 150
        assert len({question.shape for question in asked}) >= 12
        assert len({question.question for question in asked}) == len({question.id for question in asked}) == len(asked)
        lacking = [question.unanswerable for question in asked if question.unanswerable]
        assert 3 * len(lacking) >= len(asked)
        assert set(lacking) == {"fact", "entity", "relation"}


def test_the_halves_share_no_topic() -> None:
    """What is tuned on one half has not seen the other."""
    tuning, test = (
        {topic.iri or topic.label for question in half(name) for topic in question.topics} for name in HALVES
    )
    assert tuning.isdisjoint(test)
    assert {question.question for question in half("tuning")}.isdisjoint(question.question for question in half("test"))


@pytest.mark.parametrize("name", [f"natural-{graph_name}-{part}" for graph_name in GRAPHS for part in HALVES])
def test_each_half_is_read_as_a_benchmark(name: str) -> None:
    """Without any data folder: the questions are ours."""
    read, bad = loaders.read(definitions.find(name), None)
    assert not bad
    assert all(bool(question.answers) != bool(question.unanswerable) for question in read)


def test_gold_answers_are_those_of_the_graph(data: Path) -> None:
    """A sample of each half over CoDEx-M."""
    store = graph("codex-m", data)
    for name in HALVES:
        assert list(faults(store, questions("codex-m", name)[::SAMPLE])) == []
    wrong = NaturalQuestion(
        id="x",
        question="?",
        kind="yesno",
        shape="",
        half="",
        topics=(),
        answers=(True,),
        sparql="ASK { <a:b> <a:b> ?x }",
    )
    assert found(store, wrong.sparql) == {"False"}
    assert len(list(faults(store, [wrong]))) == 1


def test_figures_are_told_by_shape_and_by_what_is_lacking() -> None:
    """Each question counts in all, in its shape, and in its group."""
    right = QuestionRecord(
        id="a", question="?", kind="entities", status="answered", gold=(Gold("x"),), answers=(GivenAnswer("x"),)
    )
    refused = QuestionRecord(id="b", question="?", kind="entities", status="not_found", unanswerable="fact")
    made = figures([right, refused], {"a": "list", "b": "list"})
    assert made["all"] == {"questions": 2, "answerable": 1.0, "refused": 1.0, "unmarked": 1.0}
    assert made["shape list"] == made["all"]
    assert made["lacking fact"] == {"questions": 1, "refused": 1.0}
