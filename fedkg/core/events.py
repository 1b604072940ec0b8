"""Typed events of a run, in the order they happen: what every door (terminal, JSON, page) shows of a walk."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.operation import OperationResult
from fedkg.core.question import Match, Plan
from fedkg.core.terms import Edge, Iri, Term, own_name
from fedkg.core.usage import Usage

__all__ = [
    "Answered",
    "Chosen",
    "Computed",
    "Event",
    "Fetched",
    "Judged",
    "Linked",
    "Planned",
    "Proposed",
    "Ranked",
    "Reached",
    "Scored",
    "Stage",
    "Verified",
    "Warned",
]

Stage = Literal["offered", "chosen", "kept", "finished", "shown"]
"""The stages of a step: offered by the retriever, chosen and kept by the model, finished, shown at last."""


class Planned(msgspec.Struct, frozen=True, tag=True):
    """The question was analysed."""

    plan: Plan


class Linked(msgspec.Struct, frozen=True, tag=True):
    """The topic entities were found."""

    topics: tuple[Match, ...]


class Fetched(msgspec.Struct, frozen=True, tag=True):
    """Neighbourhoods are there: `entities` asked for, `edges` got, `incomplete` of them cut; `usage` so far."""

    depth: int
    entities: int
    edges: int
    incomplete: int
    usage: Usage


class Ranked(msgspec.Struct, frozen=True, tag=True):
    """The retriever scored `considered` candidates; `offered` are the best, one line each, with their `scores`.

    The scores are the retriever's own: they order the candidates of one depth, and are no probabilities.
    """

    depth: int
    considered: int
    offered: tuple[str, ...]
    scores: tuple[float, ...] = ()


class Proposed(msgspec.Struct, frozen=True, tag=True):
    """The model proposed these chains of relations, one line each, best first; which exist is not known yet."""

    chains: tuple[str, ...]


class Scored(msgspec.Struct, frozen=True, tag=True):
    """How much each step helps, in 0..1: `relations` or `entities`, one line each, best first, with `scores`."""

    depth: int
    what: Literal["relations", "entities"]
    steps: tuple[str, ...]
    scores: tuple[float, ...]


class Judged(msgspec.Struct, frozen=True, tag=True):
    """The model judged whether these paths, one line each, are together enough to answer."""

    paths: tuple[str, ...]
    adequate: bool


class Chosen(msgspec.Struct, frozen=True, tag=True):
    """The model chose these steps, one line each; none means that nothing leads on."""

    depth: int
    steps: tuple[str, ...]


class Verified(msgspec.Struct, frozen=True, tag=True):
    """How the chosen steps were verified: kept for the next depth, or finished."""

    depth: int
    kept: tuple[str, ...]
    finished: tuple[str, ...]


class Computed(msgspec.Struct, frozen=True, tag=True):
    """An operation was computed over `members` ends: its `result`, and in `values` what decided, one line each."""

    result: OperationResult
    members: int
    values: tuple[str, ...]


class Reached(msgspec.Struct, frozen=True, tag=True):
    """Where the steps of one stage lead to, to measure where the way to an answer is lost.

    `tails` are those of each step, `names` the labels that are known. What they are called is put together when it is
    asked for: most who watch a walk do not, and a hub has thousands. `edges` are those of each step, or of each path.
    """

    depth: int
    stage: Stage
    tails: tuple[tuple[Term, ...], ...]
    names: Mapping[Term, str]
    edges: tuple[tuple[Edge, ...], ...] = ()

    @property
    def ends(self) -> tuple[frozenset[str], ...]:
        """For each step the IRIs and values that it leads to, and their labels as far as they are known."""
        return tuple(frozenset(self._called(tails)) for tails in self.tails)

    def _called(self, tails: Iterable[Term]) -> Iterator[str]:
        for tail in tails:
            yield tail.value if isinstance(tail, Iri) else own_name(tail)
            if tail in self.names:
                yield self.names[tail]


class Warned(msgspec.Struct, frozen=True, tag=True):
    """Something a reader of the answer should know."""

    message: str


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The end of the run: always the last event."""

    answer: Answer


Event = (
    Planned
    | Linked
    | Fetched
    | Ranked
    | Proposed
    | Scored
    | Judged
    | Chosen
    | Verified
    | Computed
    | Reached
    | Warned
    | Answered
)
