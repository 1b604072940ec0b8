"""Next steps of several paths, each verified, in one call."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from fedkg.core.choice import Choice, PromptCandidate
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import JudgedPath, entries, picks, renamed
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["ChooseCall"]


class ChooseCall(PlannedCall[tuple[Choice, ...]], frozen=True):
    """BeamCall for all paths and DeductiveCall in one: at most `width` candidates, each verified.

    None where nothing leads on.

    A candidate's text starts with the path that it extends; `kept` are paths that were walked before and count as well.
    """

    name: ClassVar[str] = "choose"

    candidates: Sequence[PromptCandidate]
    width: int
    kept: Sequence[PromptCandidate] = ()

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "offers": self.candidates}
        return {**given, "width": self.width, "kept": self.kept}

    def trivial(self) -> tuple[Choice, ...] | None:
        """Nothing where nothing is offered."""
        return None if self.candidates else ()

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[Choice, ...]:
        """The choices, the best first, each with its verdicts."""
        numbers = {candidate.number for candidate in self.candidates[:shown]}
        judged = entries(renamed(picks(reply), "offer"), JudgedPath, numbers)
        return tuple(Choice(int(entry.number), bool(entry.follows), entry.finishes) for entry in judged[: self.width])

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ChooseCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.offered), sketch.width, sketch.before)
