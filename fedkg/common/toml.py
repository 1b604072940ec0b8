"""TOML files as typed records; what does not fit is an error that names file and key."""

import io
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.inspect

from fedkg.errors import InputError

__all__ = ["convert", "parse", "read", "read_text"]

LONGEST = 10_000_000
"""Bytes of a file: tables of it take some ten times as much."""

T = TypeVar("T")


def read(path: Path, kind: type[T], error: type[InputError], *, hint: str = "") -> T:
    """What the file holds, as a `kind`. Raises `error`, with `hint` where a key or a value does not fit."""
    return parse(read_text(path, error), str(path), kind, error, hint=hint)


def read_text(path: Path, error: type[InputError]) -> str:
    """The text of the file. Raises `error` for one that cannot be read, is not UTF-8, or is longer than 10 MB."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise error(f"{path}: more than {LONGEST:,} bytes", hint="is it the right file?")
        return io.TextIOWrapper(io.BytesIO(text), encoding="utf-8").read()
    except OSError as failure:
        raise error(f"{path}: {failure.strerror}", hint="name a readable file") from failure
    except UnicodeDecodeError as failure:
        raise error(f"{path}: not UTF-8 text") from failure


def parse(text: str, source: str, kind: type[T], error: type[InputError], *, hint: str = "") -> T:
    """What TOML text holds, as a `kind`; errors begin with `source`. Raises `error`."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as failure:  # a number of very many digits is a ValueError of its own
        raise error(f"{source}: {failure}", hint=hint or "it must be TOML") from failure
    return convert(table, source, kind, error, hint=hint)


def convert(table: dict[str, Any], source: str, kind: type[T], error: type[InputError], *, hint: str = "") -> T:
    """The table as a `kind`. Raises `error`, with the values that there are where a key takes but a few."""
    try:
        return msgspec.convert(table, kind, strict=True)
    except msgspec.ValidationError as failure:
        raise error(f"{source}: {failure}{_known(failure, kind)}", hint=hint) from failure


def _known(failure: msgspec.ValidationError, kind: Any) -> str:
    """The values that the key at fault may have, where it is a key of `kind` itself and takes but a few."""
    key = str(failure).partition("`$.")[2].partition("`")[0]
    fields = getattr(msgspec.inspect.type_info(kind), "fields", ())
    types = (field.type for field in fields if field.encode_name == key)
    each = (part for whole in types for part in getattr(whole, "types", (whole,)))
    values = [str(value) for part in each if isinstance(part, msgspec.inspect.LiteralType) for value in part.values]
    return f"; known: {', '.join(values)}" if values else ""
