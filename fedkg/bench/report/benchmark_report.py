"""A report of result files: tables as in the papers, plots, and the questions, as one HTML page and as Markdown.

Which tables there are is decided by what differs between the runs and by what was measured. The same files give the
same bytes: nothing of the day, the machine or the folder is in a report.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fedkg.bench.report import markdown, page, questions, tables
from fedkg.bench.report.page import Element, element
from fedkg.bench.report.published import published
from fedkg.bench.report.tables import Table
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.summary import Part
from fedkg.bench.scoring.variants import VariantRun, Variants
from fedkg.errors import DatasetError

__all__ = ["BenchmarkReport", "Section", "as_html", "as_markdown", "report", "write", "write_folder"]

UNSAFE = re.compile(r"[^\w.-]+")
"""What of a plot's title does not stand in the name of its file."""
PLOTLESS = "Without plots: they need fedkg's extra `report` (matplotlib)."
ABOUT = (
    "Each figure is a mean over all questions that were asked, with its 95 % bootstrap confidence interval, and n, how "
    "many have the measure; it can be computed again from the result files by fedkg eval score. What is marked as "
    "published is what a paper prints: of another model, another graph and another scorer."
)

Plots = tuple[tuple[str, str], ...]
"""Of each plot its title and its SVG."""


class Section(msgspec.Struct, frozen=True):
    """A part of a report: our tables, those of the papers beside them, and plots."""

    title: str
    tables: tuple[Table, ...]
    published: tuple[Table, ...] = ()
    plots: Plots = ()


class BenchmarkReport(msgspec.Struct, frozen=True):
    """All that a report says; `notes` come first."""

    title: str
    notes: tuple[str, ...]
    sections: tuple[Section, ...]
    runs: tuple[VariantRun, ...]


def report(
    results: Sequence[BenchmarkResult], title: str = "Results", seed: int = 0, notes: Sequence[str] = ()
) -> BenchmarkReport:
    """The report of these results, with further notes.

    `seed` is that of the resampling. Raises DatasetError where there is none.
    """
    if not results:
        raise DatasetError("there is nothing to report", hint="name the result files of `fedkg eval run`")
    runs, figures = Variants(results, seed), _figures()
    sections = [section for section in _sections(runs, figures) if section.tables]
    above = (ABOUT, *(() if figures else (PLOTLESS,)), *notes, *tables.unmoved(runs))
    return BenchmarkReport(title, above, tuple(sections), tuple(runs.runs))


def write(made: BenchmarkReport, out: Path) -> tuple[Path, Path]:
    """Writes the report as HTML to `out`, and as Markdown beside it. Raises DatasetError where it cannot."""
    beside = out.with_suffix(".md")
    if beside == out:
        raise DatasetError(f"{out}: the Markdown goes there", hint="--out names the HTML file, FILE.html")
    try:
        for file, text in ((out, as_html(made)), (beside, as_markdown(made))):
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"cannot write {out}: {error.strerror}", hint="--out names a file in a folder") from error
    return out, beside


def write_folder(made: BenchmarkReport, folder: Path) -> None:
    """Writes the report as `report.md` to a folder that is there, and each plot as an SVG file beside it."""
    plots = [(title, f"{UNSAFE.sub('-', title)}.svg", svg) for section in made.sections for title, svg in section.plots]
    shown = [f"![{title}]({name})\n" for title, name, _ in plots]
    (folder / "report.md").write_text("\n".join([as_markdown(made), *shown]), encoding="utf-8")
    for _, name, svg in plots:
        (folder / name).write_text(svg, encoding="utf-8")


def as_html(made: BenchmarkReport) -> str:
    """One page that needs nothing else."""
    notes = [element("p", note, cls="note") for note in made.notes]
    listed = [questions.browsable(run) for run in made.runs if run.records]
    asked = [element("h2", "Questions"), *listed] if listed else []
    body = [element("h1", made.title), *notes, *map(_part, made.sections), *asked]
    return page.rendered(made.title, *body)


def as_markdown(made: BenchmarkReport) -> str:
    """The tables; plots and questions are on the page."""
    parts = [markdown.heading(1, made.title), *(f"{markdown.text(note)}\n" for note in made.notes)]
    for section in made.sections:
        parts.append(markdown.heading(2, section.title))
        for table in (*section.tables, *section.published):
            parts += [markdown.heading(3, table.title), markdown.table(table.columns, table.rows)]
            parts += [f"{markdown.text(table.note)}\n"] if table.note else []
    return "\n".join(parts)


def _sections(runs: Variants, figures: Any) -> Iterator[Section]:
    """All that may be in a report; a part without a table of ours is left out."""
    cost, errors = (tuple(draw(runs)) for draw in (figures.cost, figures.errors)) if figures else ((), ())
    yield _section("main", "Main results", [tables.main(runs)], cost)
    yield _section("ablation", "Ablation", [tables.against_first(runs)])
    for setting in runs.varied:
        plots = tuple(figures.of_setting(runs, setting)) if figures else ()
        yield _section(setting, f"Setting: {setting}", [tables.of_setting(runs, setting)], plots)
    yield _section("coverage", "Coverage by depth", [tables.coverage(runs)])
    yield _section("depths", "Depths", [tables.depths(runs)])
    yield _section("efficiency", "Efficiency", [tables.costs(runs), tables.cached(runs)])
    yield _section("faithfulness", "Faithfulness", [tables.faithfulness(runs)])
    yield _section("robustness", "Robustness", [tables.by_part(runs, title, parts) for title, parts in PARTS.items()])
    yield _section("errors", "Errors", [tables.faults(runs), tables.written(runs), tables.counts(runs)], errors)
    yield _section("scores", "All scores", [tables.answers(runs)])
    yield _section("runs", "Provenance", [tables.provenance(runs)])


def _section(key: str, title: str, filled: Sequence[Table], plots: Plots = ()) -> Section:
    return Section(title, tuple(table for table in filled if table.rows), published(key), plots)


def _by_hops(run: VariantRun) -> dict[str, Part]:
    return {str(hops or "not known"): part for hops, part in run.summary.by_hops.items()}


def _by_kind(run: VariantRun) -> dict[str, Part]:
    return {str(kind): part for kind, part in run.summary.by_kind.items()}


def _by_conditions(run: VariantRun) -> dict[str, Part]:
    summary = run.summary
    return {"all": summary.overall, "all in the graph": summary.supported} if summary.supported else {}


PARTS: dict[str, Callable[[VariantRun], dict[str, Part]]] = {
    "hops": _by_hops,
    "kind": _by_kind,
    "conditions": _by_conditions,
}
"""What the questions of a run are sorted by."""


def _part(section: Section) -> Element:
    pictures = [page.picture(svg, title) for title, svg in section.plots]
    papers = [element("div", *_tabled(table), cls="published") for table in section.published]
    inside = [*(part for table in section.tables for part in _tabled(table)), *pictures]
    more = [page.details("Published figures, of other models and graphs", *papers)] if papers else []
    return element("section", element("h2", section.title), *inside, *more)


def _tabled(table: Table) -> list[Element]:
    note = [element("p", table.note, cls="note")] if table.note else []
    return [page.table(table.title, table.columns, table.rows), *note]


def _figures() -> Any:
    """The module that draws; None without the extra that it needs."""
    try:
        from fedkg.bench.report import figures  # noqa: PLC0415  # matplotlib takes a second, and is an optional extra
    except ImportError:
        return None
    return figures
