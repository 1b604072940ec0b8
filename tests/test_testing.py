"""The public fakes, as somebody who uses fedkg takes them: each stands where a Session takes an object."""

from pathlib import Path

from fedkg import testing
from fedkg.session import Session
from fedkg.sparql.reply import EndpointReply
from fedkg.testing import FakeTransport, GoldChain, GoldReasoner, HashingEmbedder, ScriptedModel

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


async def test_a_session_answers_along_the_gold_chain(tmp_path: Path) -> None:
    """No key, no network, no script: the question's text and its chain are enough."""
    graph = tmp_path / "family.nt"
    graph.write_text(FAMILY, encoding="utf-8")
    known = GoldReasoner({QUESTION: GoldChain((("father", "out"), ("job", "out")), ("miner",))})
    async with Session(str(graph), reasoner=known, embedder="hashing", cache=False) as session:
        answer = await session.ask(QUESTION, ["http://x/ann"])
    assert [value.value for value in answer.answers] == ["miner"]
    assert [edge.edge.end.text for edge in answer.paths[0].edges] == ["<http://x/joe>", "<http://x/miner>"]


async def test_the_other_fakes_are_what_they_stand_for() -> None:
    """A transport keeps what it was sent, a script its calls, an embedder gives unit vectors of words."""
    transport = FakeTransport(lambda query: EndpointReply(200, {"content-type": "text/plain"}, query.encode()))
    assert (await transport.send("ASK {}")).status == 200
    assert transport.queries == ["ASK {}"]
    assert ScriptedModel(["{}"]).asked == []
    first, second = HashingEmbedder().embed(["a b", "b a"])
    assert float(first @ second) > 0.999
    assert set(testing.__all__) >= {"FakeTransport", "GoldReasoner", "HashingEmbedder", "ScriptedModel"}
