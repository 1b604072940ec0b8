"""Paths as the search holds them: what an endpoint returns for an entity, a step over it, and the steps walked so far.

All are frozen, and hold terms: text is made last, by `engine.presentation`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from fedkg.common.notebook import display_module
from fedkg.core.terms import DirectedRelation, Direction, Edge, Iri, Term

__all__ = ["QUALIFIERS", "Neighbourhood", "PartialPath", "Step"]
QUALIFIERS = 3
"""Most qualifiers of one edge that are shown to a model."""


class Neighbourhood(msgspec.Struct, frozen=True, gc=False):
    """The edges of one entity in one direction, as one endpoint returned them.

    `complete` is False where something was left out, `cut` says what; `failed` is the endpoint's error, if it failed.
    `links` lead to the entity's copies, which a federation joins.
    """

    entity: Iri
    direction: Direction
    edges: tuple[Edge, ...]
    endpoint: str
    retrieved_at: str
    complete: bool = True
    cut: str = ""
    failed: str = ""
    links: tuple[Edge, ...] = ()

    def _repr_html_(self) -> str:
        """The edges as a table, for a notebook."""
        return str(display_module("tables").neighbourhood_html(self))


class Step(msgspec.Struct, frozen=True, dict=True):
    """One possible next step of one partial path: a relation with tails (a group), or a single edge (a pair).

    `path_index` is the index of the path that it extends, `score` is S((r, e)) of FiDeLiS v4 Eq. 2, `complete` whether
    the endpoint returned all tails.
    """

    path_index: int
    relation: DirectedRelation
    edges: tuple[Edge, ...]
    score: float = 0.0
    complete: bool = True

    @cached_property
    def by_end(self) -> Mapping[Term, Sequence[Edge]]:
        """The edges by the node that they lead to, in their order; sorted out once, since a walk looks often."""
        edges: dict[Term, list[Edge]] = {}
        for edge in self.edges:
            edges.setdefault(edge.end, []).append(edge)
        return edges

    @cached_property
    def tails(self) -> tuple[Term, ...]:
        """The distinct nodes that the step leads to, in the order of the edges."""
        return tuple(self.by_end)

    def scored(self, score: float) -> "Step":
        """The step with that score; its edges, which are the same, are not sorted out anew."""
        step = msgspec.structs.replace(self, score=score)
        step.__dict__.update(self.__dict__)
        return step


class PartialPath(msgspec.Struct, frozen=True):
    """A hypothesis of the search: a topic entity and the steps walked from it; `score` is its last step's score."""

    topic: Iri
    steps: tuple[Step, ...] = ()
    score: float = 0.0

    @property
    def tails(self) -> tuple[Term, ...]:
        """Where the walk has come to: the topic itself before the first step."""
        return self.steps[-1].tails if self.steps else (self.topic,)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of all its steps."""
        return tuple(edge for step in self.steps for edge in step.edges)

    @property
    def chain(self) -> tuple[DirectedRelation, ...]:
        """The relations walked so far."""
        return tuple(step.relation for step in self.steps)

    @property
    def complete(self) -> bool:
        """Whether every step has all the tails that the graph has."""
        return all(step.complete for step in self.steps)

    def ancestors(self) -> dict[Term, frozenset[Term]]:
        """For each node at the path's end what lies on every walk to it: to go there again would be to go back."""
        before: dict[Term, frozenset[Term]] = {self.topic: frozenset()}
        for step in self.steps:
            here: dict[Term, frozenset[Term]] = {}
            for edge in step.edges:
                copy = {edge.same.end} if edge.same else set()
                on_the_way = before.get(edge.start, frozenset()) | {edge.start} | copy
                here[edge.end] = here[edge.end] & on_the_way if edge.end in here else on_the_way
            before = here
        return before

    def walks(self, tail: Term) -> tuple[Edge, ...]:
        """One walk from the topic to that tail, with the links between copies of an entity as edges of their own.

        Empty where the steps do not connect, which no shown path may be.
        """
        return tuple(leg for edge in self._walk(tail) for leg in edge.walk)

    def alone(self, tail: Term) -> "PartialPath":
        """One walk to that tail, as a path of which no step has a second end; itself where the steps do not connect."""
        walk = self._walk(tail)
        steps = (msgspec.structs.replace(step, edges=(edge,)) for step, edge in zip(self.steps, walk, strict=False))
        return PartialPath(self.topic, tuple(steps), self.score) if walk else self

    def _walk(self, tail: Term) -> tuple[Edge, ...]:
        """One edge of each step, which together lead to that tail; empty where the steps do not connect."""
        edges: list[Edge] = []
        node = tail
        for step in reversed(self.steps):
            leading = step.by_end.get(node)
            if leading is None:
                return ()
            edge = leading[0]
            edges.insert(0, edge)
            node = edge.start
        return tuple(edges) if node == self.topic else ()

    def extend(self, step: Step) -> "PartialPath":
        """This path with one more step."""
        return PartialPath(self.topic, (*self.steps, step), step.score)
