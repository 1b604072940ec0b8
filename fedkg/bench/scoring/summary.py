"""The figures of a run: each measure as a mean over its questions, with a bootstrap confidence interval.

Questions are resampled with replacement (Efron 1979), all measures of one together; the interval is that of the
percentiles. The order in which questions finished changes nothing, and the same seed gives the same digits.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.error_classes import Fault, faults
from fedkg.bench.scoring.scores import CACHED, COST, KNOWING, LENIENT, STRICT, WALK, Score, covered, score
from fedkg.core.answer import Status

__all__ = [
    "MEASURES",
    "Counts",
    "MeanEstimate",
    "Part",
    "Summary",
    "Values",
    "estimated",
    "rates",
    "resampled",
    "summary",
]

MEASURES = (*STRICT, *LENIENT, *KNOWING, *WALK, *COST, *CACHED)
RESAMPLES = 2_000
BLOCK = 1_000_000
"""Draws that are held in memory at once."""
TAILS = (2.5, 97.5)
"""Percentiles that bound the 95 % confidence interval."""
DIGITS = 6
"""Sums of the same numbers differ in their last bits from one processor to the next; what is told does not."""

K = TypeVar("K", int, str)
Values = npt.NDArray[np.float64]


class MeanEstimate(msgspec.Struct, frozen=True):
    """A mean over `n` questions, and the bounds of its 95 % confidence interval."""

    mean: float
    low: float
    high: float
    n: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Questions by how they ended; those with an error, an abstention or no path are among all that is averaged.

    questions: asked and answered in some way. unasked: there was no budget left for them. left_out: could not be read.
    spent: how many questions each budget ended. unpriced: what they cost in money is not known.
    """

    questions: int
    answered: int = 0
    none: int = 0
    not_found: int = 0
    failed: int = 0
    abstained: int = 0
    error: int = 0
    unasked: int = 0
    left_out: int = 0
    unpriced: int = 0
    spent: dict[str, int] = {}


class Part(msgspec.Struct, frozen=True):
    """Some questions of a run: each measure, where it applies to any of them, and why answers are wrong."""

    questions: int
    measures: dict[str, MeanEstimate]
    faults: dict[Fault, int]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run, of all its questions and of those with one number of hops, or of one kind.

    coverage: by depth, how often the gold step of that depth was offered (FiDeLiS v4, Table 4). 0 hops: not known.
    supported: of the questions whose conditions all stand in the graph; None where the set does not say of any.
    """

    benchmark: str
    method: str
    model: str
    counts: Counts
    overall: Part
    by_hops: dict[int, Part]
    by_kind: dict[str, Part]
    coverage: dict[int, MeanEstimate]
    supported: Part | None = None
    seed: int
    resamples: int = RESAMPLES


def summary(result: BenchmarkResult, seed: int = 0) -> Summary:
    """The figures of a result; `seed` is that of the resampling."""
    records = sorted(result.records, key=lambda record: record.id)
    scores = [score(record) for record in records]
    header = result.header
    return Summary(
        benchmark=header.benchmark,
        method=header.method,
        model=header.model,
        counts=_counts(result),
        overall=_part(records, scores, seed),
        by_hops=_parts(records, scores, [record.hops for record in records], seed),
        by_kind=_parts(records, scores, [record.kind for record in records], seed),
        coverage=_coverage(records, seed),
        supported=_supported(records, scores, seed),
        seed=seed,
    )


def rates(scores: Sequence[Score]) -> Values:
    """One row for each question, one column for each of `MEASURES`; NaN where a measure does not apply."""
    rows = [[getattr(measures, name) for name in MEASURES] for measures in scores]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(MEASURES))


def resampled(values: Values, seed: int) -> Values:
    """The means of the columns over the same questions, drawn again and again: one row for each time.

    NaN where none of the questions that were drawn has the measure.
    """
    draw = np.random.default_rng(seed)
    count = len(values)
    known = ~np.isnan(values)
    filled, has = np.where(known, values, 0.0), known.astype(np.float64)
    block = max(1, BLOCK // max(1, count))
    rows = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
    with np.errstate(invalid="ignore"):
        return np.concatenate([_means(_frequencies(draw, times, count), filled, has) for times in rows])


def _frequencies(draw: np.random.Generator, times: int, count: int) -> Values:
    """How often each of `count` questions is drawn, of `count` draws with replacement; one row for each time."""
    drawn = draw.integers(0, count, (times, count)) + count * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * count).reshape(times, count).astype(np.float64)


def _means(frequencies: Values, filled: Values, has: Values) -> Values:
    """The columns' means, weighted by each row of `frequencies`.

    A stack of products of one row each: a product of whole matrices would add up in another order, to other last bits.
    """
    row = frequencies[:, None, :]
    means: Values = ((row @ filled) / (row @ has))[:, 0]
    return means


def estimated(values: Values, seed: int) -> list[MeanEstimate | None]:
    """Each column's mean with its interval; None for a column without any value."""
    drawn = resampled(values, seed) if len(values) else values
    return [_estimate(column, again) for column, again in zip(values.T, drawn.T, strict=True)]


