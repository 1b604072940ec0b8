"""How likely an answer of `local` is right: fits the weights of `models/confidence.toml`, and measures them.

Fitted on the tuning halves of what `eval/quality/evidence.py` has kept. Reported is what was not fitted on: the other
halves, and each graph with weights that were fitted on the other graphs.

    python -m eval.quality.calibration            # fits, measures, prints
    python -m eval.quality.calibration --write    # and keeps weights, figures, tables and diagram
"""

import argparse
import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import msgspec
import numpy as np

from eval.quality.evidence import EMBEDDERS, KEPT, OURS, Sample, samples_of
from eval.support.report import Report, options
from fedkg.bench.report.plots import curves
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.reasoner.local.confidence import FILE, OTHER, Calibration, written
from fedkg.training.confidence_fit import Vector, fit

THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95)
MOST_WRONG = 0.05
"""Share of the unmarked answers: what `guess_below` is chosen for."""
MARGIN = 1.28
"""Standard errors by which the share is to be better: the lower bound of a one-sided interval of 90 %."""
DIAGONAL: dict[str, Sequence[tuple[float, float]]] = {"as it says": ((0.0, 0.0), (1.0, 1.0))}
HEAD = """# How likely an answer of the model `local` is right: logistic regressions over the features that
# fedkg/reasoner/local/confidence.py computes, a table for each family of embedders.
# Written by `python -m eval.quality.calibration --write`; figures in eval/results/calibration.md.

"""


def usable(samples: Iterable[Sample]) -> list[Sample]:
    """The samples with an answer whose confidence there is to tell."""
    return [one for one in samples if one.answered and one.evidence]


def weighted(samples: Sequence[Sample]) -> Vector:
    """The weight of each sample: sets count alike, ours as much as all public ones, and all together their number."""
    counts = Counter(one.set for one in samples)
    public = sum(name not in OURS for name in counts) or 1
    share = [1 / counts[one.set] / (public if one.set not in OURS else max(1, len(counts) - public)) for one in samples]
    return np.array(share) * len(samples) / sum(share)


def fitted(samples: Sequence[Sample]) -> Calibration:
    """The weights that make these samples likeliest."""
    return fit([one.evidence for one in samples if one.evidence], [one.right for one in samples], weighted(samples))


# ---- measuring ----


class Judged(NamedTuple):
    """A sample with the confidence in it."""

    sample: Sample
    confidence: float


def judged(samples: Sequence[Sample], calibration: Calibration) -> list[Judged]:
    """All samples; what has no answer has no confidence."""
    return [Judged(one, calibration.confidence(one.evidence) if one.evidence else 0.0) for one in samples]


def held_out(samples: Sequence[Sample]) -> list[Judged]:
    """The samples of each graph with weights that were fitted on the tuning halves of the other graphs."""
    return [
        each
        for name in sorted({graph(one) for one in samples})
        for each in judged(
            [one for one in samples if graph(one) == name],
            fitted(usable(one for one in samples if one.half == "tuning" and graph(one) != name)),
        )
    ]


def threshold(kept: Iterable[Sequence[Sample]]) -> float:
    """The least threshold with surely at most `MOST_WRONG` of the unmarked answers wrong; the last one where none has.

    By the tuning halves, each graph with weights of the others. `kept` has the samples by embedder, of which all ask
    the same questions: as many answers as one has count for how sure a share is.
    """
    asked = [samples for samples in kept if samples]
    folds = [one for samples in asked for one in held_out([each for each in samples if each.half == "tuning"])]
    figures = {at: standings(folds, at, 0.0) for at in THRESHOLDS}
    return next((at for at, one in figures.items() if _surely(one, len(asked)) >= 1 - MOST_WRONG), THRESHOLDS[-1])


def _surely(figures: Mapping[str, float], embedders: int) -> float:
    """The lower bound of the share of unmarked answers that are right."""
    right, answers = figures.get("unmarked", 0.0), figures["unmarked answers"] / embedders
    return right - MARGIN * (right * (1 - right) / answers) ** 0.5 if answers else 0.0


def graph(sample: Sample) -> str:
    """The graph that a sample's set is asked of."""
    return sample.set if sample.set in OURS else sample.set.rpartition("-")[0]


def standings(all_: Sequence[Judged], guess: float, refuse: float) -> dict[str, float]:
    """The figures with these thresholds; of no answers of a kind none."""
    answers = [one for one in all_ if one.sample.answered and one.confidence >= refuse]
    unmarked = [one for one in answers if one.confidence >= guess and not one.sample.marked]
    there = [one for one in all_ if not one.sample.lacking]
    lacking = [one for one in all_ if one.sample.lacking]
    sure = {id(one) for one in unmarked}
    shares: dict[str, list[float]] = {
        "unmarked": [one.sample.right for one in unmarked],
        "unmarked hit": [float(one.sample.hit) for one in unmarked],
        "refused": [float(id(one) not in sure) for one in lacking],
        "answerable": [one.sample.right if one in answers else 0.0 for one in there],
        "answerable without refusing": [one.sample.right for one in there],
        "answerable unmarked": [one.sample.right * (id(one) in sure) for one in there],
    }
    means = {name: round(fmean(values), 3) for name, values in shares.items() if values}
    return {"questions": len(all_), "unmarked answers": len(unmarked)} | means


