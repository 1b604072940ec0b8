"""The tables of a report: what differs between the runs against what was measured, each mean with its 95 % interval."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.compare import Comparison, compare
from fedkg.bench.scoring.error_classes import FAULTS
from fedkg.bench.scoring.scores import CACHED, COST, LENIENT, STRICT, score
from fedkg.bench.scoring.summary import Counts, MeanEstimate, Part
from fedkg.bench.scoring.variants import VariantRun, Variants, setting_text
from fedkg.core.caveat import CaveatKind
from fedkg.core.path_errors import IN_GRAPH, PATH_FAULTS, WRITTEN
from fedkg.errors import DatasetError

__all__ = [
    "Table",
    "against_first",
    "answers",
    "by_part",
    "cached",
    "costs",
    "counts",
    "coverage",
    "depths",
    "faithfulness",
    "faults",
    "main",
    "of_setting",
    "provenance",
    "same_answers",
    "unmoved",
    "written",
]

NAMES = {
    "hits_at_1": "Hits@1 (%)",
    "hit": "Hit (%)",
    "f1": "F1 (%)",
    "precision": "Precision (%)",
    "recall": "Recall (%)",
    "exact": "Exact set (%)",
    "accuracy": "Accuracy (%)",
    "lenient_hit": "Lenient hit (%)",
    "contained_hit": "Contained hit (%)",
    "contained_f1": "Contained F1 (%)",
    "answerable": "Right of the answerable (%)",
    "refused": "Unanswerable refused or marked (%)",
    "unmarked": "Unmarked and right (%)",
    "coverage": "Coverage ratio (%)",
    "path_validity": "Path validity (%)",
    "faithful": "Faithful (%)",
    "faithful_bridged": "With common knowledge (%)",
    "grounded": "Grounded (%)",
    "depth": "Depth of the paths",
    "gold_depth": "Gold depth",
    "calls": "Model calls",
    "tokens": "Tokens",
    "requests": "Requests",
    "seconds": "Seconds",
    "price": "Price (US$)",
    "cache_hits": "Neighbourhoods and labels",
    "replayed_calls": "Model calls, replayed",
    "replayed_tokens": "Tokens, replayed",
}
"""Measures as a table's head names them; those in % are shares."""
NONE = "–"
VARIANT = ("Method", "Model", "Settings")
BRIEF = ("coverage", "calls", "tokens", "requests", "seconds")
"""What a setting may change apart from how right the answers are."""
SAME = "No value changed any answer"
BRIDGED = (
    " Faithful by edges alone; with common knowledge also the verdicts for which the model wrote down what connects "
    "their paths."
)


class Table(msgspec.Struct, frozen=True):
    """A table of plain texts; `note` stands below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def main(runs: Variants) -> Table:
    """Every variant on every benchmark: the measure that the benchmark's papers lead with, and F1."""
    measures = [
        (name, measure) for name in runs.benchmarks for measure in {runs.first[name].header.metric: None, "f1": None}
    ]
    columns = [f"{name}: {NAMES[measure]}" for name, measure in measures]
    rows = []
    for variant in runs.names:
        figures = [(runs.find(variant, name), measure) for name, measure in measures]
        cells = [_cell(measure, run.figure(measure) if run else None) for run, measure in figures]
        rows.append((*_named(variant), *cells))
    return Table("Main results", (*VARIANT, *columns), tuple(rows), _base(runs))


def against_first(runs: Variants) -> Table:
    """Each run less the first one of its benchmark, on the questions that both have."""
    rows = [row for name in runs.benchmarks for run in runs.of(name)[1:] for row in _compared(runs.first[name], run)]
    columns = ("Benchmark", *VARIANT, "Questions", "Δ Hits@1 (points)", "p", "Δ F1 (points)", "p", "McNemar's p")
    note = (
        "Differences from the first run of the benchmark: paired bootstrap; McNemar's exact test is on any right "
        "answer."
    )
    return Table("Differences", columns, tuple(rows), note)


