"""What a model sees first of the ranked candidates: a share of each topic, little that never helps, nothing twice.

These are ours, not the paper's: they reorder what Path-RAG has scored, and leave nothing out.
"""

from collections.abc import Sequence
from functools import cache

import msgspec

from fedkg.common import toml
from fedkg.config.profiles import UNHELPFUL
from fedkg.config.resources import folder
from fedkg.core.dates import repeated
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Direction, Edge, Iri, Literal, Term
from fedkg.errors import ProfileError

__all__ = ["dated_once", "helpful_first", "shared_page", "unhelpful_relations"]

Fact = tuple[Term, Iri, Term]
SHARED = 3 / 4
"""How much of a page is divided evenly among the topics; the rest goes to the best of all."""


class UnhelpfulRelations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of relations that never help."""

    relations: tuple[str, ...]


@cache
def unhelpful_relations() -> frozenset[Iri]:
    """The relations that seldom help to answer: `endpoints/unhelpful.toml`. Raises ProfileError."""
    path = folder("endpoints") / f"{UNHELPFUL}.toml"
    return frozenset(map(Iri, toml.read(path, UnhelpfulRelations, ProfileError).relations))


def dated_once(step: Step) -> Step:
    """The step without the edges to a date that another edge from the same node states as well."""
    ends: dict[Term, list[Term]] = {}
    for edge in step.edges:
        if isinstance(edge.end, Literal):
            ends.setdefault(edge.start, []).append(edge.end)
    again = {(start, end) for start, some in ends.items() if len(some) > 1 for end in repeated(some)}
    if not again:
        return step
    edges = tuple(edge for edge in step.edges if (edge.start, edge.end) not in again)
    return msgspec.structs.replace(step, edges=edges)


def helpful_first(candidates: Sequence[Step]) -> list[Step]:
    """The candidates in their order, those behind whose relation is unhelpful, or whose facts stand before them.

    Two topics that one edge joins both have it: it is offered from one of them.
    """
    last = unhelpful_relations()
    shown: dict[Direction, set[Fact]] = {"out": set(), "in": set()}
    front: list[Step] = []
    behind: list[Step] = []
    for candidate in candidates:
        facts, relation = {_fact(edge) for edge in candidate.edges}, candidate.relation
        again = facts <= shown[relation.inverse.direction]
        (behind if relation.relation in last or again else front).append(candidate)
        shown[relation.direction] |= facts
    return [*front, *behind]


def shared_page(candidates: Sequence[Step], paths: Sequence[PartialPath], size: int) -> list[Step]:
    """The candidates, of which the first `size` hold some of each topic, as far as it has any that lead on.

    Each topic has an even part of three quarters of the page, the best of all fill it. Within the page and behind it
    the order stays.
    """
    topics = {paths[candidate.path_index].topic for candidate in candidates}
    share = max(1, int(SHARED * size) // max(1, len(topics)))
    left = dict.fromkeys(topics, share)
    page: set[int] = set()
    for number, candidate in enumerate(candidates):
        topic = paths[candidate.path_index].topic
        if left[topic] and len(page) < size:
            left[topic] -= 1
            page.add(number)
    page.update([number for number in range(len(candidates)) if number not in page][: size - len(page)])
    numbers = sorted(range(len(candidates)), key=lambda number: number not in page)
    return [candidates[number] for number in numbers]


def _fact(edge: Edge) -> Fact:
    return edge.subject, edge.relation, edge.object
