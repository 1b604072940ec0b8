"""The figures of a run."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkg.bench.data.questions import Bad, Gold
from fedkg.bench.run.record import GivenAnswer, Header, QuestionRecord, StageCount
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.scores import Score
from fedkg.bench.scoring.summary import MEASURES, RESAMPLES, estimated, resampled, summary
from fedkg.core.encoding import encode
from fedkg.core.usage import Usage

HEADER = Header(
    benchmark="b", method="fidelis", model="local", settings={}, questions=4, limit=None, seed=0, fedkg="0.1.0"
)
COLUMN = st.lists(st.none() | st.floats(0, 1, width=16), min_size=1, max_size=30)


def record(name: str, *answers: str, **more: object) -> QuestionRecord:
    """A question whose right answer is `a`."""
    given = tuple(GivenAnswer(answer, answer, True, 1.0, 1, True) for answer in answers)
    status = "answered" if answers else "not_found"
    made = QuestionRecord(id=name, question="q", kind="entities", status=status, gold=(Gold("A", "a"),), answers=given)
    return msgspec.structs.replace(made, **more)


def result(*records: QuestionRecord, **header: object) -> BenchmarkResult:
    """A result of these records."""
    return BenchmarkResult(msgspec.structs.replace(HEADER, **header), records)


FOUR = result(
    record("1", "a", hops=1, usage=Usage(model_calls=2, price=0.5)),
    record("2", "x", hops=2, gold_steps=2, passed=(StageCount(1, "offered", 3, gold=True),)),
    record("3", hops=2, status="error", error="KeyError: 'x'"),
    record("4", status="abstained", kind="claim"),
    questions=6,
    left_out=(Bad("b.jsonl:3", "7", "no question"),),
)


def test_every_question_is_in_the_denominator() -> None:
    """One of four is right: errors, abstentions and questions without a path count as wrong, and apart."""
    figures = summary(FOUR)
    assert figures.overall.measures["hits_at_1"].mean == 0.25
    assert figures.overall.measures["hits_at_1"].n == 4
    counts = figures.counts
    assert (counts.questions, counts.answered, counts.error, counts.abstained) == (4, 2, 1, 1)
    assert (counts.not_found, counts.unasked, counts.left_out) == (0, 2, 1)
    assert figures.overall.faults == {"error": 1, "abstained": 1, "choice": 1}


def test_a_measure_is_averaged_where_it_applies() -> None:
    """Depth is that of the questions with a path; what an error cost is not known; a measure of none is left out."""
    measures = summary(FOUR).overall.measures
    assert (measures["depth"].n, measures["depth"].mean) == (2, 1.0)
    assert measures["calls"].n == 3
    assert "path_validity" not in measures


def test_figures_are_broken_down_by_hops_and_kind() -> None:
    """Parts make up the whole; 0 stands for hops that are not known."""
    figures = summary(FOUR)
    assert {hops: part.questions for hops, part in figures.by_hops.items()} == {0: 1, 1: 1, 2: 2}
    assert {kind: part.questions for kind, part in figures.by_kind.items()} == {"claim": 1, "entities": 3}
    assert figures.by_hops[1].measures["f1"].mean == 1.0
    assert {depth: share.mean for depth, share in figures.coverage.items()} == {1: 1.0, 2: 0.0}


def test_questions_whose_conditions_stand_in_the_graph_are_a_part() -> None:
    """Beside all questions; of none where no record says, and an empty one where none has all."""
    named, lacking = record("5", "a", supported=True), record("6", supported=False)
    part = summary(result(named, lacking)).supported
    assert part is not None
    assert (part.questions, part.measures["f1"].mean) == (1, 1.0)
    empty = summary(result(lacking)).supported
    assert empty is not None
    assert (empty.questions, empty.measures) == (0, {})
    assert summary(FOUR).supported is None


def test_an_unknown_price_makes_that_of_the_run_unknown() -> None:
    """A mean of those that are known would pass for that of all."""
    unpriced = record("5", "a", usage=Usage(model_calls=1))
    figures = summary(result(*FOUR.records, unpriced))
    assert "price" in summary(FOUR).overall.measures
    assert "price" not in figures.overall.measures
    assert figures.counts.unpriced == 1


def test_spent_budgets_are_counted() -> None:
    """By their names."""
    spent = [record(name, usage=Usage(spent=budget)) for name, budget in (("1", "calls"), ("2", ""), ("3", "calls"))]
    assert summary(result(*spent)).counts.spent == {"calls": 2}


def test_a_run_without_questions_has_no_figures() -> None:
    """A budget may be spent before the first one."""
    figures = summary(result())
    assert (figures.counts.unasked, figures.overall.measures, figures.by_hops) == (4, {}, {})


def test_the_order_of_the_records_changes_nothing() -> None:
    """Not one digit: concurrent questions finish in any order."""
    encoded = encode(summary(FOUR))
    for order in ((3, 2, 1, 0), (1, 3, 0, 2)):
        shuffled = BenchmarkResult(FOUR.header, tuple(FOUR.records[index] for index in order))
        assert encode(summary(shuffled)) == encoded


@given(COLUMN, st.integers(0, 99))
@settings(max_examples=15)
def test_an_interval_holds_its_mean(column: list[float | None], seed: int) -> None:
    """And lies within the values; the same seed gives the same digits."""
    values = np.array(column, dtype=np.float64).reshape(-1, 1)
    [interval] = estimated(values, seed)
    assert [interval] == estimated(values, seed)
    known = [value for value in column if value is not None]
    if interval is None:
        assert not known
        return
    assert min(known) - 1e-6 <= interval.low <= interval.mean + 1e-6
    assert interval.mean - 1e-6 <= interval.high <= max(known) + 1e-6
    assert interval.n == len(known)


def test_intervals_are_those_of_the_normal_law_where_it_holds() -> None:
    """Of 10,000 questions, half of them right, the bounds are 1.96 standard errors away."""
    values = np.repeat([0.0, 1.0], 5_000).reshape(-1, 1)
    [interval] = estimated(values, 1)
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx([0.5 - 0.0098, 0.5 + 0.0098], abs=1e-3)


def test_other_seeds_draw_other_questions() -> None:
    """But the mean stays."""
    values = np.arange(20.0).reshape(-1, 1)
    assert resampled(values, 0).shape == (RESAMPLES, 1)
    assert not np.array_equal(resampled(values, 0), resampled(values, 1))


def test_all_measures_are_scores() -> None:
    """Each once, and each a field of a score."""
    assert len(set(MEASURES)) == len(MEASURES)
    assert set(MEASURES) == set(Score.__struct_fields__)
