"""Which plots a report has."""

from collections.abc import Callable

import pytest

pytest.importorskip("matplotlib", reason="plots need the extra `report`")

from fedkg.bench.report import figures
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.variants import Variants

Make = Callable[..., BenchmarkResult]


def test_a_number_gives_a_curve(made: Make) -> None:
    """One line for each group of runs that differ in nothing else; a switch gives none."""
    runs = Variants([made("a", "a"), made("a", "x", beam=1), made("a", "a", keywords=False)])
    [(title, svg)] = figures.of_setting(runs, "search.beam")
    assert (title, ">b, fidelis, local<" in svg) == ("By search.beam", True)
    assert list(figures.of_setting(runs, "search.keywords")) == []


def test_right_answers_are_drawn_against_what_they_cost(made: Make) -> None:
    """Requests, where no model was paid; one run alone is no plot, and neither are runs without any cost."""
    [(_, svg)] = figures.cost(Variants([made("a"), made("x", beam=1)]))
    assert ">requests per question<" in svg
    assert list(figures.cost(Variants([made("a")]))) == []
    assert list(figures.cost(Variants([made(), made(beam=1)]))) == []


def test_error_classes_are_bars(made: Make) -> None:
    """Of runs with any fault."""
    [(_, svg)] = figures.errors(Variants([made("a", "x", "ax")]))
    assert all(f">{name}<" in svg for name in ("retrieval", "overfull", "b: fidelis, local"))
    assert list(figures.errors(Variants([made("a")]))) == []


@pytest.mark.parametrize("name", ["$\\frac{$", "_hidden", "<script>", "日本語", "x" * 300])
def test_names_are_drawn_as_they_are(made: Make, name: str) -> None:
    """No formula, no tag, no missing legend, whatever a benchmark is called."""
    [(_, svg)] = figures.of_setting(
        Variants([made("a", benchmark=name), made("x", benchmark=name, beam=1)]), "search.beam"
    )
    assert name[:20].replace("<", "‹").replace(">", "›") in svg
    assert "<script" not in svg
