"""The door of records to `fedkg.display`, which draws them: it is loaded when a notebook shows one, and not before."""

import importlib
from typing import Any

__all__ = ["display_module"]


def display_module(name: str) -> Any:
    """The module of `fedkg.display` with that name."""
    return importlib.import_module(f"fedkg.display.{name}")
