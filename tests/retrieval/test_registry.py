"""Retrievers by name."""

import pytest

from fedkg.errors import SettingsError
from fedkg.retrieval import registry
from fedkg.retrieval.base import Retriever


@pytest.mark.parametrize("name", registry.RETRIEVERS)
def test_each_name_is_a_retriever(name: str) -> None:
    """Only Path-RAG looks ahead, over a whole graph too, and only ToG's asks the model: estimates count on that."""
    retriever = registry.find(name)
    assert isinstance(retriever, Retriever)
    assert (retriever.looks_ahead, retriever.asks_model) == (name in {"path-rag", "global"}, name == "tog")


def test_an_unknown_name_is_a_settings_error() -> None:
    """With all names that there are."""
    with pytest.raises(SettingsError, match="no retriever is called 'bm25'") as caught:
        registry.find("bm25")
    assert all(name in caught.value.hint for name in registry.RETRIEVERS)
