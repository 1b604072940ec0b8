"""Finds the data folders, in a checkout and in an installed wheel alike.

The wheel carries them inside the package as `fedkg/_data/<folder>`; in a checkout they lie beside the package.
"""

from pathlib import Path
from typing import Literal

from fedkg.errors import InputError

__all__ = ["Folder", "folder", "layers"]

Folder = Literal["endpoints", "models", "prompts", "sample", "eval"]

PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: Folder) -> Path:
    """The data folder of that name. Raises FileNotFoundError where the installation lacks it."""
    for candidate in (PACKAGE / "_data" / name, PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"fedkg's data folder {name!r} is missing from this installation")


def layers(name: Folder, user: str, error: type[InputError], *, what: str, hint: str = "") -> list[Path]:
    """The folders that hold data of that name: the bundled one, and over it the user's own, where `user` names one.

    Raises `error` where the user's folder of `what` is none: what lies elsewhere would silently not be used.
    """
    if user and not Path(user).is_dir():
        raise error(f"{user}: no such folder of {what}", hint=hint)
    return [folder(name), *([Path(user)] if user else [])]
