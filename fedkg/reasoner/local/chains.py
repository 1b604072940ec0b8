"""Chains of relations, as `local` compares them with the words of a question."""

import re
from typing import NamedTuple

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction

__all__ = ["RelationChain", "chain_of"]

DATE = re.compile(r"(?:\d{1,2} )?(?:[^\W\d]{3,9} )?\d{3,4}(?: BCE?)?|\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?")


class RelationChain(NamedTuple):
    """A walk as it is compared: its topic as the question names it, relations, directions, whether it ends in dates.

    `dated` is None where the ends are not known.
    """

    topic: str
    relations: tuple[str, ...]
    directions: tuple[Direction, ...] = ()
    dated: bool | None = None

    def before(self) -> "RelationChain":
        """The chain without its last step; what it led to had edges, and dates have none."""
        return RelationChain(self.topic, self.relations[:-1], self.directions[:-1], dated=False)

    def then(self, step: "RelationChain") -> "RelationChain":
        """The chain and one more step."""
        return RelationChain(self.topic, self.relations + step.relations, self.directions + step.directions)

    @property
    def turns(self) -> int:
        """How many steps go back by the relation just walked: to others that share something."""
        return sum(self._turn(step) for step in range(1, len(self.relations)))

    @property
    def against(self) -> int:
        """How many steps go against their relation's direction; a turn does so by its nature, one way or the other."""
        return sum(way == "in" and not (step and self._turn(step)) for step, way in enumerate(self.directions))

    def _turn(self, step: int) -> bool:
        same = self.relations[step] == self.relations[step - 1]
        return same and self.directions[step] != self.directions[step - 1]


def chain_of(candidate: PromptCandidate) -> RelationChain:
    """The chain that an offer shows, all of it, also where its text is the last step alone."""
    dated = all(map(DATE.fullmatch, candidate.tails)) if candidate.tails else None
    return RelationChain(candidate.topic, candidate.relations, candidate.directions, dated)