def of_setting(runs: Variants, setting: str) -> Table:
    """The values of a setting, in runs that differ in nothing else."""
    groups = runs.groups(setting)
    measures = _present([run for group in groups for run in group], ("hits_at_1", "f1", *BRIEF))
    rows = [_row(run, setting, measures) for group in groups for run in group]
    columns = ("Benchmark", "Method", "Model", setting, *(NAMES[measure] for measure in measures), "Otherwise")
    return _trimmed(Table(f"By {setting}", columns, tuple(rows), _unmoved_by(groups)))


def same_answers(results: Sequence[BenchmarkResult]) -> bool:
    """Whether all results have the same answers, and as much of what is ranked first is right, whatever the scores."""
    given = [
        {
            record.id: (frozenset(answer.key for answer in record.answers), score(record).hits_at_1)
            for record in result.records
        }
        for result in results
    ]
    return all(answers == given[0] for answers in given)


def unmoved(runs: Variants) -> list[str]:
    """A sentence for each benchmark on which all runs gave the same answers: nothing is told apart there."""
    asked = [(name, runs.of(name)) for name in runs.benchmarks]
    return [
        f"On {name} all {len(group)} runs gave the same answers to {group[0].summary.overall.questions:,} questions: "
        "nothing that differs between them moves an answer there."
        for name, group in asked
        if len(group) > 1 and _all_same(group)
    ]


def coverage(runs: Variants) -> Table:
    """Of each depth how often the gold step was offered (FiDeLiS v4, Table 4)."""
    depths = sorted({depth for run in runs.runs for depth in run.summary.coverage})
    rows = [
        (*_place(run), *(_share(run.summary.coverage.get(depth)) for depth in depths))
        for run in runs.runs
        if run.summary.coverage
    ]
    columns = ("Benchmark", *VARIANT, *(f"Depth {depth} (%)" for depth in depths))
    return Table("Coverage ratio by depth", columns, tuple(rows), "How often the gold step of that depth was offered.")


def answers(runs: Variants) -> Table:
    """Strict and lenient scores side by side."""
    note = "Strict scores compare IRIs; the lenient and contained ones compare texts, as other walkers publish them."
    return _measured("Strict and lenient scores", runs, (*STRICT, *LENIENT), note)


def faithfulness(runs: Variants) -> Table:
    """What the answers stand on (FiDeLiS v4, section 4.3; GCR, section 5.3)."""
    note = (
        "Of shown edges those that the endpoint confirms, of right answers those on confirmed paths, of answers those "
        "on any."
    )
    bridged = any(CaveatKind.BRIDGE in record.caveats for run in runs.runs for record in run.result.records)
    measures = ("path_validity", "faithful", *(("faithful_bridged",) if bridged else ()), "grounded")
    return _measured("Faithfulness", runs, measures, note + BRIDGED * bridged)


def depths(runs: Variants) -> Table:
    """Depths of the answering paths beside those of the gold answers (FiDeLiS v4, Table 6)."""
    return _measured("Depths of the paths", runs, ("depth", "gold_depth"))


def costs(runs: Variants) -> Table:
    """What a question costs (FiDeLiS v4, Table 7)."""
    note = (
        "What the cache answered is not among the cost, nor are questions that ended in an error that does not say it."
    )
    return _measured("Cost of a question", runs, COST, note)


def cached(runs: Variants) -> Table:
    """What the cache answered for a question: only runs and measures that have any of it."""
    hit = [run for run in runs.runs if any(_mean(run, measure) for measure in CACHED)]
    present = [measure for measure in CACHED if any(_mean(run, measure) for run in hit)]
    rows = [(*_place(run), *_cells(run.summary.overall.measures, present)) for run in hit]
    columns = ("Benchmark", *VARIANT, *(NAMES[measure] for measure in present))
    return Table("From the cache", columns, tuple(rows), "At no cost, and not among the cost of a question.")


