"""The calls of a reasoning model, one file for each: what is asked, with which prompt, and how the reply is read.

All of them are imported here, so that `call_kinds` always has them.
"""

import importlib
import pkgutil

from fedkg.reasoner.base import Call

__all__ = ["call_kinds"]


def call_kinds() -> dict[str, type[Call[object]]]:
    """All kinds of call, by their names: those of this folder, and those from elsewhere that have been imported."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    kinds: list[type[Call[object]]] = [Call]
    for kind in kinds:  # the subclasses of those that are appended are appended, too
        kinds += kind.__subclasses__()
    return {kind.name: kind for kind in kinds if "name" in vars(kind)}
