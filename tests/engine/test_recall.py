"""Where the graph leaves a question open: what the model remembers, if that is wanted, and never as proven."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Budget, Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import ModelUnreachableError, OfflineError, SettingsError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import ChatModel, Message
from fedkg.llm.cached import CachedModel
from fedkg.llm.ledger import Ledger
from fedkg.llm.offline import OfflineModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.session import Session
from fedkg.testing import HashingEmbedder, ScriptedModel

FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson . :jackson rdfs:label "Peter Jackson"@en .
r:directed_by rdfs:label "directed by"@en .
"""
QUESTION = "Who composed the music of King Kong?"


class Player:
    """Plays a model that picks nothing, and remembers those answers; `fails` is raised instead of them."""

    def __init__(self, *answers: str, picks: Sequence[int] = (), fails: Exception | None = None) -> None:
        self.answers, self.picks, self.fails = answers, picks, fails
        self.calls: list[str] = []

    def __call__(self, _messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.calls.append(call)
        if call == "model-only" and self.fails:
            raise self.fails
        replies: dict[str, Any] = {
            "answer": {"paths": [{"path": number, "ends": []} for number in self.picks]},
            "model-only": {"reasoning": "", "answers": self.answers},
        }
        return json.dumps(replies[call])


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A film with its director."""
    return make_graph(FILMS, name="films")


async def answered(graph: SparqlGraph, chat: ChatModel, **settings: Any) -> Answer:
    """The answer with that model."""
    ledger, made = Ledger(), Settings(**{"fallback": "model", **settings})
    model = PromptedModel(chat, ledger, made.budget)
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    run = QuestionRun(QUESTION, graph, model, similarity, made, Usage, ledger=ledger)
    return [event async for event in run.events()][-1].answer  # type: ignore[union-attr]


async def test_what_the_graph_leaves_open_is_recalled_and_marked(films: SparqlGraph) -> None:
    """One more call; the answer stands on no path, is not grounded, and admits where it is from."""
    player = Player("James Newton Howard", "Max Steiner")
    answer = await answered(films, ScriptedModel(player))
    assert [value.value for value in answer.answers] == ["James Newton Howard", "Max Steiner"]
    assert answer.status is Status.ANSWERED
    assert not any(value.grounded or value.paths for value in answer.answers)
    assert answer.unproven() == answer.answers
    assert answer.caveats == (Caveat(CaveatKind.RECALLED, "the graph has none"),)
    assert (player.calls, answer.ledger[-1].call) == (["answer", "model-only"], "model-only")
    assert "caveat: the answer is what the model remembers" in answer.text()
    assert "proof" not in answer.text()


async def test_it_is_off_unless_it_is_wanted(films: SparqlGraph) -> None:
    """Nothing is asked, and the graph has none."""
    player = Player("James Newton Howard")
    answer = await answered(films, ScriptedModel(player), fallback="off")
    assert (answer.status, answer.answers, player.calls) == (Status.NONE, (), ["answer"])


async def test_what_the_graph_answers_is_not_recalled(films: SparqlGraph) -> None:
    """The model is not asked for what is proven."""
    player = Player("James Newton Howard", picks=[1])
    answer = await answered(films, ScriptedModel(player))
    assert ([value.value for value in answer.answers], player.calls) == (["Peter Jackson"], ["answer"])
    assert answer.caveats == ()


@pytest.mark.parametrize("player", [Player(), Player(fails=ModelUnreachableError("m: no connection"))])
async def test_what_the_model_does_not_know_either_stays_open(films: SparqlGraph, player: Player) -> None:
    """Nor is a model that fails now the end of what the graph has been asked."""
    answer = await answered(films, ScriptedModel(player))
    assert (answer.status, answer.answers, answer.caveats) == (Status.NONE, (), ())
    assert len(answer.warnings) == (player.fails is not None)


async def test_a_budget_holds(films: SparqlGraph) -> None:
    """A call that it has no room for is not made, and the answer is what the graph gave until then."""
    player = Player("James Newton Howard")
    answer = await answered(films, ScriptedModel(player), budget=Budget(calls=1))
    assert (answer.answers, answer.usage.spent, player.calls) == ((), "calls", ["answer"])


async def test_it_is_replayed_offline(films: SparqlGraph) -> None:
    """From kept replies alone; where that one is not kept, it is said which call it is."""
    store, model = MemoryStore(), ScriptedModel(Player("James Newton Howard"))
    offline = CachedModel(OfflineModel(model.name, model.capability), store)
    await answered(films, CachedModel(model, store), fallback="off")
    with pytest.raises(OfflineError, match="call `model-only`"):
        await answered(films, offline)
    online = await answered(films, CachedModel(model, store))
    replayed = await answered(films, offline)
    assert (replayed.answers, replayed.caveats) == (online.answers, online.caveats)
    assert replayed.answers


async def test_the_model_local_is_refused() -> None:
    """It remembers nothing; that is said before anything is asked."""
    async with Session("sample", fallback="model", cache=False, embedder="bm25") as session:
        with pytest.raises(SettingsError, match="needs a language model"):
            await session.ask(QUESTION)