def by_part(runs: Variants, title: str, parts: Callable[[VariantRun], Mapping[str, Part]]) -> Table:
    """Questions of one sort each, where a run has several sorts."""
    rows = [
        (*_place(run), key, f"{part.questions:,}", *_cells(part.measures, ("hits_at_1", "f1", "exact")))
        for run in runs.runs
        for key, part in parts(run).items()
        if len(parts(run)) > 1
    ]
    heads = (NAMES[measure] for measure in ("hits_at_1", "f1", "exact"))
    return Table(f"By {title}", ("Benchmark", *VARIANT, title.capitalize(), "Questions", *heads), tuple(rows))


def faults(runs: Variants) -> Table:
    """Why answers are wrong, by rule from the record."""
    present = [fault for fault in FAULTS if any(fault in run.summary.overall.faults for run in runs.runs)]
    rows = [
        (*_place(run), f"{part.questions:,}", *(_often(part.faults.get(fault, 0), part.questions) for fault in present))
        for run in runs.runs
        if present and (part := run.summary.overall).questions
    ]
    return Table("Error classes", ("Benchmark", *VARIANT, "Questions", *present), tuple(rows))


def counts(runs: Variants) -> Table:
    """How the questions ended; all that were asked are in every score."""
    names = [name for name in Counts.__struct_fields__ if name != "spent"]
    present = [name for name in names if any(getattr(run.summary.counts, name) for run in runs.runs)]
    rows = [(*_place(run), *(f"{getattr(run.summary.counts, name):,}" for name in present)) for run in runs.runs]
    note = "Errors, abstentions and questions without a path count as wrong; those not asked or left out do not count."
    heads = (name.replace("_", " ").capitalize() for name in present)
    return Table("How the questions ended", ("Benchmark", *VARIANT, *heads), tuple(rows), note)


def written(runs: Variants) -> Table:
    """What became of paths that a model planned or wrote (FiDeLiS v4, Figure 3; GCR, Figures 1 and 5)."""
    names = (WRITTEN, IN_GRAPH, *PATH_FAULTS)
    rows = [
        (*_place(run), f"{total[0]:,}", *(_often(count, total[0]) for count in total[1:]))
        for run in runs.runs
        if (total := [sum(_number(record, name) for record in run.records) for name in names])[0]
    ]
    columns = ("Benchmark", *VARIANT, *(name.capitalize() for name in names))
    return Table("Planned and written paths", columns, tuple(rows), "What is not in the graph is no answer's path.")


def provenance(runs: Variants) -> Table:
    """Where the figures come from."""
    columns = ("Benchmark", *VARIANT, "fedkg", "Commit", "Questions", "Limit", "Seed", "Data", "Embedder")
    return Table("Runs", columns, tuple((*_place(run), *_origin(run)) for run in runs.runs))


def _number(record: QuestionRecord, name: str) -> int:
    """A measure that the method took of itself, as a count; 0 where it took none."""
    value = record.measures.get(name, 0)
    return 0 if isinstance(value, str) else int(value)


def _base(runs: Variants) -> str:
    """What the first run has where others have something else."""
    settings = runs.runs[0].header.flat_settings
    base = [f"{name} {setting_text(settings.get(name))}" for name in runs.varied if name not in {"method", "model"}]
    return f"Settings are named where they are not those of the first run: {', '.join(base)}." if base else ""


def _origin(run: VariantRun) -> tuple[str, ...]:
    header, asked = run.header, (run.header, *run.result.continued)
    commits = dict.fromkeys(
        f"{start.commit[:12]}{', changed' if start.dirty else ''}" if start.commit else NONE for start in asked
    )
    versions = dict.fromkeys(start.fedkg for start in asked)
    data = ", ".join(f"{name} {digest[:12]}" for name, digest in header.data.items()) or NONE
    embedder = str(header.settings.get("embedder", NONE))
    return (
        "; ".join(versions),
        "; ".join(commits),
        f"{header.questions:,}",
        setting_text(header.limit),
        str(header.seed),
        data,
        embedder,
    )


