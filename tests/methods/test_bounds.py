"""The smallest and the largest searches, and graphs with little or nothing in them: each method's result is defined."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.events import Answered
from fedkg.core.meter import Meter
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import GraphFileError, TopicError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import IDLE
from fedkg.methods.registry import METHODS
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.session import Session
from tests.support.habits import HABITS, MOST_CALLS, Chat, Says

QUESTION = "Who is King Kong directed by?"
TOPIC = "<http://x/n0>"
OVER_GRAPH = [name for name, method in METHODS.items() if method.graph]
SAYS = {name: HABITS[name] for name in ("first", "everything", "no")}
MODELS: dict[str, Says | None] = {**SAYS, "local": None}
UNSURE = {"rog"}
"""Methods that never see everything: what was not planned was not looked at."""
SETS_OUT, WAVES = 5, 3
"""Requests of a walk before its second hop, and at each hop: both directions and labels."""
every_graph_method = pytest.mark.parametrize("method", OVER_GRAPH)
every_model = pytest.mark.parametrize("says", MODELS.values(), ids=MODELS)
MakeGraph = Callable[..., SparqlGraph]


@pytest.fixture
def ask(meter: Meter) -> Callable[..., Any]:
    """Asks a graph by a method; without a habit it is the local model that reasons."""

    async def asked(
        graph: SparqlGraph, method: str, says: Says | None, topics: tuple[str, ...] = (TOPIC,), **search: Any
    ) -> Answer:
        words = Bm25Similarity()
        model = PromptedModel(Chat(says)) if says else LocalModel(words)
        made = Settings(method=method, search=SearchSettings(**search))
        run = QuestionRun(QUESTION, graph, model, words, made, meter.usage, topics, "entities")
        last = [event async for event in run.events()][-1]
        assert isinstance(last, Answered)
        return last.answer

    return asked


def ring(size: int, *, both: bool) -> str:
    """So many nodes in a circle of one relation; `both` has it walked the other way round by a second one."""
    pairs = [(number, (number + 1) % size) for number in range(size)]
    facts = [f":n{number} r:knows :n{other} ." for number, other in pairs]
    return "\n".join([*facts, *(f":n{other} r:likes :n{number} ." for number, other in pairs if both)])


def _answers(method: str, says: Says | None) -> bool:
    """Whether a model with that habit finds an answer: one that calls all of it insufficient does not with FiDeLiS."""
    return says in {SAYS["first"], SAYS["everything"]} and method != "fidelis"


@pytest.mark.parametrize("flag", ["--depth", "--beam", "--candidates"])
@pytest.mark.parametrize("method", METHODS)
def test_a_search_of_nothing_is_refused(method: str, flag: str) -> None:
    """Before anything is asked, with exit code 2; what is wrong is named, and what it has to be."""
    result = CliRunner().invoke(main, ["ask", QUESTION, "-e", "no-such-profile", "--method", method, flag, "0"])
    assert result.exit_code == 2
    assert f"{flag} must be 1 or more" in result.stderr


@pytest.mark.pairwise
@pytest.mark.parametrize("both", [False, True], ids=["one way", "two ways"])
@pytest.mark.parametrize("size", [1, 2, 3])
@every_model
@every_graph_method
async def test_a_circle_ends(
    ask: Any, make_graph: MakeGraph, meter: Meter, method: str, *, says: Says | None, size: int, both: bool
) -> None:
    """However deep it may go: once it has led to nothing new a few times; no node is asked for twice."""
    answer = await ask(make_graph(ring(size, both=both)), method, says, depth=50)
    assert all(len(path.edges) <= size - 1 + IDLE for path in answer.paths)
    assert meter.usage().by_kind["neighbours"] <= 2 * size
    assert answer.status in {Status.ANSWERED, Status.NOT_FOUND, Status.NONE}
    assert bool(answer.answers) == _answers(method, says)


@every_model
@every_graph_method
async def test_a_long_way_costs_a_few_requests_a_step(
    ask: Any, make_graph: MakeGraph, meter: Meter, method: str, says: Says | None, *, every_case: bool
) -> None:
    """Nodes in a row and twelve steps, fifty with `--all`: no more calls and requests than the page says."""
    steps = 50 if every_case else 12
    row = "\n".join(f":n{number} r:knows :n{number + 1} ." for number in range(steps + 10))
    answer = await ask(make_graph(row), method, says, depth=steps, beam=50)
    assert answer.usage.spent == ""
    assert meter.usage().model_calls <= eval(MOST_CALLS[method], {"min": min}, {"N": 50, "D": steps})
    assert meter.usage().requests <= SETS_OUT + WAVES * steps
    assert all(len(path.edges) <= steps for path in answer.paths)


@pytest.mark.each_value
@every_model
@every_graph_method
async def test_the_narrowest_search(ask: Any, make_graph: MakeGraph, method: str, says: Says | None) -> None:
    """One path, one candidate, one node expanded, one label shown: whatever is left out, "none" is not said of it."""
    graph = make_graph(ring(3, both=True))
    answer = await ask(graph, method, says, depth=1, beam=1, candidates=1, frontier=1, tails=1)
    assert answer.status in {Status.ANSWERED, Status.NOT_FOUND}
    assert bool(answer.answers) == _answers(method, says)


@pytest.mark.each_value
@every_model
@every_graph_method
async def test_more_is_wanted_than_there_is(ask: Any, make_graph: MakeGraph, method: str, says: Says | None) -> None:
    """One path in the whole graph, and a beam of fifty: it is found once, and is the whole proof."""
    answer = await ask(make_graph(":n0 r:knows :n1 ."), method, says, depth=2, beam=50, candidates=50)
    answers = says in {SAYS["first"], SAYS["everything"]}
    assert [len(path.edges) for path in answer.paths] == [1] * answers
    assert [value.value for value in answer.answers] == ["n1"] * answers
    if method == "gcr":
        assert answer.measures["paths in the trie"] == 1 < SearchSettings().top_paths


@pytest.mark.each_value
@every_model
@every_graph_method
async def test_a_topic_of_which_nothing_is_said(
    ask: Any, make_graph: MakeGraph, method: str, says: Says | None
) -> None:
    """It has a label and no edge: the graph says none, by whatever model."""
    answer = await ask(make_graph(':n0 rdfs:label "King Kong"@en . :a r:knows :b .'), method, says)
    assert (answer.status, answer.paths) == (Status.NOT_FOUND if method in UNSURE else Status.NONE, ())


@pytest.mark.each_value
@every_model
@every_graph_method
async def test_a_topic_that_is_not_there(ask: Any, make_graph: MakeGraph, method: str, says: Says | None) -> None:
    """An unknown IRI or name is a typing error, which is no "none"; so is a question without a known name."""
    graph = make_graph(":a r:knows :b .")
    for topics in ((TOPIC,), ("Nobody",), ()):
        with pytest.raises(TopicError):
            await ask(graph, method, says, topics)


@every_graph_method
async def test_an_empty_graph_is_refused(tmp_path: Path, method: str) -> None:
    """A file in which nothing is said was hardly meant."""
    (tmp_path / "empty.ttl").write_text("")
    async with Session(tmp_path / "empty.ttl", method=method, cache=False, embedder="bm25") as session:
        with pytest.raises(GraphFileError, match="no triple"):
            await session.ask(QUESTION, TOPIC)
