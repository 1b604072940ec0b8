"""Which walked paths, and which of their ends, answer a question (FiDeLiS v4, appendix C.5; GCR section 4.4)."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.common.tokens import estimate
from fedkg.core.choice import Conclusion, PromptCandidate, PromptTopics
from fedkg.core.question import JUDGED, Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import (
    YES_NO,
    Cited,
    checked,
    clause,
    entries,
    fit,
    mean_ends,
    numbers,
    option,
    renamed,
    verdict,
)
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["HYPOTHESES", "AnswerCall", "InductiveCall", "WeightedAnswerCall"]

HYPOTHESES = 3
"""Ends of a path that are shown as what it led to."""


class AnswerReply(msgspec.Struct):
    """The reply to `answer`: paths with their ends, or the numbers of those that a verdict or an option rests on.

    `bridge` is the common knowledge that these rest on, `unproven` are words of the question.
    """

    paths: list[Any]
    verdict: Any = ""
    option: Any = 0
    bridge: Any = ""
    unproven: Any = ""


class AnswerCall(PlannedCall[Conclusion], frozen=True):
    """Asks which of the walked paths, and which of their tails, answer the question; `topics` are where they start."""

    name: ClassVar[str] = "answer"

    paths: Sequence[PromptCandidate]
    topics: PromptTopics = PromptTopics()

    def values(self) -> dict[str, object]:
        """What the template is given."""
        topics = {"topics": self.topics.linked, "absent": self.topics.absent}
        return {"question": self.question, "plan": self.plan, "paths": self.paths, **topics}

    def trivial(self) -> Conclusion | None:
        """An empty Conclusion where there is no path."""
        return None if self.paths else Conclusion()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Every path with all its ends."""
        return _lengths(self.question, self.paths[:shown])

    def parse(self, reply: Mapping[str, object], shown: int) -> Conclusion:
        """The paths and ends that answer, or the verdict or option with its evidence.

        Empty where these paths do not answer.
        """
        return _conclusion(reply, self.plan, self.paths[:shown])

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "AnswerCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.judged, sketch.ends), sketch.topics)


class WeightedAnswerCall(AnswerCall, frozen=True):
    """As AnswerCall, over paths with their weights: what these mean is told (EPERM, appendix A.4, answer predictor)."""

    name: ClassVar[str] = "weighted-answer"

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "WeightedAnswerCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.judged, sketch.ends), sketch.topics)


class InductiveCall(PlannedCall[Conclusion], frozen=True):
    """As AnswerCall, over paths each with the hypothesis that it led to, in their order."""

    name: ClassVar[str] = "inductive"

    paths: Sequence[PromptCandidate]
    hypotheses: Sequence[str]

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "plan": self.plan, "paths": self.paths, "hypotheses": self.hypotheses}

    def trivial(self) -> Conclusion | None:
        """An empty Conclusion where there is no path."""
        return None if self.paths else Conclusion()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Every path with all its ends."""
        return _lengths(self.question, self.paths[:shown])

    def parse(self, reply: Mapping[str, object], shown: int) -> Conclusion:
        """The paths and ends that answer, weighed together, as of an AnswerCall."""
        return _conclusion(reply, self.plan, self.paths[:shown])

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "InductiveCall":
        """The call as a walk like that makes it."""
        paths = sketch.paths(sketch.kept, sketch.ends)
        return cls(sketch.question, sketch.plan, paths, [", ".join(sketch.ends[:HYPOTHESES])] * len(paths))


def _lengths(question: str, paths: Sequence[PromptCandidate]) -> Mapping[str, int]:
    return {"paths": len(paths), "ends": mean_ends(paths), "unproven": estimate(question)}


def _conclusion(reply: object, plan: Plan, paths: Sequence[PromptCandidate]) -> Conclusion:
    """Which paths and ends answer; or the verdict or the option, and the paths that it rests on."""
    read = fit(reply, AnswerReply)
    return _judgement(read, plan, paths) if plan.kind in JUDGED else _ends(read, paths)


def _judgement(read: AnswerReply, plan: Plan, paths: Sequence[PromptCandidate]) -> Conclusion:
    """Without evidence there is no verdict and no option, and without these there is no answer."""
    cited = [item.get("path") if isinstance(item, dict) else item for item in read.paths]
    evidence = tuple(numbers(cited, {path.number for path in paths}))
    choice = option(read.option, plan.options) if plan.kind == "choice" else 0
    judged = verdict(read.verdict) if plan.kind in YES_NO else ""
    if not (judged or choice):
        return Conclusion()
    if not evidence:
        claim = f"option {choice}" if choice else repr(judged)
        return Conclusion(note=f"the model says {claim}, but names no path that this rests on: it is not taken")
    return Conclusion(evidence, verdict=judged, option=choice, bridge=clause(read.bridge))


def _ends(read: AnswerReply, paths: Sequence[PromptCandidate]) -> Conclusion:
    """The paths that answer, each with those of its ends that do."""
    tails = {path.number: len(path.tails) for path in paths}
    entered = entries(renamed(read.paths, "path"), Cited, tails)
    cited = {int(entry.number): entry.ends for entry in entered}
    ends: dict[int, tuple[int, ...]] = {}
    for number, listed in cited.items():
        # a path whose named ends all do not exist is dropped: no ends would mean all of them
        with contextlib.suppress(ModelReplyError):
            ends[number] = tuple(numbers(listed, range(1, tails[number] + 1)))
    if cited and not ends:
        raise ModelReplyError("none of the ends that it names was offered")
    checks = tuple(number for number in checked(entered, paths) if number in ends)
    named = {number: some for number, some in ends.items() if some}
    return Conclusion(tuple(ends), named, checks=checks, unproven=clause(read.unproven) if ends else "")
