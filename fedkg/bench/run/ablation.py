"""Ablations: one benchmark asked again and again, each time with some settings changed.

A definition is data, a TOML file: `title`, `note` (what a reader of its report has to know), `benchmarks`, `limit`,
`combine`, a table `base` of settings for all runs, and for each `[[axis]]` a setting's `name` (dotted, as
`search.beam`) and its `values`. With `combine = "each"` one setting at a time is changed against the base, with
`"product"` all combinations are run. Each run has a result file of its own, so that an interrupted ablation goes on
where it was.

An axis may name rows that are `wanted` and need something of the caller's, a folder or a key: they are run where a
value with that word is given (`extended`), else `missing` says what to give.
"""

import hashlib
import itertools
import re
import tomllib
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
from fedkg.cache.memory import MemoryStore
from fedkg.common import toml
from fedkg.config.resources import folder
from fedkg.config.settings import Count, Settings, changed
from fedkg.embed.lazy import LazySimilarity
from fedkg.errors import DatasetError, FedkgError, InputError, MethodError, ModelError
from fedkg.wiring.adapters import text_similarity

__all__ = ["Axis", "Grid", "GridCell", "cells", "find", "names", "run"]

Values = dict[str, Any]
LONGEST = 120
"""Characters of a change in a file's name."""
HINT = (
    "keys: title, note, benchmarks, limit, combine, [base], and [[axis]] with name, values, wanted (docs/benchmarks.md)"
)
UNSAFE = re.compile(r"[^\w.=,+-]")


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting by its dotted name, and the values that it takes.

    `wanted` are further rows, by a word that their value has, with what to give for each.
    """

    name: str
    values: Annotated[tuple[Any, ...], msgspec.Meta(min_length=1)]
    wanted: dict[str, str] = {}


class Grid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an ablation runs."""

    title: str
    benchmarks: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    axis: Annotated[tuple[Axis, ...], msgspec.Meta(min_length=1)]
    combine: Literal["each", "product"] = "each"
    limit: Count | None = None
    base: Values = {}
    note: str = ""

    @property
    def changes(self) -> list[Values]:
        """What each run changes against the base; of single changes the base itself comes first."""
        if self.combine == "each":
            return [{}, *({axis.name: value} for axis in self.axis for value in axis.values)]
        named = [axis.name for axis in self.axis]
        every = itertools.product(*(axis.values for axis in self.axis))
        return [dict(zip(named, values, strict=True)) for values in every]

    @property
    def missing(self) -> list[str]:
        """The wanted rows for which no value was given, each with what to give."""
        return [
            f"Left out: {axis.name} {word}: give --value {axis.name}={value}"
            for axis in self.axis
            for word, value in axis.wanted.items()
            if not any(word in str(given).casefold() for given in axis.values)
        ]

    def extended(self, values: Sequence[str]) -> "Grid":
        """The grid with further values, each as NAME=VALUE; a VALUE is read as TOML where it is any, else as text.

        Raises DatasetError where no axis has that name.
        """
        axes = {axis.name: axis for axis in self.axis}
        for name, _, value in (text.partition("=") for text in values):
            if name not in axes:
                raise DatasetError(f"no axis is called {name[:100]!r}", hint=f"axes: {', '.join(axes)}")
            axes[name] = msgspec.structs.replace(axes[name], values=(*axes[name].values, _value(value)))
        return msgspec.structs.replace(self, axis=tuple(axes.values()))


class GridCell(msgspec.Struct, frozen=True):
    """One run of an ablation, the file that its records go to, and what it changes against the base."""

    job: Job
    file: Path
    change: Values = {}


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
            planned.append(GridCell(job, out / f"{definition.name}.{_name(change)}.jsonl", change))
    return planned


async def run(
    runs: Sequence[GridCell],
    executor: Executor,
    on_record: Callable[[GridCell, Sequence[QuestionRecord]], None] = lambda _cell, _records: None,
    on_refused: Callable[[GridCell, FedkgError], None] = lambda _cell, _error: None,
) -> tuple[BenchmarkResult, ...]:
    """The results of all runs, each in its file; `on_record` gets the records that its run has so far.

    A run whose method or model cannot do what it is told, or whose embedder cannot be had, is left out, and
    `on_refused` gets why. The executor has each question with its gold answers, so that it may also be one of a
    scripted model. Raises InputError where a run cannot be made.
    """
    results = []
    for cell in runs:
        try:
            if "embedder" in cell.change:
                await _tried(cell.job.work.settings)
        except (InputError, ModelError) as error:
            on_refused(cell, error)
            continue
        try:
            records = await runner.run(cell.job, executor, cell.file, partial(on_record, cell))
        except MethodError as error:
            on_refused(cell, error)
        else:
            results.append(BenchmarkResult(cell.job.header, records))
    return tuple(results)


async def _tried(settings: Settings) -> None:
    """Has the embedder of a run read a text, so that one that cannot be had fails here, and not with each question.

    Raises what the embedder raises.
    """
    similarity = text_similarity(settings, MemoryStore())
    if settings.mode != "offline" and isinstance(similarity, LazySimilarity):
        try:
            await similarity.query_half("label")
        finally:
            similarity.close()


def _value(text: str) -> object:
    """The value of a setting as a TOML file has it, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


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
