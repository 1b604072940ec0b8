"""What a model can do, from data: `models/capabilities.toml`, and the user's own file of that name laid over it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from fedkg.common import toml
from fedkg.common.file_cache import FileCache
from fedkg.config.resources import layers
from fedkg.errors import SettingsError
from fedkg.llm.base import Capability

__all__ = ["FILE", "find", "fits"]

FILE = "capabilities.toml"
HINT = "models/capabilities.toml says which keys there are; docs/models.md shows an example"


class CapabilityRecord(Capability, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one table of the file says; `names` are patterns of VENDOR:MODEL or VENDOR:MODEL@URL."""

    names: tuple[str, ...]


class CapabilityFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    model: list[dict[str, Any]] = []


LOADED: FileCache[Path, list[tuple[tuple[str, ...], dict[str, Any]]]] = FileCache()


def find(name: str, user_folder: str = "", context: int | None = None) -> Capability:
    """What is known of the model VENDOR:MODEL[@URL]; the safe defaults of Capability where no record fits.

    `user_folder` is the folder of the user's file, `context` the tokens that the user knows better. Raises
    SettingsError, naming file and key, for a file that does not fit.
    """
    known: dict[str, Any] = {}
    for place in layers(
        "models", user_folder, SettingsError, what="models", hint=f"models_dir is the folder of your own {FILE}"
    ):
        if (file := place / FILE).is_file():
            for values in _fitting(file, name):
                known |= values
    capability = Capability(**known | ({"context": context} if context else {}))
    # a reply may take half of a small context: without this, nothing would be left of it for the prompt
    return msgspec.structs.replace(capability, output=max(1, min(capability.output, capability.context // 2)))


def _fitting(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """What the records that fit the name say, in their order; every record of the file is checked."""
    for names, table in LOADED.get(path, [path], lambda: _records(path)):
        if any(fits(pattern, name) for pattern in names):
            yield table


def _records(path: Path) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The patterns of each record with what it says."""
    records = []
    for number, table in enumerate(toml.read(path, CapabilityFile, SettingsError, hint=HINT).model, start=1):
        record = toml.convert(table, f"{path}: model {number}", CapabilityRecord, SettingsError, hint=HINT)
        records.append((record.names, {key: value for key, value in table.items() if key != "names"}))
    return records


def fits(pattern: str, name: str) -> bool:
    """Whether the pattern fits the model's name; * stands for any characters, ? for one.

    One without @ is for the vendor's own service only: a server elsewhere may call any model anything.
    """
    # in an address such as http://[::1]:8000 the brackets are no set of characters
    return ("@" in pattern) == ("@" in name) and fnmatchcase(name, pattern.replace("[", "[[]"))
