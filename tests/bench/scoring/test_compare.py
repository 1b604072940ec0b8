"""Two runs of one benchmark, side by side."""

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, Header, QuestionRecord, StageCount
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.compare import compare, mcnemar
from fedkg.core.usage import Usage
from fedkg.errors import DatasetError

HEADER = Header(
    benchmark="b", method="fidelis", model="local", settings={}, questions=4, limit=None, seed=0, fedkg="0.1.0"
)
RUNS = st.lists(st.sampled_from(["a", "x", "ax", ""]), min_size=8, max_size=8)


def record(name: str, answers: str = "", **more: object) -> QuestionRecord:
    """A question whose right answer is `a`; one letter of `answers` is one answer."""
    given = tuple(GivenAnswer(answer, answer, True, 1.0, 1, True) for answer in answers)
    status = "answered" if answers else "not_found"
    made = QuestionRecord(
        id=name, question="q", kind="entities", status=status, gold=(Gold("A", "a"),), answers=given, topics=("t",)
    )
    return msgspec.structs.replace(made, **more)


def run(*answers: str, **header: object) -> BenchmarkResult:
    """A run with these answers to the questions 0, 1, 2 and so on."""
    records = tuple(record(str(number), given) for number, given in enumerate(answers))
    return BenchmarkResult(msgspec.structs.replace(HEADER, **header), records)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (0, 6, 2 / 64), (1, 9, 22 / 1024), (3000, 3300, 0.000167)],
)
def test_mcnemars_test_is_the_exact_binomial(first: int, second: int, expected: float) -> None:
    """Against values computed by hand, the last one by the normal law; nothing flipped says nothing."""
    assert mcnemar(first, second) == pytest.approx(expected, rel=0.05)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemars_test_is_symmetric(first: int, second: int) -> None:
    """A probability, the smaller the farther apart the two are."""
    p = mcnemar(first, second)
    assert p == mcnemar(second, first)
    assert 0 < p <= 1
    assert mcnemar(first, max(first, second) + 5) <= mcnemar(first, max(first, second))


def test_flips_are_told_with_their_faults() -> None:
    """Which questions only one run answers, and what is wrong on each side."""
    lost = msgspec.structs.replace(
        record("1", "x"), passed=(StageCount(1, "offered", 2, gold=True), StageCount(1, "chosen", 1))
    )
    first = run("a", "ax", "x", "")
    second = BenchmarkResult(HEADER, (record("0", "a"), lost, record("2", "a"), record("3")))
    comparison = compare(first, second)
    assert [(flip.id, flip.first, flip.second, flip.won) for flip in comparison.flips] == [
        ("1", "overfull", "choice", False),
        ("2", "retrieval", None, True),
    ]
    assert msgspec.structs.astuple(comparison.hits) == (1, 1, 1, 1, 1.0)


def test_only_what_both_runs_asked_is_compared() -> None:
    """A run may have ended early; the other questions are counted."""
    comparison = compare(run("a", "a", "a"), run("x", "a"))
    assert (comparison.questions, comparison.missing) == (2, (1, 0))
    assert comparison.differences["hits_at_1"].first == 1.0
    assert comparison.differences["hits_at_1"].difference == -0.5


def test_a_measure_is_compared_where_both_runs_have_it() -> None:
    """Depth where both found a path; a price that nobody knows not at all."""
    usage = Usage(model_calls=1)
    comparison = compare(BenchmarkResult(HEADER, (record("0", "a", usage=usage), record("1", "a"))), run("a", ""))
    assert comparison.differences["depth"].n == 1
    assert "price" not in comparison.differences


def test_a_sure_difference_is_told_from_chance() -> None:
    """Thirty questions won and none lost; one won and one lost."""
    sure = compare(run(*"x" * 30), run(*"a" * 30))
    assert sure.hits.p < 1e-6
    assert (sure.differences["hit"].low, sure.differences["hit"].high) == (1.0, 1.0)
    assert sure.differences["hit"].p < 0.01
    chance = compare(run("a", "x", "a"), run("x", "a", "a"))
    assert (chance.hits.p, chance.differences["hit"].p) == (1.0, 1.0)


