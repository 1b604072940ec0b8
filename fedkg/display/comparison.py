"""What is otherwise between two runs of a benchmark, as a notebook shows it."""

from collections.abc import Iterator

from fedkg.bench.scoring.compare import Comparison
from fedkg.core.rendering import counted
from fedkg.display.tables import table_html

__all__ = ["comparison_html"]

MOST_FLIPS = 20


def comparison_html(comparison: Comparison) -> str:
    """The measures of both runs with what is between them, the settings that differ, and the questions that flipped."""
    return "".join(_tables(comparison))


def _tables(comparison: Comparison) -> Iterator[str]:
    columns = ("measure", "first", "second", "difference", "95 % interval", "p")
    yield table_html(
        _title(comparison), columns, _measures(comparison), [f"warning: {warning}" for warning in comparison.warnings]
    )
    if comparison.settings:
        settings = ((name, *map(str, values)) for name, values in comparison.settings.items())
        yield table_html("what was otherwise", ("setting", "first", "second"), settings)
    if comparison.flips:
        more = len(comparison.flips) - MOST_FLIPS
        notes = [f"… and {more} more"] if more > 0 else []
        yield table_html("questions that flipped", ("", "", "first", "second", "question"), _flips(comparison), notes)


def _title(comparison: Comparison) -> str:
    hits = comparison.hits
    return (
        f"{comparison.benchmark}: {counted(comparison.questions, 'question')} in both runs; hit by both {hits.both}, "
        f"by the first alone {hits.first}, by the second alone {hits.second}, by none {hits.neither}; p {hits.p:.4f}"
    )


def _measures(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for name, change in comparison.differences.items():
        means = (f"{change.first:.4f}", f"{change.second:.4f}", f"{change.difference:+.4f}")
        yield (name, *means, f"{change.low:+.4f} to {change.high:+.4f}", f"{change.p:.4f}")


def _flips(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    for flip in comparison.flips[:MOST_FLIPS]:
        yield flip.id, "won" if flip.won else "lost", flip.first or "right", flip.second or "right", flip.question
