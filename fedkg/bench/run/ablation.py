"""Ablations: one benchmark asked again and again, each time with some settings changed.

A definition is data, a TOML file: `title`, `benchmarks`, `limit`, `combine`, a table `base` of settings for all runs,
and for each `[[axis]]` a setting's `name` (dotted, as `search.beam`) and its `values`. With `combine = "each"` one
setting at a time is changed against the base, with `"product"` all combinations are run. Each run has a result file of
its own, so that an interrupted ablation goes on where it was.
"""

import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run import runner
from fedkg.bench.run.executors import Executor
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.common import toml
from fedkg.config.resources import folder
from fedkg.config.settings import Count, Settings, changed
from fedkg.errors import DatasetError, MethodError

__all__ = ["Axis", "Grid", "GridCell", "cells", "find", "names", "run"]

Values = dict[str, Any]
LONGEST = 120
"""Characters of a change in a file's name."""
HINT = "keys: title, benchmarks, limit, combine, [base], and [[axis]] with name and values (docs/benchmarks.md)"
UNSAFE = re.compile(r"[^\w.=,+-]")


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting by its dotted name, and the values that it takes."""

    name: str
    values: Annotated[tuple[Any, ...], msgspec.Meta(min_length=1)]


class Grid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an ablation runs."""

    title: str
    benchmarks: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    axis: Annotated[tuple[Axis, ...], msgspec.Meta(min_length=1)]
    combine: Literal["each", "product"] = "each"
    limit: Count | None = None
    base: Values = {}

    @property
    def changes(self) -> list[Values]:
        """What each run changes against the base; of single changes the base itself comes first."""
        if self.combine == "each":
            return [{}, *({axis.name: value} for axis in self.axis for value in axis.values)]
        named = [axis.name for axis in self.axis]
        every = itertools.product(*(axis.values for axis in self.axis))
        return [dict(zip(named, values, strict=True)) for values in every]


class GridCell(msgspec.Struct, frozen=True):
    """One run of an ablation, and the file that its records go to."""

    job: Job
    file: Path


def names() -> list[str]:
    """The known ablations, sorted."""
    return sorted(path.stem for path in (folder("eval") / "ablations").glob("*.toml"))


def find(name: str) -> Grid:
    """The ablation of that name, or of a TOML file. Raises DatasetError where there is none, or it does not fit."""
    if not name.endswith(".toml") and name not in names():
        hint = "or a definition of your own, as FILE.toml"
        raise DatasetError(f"no ablation is called {name[:100]!r}; known: {', '.join(names())}", hint=hint)
    path = Path(name) if name.endswith(".toml") else folder("eval") / "ablations" / f"{name}.toml"
    return toml.read(path, Grid, DatasetError, hint=HINT)


def cells(
    grid: Grid,
    settings: Settings,
    data: Path | None,
    out: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> list[GridCell]:
    """The runs, of each benchmark its base first; `limit` takes the place of the definition's.

    With `skip_bad` questions that cannot be read are left out, and listed in the headers. Raises InputError where
    benchmarks, data or settings do not fit, before anything is asked.
    """
    planned: list[GridCell] = []
    for benchmark, change in itertools.product(map(definitions.find, grid.benchmarks), grid.changes):
        changed_settings, definition = _changed(grid, change, settings, benchmark)
        job = runner.prepared(
            changed_settings, definition, data, limit=limit or grid.limit, seed=seed, skip_bad=skip_bad
        )
        # the base may have a value of an axis already
        if all(job.work != other.job.work for other in planned):
            planned.append(GridCell(job, out / f"{definition.name}.{_name(change)}.jsonl"))
    return planned


async def run(
    runs: Sequence[GridCell],
    executor: Executor,
    on_record: Callable[[GridCell, Sequence[QuestionRecord]], None] = lambda _cell, _records: None,
    on_refused: Callable[[GridCell, MethodError], None] = lambda _cell, _error: None,
) -> tuple[BenchmarkResult, ...]:
    """The results of all runs, each in its file; `on_record` gets the records that its run has so far.

    A run whose method or model cannot do what it is told is left out, and `on_refused` gets why. The executor has each
    question with its gold answers, so that it may also be one of a scripted model. Raises InputError where a run cannot
    be made.
    """
    results = []
    for cell in runs:
        try:
            records = await runner.run(cell.job, executor, cell.file, partial(on_record, cell))
        except MethodError as error:
            on_refused(cell, error)
        else:
            results.append(BenchmarkResult(cell.job.header, records))
    return tuple(results)


def _changed(grid: Grid, change: Values, settings: Settings, definition: Definition) -> tuple[Settings, Definition]:
    """The settings of a run, and its benchmark, from which it takes the depth."""
    values = _flat(grid.base) | change
    merged = changed(settings, values, grid.title)
    if "search.depth" in values:
        definition = msgspec.structs.replace(definition, depth=merged.search.depth)
    return merged, definition


def _flat(values: Values) -> Values:
    """Settings by dotted names: `[base.search]` and `"search.beam"` are the same."""
    flat: Values = {}
    for name, value in values.items():
        inner = value.items() if isinstance(value, dict) else ()
        flat |= {f"{name}.{key}": inner_value for key, inner_value in inner} or {name: value}
    return flat


def _name(change: Values) -> str:
    """The change as a part of a file's name; the end of a long one is its digest."""
    text = ",".join(f"{name}={value}" for name, value in change.items()) or "base"
    safe = UNSAFE.sub("-", text)
    if safe == text and len(safe) <= LONGEST:
        return safe
    return f"{safe[:LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