@given(RUNS, RUNS)
@settings(max_examples=20)
def test_a_comparison_is_the_other_way_round_with_its_sides_changed(ours: list[str], theirs: list[str]) -> None:
    """The same p, the difference and its interval with the other sign, and every flip the other way."""
    forwards, backwards = compare(run(*ours), run(*theirs)), compare(run(*theirs), run(*ours))
    assert forwards.hits.p == backwards.hits.p
    for name, first in forwards.differences.items():
        second = backwards.differences[name]
        assert (first.difference, first.p, first.n) == (-second.difference, second.p, second.n)
        assert (first.low, first.high) == pytest.approx((-second.high, -second.low), abs=2e-6)
        assert first.low - 1e-6 <= first.difference <= first.high + 1e-6
    assert [(flip.id, flip.won) for flip in forwards.flips] == [(flip.id, not flip.won) for flip in backwards.flips]


@given(RUNS)
@settings(max_examples=10)
def test_a_run_does_not_differ_from_itself(answers: list[str]) -> None:
    """No flip, no difference, no evidence of any."""
    comparison = compare(run(*answers), run(*answers))
    assert (comparison.flips, comparison.settings, comparison.warnings, comparison.hits.p) == ((), {}, (), 1.0)
    assert {
        (difference.difference, difference.low, difference.high, difference.p)
        for difference in comparison.differences.values()
    } == {(0.0, 0.0, 0.0, 1.0)}


def test_runs_of_different_benchmarks_are_refused() -> None:
    """Their questions have nothing to do with each other.

    Neither have those of two samples without a common question.
    """
    with pytest.raises(DatasetError, match="a run of b cannot be compared with one of c"):
        compare(run("a"), run("a", benchmark="c"))
    with pytest.raises(DatasetError, match="no question in common"):
        compare(run("a"), run())


def test_what_runs_should_share_is_warned_of_and_what_they_do_not_is_told() -> None:
    """Other data or another commit may be the reason of a difference; other settings are what is compared."""
    data = {"definition": "1", "b.jsonl": "2", "c.nt": "3"}
    settings = {"search": {"beam": 3, "depth": 2}, "mode": "live"}
    first = run("a", settings=settings, data=data)
    settings = {"search": {"beam": 4, "depth": 2}, "mode": "live"}
    other = run("a", settings=settings, data=data | {"definition": "4", "b.jsonl": "5"}, commit="abc", method="tog")
    comparison = compare(first, other)
    assert comparison.settings == {"method": ("fidelis", "tog"), "search.beam": (3, 4)}
    assert comparison.warnings == (
        "the runs differ in data: b.jsonl, the definition",
        "the runs differ in commit: (none) and abc",
    )
    assert not math.isnan(comparison.differences["f1"].p)


def test_a_run_that_kept_replies_answered_is_warned_of() -> None:
    """Those calls are not among its cost; where both runs had some, or none, there is no warning."""
    asked, kept = (
        msgspec.structs.replace(run(), records=(record("0", "a", usage=Usage(model_calls=2, replayed_calls=calls)),))
        for calls in (0, 1)
    )
    for pair, name in ((kept, asked), "first"), ((asked, kept), "second"):
        [warning] = compare(*pair).warnings
        assert warning.startswith(f"kept replies answered model calls of the {name} run")
    assert compare(kept, kept).warnings == compare(asked, asked).warnings == ()


def test_a_run_that_the_cache_answered_is_warned_of() -> None:
    """Its requests are none, which says nothing of what it costs; a method that asks no graph is no such run."""
    asked, warm, memory = (
        msgspec.structs.replace(run(), records=(record("0", "a", usage=usage),))
        for usage in (Usage(requests=9, cache_hits=2), Usage(cache_hits=11), Usage(model_calls=1))
    )
    for pair, name in ((warm, asked), "first"), ((asked, warm), "second"):
        [warning] = compare(*pair).warnings
        assert warning.startswith(f"the cache answered all that the {name} run asked")
    assert compare(warm, warm).warnings == compare(asked, asked).warnings == compare(asked, memory).warnings == ()
