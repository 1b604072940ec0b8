"""Methods from a question to its document: a small graph in process, a scripted model or none."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer
from fedkg.core.events import Answered
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year "2005"^^xsd:integer .
:rings rdfs:label "The Two Towers"@en ; r:directed_by :jackson .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh .
:walsh rdfs:label "Fran Walsh"@en . :watts rdfs:label "Naomi Watts"@en . :black rdfs:label "Jack Black"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "year"@en .
r:spouse rdfs:label "spouse"@en .
"""

Ask = Callable[..., Awaitable[Answer]]


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Two films with director, cast and year."""
    return make_graph(FILMS, name="films")


@pytest.fixture
def ask(films: SparqlGraph) -> Ask:
    """Asks the films by a method: `play` is a scripted model's replies, None the local model; `search` its settings."""

    async def asked(
        method: str,
        play: Any = None,
        question: str = "Who is the spouse of the director of King Kong?",
        topics: Sequence[str] = ("King Kong",),
        kind: Kind | None = None,
        **search: Any,
    ) -> Answer:
        words = Bm25Similarity()
        model = PromptedModel(ScriptedModel(play)) if play else LocalModel(words)
        made = Settings(method=method, search=SearchSettings(**search))
        events = [
            event async for event in QuestionRun(question, films, model, words, made, Usage, topics, kind).events()
        ]
        last = events[-1]
        assert isinstance(last, Answered)
        return last.answer

    return asked
