"""What a further kind of model call takes: the code of docs/methods.md and a folder of prompts, and nothing else."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fedkg.config import resources
from fedkg.config.settings import Settings
from fedkg.core.events import Answered
from fedkg.core.path import PartialPath
from fedkg.core.usage import Usage
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.estimate import Asked, estimate
from fedkg.engine.handlers.base import HANDLERS
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.llm.ledger import Ledger
from fedkg.methods.base import Expanding, Method, SearchResult, Task, Walk, ask
from fedkg.methods.registry import METHODS
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts import library
from fedkg.testing import ScriptedModel

PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
KINGDOM = ':ruritania r:capital :strelsau ; r:king :rudolf . r:capital rdfs:label "capital"@en .'
QUESTION = "What is the capital of Ruritania?"


@pytest.fixture(scope="module")
def added() -> dict[str, Any]:
    """What the document's program defines."""
    [program] = re.findall(r"```python\n((?:(?!```)[\s\S])*class ContradictionCall[\s\S]*?)```", PAGE)
    names: dict[str, Any] = {"__name__": "added"}
    exec(program, names)
    return names


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundled prompts, and one more, worded like `adequacy`."""
    place = tmp_path / "prompts"
    shutil.copytree(resources.folder("prompts"), place)
    shutil.copytree(place / "adequacy", place / "contradiction")
    for path in (place / "contradiction").iterdir():
        path.write_text(path.read_text().replace("adequate", "contradict"))
    for name in ("endpoints", "models"):
        (tmp_path / name).symlink_to(resources.folder(name))
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "fedkg")
    return place


@pytest.fixture
def method(added: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Method:
    """A method that asks whether the first paths contradict each other, in the table as `doubter`."""

    def doubt(task: Task) -> Walk:
        topics = tuple(map(PartialPath, task.topics))
        expansion = yield from ask(Expanding(1, topics, last=True))
        paths = tuple(topics[step.path_index].extend(step) for step in expansion.candidates)
        contradictory = yield from ask(added["Contradicting"](paths))
        return SearchResult(measures={"contradictory": float(contradictory)})

    doubter = Method("Doubter", "none", doubt, plans=False, calls=lambda _search, _topics: {"contradiction": 1})
    monkeypatch.setitem(METHODS, "doubter", doubter)
    return doubter


@pytest.fixture
def kingdom(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A kingdom with a capital and a king."""
    return make_graph(KINGDOM, name="kingdom")


async def run(graph: SparqlGraph, model: ReasoningModel, method: Method) -> Answered:
    """The last event of a question."""
    topics = ["http://x/ruritania"]
    asked = QuestionRun(QUESTION, graph, model, Bm25Similarity(), Settings(), Usage, topics, method=method)
    *_, last = [event async for event in asked.events()]
    assert isinstance(last, Answered)
    return last


@pytest.mark.usefixtures("prompts")
async def test_a_model_is_asked_and_its_reply_reaches_the_method(
    kingdom: SparqlGraph, method: Method, added: dict[str, Any]
) -> None:
    """With its own prompt, under its own name in the ledger, repaired once; the document names the method."""
    replies = iter(["?", '{"contradict": "yes"}'])
    asked: list[str] = []

    def play(messages: Sequence[Message], call: str) -> str:
        asked.append(messages[1].content)
        assert call == "contradiction"
        return next(replies)

    ledger = Ledger()
    answer = (await run(kingdom, PromptedModel(ScriptedModel(play), ledger), method)).answer
    assert (answer.measures, answer.method) == ({"contradictory": 1.0}, "doubter")
    assert [call.call for call in ledger.calls] == ["contradiction"] * 2
    assert "→ capital → strelsau" in asked[0]
    assert added["Contradicting"] in HANDLERS


async def test_a_model_without_a_reply_declines(kingdom: SparqlGraph, method: Method) -> None:
    """The handler goes on without it, with a warning."""
    answer = (await run(kingdom, LocalModel(Bm25Similarity()), method)).answer
    assert answer.measures == {"contradictory": 0.0}
    assert any("LocalModel has no reply to `contradiction`" in warning for warning in answer.warnings)


@pytest.mark.usefixtures("prompts", "method")
async def test_it_is_estimated_like_any_other() -> None:
    """By its folder's name, with its own typical size."""
    chat = ScriptedModel(lambda *_: json.dumps({}))
    cost = await estimate(Asked(QUESTION, named=True), Settings(method="doubter"), chat, library.PromptLibrary())
    assert cost.typical.by_call == {"contradiction": 1}
    assert cost.typical.tokens_in > 100
