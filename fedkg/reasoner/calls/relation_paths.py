"""Weighted chains of relations, planned before they are walked (EPERM, plan generator; RoG)."""

import contextlib
from collections.abc import Mapping, Sequence
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

    A relation's text is its step alone, such as `→ author →` or `← author ←`.
    """

    name: ClassVar[str] = "relation-paths"

    relations: Sequence[PromptCandidate]
    depth: int
    most: int

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "relations": self.relations}
        return {**given, "depth": self.depth, "most": self.most}

    def trivial(self) -> tuple[RelationPath, ...] | None:
        """Nothing where no relation is offered."""
        return None if self.relations else ()

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[RelationPath, ...]:
        """The chains, the heaviest first.

        One with a relation that was not offered, or with too many, is left out: what remains of it would lead
        elsewhere.
        """
        listed = fit(reply, PlansReply).plans
        offered = {relation.number for relation in self.relations[:shown]}
        weights: dict[tuple[int, ...], float] = {}
        for item in listed:
            with contextlib.suppress(ModelReplyError):
                chain = fit(item, WeightedChain)
                numbers = tuple(int(number) for number in chain.relations)
                if 0 < len(numbers) <= self.depth and offered.issuperset(numbers):
                    weights[numbers] = max(float(chain.weight), weights.get(numbers, 0.0))
        if listed and not weights:
            raise ModelReplyError(
                f"none of its plans has a weight from 0 to 1 and 1 to {self.depth} relations that were offered"
            )
        best = sorted(weights, key=lambda numbers: -weights[numbers])[: self.most]
        return tuple(RelationPath(numbers, weights[numbers]) for numbers in best)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "RelationPathsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.steps(sketch.planned), sketch.hops, sketch.kept)
