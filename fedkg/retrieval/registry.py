"""The retrievers by name: what `--retriever` takes. A further one is its file and its line here."""

from collections.abc import Mapping

from fedkg.retrieval.base import Retriever
from fedkg.retrieval.kaping import Kaping
from fedkg.retrieval.model_scored import ModelScored
from fedkg.retrieval.path_rag import PathRag
from fedkg.retrieval.vanilla import Vanilla

__all__ = ["RETRIEVERS", "find"]

RETRIEVERS: Mapping[str, Retriever] = {
    "path-rag": PathRag(),
    "vanilla": Vanilla(),
    "kaping": Kaping(),
    "tog": ModelScored(),
}


def find(name: str) -> Retriever:
    """The retriever of that name."""
    return RETRIEVERS[name]