def _estimate(values: Values, again: Values) -> MeanEstimate | None:
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.nanpercentile(again, TAILS)
    mean, low, high = (round(float(figure), DIGITS) for figure in (known.mean(), low, high))
    return MeanEstimate(mean, low, high, len(known))


def _part(records: Sequence[QuestionRecord], scores: Sequence[Score], seed: int) -> Part:
    values = rates(scores)
    if _unpriced(records):
        values[:, MEASURES.index("price")] = np.nan  # a mean of what is known would pass for that of all
    if not any(record.unanswerable for record in records):
        values[:, MEASURES.index("answerable")] = np.nan  # it is the accuracy
    estimates = zip(MEASURES, estimated(values, seed), strict=True)
    return Part(len(records), {name: estimate for name, estimate in estimates if estimate}, faults(records, scores))


def _parts(records: Sequence[QuestionRecord], scores: Sequence[Score], keys: Sequence[K], seed: int) -> dict[K, Part]:
    """The parts that have one key each, sorted."""
    parts = {}
    for key in sorted(set(keys)):
        places = [index for index, other in enumerate(keys) if other == key]
        parts[key] = _part([records[index] for index in places], [scores[index] for index in places], seed)
    return parts


def _supported(records: Sequence[QuestionRecord], scores: Sequence[Score], seed: int) -> Part | None:
    """The part of those questions that the graph has all conditions of; None where no record says."""
    if all(record.supported is None for record in records):
        return None
    places = [index for index, record in enumerate(records) if record.supported]
    return _part([records[index] for index in places], [scores[index] for index in places], seed)


def _coverage(records: Sequence[QuestionRecord], seed: int) -> dict[int, MeanEstimate]:
    steps = [covered(record) for record in records]
    depths = sorted({depth for covered_depths in steps for depth in covered_depths})
    rows = [
        [float(covered_depths[depth]) if depth in covered_depths else np.nan for depth in depths]
        for covered_depths in steps
    ]
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(depths))
    estimates = zip(depths, estimated(values, seed), strict=True)
    return {depth: estimate for depth, estimate in estimates if estimate}


def _counts(result: BenchmarkResult) -> Counts:
    records, header = result.records, result.header
    ended = Counter(str(record.status) for record in records)
    return Counts(
        questions=len(records),
        answered=ended[Status.ANSWERED],
        none=ended[Status.NONE],
        not_found=ended[Status.NOT_FOUND],
        failed=ended[Status.FAILED],
        abstained=ended[Status.ABSTAINED],
        error=ended["error"],
        unasked=max(0, header.questions - len(records)),
        left_out=len(header.left_out),
        unpriced=_unpriced(records),
        spent=dict(sorted(Counter(record.usage.spent for record in records if record.usage.spent).items())),
    )


def _unpriced(records: Sequence[QuestionRecord]) -> int:
    return sum(record.usage.model_calls > 0 and record.usage.price is None for record in records)
