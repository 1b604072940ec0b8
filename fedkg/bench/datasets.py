"""Benchmark definitions and their questions: data folders, read strictly."""

import gzip
import random
import tomllib
from pathlib import Path
from typing import IO, Annotated, cast

import msgspec

from fedkg.data import folder
from fedkg.errors import DatasetError

__all__ = ["Definition", "Gold", "Question", "find", "names", "questions"]


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark: files of questions and graph in the data folder, the graph's profile, the depth that it needs."""

    title: str
    questions: str
    graph: str
    profile: str
    depth: Annotated[int, msgspec.Meta(ge=1)]
    name: str = ""


class Gold(msgspec.Struct, frozen=True):
    """A right answer or a topic: an entity with its IRI, or a literal's value."""

    label: str = ""
    iri: str = ""

    @property
    def key(self) -> str:
        """What an answer is compared by: the IRI, else the label."""
        return self.iri or self.label


class Question(msgspec.Struct, frozen=True):
    """One question of a set with its topic entities and its gold answers."""

    id: str
    question: str
    topic_entities: list[Gold]
    answers: list[Gold]


def names() -> list[str]:
    """The known benchmarks, sorted."""
    return sorted(path.stem for path in (folder("eval") / "benchmarks").glob("*.toml"))


def find(name: str) -> Definition:
    """The benchmark of that name. Raises DatasetError where there is none, or its definition does not fit."""
    path = folder("eval") / "benchmarks" / f"{name}.toml"
    if name not in names():
        raise DatasetError(f"no benchmark is called {name[:100]!r}; known: {', '.join(names())}")
    try:
        return msgspec.convert({**tomllib.loads(path.read_text(encoding="utf-8")), "name": name}, Definition)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DatasetError(f"{path}: {error}") from error


def questions(file: Path, limit: int | None = None, seed: int = 0) -> list[Question]:
    """The questions of a JSON Lines file, all in file order, or `limit` of them drawn by `seed`.

    Raises DatasetError with file and line for a line that is no question.
    """
    try:
        with _open(file) as lines:
            found = [_question(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    except (OSError, EOFError) as error:
        raise DatasetError(f"{file}: {error}", hint="--data names the folder of question sets and graphs") from error
    if limit is None or limit >= len(found):
        return found
    drawn = list(found)
    random.Random(seed).shuffle(drawn)  # noqa: S311  # a reproducible sample, not a secret
    return drawn[:limit]


def _question(line: bytes, place: str) -> Question:
    try:
        return msgspec.json.decode(line, type=Question)
    except msgspec.MsgspecError as error:
        raise DatasetError(f"{place}: {error}") from error


def _open(file: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(file)) if file.suffix == ".gz" else file.open("rb")
