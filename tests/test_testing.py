"""The public fakes, as somebody who uses fedkg takes them: each stands where a Session takes an object."""

from pathlib import Path
from typing import Any

import pytest

from fedkg import testing
from fedkg.llm.base import ChatModel
from fedkg.llm.exchange import CallObserver
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.base import ReasonerFactory, ReasoningModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.session import Session
from fedkg.sparql.reply import EndpointReply
from fedkg.testing import FakeTransport, GoldChain, GoldChat, GoldReasoner, HashingEmbedder, ScriptedModel

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FAMILY = f"""
<http://x/ann> {LABEL} "Ann"@en .
<http://x/joe> {LABEL} "Joe"@en .
<http://x/miner> {LABEL} "miner"@en .
<http://x/ann> <http://x/father> <http://x/joe> .
<http://x/joe> <http://x/job> <http://x/miner> .
<http://x/joe> <http://x/friend> <http://x/ann> .
"""
QUESTION = "What was the job of the father of Ann?"
CHAINS = {QUESTION: GoldChain((("father", "out"), ("job", "out")), ("miner",))}


async def test_a_session_answers_along_the_gold_chain(tmp_path: Path) -> None:
    """No key, no network, no script: the question's text and its chain are enough."""
    graph = tmp_path / "family.nt"
    graph.write_text(FAMILY, encoding="utf-8")
    known = GoldReasoner(CHAINS)
    async with Session(str(graph), reasoner=known, embedder="hashing", cache=False) as session:
        answer = await session.ask(QUESTION, ["http://x/ann"])
    assert [value.value for value in answer.answers] == ["miner"]
    assert [edge.edge.end.text for edge in answer.paths[0].edges] == ["<http://x/joe>", "<http://x/miner>"]


def through_the_session(model: ReasoningModel, _ledger: Ledger, _observer: CallObserver) -> GoldReasoner:
    """It replies through the session's own model."""
    return GoldReasoner(CHAINS, model=model)


def through_its_own_prompts(_model: ReasoningModel, ledger: Ledger, observer: CallObserver) -> GoldReasoner:
    """It replies through a model of its own, which enters its calls where it is told."""
    return GoldReasoner(CHAINS, model=PromptedModel(GoldChat(), ledger=ledger, observer=observer))


@pytest.mark.parametrize(
    ("factory", "chat"), [(through_the_session, GoldChat()), (through_its_own_prompts, None)], ids=["session", "own"]
)
async def test_a_reasoner_made_for_each_question_enters_its_calls(
    factory: ReasonerFactory, chat: ChatModel | None, tmp_path: Path
) -> None:
    """Ledger, usage and transcript have them, also of a reasoner over the model of the session."""
    graph = tmp_path / "family.nt"
    graph.write_text(FAMILY, encoding="utf-8")
    options: dict[str, Any] = {"embedder": "hashing", "cache": False, "transcript": tmp_path / "calls.jsonl"}
    async with Session(str(graph), reasoner=factory, chat=chat, **options) as session:
        answers = [await session.ask(QUESTION, ["http://x/ann"]) for _ in range(2)]
        assert session.usage().model_calls == sum(answer.usage.model_calls for answer in answers)
    exchanges = (tmp_path / "calls.jsonl").read_text().splitlines()[1:]
    for answer in answers:
        assert [value.value for value in answer.answers] == ["miner"]
        assert [call.call for call in answer.ledger] == ["choose", "choose"]
        assert answer.usage.model_calls == 2
        assert answer.usage.tokens_in > 500
    assert len(exchanges) == 4


async def test_the_other_fakes_are_what_they_stand_for() -> None:
    """A transport keeps what it was sent, a script its calls, an embedder gives unit vectors of words."""
    transport = FakeTransport(lambda query: EndpointReply(200, {"content-type": "text/plain"}, query.encode()))
    assert (await transport.send("ASK {}")).status == 200
    assert transport.queries == ["ASK {}"]
    assert ScriptedModel(["{}"]).asked == []
    first, second = HashingEmbedder().embed(["a b", "b a"])
    assert float(first @ second) > 0.999
    assert set(testing.__all__) >= {"FakeTransport", "GoldReasoner", "HashingEmbedder", "ScriptedModel"}
