"""How sure a model is that a statement can be deduced from a path, by its log-probabilities (FiDeLiS v4, Table 5)."""

import contextlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from fedkg.core.choice import PromptCandidate
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Completion, Token
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.conclusions import conclusion
from fedkg.reasoner.reply_parsing import Flag, extract, fit, flag
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["DeducibleCall"]

DEDUCIBLE = re.compile(r'"deducible"\s*:\s*"?(?P<said>\w+)')
NO_LETTERS = re.compile(r"[^a-z]")


class DeducibleReply(msgspec.Struct):
    """The reply to `deducible`."""

    deducible: Flag


class DeducibleCall(PlannedCall[float], frozen=True):
    """Asks for the model's own probability, in 0..1, that the statement can be deduced from the path.

    `kept` are paths that count as well. Only for a model that gives log-probabilities.
    """

    name: ClassVar[str] = "deducible"
    alternatives: ClassVar[int] = 5
    """So many that yes and no are among them; services give between 5 and 20."""

    path: PromptCandidate
    kept: Sequence[PromptCandidate] = ()

    def values(self) -> dict[str, object]:
        """What the template is given; the form `filled` shows the conclusion."""
        given = {"question": self.question, "plan": self.plan, "path": self.path, "paths": self.kept}
        return {**given, "conclusion": conclusion(self.plan, self.path)}

    def read(self, reply: Completion, shown: int) -> float:
        """The probability of yes where the reply says yes or no: the softmax over the alternatives that are either.

        Raises ModelReplyError also where the reply came without its tokens.
        """
        self.parse(extract(reply.text), shown)
        verdicts = [*DEDUCIBLE.finditer("".join(token.text for token in reply.spelled))]
        if not verdicts:
            raise ModelReplyError("it came without the log-probabilities of its tokens")
        token = _token(reply.spelled, verdicts[-1].start("said"))
        weights = {alike: weight for alike, weight in token.alternatives.items() if _verdict(alike) is not None}
        most = max(weights.values(), default=0.0)
        shares = {alike: math.exp(weight - most) for alike, weight in weights.items()}
        if not shares:
            raise ModelReplyError("the token of its verdict says neither yes nor no")
        return sum(share for alike, share in shares.items() if _verdict(alike)) / sum(shares.values())

    def parse(self, reply: Mapping[str, object], shown: int) -> float:
        """What the reply says in words, as 1.0 or 0.0; how sure the model is of it is in the tokens."""
        return float(fit(reply, DeducibleReply).deducible)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "DeducibleCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(1)[0], sketch.before)


def _token(spelled: Sequence[Token], place: int) -> Token:
    """The token that holds the character at that place."""
    ends = itertools.accumulate(len(token.text) for token in spelled)
    return next(token for token, end in zip(spelled, ends, strict=True) if place < end)


def _verdict(token: str) -> bool | None:
    """Yes or no, in whatever spelling and with whatever signs around; None for neither."""
    with contextlib.suppress(ValueError):
        return bool(flag(NO_LETTERS.sub("", token.lower())))
    return None
