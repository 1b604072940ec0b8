"""Which settings of a search concern which method: the others it does not read, so that they change nothing.

A method of another package is not listed: which settings it heeds only its package can tell.
"""

from collections.abc import Iterable, Mapping

__all__ = ["HEEDED", "unheeded"]

PATH_RAG = frozenset({
    "retriever", "top_m", "scoring", "alpha", "lookahead", "beta", "lambda1", "lambda2", "keywords",
})  # fmt: skip
"""Those of the retriever that the settings name."""
PLANNING = frozenset({"planning", "exhaustive"})
"""Those of the plan call, and of how the calls after it are shown its plan."""
SHOWN = frozenset({"depth", "frontier", "tails", "demonstrations"})
"""Those of each walk: how far it goes, how many ends are looked at and shown, and how many examples."""
WRITING = frozenset({"door", "decoding", "path_score", "path_examples"})
"""Those of a model that writes paths or plans (`path_model`)."""
HEEDED: Mapping[str, frozenset[str]] = {
    "fidelis": SHOWN | PLANNING | PATH_RAG
    | {"beam", "candidates", "form", "call_plan", "show_all", "verifier", "last_step", "statement", "choices"},
    "gcr": SHOWN | PLANNING | PATH_RAG | WRITING
    | {"hops", "candidates", "form", "top_paths", "hypotheses", "last_step", "choices"},
    "eperm": SHOWN | PLANNING | PATH_RAG | WRITING
    | {"hops", "candidates", "top_relations", "top_plans", "top_entities", "weights", "last_step", "choices"},
    "tog": SHOWN | PLANNING | PATH_RAG | {"beam", "candidates", "last_step", "choices"},
    "rog": SHOWN | PLANNING | WRITING | {"beam", "keywords", "last_step"},
    "kaping": (SHOWN - {"depth"}) | {"candidates"},
    "vanilla": SHOWN | {"beam", "form"},
    "io": frozenset(),
    "few-shot": frozenset(),
    "cot": frozenset(),
    "self-consistency": frozenset(),
}  # fmt: skip
"""The fields of `SearchSettings` that each method of fedkg reads, itself or by what serves its needs."""


def unheeded(method: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the settings of a search (`beam`, `last_step`) that the method of that name does not heed."""
    return tuple(name for name in names if method in HEEDED and name not in HEEDED[method])
