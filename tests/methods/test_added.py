"""What a further method takes: one function and one entry in the table, and all doors know it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from fedkg.core.answer import Status
from fedkg.core.path import PartialPath
from fedkg.llm.base import Message
from fedkg.methods.base import Answering, Expanding, Method, Task, Walk, ask
from fedkg.methods.conclude import answer
from fedkg.methods.registry import METHODS
from fedkg.session import Session
from fedkg.testing import ScriptedModel

KINGDOM = """
@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ruritania rdfs:label "Ruritania"@en ; ex:capital ex:strelsau ; ex:king ex:rudolf .
ex:strelsau rdfs:label "Strelsau"@en . ex:rudolf rdfs:label "Rudolf V"@en .
ex:capital rdfs:label "capital"@en . ex:king rdfs:label "king"@en .
"""
QUESTION = "What is the capital of Ruritania?"


def first_hop(task: Task) -> Walk:
    """What the topics are said to be related to; the model is shown as many relations as the beam is wide."""
    topics = tuple(map(PartialPath, task.topics))
    expansion = yield from ask(Expanding(1, topics, last=True))
    steps = expansion.candidates[: task.search.beam]
    paths = tuple(topics[step.path_index].extend(step) for step in steps)
    whole = expansion.complete and len(steps) == len(expansion.candidates)
    return (yield from answer(Answering(paths), together=task.together, exhausted=whole))


METHOD = Method("First hop: what is said of the topics themselves", "no paper", first_hop, plans=False)


def reply(messages: Sequence[Message], call: str) -> str:
    """A model that answers with the path over `capital`."""
    assert call == "answer"
    numbers = [line.split(".")[0] for line in messages[-1].content.splitlines() if "→ capital →" in line]
    return json.dumps({"paths": [{"path": int(number), "ends": []} for number in numbers]})


@pytest.fixture
def kingdom(tmp_path: Path) -> Path:
    """A kingdom in Turtle."""
    path = tmp_path / "kingdom.ttl"
    path.write_text(KINGDOM)
    return path


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> str:
    """A method of one's own in the table; its name."""
    monkeypatch.setitem(METHODS, "first-hop", METHOD)
    return "first-hop"


async def test_it_is_asked_like_any_other(kingdom: Path, added: str) -> None:
    """Linked, walked, answered with a proof, and named in the document."""
    chat = ScriptedModel(reply)
    async with Session(kingdom, chat=chat, method=added, embedder="bm25", cache=False) as session:
        answer = await session.ask(QUESTION)
        checked = await session.verify(answer)
    assert ([value.value for value in answer.answers], answer.method) == (["Strelsau"], added)
    assert [check.holds for check in checked] == [True]
    assert [call for _, call in chat.asked] == ["answer"]


@pytest.mark.parametrize(("beam", "status"), [(4, Status.NONE), (1, Status.NOT_FOUND)])
async def test_it_can_say_none(kingdom: Path, added: str, beam: int, status: Status) -> None:
    """Where all that the graph says was shown, and only there."""
    chat = ScriptedModel(lambda *_: '{"paths": []}')
    options: dict[str, Any] = {"search.beam": beam, "embedder": "bm25", "cache": False}
    async with Session(kingdom, chat=chat, method=added, **options) as session:
        assert (await session.ask(QUESTION)).status is status


@pytest.mark.usefixtures("added")
def test_the_command_line_lists_it() -> None:
    """With its title and paper."""
    lines = CliRunner().invoke(main, ["methods", "list"]).output.splitlines()
    assert lines[-2].split() == ["first-hop", *METHOD.title.split()]
    assert "no paper" in lines[-1]
