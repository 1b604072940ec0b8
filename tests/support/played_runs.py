"""Runs of one question over a small graph, with a model that is played."""

import json
from collections.abc import Sequence
from typing import Any

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Budget, SearchSettings, Settings
from fedkg.core.answer import Answer
from fedkg.core.events import Answered, Event
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import HashingEmbedder, ScriptedModel
from tests.support.shown_paths import chains

__all__ = ["FILMS", "QUESTION", "Player", "answer_of", "events_of", "run_of"]

FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year "2005"^^xsd:integer .
:rings rdfs:label "The Two Towers"@en ; r:directed_by :jackson .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh .
:walsh rdfs:label "Fran Walsh"@en . :watts rdfs:label "Naomi Watts"@en . :black rdfs:label "Jack Black"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "year"@en .
r:spouse rdfs:label "spouse"@en .
"""


QUESTION = "Who is the spouse of the director of King Kong?"


class Player:
    """Plays a good model: picks the offer whose last step has the wanted relation, and answers with the first path."""

    def __init__(self, *relations: str, kind: Kind = "entities", verdict: str = "") -> None:
        self.relations = relations
        self.kind = kind
        self.verdict = verdict
        self.calls: list[str] = []

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.calls.append(call)
        depth = self.calls.count("beam")
        wanted = self.relations[max(depth - 1, 0)]
        numbers = [number for number, chain in self._offers(messages) if chain[-1] == wanted][:1]
        judged = {"follows": True, "deducible": depth == len(self.relations)}
        replies: dict[str, Any] = {
            "plan": {
                "keywords": ["director", "spouse"],
                "planning_steps": ["find the director", "find the spouse"],
                "declarative_statement": "*placeholder* is the spouse of the director of King Kong.",
                "kind": self.kind,
                "mentions": ["King Kong"],
            },
            "choose": self._choice(messages),
            "beam": {"picks": numbers},
            "deductive": {"verdicts": [{"path": 1, **judged}]},
            "answer": {"paths": [{"path": 1, "ends": []}], "verdict": self.verdict},
        }
        return json.dumps(replies[call])

    def _choice(self, messages: Sequence[Message]) -> dict[str, Any]:
        """What decides at the last depth, where some of the ends answer that are not shown; or the verdict."""
        ways = {number: chain for number, chain in self._offers(messages) if chain == self.relations[: len(chain)]}
        arrived = self.relations in ways.values()
        numbers = [number for number, chain in ways.items() if not arrived or chain == self.relations][:1]
        if self.verdict:
            return {"picks": numbers, "verdict": self.verdict if arrived else "", "more": False}
        picks = [{"offer": number, "ends": [0]} for number in numbers]
        return {"picks": picks, "decides": arrived, "more": False}

    @staticmethod
    def _offers(messages: Sequence[Message]) -> list[tuple[int, tuple[str, ...]]]:
        """The numbered lines of the prompt with their relations."""
        return [(number, tuple(chain)) for number, chain in chains(messages[-1].content).items()]


def run_of(
    graph: SparqlGraph, play: Any, question: str = QUESTION, topics: Sequence[str] = (), **settings: Any
) -> QuestionRun:
    """A run of one question with a scripted model."""
    ledger = Ledger()
    made = Settings(
        search=SearchSettings(**{"show_all": 0, **settings.pop("search", {})}),
        budget=Budget(**settings.pop("budget", {})),
        **settings,
    )
    chat = play if hasattr(play, "complete") else ScriptedModel(play)
    model = PromptedModel(chat, ledger, made.budget)

    def cost() -> Usage:
        return Usage(model_calls=ledger.total.calls)

    return QuestionRun(question, graph, model, LazySimilarity(HashingEmbedder(), MemoryStore()), made, cost, topics)


async def events_of(run: QuestionRun) -> list[Event]:
    """All events of a run."""
    return [event async for event in run.events()]


async def answer_of(run: QuestionRun) -> Answer:
    """The answer that a run ends with."""
    last = (await events_of(run))[-1]
    assert isinstance(last, Answered)
    return last.answer