BINS = 10
FEWEST = 8
"""Answers of a bin; one with fewer is not drawn."""


def bins(all_: Sequence[Judged]) -> list[tuple[float, float, int]]:
    """Mean confidence, share of right ones, and number of the answers in each tenth."""
    answers = [one for one in all_ if one.sample.answered]
    tenths = [[one for one in answers if min(BINS - 1, int(one.confidence * BINS)) == place] for place in range(BINS)]
    return [
        (fmean(one.confidence for one in group), fmean(one.sample.right for one in group), len(group))
        for group in tenths
        if group
    ]


def error(all_: Sequence[Judged]) -> float:
    """The expected calibration error: how far confidence and share of right ones are apart, in the mean."""
    drawn_ = bins(all_)
    return round(sum(abs(sure - right) * n for sure, right, n in drawn_) / sum(n for *_, n in drawn_), 3)


def measured(samples: Sequence[Sample], settings: Settings) -> dict[str, Any]:
    """What is reported of one embedder: figures of what was not fitted on, by graph, and by threshold."""
    calibration = fitted(usable(one for one in samples if one.half == "tuning"))
    other = {
        "other halves": judged([one for one in samples if one.half == "test"], calibration),
        "other graphs": held_out(samples),
    }
    figures: dict[str, Any] = {"weights": msgspec.to_builtins(calibration)}
    for name, all_ in other.items():
        figures[name] = {
            "all": standings(all_, settings.guess_below, settings.refuse_below),
            "error": error(all_),
            "bins": [tuple(round(value, 3) for value in one) for one in bins(all_)],
            "graphs": {
                which: standings(
                    [one for one in all_ if graph(one.sample) == which], settings.guess_below, settings.refuse_below
                )
                for which in sorted({graph(one.sample) for one in all_})
            },
            "thresholds": {str(at): standings(all_, at, settings.refuse_below) for at in THRESHOLDS},
        }
    return figures


def run(chosen: argparse.Namespace) -> None:
    """Fits and measures; with `--write` keeps weights, figures, tables and diagram."""
    report = Report("calibration", write=chosen.write)
    lines: dict[str, Sequence[tuple[float, float]]] = {}
    kept = {embedder: samples_of(KEPT / f"{embedder}.jsonl.gz") for embedder in EMBEDDERS}
    tables = []
    for embedder, samples in kept.items():
        if samples:
            report.add(embedder, figures := measured(samples, Settings()))
            tables.append(table(embedder, samples))
            for part in ("other halves", "other graphs"):
                points = [(sure, right) for sure, right, n in figures[part]["bins"] if n >= FEWEST]
                lines[f"{embedder}, {part}"] = points
    tables.append(table(OTHER, [one for samples in kept.values() for one in samples]))
    report.attach("md", page(report.figures))
    report.add("guess_below", {"chosen on the tuning halves": threshold(kept.values())})
    report.attach("svg", curves("Reliability", "confidence", "share of right answers", lines | DIAGONAL))
    if chosen.write:
        (folder("models") / FILE).write_text(HEAD + "\n".join(tables), encoding="utf-8")
    report.close()


def table(name: str, samples: Sequence[Sample]) -> str:
    """The weights as they stand in the file."""
    tuning = [one for one in samples if one.half == "tuning"]
    sets = tuple(sorted({one.set for one in tuning}))
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return written(name, msgspec.structs.replace(fitted(usable(tuning)), fitted=today, sets=sets))


def page(figures: Mapping[str, Any]) -> str:
    """The figures as a page of tables."""
    settings = Settings()
    columns = list(COLUMNS)
    lines = [
        "# Confidence of `local` on what it was not fitted on",
        "",
        f"Marked as a guess below {settings.guess_below}, refused below {settings.refuse_below}. Shares in 0..1.",
        "A third of the questions have no answer in the graph. Made by `python -m eval.quality.calibration --write`.",
        "",
        f"| embedder | not fitted on | graph | {' | '.join(columns)} |",
        f"|{'---|' * (3 + len(columns))}",
    ]
    for embedder, parts in figures.items():
        for part in ("other halves", "other graphs"):
            groups = {"all": parts[part]["all"]} | parts[part]["graphs"]
            lines += [_row(embedder, part, name, one) for name, one in groups.items()]
    lines += [
        "",
        f"| embedder | not fitted on | guess below | {' | '.join(columns)} |",
        f"|{'---|' * (3 + len(columns))}",
    ]
    for embedder, parts in figures.items():
        for part in ("other halves", "other graphs"):
            lines += [_row(embedder, part, name, one) for name, one in parts[part]["thresholds"].items()]
    return "\n".join(lines) + "\n"


COLUMNS = {
    "questions": "questions",
    "unmarked answers": "unmarked answers",
    "right of the unmarked": "unmarked",
    "with a right one": "unmarked hit",
    "unanswerable refused or marked": "refused",
    "right of the answerable": "answerable",
    "without refusing": "answerable without refusing",
    "right and unmarked of the answerable": "answerable unmarked",
}


def _row(*cells: Any) -> str:
    *names, figures = cells
    shown = [figures.get(key, "") for key in COLUMNS.values()]
    return f"| {' | '.join(str(cell) for cell in (*names, *shown))} |"


def main() -> None:
    """Fits and measures."""
    run(options(__doc__ or "").parse_args())


if __name__ == "__main__":
    main()
