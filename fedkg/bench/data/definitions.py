"""Benchmark definitions: what is asked, of which graph, how it is read and scored. Data, one TOML file each."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from fedkg.bench.data import formats
from fedkg.common import toml
from fedkg.config.resources import folder
from fedkg.config.settings import Depth
from fedkg.core.question import Kind
from fedkg.errors import DatasetError

__all__ = ["DatasetSource", "Definition", "Metric", "Only", "custom", "find", "names"]

Metric = Literal["hits_at_1", "f1", "exact", "accuracy"]
Checksum = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
CUSTOM = "custom:"


class DatasetSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a dataset officially comes from, under which licence, and what to cite.

    `sha256` is that of the file behind `url`, which is then a file of questions as its loader reads it; "" where the
    dataset is not fetched, since it has another form there or nothing is known to check it by.
    """

    url: str = ""
    sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    licence: str = ""
    cite: str = ""


class Only(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which questions are meant: those that a JSON `file` of the data folder has under these keys.

    It has a value for each id there; with `values` only ids with one of these count.
    """

    file: str
    keys: tuple[str, ...]
    values: tuple[str | int, ...] = ()


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark: its files in the data folder, how they are read, the graph's profile, the depth that it needs.

    graph: asked where no endpoint is given; "" for a benchmark that needs one. kind: of all its questions, where the
    file does not say. topics: `gold` ones, or the method's `own` linking; kinds: likewise of each question. only: which
    of its questions are asked, where not all. conditions: those whose gold query the graph answers, so that all of
    their conditions stand in it. operations: a JSON file whose table `operations` has what questions ask to be
    computed, by their ids, where the questions themselves do not state it. metric: the one that its papers lead with.
    name: what its results are called, the file's where it says none. sha256: of each of its files as the committed
    results were made from them.
    """

    title: str
    questions: str
    depth: Depth
    graph: str = ""
    profile: str = "generic"
    loader: str = "jsonl"
    kind: Kind | None = None
    topics: Literal["gold", "own"] = "gold"
    kinds: Literal["gold", "own"] = "gold"
    only: Only | None = None
    conditions: Only | None = None
    operations: str = ""
    metric: Metric = "hits_at_1"
    source: DatasetSource = DatasetSource()
    sha256: dict[str, Checksum] = {}
    name: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it needs, questions first; an endpoint stands for the graph."""
        listed = (part.file for part in (self.only, self.conditions) if part)
        return tuple(dict.fromkeys(filter(None, (self.questions, self.graph, *listed, self.operations))))


def names() -> list[str]:
    """The known benchmarks, sorted."""
    return sorted(path.stem for path in (folder("eval") / "benchmarks").glob("*.toml"))


def find(name: str) -> Definition:
    """The benchmark of that name, of that TOML file, or of `custom:FILE`, a JSON Lines file of questions.

    Raises DatasetError where there is none, or its definition does not fit.
    """
    if name.startswith(CUSTOM):
        return custom(name.removeprefix(CUSTOM))
    if name.endswith(".toml"):
        return _read(Path(name))
    if name not in names():
        hint = "or a definition of your own, as FILE.toml, or questions of your own, as custom:FILE.jsonl"
        raise DatasetError(f"no benchmark is called {name[:100]!r}; known: {', '.join(names())}", hint=hint)
    return _read(folder("eval") / "benchmarks" / f"{name}.toml")


def custom(file: str) -> Definition:
    """The benchmark that a JSON Lines file of a user's own makes.

    It has no graph, and is asked in depth 4 as FiDeLiS does.
    """
    path = Path(file)
    return Definition(
        title=path.name, questions=str(path.absolute()), depth=4, name=f"custom-{path.name.partition('.')[0]}"
    )


def _read(path: Path) -> Definition:
    table = toml.read(path, dict[str, Any], DatasetError)
    named = {**table, "name": table.get("name") or path.stem}
    definition = toml.convert(named, str(path), Definition, DatasetError, hint="docs/benchmarks.md lists the keys")
    try:
        formats.find(definition.loader)
    except DatasetError as error:
        raise DatasetError(f"{path}: loader: {error}", hint="docs/benchmarks.md lists the keys") from error
    if definition.name != Path(definition.name).name:
        raise DatasetError(
            f"{path}: {definition.name[:100]!r} cannot be the name of a file, which results would be called by"
        )
    return definition
