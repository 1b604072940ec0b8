"""Runs beside each other: what differs between them, so that a report shows that and nothing else."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.summary import MeanEstimate, Summary, summary

__all__ = ["VariantRun", "Variants", "setting_text"]


class VariantRun(msgspec.Struct, frozen=True):
    """A run with its figures.

    `changes` are the settings that the first run of its benchmark has otherwise; `again` counts the earlier runs of the
    same settings.
    """

    result: BenchmarkResult
    summary: Summary
    changes: dict[str, str]
    again: int = 0

    @property
    def header(self) -> Header:
        """What was run."""
        return self.result.header

    @property
    def records(self) -> tuple[QuestionRecord, ...]:
        """The questions, sorted by id."""
        return tuple(sorted(self.result.records, key=lambda record: record.id))

    @property
    def variant(self) -> tuple[str, str, str]:
        """What is the same for runs of several benchmarks: method, model, and what else was told otherwise."""
        return self.header.method, self.header.model, self.without("")

    @property
    def name(self) -> str:
        """The variant as one text."""
        return ", ".join(filter(None, self.variant))

    def without(self, setting: str) -> str:
        """What was told otherwise, apart from one setting."""
        parts = [f"{name} {value}" for name, value in self.changes.items() if name != setting]
        return ", ".join(parts + [f"run {self.again + 1}"] * (self.again > 0))

    def figure(self, measure: str) -> MeanEstimate | None:
        """A measure over all questions."""
        return self.summary.overall.measures.get(measure)


class Variants:
    """Runs in the order in which they are given; the first of each benchmark is what its others are compared with."""

    def __init__(self, results: Iterable[BenchmarkResult], seed: int = 0) -> None:
        given = list(results)
        self.first: dict[str, BenchmarkResult] = {}
        for result in given:
            self.first.setdefault(result.header.benchmark, result)
        self.varied = _varied([result.header for result in given])
        seen: Counter[str] = Counter()
        self.runs: list[VariantRun] = []
        for result in given:
            key = repr((result.header.benchmark, result.header.flat_settings))
            self.runs.append(VariantRun(result, summary(result, seed), self._changes(result.header), seen[key]))
            seen[key] += 1

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks, each once."""
        return list(self.first)

    @property
    def names(self) -> list[tuple[str, str, str]]:
        """The variants, each once."""
        return list(dict.fromkeys(run.variant for run in self.runs))

    def find(self, variant: tuple[str, str, str], benchmark: str) -> VariantRun | None:
        """The run of that variant on a benchmark, if there is one."""
        matching = (run for run in self.runs if run.variant == variant and run.header.benchmark == benchmark)
        return next(matching, None)

    def of(self, benchmark: str) -> list[VariantRun]:
        """The runs of a benchmark."""
        return [run for run in self.runs if run.header.benchmark == benchmark]

    def groups(self, setting: str) -> list[list[VariantRun]]:
        """The runs that differ in that setting alone, together; those that are alone are left out."""
        groups: dict[str, list[VariantRun]] = {}
        for run in self.runs:
            groups.setdefault(_rest(run.header, self.varied, setting), []).append(run)
        return [group for group in groups.values() if len({_value(run.header, setting) for run in group}) > 1]

    def _changes(self, header: Header) -> dict[str, str]:
        base, settings = self.first[header.benchmark].header.flat_settings, header.flat_settings
        named = [
            name for name in self.varied if name not in {"method", "model"} and base.get(name) != settings.get(name)
        ]
        return {name: setting_text(settings.get(name)) for name in named}


def setting_text(value: object) -> str:
    """The value of a setting for a reader."""
    match value:
        case bool():
            return "on" if value else "off"
        case None:
            return "not set"
        case list():
            return " + ".join(map(setting_text, value))
    return str(value)


def _varied(headers: Sequence[Header]) -> list[str]:
    """The settings that differ between two runs of one benchmark, in their own order."""
    values: dict[tuple[str, str], set[str]] = {}
    for header in headers:
        for name, value in header.flat_settings.items():
            values.setdefault((name, header.benchmark), set()).add(repr(value))
    return list(dict.fromkeys(name for (name, _), seen in values.items() if len(seen) > 1))


def _rest(header: Header, varied: Sequence[str], setting: str) -> str:
    """What a run was told apart from that setting, as a key."""
    return repr((header.benchmark, [header.flat_settings.get(name) for name in varied if name != setting]))


def _value(header: Header, setting: str) -> str:
    return repr(header.flat_settings.get(setting))
