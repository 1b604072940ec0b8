import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fedkg.errors import MissingExtraError
from tests.support.extras import needs
from tests.support.pets import session_of

if TYPE_CHECKING:
    from fedkg.session import Session

pytestmark = needs("llamaindex", "llama_index")
QUESTION = "Which pet does Ann have?"


@pytest.fixture
def session(pets: Path) -> "Session":
    """A session over the graph of pets."""
    return session_of(pets, cache=False)


def test_nodes_are_the_paths_of_the_proof(session: "Session") -> None:
    """With their scores; a model is shown the endpoint beside the text, and an embedder the text alone."""
    from llama_index.core.schema import MetadataMode  # noqa: PLC0415  # the extra may be missing

    from fedkg.adapters.llamaindex import KnowledgeGraphNodes  # noqa: PLC0415

    with session:
        [found] = KnowledgeGraphNodes(session).retrieve(QUESTION)
    assert found.node.metadata["answers"] == ["Rex"]
    assert found.score == found.node.metadata["score"]
    assert found.node.get_content(MetadataMode.EMBED) == "Ann → has pet → Rex"
    shown = found.node.get_content(MetadataMode.LLM)
    assert ("endpoints" in shown, "answer_iris" in shown) == (True, False)


async def test_nodes_can_be_awaited(session: "Session") -> None:
    """The same."""
    from fedkg.adapters.llamaindex import KnowledgeGraphNodes  # noqa: PLC0415

    async with session:
        found = await KnowledgeGraphNodes(session, 1, topics=["Ann"]).aretrieve(QUESTION)
    assert [node.get_content() for node in found] == ["Ann → has pet → Rex"]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, "llama_index.core.schema", None)
    monkeypatch.delitem(sys.modules, "fedkg.adapters.llamaindex", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module("fedkg.adapters.llamaindex")
    assert "fedkg[llamaindex]" in caught.value.hint
