"""The deductive verification of walked paths (FiDeLiS v4, appendix C.2)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.core.choice import PromptCandidate, Verdict
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.conclusions import conclusion
from fedkg.reasoner.reply_parsing import JudgedPath, entries, fit, renamed
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["DeductiveCall"]


class VerdictsReply(msgspec.Struct):
    """The reply to `deductive`."""

    verdicts: list[Any]


class DeductiveCall(PlannedCall[tuple[Verdict, ...]], frozen=True):
    """Asks of each path whether its last step follows, and whether the statement can be deduced from it."""

    name: ClassVar[str] = "deductive"

    paths: Sequence[PromptCandidate]

    def values(self) -> dict[str, object]:
        """What the template is given; the form `filled` shows the conclusions."""
        conclusions = [conclusion(self.plan, path) for path in self.paths]
        return {"question": self.question, "plan": self.plan, "paths": self.paths, "conclusions": conclusions}

    def trivial(self) -> tuple[Verdict, ...] | None:
        """Nothing where there is no path."""
        return None if self.paths else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """A verdict for each path."""
        return {"verdicts": shown}

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[Verdict, ...]:
        """The verdicts, in the order of the paths that were shown; a path that the reply leaves out has failed both."""
        paths = self.paths[:shown]
        listed = renamed(fit(reply, VerdictsReply).verdicts, "path")
        judged = entries(listed, JudgedPath, {path.number for path in paths})
        if not judged:
            raise ModelReplyError("it has no verdict on any path")
        passed = {int(entry.number): (bool(entry.follows), entry.finishes) for entry in judged}
        return tuple(Verdict(path.number, *passed.get(path.number, (False, False))) for path in paths)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "DeductiveCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.verified + len(sketch.before)))
