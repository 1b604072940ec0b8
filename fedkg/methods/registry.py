"""The methods by name: what `--method` takes. A further one is its file and its line here."""

from collections.abc import Mapping

from fedkg.errors import MethodError
from fedkg.methods import eperm, fidelis, gcr, recall, retrieval, rog, tog
from fedkg.methods.base import Method

__all__ = ["METHODS", "find"]

METHODS: Mapping[str, Method] = {
    "fidelis": fidelis.METHOD,
    "gcr": gcr.METHOD,
    "eperm": eperm.METHOD,
    "tog": tog.METHOD,
    "rog": rog.METHOD,
    "kaping": retrieval.KAPING,
    "vanilla": retrieval.VANILLA,
    "io": recall.IO,
    "few-shot": recall.FEW_SHOT,
    "cot": recall.COT,
    "self-consistency": recall.SELF_CONSISTENCY,
}


def find(name: str, *, prompted: bool = True) -> Method:
    """The method of that name; `prompted` is whether there is a language model.

    Raises MethodError for an unknown one, naming the known ones, and for one that the model cannot serve, naming what would
    work.
    """
    if name not in METHODS:
        raise MethodError(f"no method is called {name[:100]!r}", hint=f"known: {', '.join(METHODS)}")
    if METHODS[name].prompts and not prompted:
        others = ", ".join(other for other, method in METHODS.items() if not method.prompts)
        hint = f"name a language model with --model; without one there are: {others}"
        raise MethodError(
            f"the method {name} needs a language model, and the model local is none", asked=name, hint=hint
        )
    return METHODS[name]
