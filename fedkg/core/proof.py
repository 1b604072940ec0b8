"""What an answer document is made of: how the question ended, the answers, and the paths that prove them."""

import itertools
from collections.abc import Mapping
from enum import StrEnum
from typing import Self

import msgspec

from fedkg.common.notebook import display_module
from fedkg.core.terms import Direction, Edge, Iri, Qualifier, Term, Through, own_name

__all__ = ["AT_LEAST", "AnswerValue", "Path", "PathEdge", "Status"]


AT_LEAST = "at least "
"""What stands before a number that is a bound."""


class Status(StrEnum):
    """How a question ended. "The graph has none", "not found in time" and "an endpoint failed" are three answers."""

    ANSWERED = "answered"
    NONE = "none"
    NOT_FOUND = "not_found"
    FAILED = "failed"
    ABSTAINED = "abstained"


class PathEdge(msgspec.Struct, frozen=True):
    """An edge as the answer document shows it; `labels` maps a term's N-Triples text to its label.

    A link between copies is an edge of its own here: no edge has a `same`.
    """

    subject: Term
    relation: Iri
    object: Term
    direction: Direction
    endpoint: str
    retrieved_at: str
    qualifiers: tuple[Qualifier, ...] = ()
    through: Through | None = None
    labels: dict[str, str] = {}
    identifies: Iri | None = None

    @classmethod
    def of(cls, edge: Edge, names: Mapping[Term, str]) -> Self:
        """The edge with those of the names that stand on it."""
        labels = {term.text: names[term] for term in edge.terms if term in names}
        ends = (edge.subject, edge.relation, edge.object, edge.direction)
        return cls(*ends, edge.endpoint, edge.retrieved_at, edge.qualifiers, edge.through, labels, edge.identifies)

    def label(self, term: Term) -> str:
        """A name for any term of the edge, as returned: its label, else its own name (local name, value)."""
        return self.labels.get(term.text) or own_name(term)

    @property
    def edge(self) -> Edge:
        """The edge without its labels."""
        ends = (self.subject, self.relation, self.object, self.direction)
        return Edge(*ends, self.endpoint, self.retrieved_at, self.qualifiers, self.through, self.identifies)


class Path(msgspec.Struct, frozen=True):
    """One walk from a topic entity to an answer; `score` is the last step's score."""

    score: float
    edges: tuple[PathEdge, ...]

    @property
    def end(self) -> Term | None:
        """Where the walk ends; None where its edges do not connect."""
        walk = [shown.edge for shown in self.edges]
        connected = all(before.end == after.start for before, after in itertools.pairwise(walk))
        return walk[-1].end if walk and connected else None

    def _repr_html_(self) -> str:
        """The path as a drawing and as text, for a notebook."""
        return str(display_module("proof").path_html(self))


class AnswerValue(msgspec.Struct, frozen=True):
    """One answer: `value` is what a person reads, `iri` the entity (or None), `term` the graph's own term.

    `grounded` is True where the value is a node or literal at the end of a shown path, or the number of such; a verdict
    or an option is a judgement on its paths and is not. `paths` are indices into the paths. Of an option `value` is the
    text and `label` its number.
    """

    value: str
    iri: str | None = None
    label: str = ""
    term: Term | None = None
    grounded: bool = False
    paths: tuple[int, ...] = ()
