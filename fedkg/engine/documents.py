"""The documents beside an answer's, the same through every door.

Edges of an entity, an answer checked, walks between two entities, a method.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.path import Neighbourhood
from fedkg.core.proof import Path, PathEdge, Status
from fedkg.core.question import Match
from fedkg.core.terms import Edge, Term
from fedkg.core.usage import Gap
from fedkg.engine.lookup import Checked
from fedkg.engine.query_check import QueryCheck
from fedkg.graph.hidden_edges import HiddenEdges
from fedkg.methods.base import Method

__all__ = ["MethodDocument", "NeighboursDocument", "PathsDocument", "VerifyDocument"]

HOLDS = {"holds": True, "gone": False, "unasked": None}


class NeighboursDocument(msgspec.Struct, frozen=True):
    """The edges of an entity, at most as many as were asked for; `more` were left out.

    `gaps` are the neighbourhoods that failed or were cut, `hidden` how many edges the endpoints' profiles hide.
    """

    entity: Match
    edges: tuple[PathEdge, ...]
    more: int = 0
    gaps: tuple[Gap, ...] = ()
    hidden: tuple[HiddenEdges, ...] = ()

    @classmethod
    def of(
        cls,
        entity: Match,
        neighbourhoods: Sequence[Neighbourhood],
        names: Mapping[Term, str],
        hidden: Sequence[HiddenEdges],
        limit: int,
    ) -> "NeighboursDocument":
        """Each edge once, with the labels on it."""
        steps = (step for near in neighbourhoods for edge in near.edges for step in edge.walk)
        edges = tuple(PathEdge.of(edge, names) for edge in dict.fromkeys(steps))
        gaps = tuple(_gap(near) for near in neighbourhoods if near.failed or near.cut)
        return cls(entity, edges[:limit], max(0, len(edges) - limit), gaps, tuple(hidden))


def _gap(near: Neighbourhood) -> Gap:
    return Gap(near.endpoint, f"{near.entity.value} ({near.direction})", near.failed or near.cut)


class VerifyDocument(msgspec.Struct, frozen=True):
    """An answer whose edges were asked for again: how many hold, are gone, could not be asked for; and each of them.

    `unproven` are the answers that no path of the document leads to; `query` is what its query returned.
    """

    question: str
    holds: int
    gone: int
    unasked: int
    unproven: tuple[str, ...]
    edges: tuple[Checked, ...]
    query: QueryCheck | None = None

    @classmethod
    def of(
        cls, answer: Answer, checked: Sequence[Checked], unproven: Sequence[str], query: QueryCheck | None = None
    ) -> "VerifyDocument":
        """The counts over the edges that were asked for again."""
        counts = {name: sum(check.holds is value for check in checked) for name, value in HOLDS.items()}
        return cls(answer.question, **counts, unproven=tuple(unproven), edges=tuple(checked), query=query)

    @property
    def proven(self) -> bool:
        """Whether every edge still holds, every answer has its proof, and the query lacks none of them.

        A query that no endpoint ran proves nothing against the answers: each has its edges.
        """
        returned = self.query is None or self.query.outcome not in {"fewer", "other"}
        return self.holds == len(self.edges) and not self.unproven and returned


class PathsDocument(msgspec.Struct, frozen=True):
    """The shortest walks between two entities, none where there is none of at most `hops` steps.

    `cut` says what was left out, so that there may be further or shorter ones; nothing where these are all.
    """

    start: Match
    end: Match
    hops: int
    paths: tuple[Path, ...]
    cut: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        ends: tuple[Match, Match],
        hops: int,
        walks: Iterable[Sequence[Edge]],
        cut: tuple[str, ...],
        names: Mapping[Term, str],
    ) -> "PathsDocument":
        """The walks with the labels on them; no search has scored them."""
        start, end = (msgspec.structs.replace(match, label=names.get(match.iri, match.label)) for match in ends)
        paths = tuple(Path(0.0, tuple(PathEdge.of(edge, names) for edge in walk)) for walk in walks)
        return cls(start, end, hops, paths, cut)

    @property
    def answer(self) -> Answer:
        """The walks as the paths of a document without answers, which can be verified as any other."""
        question = f"What connects {self.start.label} and {self.end.label}?"
        missing = Status.NOT_FOUND if self.cut else Status.NONE
        status = Status.ANSWERED if self.paths else missing
        return Answer(question, "entities", status, paths=self.paths, warnings=self.cut, method="paths")


class MethodDocument(msgspec.Struct, frozen=True):
    """A method of answering: the name that `--method` takes, its paper, and what it asks of."""

    name: str
    title: str
    paper: str
    graph: bool
    plans: bool
    prompts: bool

    @classmethod
    def of(cls, name: str, method: Method) -> "MethodDocument":
        """What `fedkg methods list --json` says of it."""
        return cls(name, method.title, method.paper, method.graph, method.plans, method.prompts)
