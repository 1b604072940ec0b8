"""The tables of a report."""

from collections.abc import Callable

import msgspec
import pytest

from fedkg.bench.report import tables
from fedkg.bench.report.tables import Table
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.variants import Variants
from fedkg.core.usage import Usage

Make = Callable[..., BenchmarkResult]


def rows(table: Table) -> list[dict[str, str]]:
    """The rows by the names of their columns."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_the_main_table_has_every_variant_on_every_benchmark(made: Make) -> None:
    """Shares in percent with their intervals; a dash where a variant was not run."""
    runs = Variants([made("a", "x", "", "a"), made("a", beam=1), made("a", benchmark="c")])
    first, second = rows(tables.main(runs))
    assert first["b: Hits@1 (%)"].startswith("50.00 (")
    assert first["c: F1 (%)"] == "100.00 (100.00–100.00; n 1)"
    assert (second["Settings"], second["b: Hits@1 (%)"], second["c: Hits@1 (%)"]) == (
        "search.beam 1",
        "100.00 (100.00–100.00; n 1)",
        "–",
    )
    assert tables.main(runs).note == "Settings are named where they are not those of the first run: search.beam 4."


def test_judgements_are_led_by_their_accuracy(made: Make) -> None:
    """Or by what else the benchmark's definition names, once."""
    assert tables.main(Variants([made("a", metric="accuracy")])).columns[3:] == ("b: Accuracy (%)", "b: F1 (%)")
    assert tables.main(Variants([made("a", metric="f1")])).columns[3:] == ("b: F1 (%)",)
    assert tables.main(Variants([made()])).columns[3:] == ("b: Hits@1 (%)", "b: F1 (%)")


def test_differences_are_those_from_the_first_run(made: Make) -> None:
    """In percentage points, on the questions that both have; who shares none is not compared."""
    other = made("a", beam=1)
    strange = BenchmarkResult(other.header, (msgspec.structs.replace(other.records[0], id="strange"),))
    differences = rows(tables.against_first(Variants([made("a", "a"), made("a", "x", beam=2), strange])))
    assert [row["Settings"] for row in differences] == ["search.beam 2"]
    assert differences[0]["Δ Hits@1 (points)"].startswith("-50.00 (-100.00 to +0.00)")
    assert (differences[0]["Questions"], differences[0]["McNemar's p"]) == ("2", "1.000")
    assert rows(tables.against_first(Variants([made("a")]))) == []


def test_a_setting_is_set_against_what_it_changes(made: Make) -> None:
    """One row for each value; what else is otherwise is named where there is anything."""
    runs = Variants(
        [made("a", "a"), made("a", "x", beam=1), made("a", "a", alpha=0.0), made("a", "a", beam=1, alpha=0.0)]
    )
    table = tables.of_setting(runs, "search.beam")
    assert [(row["search.beam"], row["Otherwise"]) for row in rows(table)] == [
        ("4", ""),
        ("1", ""),
        ("4", "search.alpha 0.0"),
        ("1", "search.alpha 0.0"),
    ]
    assert "Coverage ratio (%)" in table.columns
    assert table.note == ""
    assert tables.of_setting(Variants([made("a"), made("x", beam=1)]), "search.beam").columns[-1] != "Otherwise"


def test_a_setting_without_effect_is_called_so(made: Make) -> None:
    """The model `local` ranks everything itself, so most of them have none."""
    assert tables.of_setting(Variants([made("a"), made("a", beam=1)]), "search.beam").note == f"{tables.SAME}."


def test_a_benchmark_on_which_nothing_moves_is_named(made: Make) -> None:
    """In the table of the setting, and by a sentence with its questions; where one answer differs there is none."""
    moved, still = [made("a"), made("x", beam=1)], [made("a", benchmark="c"), made("a", beam=1, benchmark="c")]
    assert tables.of_setting(Variants([*moved, *still]), "search.beam").note == f"{tables.SAME} on c."
    assert tables.of_setting(Variants(moved), "search.beam").note == ""
    [sentence] = tables.unmoved(Variants([*moved, *still]))
    assert sentence.startswith("On c all 2 runs gave the same answers to 1 questions")
    assert tables.unmoved(Variants([made("a")])) == []


def test_answers_are_the_same_whatever_their_scores(made: Make) -> None:
    """Another ranking of the offers is no other answer."""
    first, second = made("a"), made("a", beam=1)
    [record] = second.records
    scored = tuple(msgspec.structs.replace(answer, score=0.9) for answer in record.answers)
    other = BenchmarkResult(second.header, (msgspec.structs.replace(record, answers=scored),))
    assert tables.unmoved(Variants([first, other]))


def test_coverage_has_a_column_for_each_depth(made: Make) -> None:
    """Table 4 of the paper; runs that say nothing of the way are left out."""
    silent = made("a", method="io")
    silent = BenchmarkResult(
        silent.header, tuple(msgspec.structs.replace(record, passed=()) for record in silent.records)
    )
    [row] = rows(tables.coverage(Variants([made("a", ""), silent])))
    assert row["Depth 1 (%)"].startswith("50.00 (")


