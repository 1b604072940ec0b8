"""Finds the data folders, in a checkout and in an installed wheel alike.

The wheel carries them inside the package as `fedkg/_data/<folder>`; in a checkout they lie beside the package.
"""

from pathlib import Path
from typing import Literal

__all__ = ["Folder", "folder"]

Folder = Literal["endpoints", "models", "prompts", "sample", "eval"]

PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: Folder) -> Path:
    """The data folder of that name. Raises FileNotFoundError where the installation lacks it."""
    for candidate in (PACKAGE / "_data" / name, PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"fedkg's data folder {name!r} is missing from this installation")
