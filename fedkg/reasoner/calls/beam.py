"""Next steps of one path, unverified (FiDeLiS v4, appendix C.4)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from fedkg.core.choice import Choice, PromptCandidate
from fedkg.llm.base import Constraint
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import chosen
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["BeamCall"]


class BeamCall(PlannedCall[tuple[Choice, ...]], frozen=True):
    """Asks for at most `width` steps that extend one path (None: nothing walked yet), the best first."""

    name: ClassVar[str] = "beam"

    path: PromptCandidate | None
    candidates: Sequence[PromptCandidate]
    width: int

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "path": self.path}
        return {**given, "offers": self.candidates, "width": self.width}

    def trivial(self) -> tuple[Choice, ...] | None:
        """Nothing where nothing is offered."""
        return None if self.candidates else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Twice the steps that may be chosen: what is beyond is not read."""
        return {"picks": min(shown, 2 * self.width)}

    def likely(self, shown: int) -> Constraint:
        """The numbers of the steps, as the first pick."""
        texts = tuple(str(candidate.number) for candidate in self.candidates[:shown])
        return Constraint(texts, len(texts), '{"picks": [', "]}")

    def weighed(self, shares: Sequence[float], shown: int) -> tuple[Choice, ...]:
        """The likeliest steps, in their order."""
        order = sorted(range(shown), key=lambda place: -shares[place])
        return self.parse({"picks": [self.candidates[place].number for place in order[: self.width]]}, shown)

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[Choice, ...]:
        """The choices, the best first."""
        return chosen(reply, self.candidates[:shown], self.width)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "BeamCall":
        """The call as a walk like that makes it."""
        candidates = sketch.paths(sketch.offered_each)
        return cls(sketch.question, sketch.plan, sketch.path, candidates, sketch.width)
