"""Chains of relations, as `local` compares them with the words of a question."""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from fedkg.common.english import english
from fedkg.core.choice import PromptCandidate
from fedkg.core.literals import MONTHS
from fedkg.core.terms import Direction
from fedkg.reasoner.local.kinds import end_kinds, kinds_of
from fedkg.reasoner.local.likeness import senses
from fedkg.reasoner.local.typed_names import beside, owner

__all__ = ["THING", "RelationChain", "RelationName", "chain_of", "mirrored", "outwards"]

MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
DATE = re.compile(rf"(?:(?:\d{{1,2}} )?(?:{MONTH}) )?\d{{3,4}}(?: BCE?)?|\d{{1,4}}[-./]\d{{1,2}}(?:[-./]\d{{1,4}})?")
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
THING = "thing"
"""The kind of what is neither a date nor a number, whatever else it is."""


RelationName = tuple[str, str]
"""A relation by its label, and what its whole name says beside that: "film", "actor performance"."""


class RelationChain(NamedTuple):
    """A walk as it is compared: its topic as the question names it, relations, directions, and the kinds of its ends.

    `kinds` is empty where the ends are not known. `typed` are the relations' names with domain and type, where they
    have such.
    """

    topic: str
    relations: tuple[str, ...]
    directions: tuple[Direction, ...] = ()
    kinds: frozenset[str] = frozenset()
    typed: tuple[str, ...] = ()

    def before(self) -> "RelationChain":
        """The chain without its last step; what it led to had edges: no date and no number, else what its name says."""
        led = end_kinds(self.relations[-2]) if self.directions[-2:-1] == ("out",) else frozenset[str]()
        kinds = led | {THING}
        return RelationChain(self.topic, self.relations[:-1], self.directions[:-1], kinds, self.typed[:-1])

    def then(self, step: "RelationChain") -> "RelationChain":
        """The chain and one more step."""
        relations, directions = self.relations + step.relations, self.directions + step.directions
        return RelationChain(self.topic, relations, directions, typed=self.typed + step.typed)

    def told(self) -> "RelationChain":
        """The chain without steps from one entity to another that is the same thing: no question says those."""
        said = [name not in english().identities for name in self.relations]
        if all(said):
            return self
        names, typed = (tuple(itertools.compress(each, said)) for each in (self.relations, self.typed))
        return RelationChain(self.topic, names, tuple(itertools.compress(self.directions, said)), self.kinds, typed)

    @property
    def turns(self) -> int:
        """How many steps go back by the relation just walked: to others that share something."""
        return sum(self.turn(step) for step in range(1, len(self.relations)))

    @property
    def against(self) -> int:
        """How many steps go against their relation's direction; a turn does so by its nature, one way or the other."""
        return sum(way == "in" and not (step and self.turn(step)) for step, way in enumerate(self.directions))

    @property
    def names(self) -> tuple[RelationName, ...]:
        """The relations with what their whole names say beside their labels."""
        typed = self.typed or ("",) * len(self.relations)
        return tuple((name, beside(name, whole)) for name, whole in zip(self.relations, typed, strict=True))

    @property
    def shared(self) -> tuple[RelationName, ...]:
        """The relations, a turn as one: the films that share a director."""
        return tuple(name for step, name in enumerate(self.names) if not (step and self.turn(step)))

    def turn(self, step: int) -> bool:
        """Whether that step goes back by the relation of the one before."""
        last, name = self.relations[step - 1 : step + 1]
        alike = name == last or bool(senses(name) & senses(last))
        return alike and self.directions[step : step + 1] != self.directions[step - 1 : step]


def chain_of(candidate: PromptCandidate) -> RelationChain:
    """The chain that an offer shows, all of it, also where its text is the last step alone."""
    steps = list(map(outwards, candidate.relations, candidate.directions))
    names, ways = tuple(name for name, _ in steps), tuple(way for _, way in steps)
    last = names[-1] if ways[-1:] == ("out",) else ""
    typed = candidate.typed if any(candidate.typed) else ()
    first = owner(typed[-1]) if typed and ways[-1:] == ("in",) else ""
    return RelationChain(candidate.topic, names or candidate.relations, ways, _kinds(candidate, last, first), typed)


def mirrored(chains: Sequence[RelationChain], best: int) -> list[int]:
    """The places of the same steps the other way: a relation that holds both ways may be stated either way.

    Of single steps alone: further on such a step leads back to where the walk came from.
    """
    chain = chains[best]
    if len(chain.relations) != 1 or chain.relations[0] not in english().symmetric:
        return []
    return [
        place
        for place, other in enumerate(chains)
        if (other.topic, other.relations) == (chain.topic, chain.relations) and other.directions != chain.directions
    ]


def outwards(relation: str, direction: Direction) -> tuple[str, Direction]:
    """The step by its other name, where it has one against its direction: the child that it is of is a parent."""
    other = english().inverses.get(relation) if direction == "in" else None
    return (other, "out") if other else (relation, direction)


def _kinds(candidate: PromptCandidate, last: str, first: str) -> frozenset[str]:
    """The kinds of its ends: those of values, those that their types name.

    Else what the `last` relation leads to, or, against it, what it starts from: a thing of the type `first`.
    """
    if not candidate.tails:
        return frozenset()
    values = _values(candidate.tails)
    if THING not in values:
        return values
    named = [kinds_of(name) for name in candidate.types if name]
    if not named and last:
        named = [end_kinds(last)]
    elif not named and first:
        named = [kinds_of(first)]
    return values.union(*named)


def _values(tails: Sequence[str]) -> frozenset[str]:
    """`date` or `number` where all ends are; both where they may be."""
    kinds = {kind for kind, form in (("date", DATE), ("number", NUMBER)) if all(map(form.fullmatch, tails))}
    return frozenset(kinds or {THING})