def _measured(title: str, runs: Variants, measures: Sequence[str], note: str = "") -> Table:
    """The runs that have any of these measures, and the measures that any run has."""
    present = _present(runs.runs, measures)
    rows = [
        (*_place(run), *_cells(estimates, present))
        for run in runs.runs
        if any(measure in (estimates := run.summary.overall.measures) for measure in present)
    ]
    return Table(title, ("Benchmark", *VARIANT, *(NAMES[measure] for measure in present)), tuple(rows), note)


def _mean(run: VariantRun, measure: str) -> float:
    estimate = run.figure(measure)
    return estimate.mean if estimate else 0.0


def _present(runs: Iterable[VariantRun], measures: Sequence[str]) -> list[str]:
    known = {name for run in runs for name in run.summary.overall.measures}
    return [name for name in measures if name in known]


def _place(run: VariantRun) -> tuple[str, ...]:
    return run.header.benchmark, *_named(run.variant)


def _named(variant: tuple[str, str, str]) -> tuple[str, str, str]:
    method, model, change = variant
    return method, model, change or NONE


def _row(run: VariantRun, setting: str, measures: Sequence[str]) -> tuple[str, ...]:
    """A run in the table of a setting; what else was told otherwise comes last."""
    header = run.header
    value = setting_text(header.flat_settings.get(setting))
    figures = _cells(run.summary.overall.measures, measures)
    return (header.benchmark, header.method, header.model, value, *figures, run.without(setting))


def _all_same(group: Sequence[VariantRun]) -> bool:
    return same_answers([run.result for run in group])


def _unmoved_by(groups: Sequence[Sequence[VariantRun]]) -> str:
    """On which benchmarks the values that a setting takes give the same answers; "" where that is on none."""
    same: dict[str, bool] = {}
    for group in groups:
        name = group[0].header.benchmark
        same[name] = same.get(name, True) and _all_same(group)
    unmoved_names = [name for name, stays in same.items() if stays]
    if not unmoved_names:
        return ""
    return f"{SAME}." if len(unmoved_names) == len(same) else f"{SAME} on {', '.join(unmoved_names)}."


def _trimmed(table: Table) -> Table:
    """Without a last column that is empty."""
    if any(row[-1] for row in table.rows):
        return table
    rows = tuple(row[:-1] for row in table.rows)
    return msgspec.structs.replace(table, columns=table.columns[:-1], rows=rows)


def _compared(first: BenchmarkResult, run: VariantRun) -> list[tuple[str, ...]]:
    """The row of a run; none where it shares no question with the first one."""
    with contextlib.suppress(DatasetError):
        comparison = compare(first, run.result)
        return [
            (
                *_place(run),
                f"{comparison.questions:,}",
                *_change(comparison, "hits_at_1"),
                *_change(comparison, "f1"),
                _p(comparison.hits.p),
            )
        ]
    return []


def _change(comparison: Comparison, measure: str) -> tuple[str, str]:
    change = comparison.differences[measure]
    return f"{100 * change.difference:+.2f} ({100 * change.low:+.2f} to {100 * change.high:+.2f})", _p(change.p)


def _p(chance: float) -> str:
    return f"{chance:.3f}" if chance >= 0.001 else "< 0.001"


def _cells(estimates: Mapping[str, MeanEstimate], measures: Iterable[str]) -> list[str]:
    return [_cell(name, estimates.get(name)) for name in measures]


def _cell(measure: str, estimate: MeanEstimate | None) -> str:
    if NAMES[measure].endswith("(%)"):
        return _share(estimate)
    return _figure(estimate, 5 if measure == "price" else 2) if estimate else NONE


def _share(estimate: MeanEstimate | None) -> str:
    return _figure(estimate, 2, 100) if estimate else NONE


def _figure(estimate: MeanEstimate, digits: int, times: int = 1) -> str:
    """The mean, its interval, and of how many questions it is."""
    mean, low, high = (f"{times * bound:,.{digits}f}" for bound in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low}–{high}; n {estimate.n:,})"


def _often(count: int, questions: int) -> str:
    return f"{count:,} ({count / questions:.1%})"
