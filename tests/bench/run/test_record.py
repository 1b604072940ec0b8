"""What a record says of an answer document."""

import pytest

from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.run.record import GivenAnswer, failed, given, shown
from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.encoding import encode
from fedkg.core.question import Kind
from fedkg.core.terms import Iri

EDGE = PathEdge(Iri("http://x/s"), Iri("http://x/p"), Iri("http://x/o"), "out", "x", "")


def document(*values: AnswerValue, kind: Kind = "entities") -> Answer:
    """An answer over a path of one edge, one of two, and a better one of two."""
    paths = (Path(0.5, (EDGE,)), Path(0.25, (EDGE, EDGE)), Path(0.75, (EDGE, EDGE)))
    return Answer("q", kind, Status.ANSWERED, values, paths)


def test_an_answer_is_ranked_by_its_best_path() -> None:
    """An entity by its IRI, a literal by its value, what has no path as the last."""
    values = (
        AnswerValue("A", "http://x/a", grounded=True, paths=(0, 2)),
        AnswerValue("1999", grounded=True, paths=(1,)),
        AnswerValue("who knows"),
    )
    assert given(document(*values)) == (
        GivenAnswer("http://x/a", "A", True, 0.75, 2),
        GivenAnswer("1999", "", True, 0.25, 2),
        GivenAnswer("who knows"),
    )


@pytest.mark.parametrize(
    ("confirmed", "kind", "expected"),
    [
        ([True] * 5, "entities", True),
        ([True, False, True, False, True], "entities", True),
        ([False, True, None, True, None], "entities", False),
        ([True, True, True, False, True], "yesno", False),
        ([True, True, True, False, True], "count", False),
        ([True] * 5, "yesno", True),
        (None, "entities", None),
    ],
)
def test_an_answer_stands_on_confirmed_edges(
    confirmed: list[bool | None] | None, kind: Kind, expected: bool | None
) -> None:
    """An entity on one whole path of its own, a judgement and a number on all.

    What nobody answers for is not confirmed.
    """
    [answer] = given(document(AnswerValue("A", paths=(0, 1, 2)), kind=kind), confirmed)
    assert answer.confirmed is expected


def test_what_has_no_path_is_not_confirmed_or_refuted() -> None:
    """There was nothing to ask for."""
    assert given(document(AnswerValue("A")), [True] * 5) == (GivenAnswer("A"),)


def test_a_question_that_failed_is_a_record() -> None:
    """With its gold, and the class of what it ended with."""
    question = BenchmarkQuestion("1", "q?", (Gold("T", "http://x/t"),), (Gold("A", "http://x/a"),), hops=2)
    record = failed(question, KeyError("x"))
    assert (record.status, record.error, record.gold_topics) == ("error", "KeyError: 'x'", ("http://x/t",))
    assert (record.gold, record.answers, record.hops, record.kind) == (question.answers, (), 2, "entities")
    assert failed(question, KeyError("x"), "claim").kind == "claim"
    assert encode(failed(question, ValueError("\ud800 half"))).count(rb"ValueError: \\ud800 half") == 1


def test_a_few_paths_are_shown_those_of_the_answers_first() -> None:
    """Each edge with its names, its terms, who said it, and whether it was confirmed."""
    answer = document(AnswerValue("A", "http://x/a", paths=(2, 0)))
    paths = shown(answer, [False, False, False, True, None])
    assert [[step.confirmed for step in path] for path in paths] == [[True, None], [False], [False, False]]
    step = paths[1][0]
    assert (step.start, step.relation, step.end, step.direction) == ("s", "p", "o", "out")
    assert step.terms == ("<http://x/s>", "<http://x/p>", "<http://x/o>")
    assert {step.confirmed for path in shown(answer) for step in path} == {None}
    many = Answer("q", "entities", Status.ANSWERED, (), (Path(0.5, (EDGE,)),) * 9)
    assert len(shown(many)) == 3


def test_a_walk_against_an_edge_starts_at_its_object() -> None:
    """And an endpoint's folder is not told."""
    back = PathEdge(
        Iri("http://x/s"),
        Iri("http://x/p"),
        Iri("http://x/o"),
        "in",
        "/home/me/g.nt",
        "",
        labels={"<http://x/o>": "Oh"},
    )
    [[step]] = shown(Answer("q", "entities", Status.ANSWERED, (), (Path(0.5, (back,)),)))
    assert (step.start, step.end, step.direction, step.endpoint) == ("Oh", "s", "in", "g.nt")
    assert step.terms == ("<http://x/o>", "<http://x/p>", "<http://x/s>")