def test_only_what_was_measured_has_a_column(made: Make) -> None:
    """No run has a price here that is not zero, but all have one; nobody's gold depth is missing."""
    runs = Variants([made("a")])
    assert tables.costs(runs).columns[4:] == (
        "Model calls",
        "Tokens",
        "Requests",
        "Seconds",
        "Price (US$)",
    )
    assert rows(tables.costs(runs))[0]["Requests"] == "2.00 (2.00–2.00; n 1)"
    assert rows(tables.depths(runs))[0]["Gold depth"] == "1.00 (1.00–1.00; n 1)"
    assert rows(tables.faithfulness(runs))[0]["Faithful (%)"] == "100.00 (100.00–100.00; n 1)"
    nothing = Variants([made()])
    assert [table(nothing).rows for table in (tables.costs, tables.depths, tables.faithfulness)] == [(), (), ()]


def test_what_the_cache_answered_is_a_table_of_its_own(made: Make) -> None:
    """Runs and measures that have any of it, and nothing of it among the cost."""
    plain, kept = made("a"), made("a", "x", beam=1)
    usage = Usage(model_calls=3, tokens_in=30, replayed_calls=2, replayed_tokens=20)
    kept = BenchmarkResult(kept.header, tuple(msgspec.structs.replace(record, usage=usage) for record in kept.records))
    runs = Variants([plain, kept])
    [row] = rows(tables.cached(runs))
    assert (row["Settings"], row["Model calls, replayed"]) == ("search.beam 1", "2.00 (2.00–2.00; n 2)")
    assert "Neighbourhoods and labels" not in row
    assert rows(tables.costs(runs))[1]["Tokens"] == "10.00 (10.00–10.00; n 2)"
    assert tables.cached(Variants([plain])).rows == ()


def test_errors_are_counted_by_class(made: Make) -> None:
    """Only the classes that there are; of a run that is all right there is no table."""
    [row] = rows(tables.faults(Variants([made("a", "x", "", "ax")])))
    assert (row["retrieval"], row["overfull"]) == ("2 (50.0%)", "1 (25.0%)")
    assert "linking" not in row
    assert tables.faults(Variants([made("a")])).rows == ()
    [ended] = rows(tables.counts(Variants([made("a", "")])))
    assert (ended["Answered"], ended["Not found"], ended["Questions"]) == ("1", "1", "2")


def test_planned_and_written_paths_are_split_by_what_is_wrong_with_them(made: Make) -> None:
    """Counts over all questions, with their share; of runs that wrote none there is no table."""
    run = made("a", "x")
    measures: dict[str, float | str] = {
        "paths written": 4,
        "paths in the graph": 3,
        "format errors": 1,
        "door": "index",
    }
    measured = tuple(msgspec.structs.replace(record, measures=measures) for record in run.records)
    [row] = rows(tables.written(Variants([BenchmarkResult(run.header, measured)])))
    assert (row["Paths written"], row["Paths in the graph"]) == ("8", "6 (75.0%)")
    assert (row["Format errors"], row["Steps not in the graph"]) == ("2 (25.0%)", "0 (0.0%)")
    assert tables.written(Variants([made("a")])).rows == ()


def test_parts_are_shown_where_there_are_several(made: Make) -> None:
    """By hops, say."""

    def table(*results: BenchmarkResult) -> Table:
        return tables.by_part(
            Variants(results), "hops", lambda run: {str(hops): part for hops, part in run.summary.by_hops.items()}
        )

    result = made("a", "x")
    far = BenchmarkResult(result.header, (result.records[0], msgspec.structs.replace(result.records[1], hops=2)))
    assert [(row["Hops"], row["Hits@1 (%)"][:6]) for row in rows(table(far))] == [("1", "100.00"), ("2", "0.00 (")]
    assert table(result).rows == ()


@pytest.mark.parametrize(("commit", "dirty", "origin"), [("", False, "–"), ("a" * 40, True, "aaaaaaaaaaaa, changed")])
def test_a_report_says_where_its_figures_come_from(made: Make, commit: str, dirty: bool, origin: str) -> None:
    """Commit, versions, data files."""
    [row] = rows(tables.provenance(Variants([made("a", commit=commit, dirty=dirty, data={"q.jsonl": "f" * 64})])))
    assert (row["Commit"], row["Data"], row["Limit"], row["Embedder"]) == (
        origin,
        "q.jsonl ffffffffffff",
        "not set",
        "bm25",
    )


def test_a_run_that_went_on_with_another_version_names_both(made: Make) -> None:
    """In the order in which they asked."""
    first = made("a", commit="a" * 40)
    later = msgspec.structs.replace(first.header, commit="b" * 40, fedkg="0.2.0")
    [row] = rows(tables.provenance(Variants([BenchmarkResult(first.header, first.records, (later, later))])))
    assert (row["fedkg"], row["Commit"]) == ("0.1.0; 0.2.0", "aaaaaaaaaaaa; bbbbbbbbbbbb")
