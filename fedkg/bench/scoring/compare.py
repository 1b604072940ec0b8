"""Two runs of one benchmark, compared on the questions that both have: what changed, and whether that may be chance.

Of hits it is McNemar's test (1947), exact: the questions that one run alone answers are tosses of a fair coin. Of means
it is the paired bootstrap: the same questions are drawn for both runs.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.error_classes import Fault, fault
from fedkg.bench.scoring.scores import score
from fedkg.bench.scoring.summary import DIGITS, MEASURES, TAILS, Values, rates, resampled
from fedkg.common.notebook import display_module
from fedkg.errors import DatasetError

__all__ = ["Comparison", "Flip", "Hits", "MeasureDifference", "compare", "mcnemar"]

WARNED = ("data", "commit", "dirty", "fedkg", "limit", "seed")
"""What runs should share, so that what is compared is what was changed on purpose."""


class Hits(msgspec.Struct, frozen=True):
    """On how many questions any answer was right: in both runs, in one only, in none.

    `p` of McNemar's test, two-sided.
    """

    both: int
    first: int
    second: int
    neither: int
    p: float


class MeasureDifference(msgspec.Struct, frozen=True):
    """A measure's means in both runs, and the second less the first with a 95 % interval and a two-sided `p`.

    `n` questions.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    n: int


class Flip(msgspec.Struct, frozen=True):
    """A question that only one of the runs hits, with what is wrong with each answer (None: nothing)."""

    id: str
    question: str
    first: Fault | None
    second: Fault | None
    won: bool


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What two runs share and where they differ.

    `missing` are questions that only the first, or only the second has.
    """

    benchmark: str
    questions: int
    missing: tuple[int, int]
    hits: Hits
    differences: dict[str, MeasureDifference]
    flips: tuple[Flip, ...]
    settings: dict[str, tuple[object, object]]
    warnings: tuple[str, ...]
    seed: int

    def _repr_html_(self) -> str:
        """The comparison as tables, for a notebook."""
        return str(display_module("comparison").comparison_html(self))


def compare(first: BenchmarkResult, second: BenchmarkResult, seed: int = 0) -> Comparison:
    """The comparison of two results.

    `seed` is that of the resampling. Raises DatasetError where they share no question.
    """
    _check(first.header, second.header)
    ours, theirs = ({record.id: record for record in result.records} for result in (first, second))
    names = sorted(ours.keys() & theirs.keys())
    if not names:
        raise DatasetError(
            "the two runs have no question in common", hint="compare runs of the same --limit and --seed"
        )
    left, right = _Side([ours[name] for name in names]), _Side([theirs[name] for name in names])
    return Comparison(
        benchmark=first.header.benchmark,
        questions=len(names),
        missing=(len(ours) - len(names), len(theirs) - len(names)),
        hits=_hits(left, right),
        differences=_differences(left, right, seed),
        flips=_flips(left, right),
        settings=_settings(first.header, second.header),
        warnings=(*_warnings(first.header, second.header), *_warmed(left, right), *_replayed(left, right)),
        seed=seed,
    )


def mcnemar(first: int, second: int) -> float:
    """The two-sided exact p of McNemar's test for so many questions that only the first, or only the second, hits."""
    tosses = first + second
    tail = ways = 1
    for heads in range(1, min(first, second) + 1):
        ways = ways * (tosses - heads + 1) // heads  # a binomial coefficient from the one before it
        tail += ways
    return float(min(1.0, 2 * tail / 2**tosses))


class _Side:
    """The questions of one run that the other has too, in the same order."""

    def __init__(self, records: Sequence[QuestionRecord]) -> None:
        self.records = records
        self.scores = [score(record) for record in records]
        self.hits = [measures.hit > 0 for measures in self.scores]
        self.values = rates(self.scores)

    def fault(self, index: int) -> Fault | None:
        """What is wrong with the answer to one question."""
        return fault(self.records[index], self.scores[index])


