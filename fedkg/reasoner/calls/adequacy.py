"""Whether paths together are enough to answer (FiDeLiS v4, appendix C.3; the check of Think-on-Graph)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import Flag, fit
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["AdequacyCall"]


class AdequacyReply(msgspec.Struct):
    """The reply to `adequacy`."""

    adequate: Flag


class AdequacyCall(PlannedCall[bool], frozen=True):
    """Asks whether these paths together are enough to answer."""

    name: ClassVar[str] = "adequacy"

    paths: Sequence[PromptCandidate]

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "plan": self.plan, "paths": self.paths}

    def trivial(self) -> bool | None:
        """No path is never enough."""
        return None if self.paths else False

    def parse(self, reply: Mapping[str, object], shown: int) -> bool:
        """The verdict."""
        return bool(fit(reply, AdequacyReply).adequate)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "AdequacyCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.verified + len(sketch.before)))
