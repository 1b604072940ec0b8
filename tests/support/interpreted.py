"""An interpreter of one walk over a town, with the model that a test gives it."""

from collections.abc import Callable, Sequence
from typing import Any

from fedkg.config.settings import SearchSettings
from fedkg.core.events import Event, Reached
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Match, Plan
from fedkg.core.terms import DirectedRelation, Iri
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.interpreter import Interpreter
from fedkg.engine.walk import WalkContext, widened
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.llm.base import Message
from fedkg.methods.base import Expanding, Expansion
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

__all__ = [
    "COUNTRY",
    "HORN",
    "MAYOR",
    "NONSENSE",
    "START",
    "TOWN",
    "expanded",
    "interpreter_of",
    "listening",
    "quietly",
    "scripted",
    "step_to",
]

TOWN = """
:horn rdfs:label "Horn"@en ; r:mayor :ana, :bo ; r:country :dania .
:ana rdfs:label "Ana"@en . :bo rdfs:label "Bo"@en . :dania rdfs:label "Dania"@en .
r:mayor rdfs:label "mayor"@en . r:country rdfs:label "country"@en .
:united rdfs:label "Horn United"@en ; r:rival :bo . r:rival rdfs:label "rival"@en .
"""
HORN = Iri("http://x/horn")
START = PartialPath(HORN)
NONSENSE = "?"
MAYOR, COUNTRY = (DirectedRelation(Iri(f"http://x/r/{name}"), "out") for name in ("mayor", "country"))


def interpreter_of(
    graph: SparqlGraph,
    similarity: LazySimilarity,
    emit: Callable[[Event], None],
    model: ReasoningModel,
    topic: Match | None = None,
    **search: Any,
) -> Interpreter:
    """An interpreter of a walk over the graph, with that model."""
    context = WalkContext(
        "Who is mayor of Horn?",
        Plan(("mayor",)),
        (topic or Match(HORN, "Horn", 1.0, mention="Horn"),),
        widened(SearchSettings(**search), model),
        ExploredGraph(graph),
        model,
        similarity,
        emit,
        Usage,
    )
    return Interpreter(context)


def scripted(
    graph: SparqlGraph,
    similarity: LazySimilarity,
    told: list[Event],
    reply: str | None = NONSENSE,
    topic: Match | None = None,
    **search: Any,
) -> Interpreter:
    """An interpreter that tells its events to `told`, but not where steps lead to.

    The model gives that reply to every call, None is the local model.
    """
    model = PromptedModel(ScriptedModel(lambda _messages, _call: reply)) if reply else LocalModel(similarity)
    return interpreter_of(graph, similarity, quietly(told), model, topic, **search)


def quietly(told: list[Event]) -> Callable[[Event], None]:
    """Collects all events but those of where steps lead to."""
    return lambda event: None if isinstance(event, Reached) else told.append(event)


def listening(
    graph: SparqlGraph, similarity: LazySimilarity, told: list[Event], reply: str
) -> tuple[Interpreter, list[str]]:
    """An interpreter, and what its model is asked."""
    asked = list[str]()

    def play(messages: Sequence[Message], _call: str) -> str:
        asked.append(messages[-1].content)
        return reply

    return interpreter_of(graph, similarity, quietly(told), PromptedModel(ScriptedModel(play))), asked


def step_to(beam: int, name: str) -> Step:
    """A step of that beam against the relation of that name."""
    return Step(beam, DirectedRelation(Iri(f"http://x/r/{name}"), "in"), ())


async def expanded(interpreter: Interpreter) -> tuple[Expansion, tuple[PartialPath, ...]]:
    """The first hop, and its candidates as walked beams."""
    expansion = await interpreter.serve(Expanding(1, (START,)))
    return expansion, tuple(START.extend(candidate) for candidate in expansion.candidates)
