"""`fedkg eval score`: every figure of result files, computed from their records alone."""

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.bench.run import results
from fedkg.bench.scoring.scores import CACHED, COST, KNOWING, STRICT, WALK
from fedkg.bench.scoring.summary import Counts, MeanEstimate, Part, Summary, summary
from fedkg.cli import options, show
from fedkg.cli.eval.tables import add_row, cells, new_table, show_table
from fedkg.cli.show import counted, plain
from fedkg.core.encoding import encode

__all__ = ["score", "show_summary"]

LENIENT_FOR = {"hit": "lenient_hit", "hits_at_1": "contained_hit", "f1": "contained_f1"}
"""The strict measure beside which a lenient one stands: those who publish it call it so."""
FIRST = ("hits_at_1", "f1", "exact", "lenient_hit")
"""The measures of the parts of a run."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--seed", default=0, show_default=True, help="What the resampling depends on.")
@options.as_json
def score(files: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Compute every score of the result files FILE... again, from their records alone: no endpoint, no model.

    Each figure is a mean over all questions that were asked, with its 95 % bootstrap confidence interval; errors,
    abstentions and questions without a path count as wrong. Strict scores compare IRIs, lenient ones texts, as other
    walkers publish them.
    """
    summaries = [summary(result, seed) for _, result in results.every(files)]
    if as_json:
        click.echo(encode(summaries))
        return
    out = show.console()
    for number, scores in enumerate(summaries):
        if number:
            out.print()
        show_summary(out, scores)


def show_summary(out: Console, scores: Summary) -> None:
    """Prints a summary: the answers' scores, those of the walk, why answers are wrong, and the parts."""
    out.print(Text(plain(f"{scores.benchmark}: {scores.method}, {scores.model}"), "bold"))
    out.print(Text(_ended(scores.counts)))
    measures = scores.overall.measures
    sides = new_table("", "strict", "95 % interval", "lenient", "95 % interval")
    for name in STRICT:
        other = LENIENT_FOR.get(name, "")
        add_row(sides, name, *cells(measures.get(name)), *cells(measures.get(other), other))
    walk = new_table("", "mean", "95 % interval", "questions")
    for name in (*KNOWING, *WALK, *COST):
        estimate = measures.get(name)
        add_row(walk, name, *cells(estimate), str(estimate.n) if estimate else "0")
    cached = new_table("from the cache, at no cost", "mean", "95 % interval", "questions")
    for name in CACHED:
        if (estimate := measures.get(name)) and estimate.mean:
            add_row(cached, name, *cells(estimate), str(estimate.n))
    show_table(out, sides)
    show_table(out, walk)
    show_table(out, cached)
    show_table(out, _error_classes(scores.overall))
    for title, parts in (("hops", scores.by_hops), ("kind", scores.by_kind)):
        if len(parts) > 1:
            show_table(out, _parts(title, {str(key): part for key, part in parts.items()}))
    if scores.supported:
        show_table(out, _parts("conditions", {"all": scores.overall, "all in the graph": scores.supported}))
    show_table(out, _coverage(scores.coverage))


def _ended(counts: Counts) -> str:
    """How the questions ended, in one line."""
    ends = {
        "answered": counts.answered,
        "the graph has none": counts.none,
        "no path found": counts.not_found,
        "abstained": counts.abstained,
        "failed": counts.failed,
        "ended in an error": counts.error,
        "not asked": counts.unasked,
        "left out": counts.left_out,
        "of unknown price": counts.unpriced,
    }
    ends |= {f"budget of {plain(name)} spent": often for name, often in counts.spent.items()}
    return f"{counted(counts.questions, 'question')}: " + ", ".join(f"{n:,} {what}" for what, n in ends.items() if n)


def _error_classes(part: Part) -> Table:
    table = new_table("wrong, because of", "questions", "share")
    for kind, often in part.faults.items():
        add_row(table, kind, f"{often:,}", f"{often / part.questions:.1%}")
    return table


def _parts(title: str, parts: dict[str, Part]) -> Table:
    table = new_table(title, "questions", *FIRST)
    for key, part in parts.items():
        means = (cells(part.measures.get(name))[0] for name in FIRST)
        add_row(table, key if key != "0" else "not known", f"{part.questions:,}", *means)
    return table


def _coverage(coverage: dict[int, MeanEstimate]) -> Table:
    table = new_table("coverage at depth", "mean", "95 % interval", "questions")
    for depth, estimate in coverage.items():
        add_row(table, str(depth), *cells(estimate), str(estimate.n))
    return table
