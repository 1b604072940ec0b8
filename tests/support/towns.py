"""Two towns, a question of each kind about them, and a model that is played to answer it."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import HashingEmbedder, ScriptedModel
from tests.support.shown_paths import chains

__all__ = ["LARGER", "PAID", "PAYMENTS", "QUESTIONS", "TOWNS", "TownPlayer", "TownQuestion", "answered"]

TOWNS = """
:horn rdfs:label "Horn"@en ; r:population "59449"^^xsd:integer ; r:country :dania ; r:mayor :ana, :bo ;
    r:founded "1442"^^xsd:gYear .
:ikby rdfs:label "Ikby"@en ; r:population "15979"^^xsd:integer ; r:country :svea .
:dania rdfs:label "Dania"@en ; r:currency :krone . :svea rdfs:label "Svea"@en . :krone rdfs:label "Krone"@en .
:ana rdfs:label "Ana"@en . :bo rdfs:label "Bo"@en .
r:population rdfs:label "population"@en . r:country rdfs:label "country"@en . r:mayor rdfs:label "mayor"@en .
r:founded rdfs:label "founded"@en . r:currency rdfs:label "currency"@en .
"""
LARGER = "Is Horn larger than Ikby?"
PAID = "Which of these is the currency of the country of Horn: Euro, Krone or Pound?"
PAYMENTS = ("Euro", "Krone", "Pound")


class TownQuestion(NamedTuple):
    """One question: what its plan says, which relations are picked at each depth, what the answer call replies."""

    question: str
    kind: Kind
    relations: Sequence[set[str]]
    reply: dict[str, Any]
    mentions: Sequence[str] = ("Horn",)
    options: Sequence[str] = ()


class TownPlayer:
    """Plays a model that picks those relations, and says at the last depth that the statement is deducible."""

    def __init__(self, asked: TownQuestion) -> None:
        self.asked = asked
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.prompts.append((call, messages[1].content))
        return json.dumps(getattr(self, call)(messages[1].content))

    def plan(self, _shown: str) -> dict[str, Any]:
        """The plan as the question has it."""
        placeholder = "" if self.asked.kind in ("yesno", "claim") else " *placeholder*"
        return {
            "keywords": ["population"],
            "planning_steps": ["town → population → number"],
            "declarative_statement": f"It is so{placeholder}.",
            "kind": self.asked.kind,
            "mentions": self.asked.mentions,
            "options": self.asked.options,
        }

    def choose(self, shown: str) -> dict[str, Any]:
        """All offers with wanted relations; the longest of them decide."""
        reply, relations = self.asked.reply, self.asked.relations
        wanted = {
            number: chain
            for number, chain in chains(shown).items()
            if len(chain) <= len(relations) and all(map(set.__contains__, relations, chain))
        }
        arrived = any(len(chain) == len(relations) for chain in wanted.values())
        numbers = [number for number, chain in wanted.items() if not arrived or len(chain) == len(relations)]
        numbers = numbers if reply["paths"] or not arrived else []
        bridge = reply.get("bridge", "")
        if "verdict" in reply:
            return {"picks": numbers, "verdict": reply["verdict"] if arrived else "", "bridge": bridge, "more": False}
        if "option" in reply:
            return {"picks": numbers, "option": reply["option"] if arrived else 0, "more": False}
        return {"picks": [{"offer": number, "ends": []} for number in numbers], "decides": arrived, "more": False}

    def beam(self, shown: str) -> dict[str, Any]:
        """All candidates with a wanted relation; a depth ends with its verification."""
        return {"picks": self.found(shown, "deductive", 1)}

    def deductive(self, shown: str) -> dict[str, Any]:
        """All paths follow."""
        paths = re.findall(r"(?m)^(\d+)\. ", shown)
        return {"verdicts": [{"path": int(path), **self.judged("deductive")} for path in paths]}

    def operate(self, _shown: str) -> dict[str, Any]:
        """Nothing is computed: the paths answer."""
        return {"sets": []}

    def answer(self, _shown: str) -> dict[str, Any]:
        """The reply of the question."""
        return self.asked.reply

    def judged(self, call: str) -> dict[str, bool]:
        """Both verdicts, at a depth that has as many calls as were made."""
        return {"follows": True, "deducible": self.depth(call) >= len(self.asked.relations)}

    def depth(self, call: str) -> int:
        """How often that call was made."""
        return [name for name, _ in self.prompts].count(call)

    def found(self, shown: str, call: str, ahead: int = 0) -> list[int]:
        """The numbers of the offers whose last step has one of the relations of the present depth."""
        offers = re.findall(r"(?m)^(\d+)\. .*[→←] (.+?) [→←] [^→←]*$", shown)
        wanted = self.asked.relations[self.depth(call) + ahead - 1]
        return [int(number) for number, relation in offers if relation in wanted]


QUESTIONS = {
    "entities": TownQuestion("Who is mayor of Horn?", "entities", [{"mayor"}], {"paths": [{"path": 1, "ends": []}]}),
    "literal": TownQuestion("When was Horn founded?", "literal", [{"founded"}], {"paths": [{"path": 1, "ends": []}]}),
    "count": TownQuestion("How many mayors has Horn?", "count", [{"mayor"}], {"paths": [{"path": 1, "ends": []}]}),
    "number": TownQuestion("How many live in Horn?", "count", [{"population"}], {"paths": [{"path": 1, "ends": []}]}),
    "yesno": TownQuestion(LARGER, "yesno", [{"population"}], {"verdict": "yes", "paths": [1, 2]}, ("Horn", "Ikby")),
    "claim": TownQuestion("Ikby is in Dania.", "claim", [{"country"}], {"verdict": "no", "paths": [1]}, ("Ikby",)),
    "choice": TownQuestion(PAID, "choice", [{"country"}, {"currency"}], {"option": 2, "paths": [1]}, options=PAYMENTS),
}


async def answered(
    graph: SparqlGraph,
    player: TownPlayer,
    plan: str = "fused",
    *,
    last_step: bool = True,
    planning: bool = True,
    **given: Any,
) -> Answer:
    """The answer to the player's question."""
    search = SearchSettings(
        call_plan="paper" if plan == "paper" else "fused", last_step=last_step, planning=planning, show_all=0
    )
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    model = PromptedModel(ScriptedModel(player))
    run = QuestionRun(player.asked.question, graph, model, similarity, Settings(search=search), Usage, **given)
    return [event async for event in run.events()][-1].answer  # type: ignore[union-attr]
