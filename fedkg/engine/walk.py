"""One walk as the engine sees it: what it works on, and what it leaves behind.

`WalkContext` is made once, after planning and linking, and never changes. `WalkRecord` is written by the handlers of
the needs alone; the document is made from it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.caveat import Caveat
from fedkg.core.events import Event
from fedkg.core.path import PartialPath
from fedkg.core.question import Match, Plan
from fedkg.core.terms import Iri, Term
from fedkg.core.usage import Usage
from fedkg.embed.base import Similarity
from fedkg.engine.presentation import RelationKey
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.hidden_edges import HiddenEdges
from fedkg.reasoner.base import ReasoningModel
from fedkg.retrieval.base import GlobalSearch, Retriever

__all__ = ["EXHAUSTIVE_WIDTH", "WalkContext", "WalkRecord", "widened"]

EXHAUSTIVE_WIDTH = 12
"""Paths kept for a model that scores all candidates at no cost: as many chains as still fit one batch per hop."""


@dataclass(frozen=True)
class WalkContext:
    """What a walk works on: the question, planned and linked, the graph, the model, and the bounds of the search.

    `emit` takes the events of the walk, `usage` is what the question has cost so far. `retriever` stands for the one
    that the settings name. `given` are those of the topics that the caller named, `absent` are names that the graph
    does not know. `top` searches the labels of the whole graph.
    """

    question: str
    plan: Plan
    topics: tuple[Match, ...]
    search: SearchSettings
    explored: ExploredGraph
    reasoner: ReasoningModel
    similarity: Similarity
    emit: Callable[[Event], None]
    usage: Callable[[], Usage]
    retriever: Retriever | None = None
    given: frozenset[Iri] = frozenset()
    absent: tuple[str, ...] = ()
    top: GlobalSearch | None = None


@dataclass
class WalkRecord:
    """What a walk leaves behind.

    `labels` are those that it has shown; `topics` those that it started from, with the names that the graph has for
    them; `last_paths` the paths that it came to last; `considered` how many candidates were ranked; `judged` whether
    the model was able to judge all that it was shown; `caveats` what the answer has to admit; `hidden`
    what profiles hide of the topics; `whole` the whole names of relations that share their label with another.
    """

    labels: dict[Term, str] = field(default_factory=dict)
    topics: tuple[Match, ...] = ()
    last_paths: tuple[PartialPath, ...] = ()
    considered: int = 0
    judged: bool = True
    caveats: list[Caveat] = field(default_factory=list)
    hidden: list[HiddenEdges] = field(default_factory=list)
    whole: dict[RelationKey, str] = field(default_factory=dict)


def widened(search: SearchSettings, reasoner: ReasoningModel) -> SearchSettings:
    """The settings, wider for a model to which candidates cost nothing."""
    return msgspec.structs.replace(search, beam=EXHAUSTIVE_WIDTH) if reasoner.exhaustive else search
