"""The plots of a report, as far as the runs have something to draw: each a title and an SVG."""

from collections.abc import Iterator, Sequence

from fedkg.bench.report import plots
from fedkg.bench.scoring.error_classes import FAULTS, Fault
from fedkg.bench.scoring.variants import VariantRun, Variants
from fedkg.common.one_line import line

__all__ = ["cost", "errors", "of_setting"]

COSTS = {"tokens": "tokens per question", "requests": "requests per question", "seconds": "seconds per question"}
"""What may stand for the cost of a question, the best first."""
Y = "Hits@1 (accuracy of judgements), %"
NAME = 60


def cost(runs: Variants) -> Iterator[tuple[str, str]]:
    """How right answers are against what they cost, where there is more than one run."""
    measure = next(
        (name for name in COSTS if any((estimate := run.figure(name)) and estimate.mean for run in runs.runs)), None
    )
    points: dict[str, list[tuple[float, float]]] = {}
    for run in runs.runs:
        spent = run.figure(measure) if measure else None
        if spent and (right := _right(run)) is not None:
            points.setdefault(_name(run.name), []).append((spent.mean, right))
    if measure and len(runs.runs) > 1 and points:
        yield ("Accuracy against cost", plots.dots("Accuracy against cost", COSTS[measure], Y, points))


def of_setting(runs: Variants, setting: str) -> Iterator[tuple[str, str]]:
    """The curve of a setting that is a number, in runs that differ in nothing else."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for group in runs.groups(setting):
        points = [(run.header.flat_settings[setting], right) for run in group if (right := _right(run)) is not None]
        if points and all(_is_number(value) for value, _ in points):
            lines.setdefault(_name(_group(group, setting)), []).extend(sorted(points))
    if lines:
        yield (f"By {setting}", plots.curves(f"By {setting}", setting, Y, lines))


def errors(runs: Variants) -> Iterator[tuple[str, str]]:
    """The shares of the error classes in each run."""
    faulty = [run for run in runs.runs if run.summary.overall.faults]
    present = [fault for fault in FAULTS if any(fault in run.summary.overall.faults for run in faulty)]
    parts: dict[str, list[float]] = {fault: [_share(run, fault) for run in faulty] for fault in present}
    names = [_name(f"{run.header.benchmark}: {run.name}") for run in faulty]
    if faulty:
        yield ("Error classes", plots.bars("Error classes", "% of the questions", names, parts))


def _right(run: VariantRun) -> float | None:
    estimate = run.figure(run.header.metric)
    return 100 * estimate.mean if estimate else None


def _group(group: Sequence[VariantRun], setting: str) -> str:
    """What the runs of a group have in common: the benchmark, and what the first is told apart from the setting."""
    first = group[0]
    parts = (first.header.benchmark, first.header.method, first.header.model, first.without(setting))
    return ", ".join(filter(None, parts))


def _share(run: VariantRun, fault: Fault) -> float:
    part = run.summary.overall
    return 100 * part.faults.get(fault, 0) / part.questions


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(text: str) -> str:
    return line(text, NAME)