def _check(first: Header, second: Header) -> None:
    if first.benchmark != second.benchmark:
        raise DatasetError(
            f"a run of {first.benchmark} cannot be compared with one of {second.benchmark}",
            hint="name two result files of one benchmark",
        )


def _hits(left: _Side, right: _Side) -> Hits:
    cells = Counter(zip(left.hits, right.hits, strict=True))
    only = cells[True, False], cells[False, True]
    return Hits(cells[True, True], *only, cells[False, False], round(mcnemar(*only), DIGITS))


def _differences(left: _Side, right: _Side, seed: int) -> dict[str, MeasureDifference]:
    """Each measure that both runs have of some question, on those questions."""
    change = right.values - left.values
    drawn = resampled(change, seed)
    differences = {}
    for column, name in enumerate(MEASURES):
        known = ~np.isnan(change[:, column])
        if known.any():
            first, second = (float(side.values[known, column].mean()) for side in (left, right))
            differences[name] = _difference(first, second, drawn[:, column], int(known.sum()))
    return differences


def _difference(first: float, second: float, drawn: Values, count: int) -> MeasureDifference:
    again = drawn[~np.isnan(drawn)]
    low, high = np.percentile(again, TAILS)
    rarer = int(min((again <= 0).sum(), (again >= 0).sum()))
    p = min(1.0, 2 * (rarer + 1) / (len(again) + 1))  # what was drawn is one more draw: p is never 0
    figures = (first, second, second - first, float(low), float(high), p)
    mean, other_mean, change, least, most, chance = (round(figure, DIGITS) for figure in figures)
    return MeasureDifference(mean, other_mean, change, least, most, chance, count)


def _flips(left: _Side, right: _Side) -> tuple[Flip, ...]:
    return tuple(
        Flip(record.id, record.question, left.fault(index), right.fault(index), won=right.hits[index])
        for index, record in enumerate(left.records)
        if left.hits[index] != right.hits[index]
    )


def _settings(first: Header, second: Header) -> dict[str, tuple[object, object]]:
    """What the runs were told that is not the same, by the setting's name."""
    before, after = first.flat_settings, second.flat_settings
    return {
        name: (before.get(name), after.get(name))
        for name in sorted(before | after)
        if before.get(name) != after.get(name)
    }


def _warnings(first: Header, second: Header) -> tuple[str, ...]:
    """Where the runs differ in what should be the same."""
    return tuple(
        f"the runs differ in {name}: "
        + (_data(first, second) if name == "data" else f"{_shown(first, name)} and {_shown(second, name)}")
        for name in WARNED
        if getattr(first, name) != getattr(second, name)
    )


def _warmed(left: _Side, right: _Side) -> tuple[str, ...]:
    """Where one run was answered by the cache alone and the other was not: what they cost cannot be compared."""
    asked = [any(record.usage.requests for record in side.records) for side in (left, right)]
    if asked[0] == asked[1]:
        return ()
    name, side = ("first", left) if asked[1] else ("second", right)
    if not any(record.usage.cache_hits for record in side.records):  # a method that asks no graph at all
        return ()
    hint = "for a comparison of cost run each with --no-cache"
    return (f"the cache answered all that the {name} run asked, and not the other's: {hint}",)


def _replayed(left: _Side, right: _Side) -> tuple[str, ...]:
    """Where kept replies answered calls of one run alone: its calls, tokens and price are those of the others."""
    kept = [any(record.usage.replayed_calls for record in side.records) for side in (left, right)]
    if kept[0] == kept[1]:
        return ()
    name = "first" if kept[0] else "second"
    hint = "for a comparison of cost run each with --no-replies"
    return (f"kept replies answered model calls of the {name} run, and none of the other's: {hint}",)


def _data(first: Header, second: Header) -> str:
    """The files that are not the same in both, by name; a digest tells a reader nothing."""
    names = sorted(name for name in first.data | second.data if first.data.get(name) != second.data.get(name))
    return ", ".join("the definition" if name == "definition" else name for name in names)


def _shown(header: Header, name: str) -> str:
    value = getattr(header, name)
    return "(none)" if value is None else str(value) or "(none)"
