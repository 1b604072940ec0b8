"""What differs between runs."""

from collections.abc import Callable

import pytest

from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.variants import Variants, setting_text

Make = Callable[..., BenchmarkResult]


def test_a_run_is_named_by_what_the_first_has_otherwise(made: Make) -> None:
    """Nothing that all have; a run of the same settings is counted."""
    runs = Variants([made("a"), made("a", beam=1), made("a", beam=1, alpha=0.0), made("a")])
    assert runs.varied == ["search.beam", "search.alpha"]
    assert [run.changes for run in runs.runs] == [
        {},
        {"search.beam": "1"},
        {"search.beam": "1", "search.alpha": "0.0"},
        {},
    ]
    assert [run.name for run in runs.runs] == [
        "fidelis, local",
        "fidelis, local, search.beam 1",
        "fidelis, local, search.beam 1, search.alpha 0.0",
        "fidelis, local, run 2",
    ]
    assert runs.runs[2].without("search.beam") == "search.alpha 0.0"


def test_what_differs_between_benchmarks_alone_is_not_varied(made: Make) -> None:
    """Each has its own depth, say; runs of one variant on several benchmarks have one name."""
    runs = Variants([made("a", beam=2), made("a", beam=3, benchmark="c")])
    assert runs.varied == []
    assert runs.benchmarks == ["b", "c"]
    assert runs.names == [("fidelis", "local", "")]
    run = runs.find(("fidelis", "local", ""), "c")
    assert run == runs.runs[1]
    assert runs.find(("gcr", "local", ""), "c") is None


def test_a_group_differs_in_one_setting_alone(made: Make) -> None:
    """Of single changes it is the base with those of that setting.

    A run that differs in more is in no group with them.
    """
    base, narrow, plain, both = made("a"), made("a", beam=1), made("a", alpha=0.0), made("a", beam=1, alpha=0.0)
    runs = Variants([base, narrow, plain])
    assert [[run.result for run in group] for group in runs.groups("search.beam")] == [[base, narrow]]
    product = Variants([base, narrow, plain, both])
    assert [[run.result for run in group] for group in product.groups("search.beam")] == [[base, narrow], [plain, both]]
    assert Variants([base, both]).groups("search.beam") == []


def test_methods_and_models_are_settings_too(made: Make) -> None:
    """They are always named, and so are no change."""
    runs = Variants([made("a"), made("a", method="gcr"), made("a", model="openai:m")])
    assert runs.varied == ["method", "model"]
    assert [run.variant for run in runs.runs] == [
        ("fidelis", "local", ""),
        ("gcr", "local", ""),
        ("fidelis", "openai:m", ""),
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(True, "on"), (False, "off"), (None, "not set"), (["a", 1], "a + 1"), (0.3, "0.3"), (1, "1")]
)
def test_values_are_said_in_words(value: object, text: str) -> None:
    """A one is no `on`."""
    assert setting_text(value) == text
