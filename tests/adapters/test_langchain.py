import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fedkg.errors import MethodError, MissingExtraError
from tests.support.extras import needs
from tests.support.pets import session_of

if TYPE_CHECKING:
    from fedkg.session import Session

pytestmark = needs("langchain", "langchain_core")
QUESTION = "Which pet does Ann have?"


@pytest.fixture
def session(pets: Path) -> "Session":
    """A session over the graph of pets."""
    return session_of(pets, cache=False)


def test_documents_are_the_paths_of_the_proof(session: "Session") -> None:
    """Asked at once, as a chain does."""
    from fedkg.adapters.langchain import KnowledgeGraphRetriever  # noqa: PLC0415  # the extra may be missing

    with session:
        [document] = KnowledgeGraphRetriever(session=session).invoke(QUESTION)
    assert document.page_content == "Ann → has pet → Rex"
    assert document.metadata["answer_iris"] == ["http://x/rex"]


async def test_documents_can_be_awaited(session: "Session") -> None:
    """The same, several questions at a time."""
    from fedkg.adapters.langchain import KnowledgeGraphRetriever  # noqa: PLC0415

    async with session:
        retriever = KnowledgeGraphRetriever(session=session, k=1, topics=("Ann",))
        lists = await retriever.abatch([QUESTION, "What has Ann?"])
    assert [[document.page_content for document in documents] for documents in lists] == [["Ann → has pet → Rex"]] * 2


async def test_a_question_that_cannot_be_asked_raises_its_error(session: "Session") -> None:
    """A retriever has no other way to tell it."""
    from fedkg.adapters.langchain import KnowledgeGraphRetriever  # noqa: PLC0415

    async with session:
        with pytest.raises(MethodError):
            await KnowledgeGraphRetriever(session=session, method="guessing").ainvoke(QUESTION)


async def test_the_tool_gives_the_model_json_and_the_program_the_answer(session: "Session") -> None:
    """By a call as a model makes it."""
    from fedkg.adapters.langchain import knowledge_graph_tool  # noqa: PLC0415

    call = {"type": "tool_call", "id": "1", "name": "ask_knowledge_graph", "args": {"question": QUESTION}}
    async with session:
        message = await knowledge_graph_tool(session).ainvoke(call)
    assert json.loads(message.content)["answers"] == [
        {"value": "Rex", "grounded": True, "iri": "http://x/rex", "paths": [0]}
    ]
    assert message.artifact.answers[0].value == "Rex"


def test_an_error_is_told_to_the_model(session: "Session") -> None:
    """As a result, so that it can ask otherwise."""
    from fedkg.adapters.langchain import knowledge_graph_tool  # noqa: PLC0415

    args = {"question": "What is the capital of Atlantis?"}
    with session:
        message = knowledge_graph_tool(session).invoke({"type": "tool_call", "id": "1", "name": "x", "args": args})
    assert message.status == "error"
    assert json.loads(message.content)["error"] == "TopicError"


def test_a_wrong_session_is_refused() -> None:
    """Before anything is asked."""
    from pydantic import ValidationError  # noqa: PLC0415

    from fedkg.adapters.langchain import KnowledgeGraphRetriever  # noqa: PLC0415

    with pytest.raises(ValidationError, match="Session"):
        KnowledgeGraphRetriever(session="sample")  # type: ignore[arg-type]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, "langchain_core.documents", None)
    monkeypatch.delitem(sys.modules, "fedkg.adapters.langchain", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module("fedkg.adapters.langchain")
    assert "fedkg[langchain]" in caught.value.hint
