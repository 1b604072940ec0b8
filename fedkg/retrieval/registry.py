"""The retrievers by name: what `--retriever` takes, of fedkg itself and of installed packages (`fedkg.retrievers`)."""

from collections.abc import Mapping

from fedkg.common.plugins import Registry
from fedkg.errors import SettingsError
from fedkg.retrieval.base import Retriever
from fedkg.retrieval.kaping import Kaping
from fedkg.retrieval.model_scored import ModelScored
from fedkg.retrieval.path_rag import PathRag
from fedkg.retrieval.vanilla import Vanilla
from fedkg.retrieval.whole_graph import WholeGraph

__all__ = ["RETRIEVERS", "find", "name_of"]

RETRIEVERS: Mapping[str, Retriever] = {
    "path-rag": PathRag(),
    "vanilla": Vanilla(),
    "kaping": Kaping(),
    "tog": ModelScored(),
    "global": WholeGraph(),
}


def _fits(thing: object) -> bool:
    return isinstance(thing, Retriever) and not isinstance(thing, type)


_REGISTRY: Registry[Retriever] = Registry(
    "fedkg.retrievers",
    RETRIEVERS,
    _fits,
    "an object with `rank`, `looks_ahead` and `asks_model` (fedkg.retrieval.base.Retriever)",
)


def find(name: str) -> Retriever:
    """The retriever of that name. Raises SettingsError for an unknown one, naming the known ones, and PluginError."""
    retriever = _REGISTRY.get(name)
    if retriever is None:
        raise SettingsError(f"no retriever is called {name[:100]!r}", hint=f"known: {', '.join(_REGISTRY.names())}")
    return retriever


def name_of(retriever: Retriever) -> str:
    """The name that `find` takes for the retriever; else its attribute `name`, or the name of its class."""
    name = _REGISTRY.name_of(retriever) or getattr(retriever, "name", "")
    return name if name and isinstance(name, str) else type(retriever).__name__
