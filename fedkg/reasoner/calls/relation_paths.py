"""Weighted chains of relations, planned before they are walked (EPERM, plan generator; RoG)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.core.choice import PromptCandidate, RelationPath
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import Share, Whole, fit
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["RelationPathsCall"]


class WeightedChain(msgspec.Struct):
    """A chain of relations with its weight."""

    relations: list[Whole]
    weight: Share


class PlansReply(msgspec.Struct):
    """The reply to `relation-paths`."""

    plans: list[Any]


class RelationPathsCall(PlannedCall[tuple[RelationPath, ...]], frozen=True):
    """Asks for at most `most` weighted chains of at most `depth` of the offered relations, the best first.

    A relation's text is its step alone, such as `→ author →` or `← author ←`. With `faulty` the reply ends with those
    chains that cannot be walked, each with its fault.
    """

    name: ClassVar[str] = "relation-paths"

    relations: Sequence[PromptCandidate]
    depth: int
    most: int
    faulty: bool = False

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "relations": self.relations}
        return {**given, "depth": self.depth, "most": self.most}

    def trivial(self) -> tuple[RelationPath, ...] | None:
        """Nothing where no relation is offered."""
        return None if self.relations else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Twice the chains that are asked for: what is beyond is not read."""
        return {"plans": 2 * self.most, "relations": self.depth}

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[RelationPath, ...]:
        """The chains, the heaviest first.

        One with a relation that was not offered, or with too many, is left out: what remains of it would lead
        elsewhere.
        """
        listed = fit(reply, PlansReply).plans
        offered = {relation.number for relation in self.relations[:shown]}
        read = [self._read(item, offered) for item in listed]
        weights: dict[tuple[int, ...], float] = {}
        for chain in read:
            if not chain.fault:
                weights[chain.relations] = max(chain.weight, weights.get(chain.relations, 0.0))
        if listed and not weights:
            raise ModelReplyError(
                f"none of its plans has a weight from 0 to 1 and 1 to {self.depth} relations that were offered"
            )
        best = sorted(weights, key=lambda numbers: -weights[numbers])[: self.most]
        faulty = [chain for chain in read if chain.fault] if self.faulty else []
        return (*(RelationPath(numbers, weights[numbers]) for numbers in best), *faulty)

    def _read(self, item: object, offered: Collection[int]) -> RelationPath:
        """A plan of the reply, or its fault."""
        try:
            chain = fit(item, WeightedChain)
        except ModelReplyError:
            return RelationPath((), 0.0, "format errors")
        numbers = tuple(int(number) for number in chain.relations)
        if not 0 < len(numbers) <= self.depth:
            return RelationPath((), 0.0, "format errors")
        known = all(number in offered for number in numbers)
        return (
            RelationPath(numbers, float(chain.weight)) if known else RelationPath((), 0.0, "relations not in the graph")
        )

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "RelationPathsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.steps(sketch.planned), sketch.hops, sketch.kept)
