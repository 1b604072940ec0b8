"""TOML files as typed records."""

from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from fedkg.common import toml
from fedkg.errors import DatasetError, ProfileError


class Pet(msgspec.Struct, forbid_unknown_fields=True):
    """What a file may hold."""

    name: str
    kind: Literal["cat", "dog"] | None = None


def test_a_file_becomes_a_record(tmp_path: Path) -> None:
    """Or a plain table, where its keys are not known yet."""
    file = tmp_path / "pet.toml"
    file.write_text('name = "Rex"\nkind = "dog"\n')
    assert toml.read(file, Pet, DatasetError) == Pet("Rex", "dog")
    assert toml.read(file, dict[str, Any], DatasetError) == {"name": "Rex", "kind": "dog"}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            'name = "Rex"\nkind = "cow"',
            r"pet\.toml: Invalid enum value 'cow' - at `\$\.kind`; known: cat, dog$",
            "keys",
        ),
        ("name = 1", r"pet\.toml: Expected `str`, got `int` - at `\$\.name`$", "keys"),
        ('age = 1\nname = "Rex"', r"pet\.toml: Object contains unknown field `age`$", "keys"),
        ("name =", r"pet\.toml: Invalid value", "keys"),
        ("a = " + "[" * 10_000, r"pet\.toml: ", "keys"),
        ("a = " + "9" * 5_000, r"pet\.toml: ", "keys"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str, hint: str) -> None:
    """Of the class that the caller names, with its hint."""
    file = tmp_path / "pet.toml"
    file.write_text(text)
    with pytest.raises(ProfileError, match=message) as caught:
        toml.read(file, Pet, ProfileError, hint="keys")
    assert caught.value.hint == hint


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A file that is not there, a folder, and one that is no text."""
    for file, message in ((tmp_path / "none.toml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(DatasetError, match=message):
            toml.read(file, Pet, DatasetError)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match=r"bytes\.toml: not UTF-8 text"):
        toml.read(tmp_path / "bytes.toml", Pet, DatasetError)


def test_a_file_that_is_too_long_is_not_read_whole(tmp_path: Path) -> None:
    """A file without an end, or of gigabytes, fills no memory."""
    (tmp_path / "pet.toml").symlink_to("/dev/zero")
    with pytest.raises(ProfileError, match=r"pet\.toml: more than 10,000,000 bytes"):
        toml.read_text(tmp_path / "pet.toml", ProfileError)
