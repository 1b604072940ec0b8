"""Next steps of several paths, and whether they decide, in one call."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.common.tokens import estimate
from fedkg.core.choice import Decision, PromptCandidate, PromptTopics
from fedkg.core.question import JUDGED
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Constraint
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import (
    YES_NO,
    Cited,
    Flag,
    checked,
    clause,
    entries,
    fit,
    mean_ends,
    numbers,
    option,
    verdict,
)
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["ChooseCall"]


LAST_PICK = ', "ends": [], "check": false}], "decides": '
"""What follows the number of a reply's only pick."""


class ChooseReply(msgspec.Struct):
    """The reply to `choose`; by the kind of question it `decides`, or has a verdict or an option.

    `bridge` is the common knowledge that these rest on, `unproven` are words of the question.
    """

    picks: list[Any]
    decides: Flag = Flag(0)
    more: Flag = Flag(0)
    verdict: Any = ""
    option: Any = 0
    bridge: Any = ""
    unproven: Any = ""


class ChooseCall(PlannedCall[Decision], frozen=True):
    """Asks which of the candidates to walk on, at most `width`, and whether they decide the question.

    No pick where nothing leads on.

    A candidate's text starts with the path that it extends; `kept` are paths that were picked before. All are known by
    their numbers. `waiting` further ones can be shown; `last`: no other call follows. `topics` are where paths start.
    """

    name: ClassVar[str] = "choose"

    candidates: Sequence[PromptCandidate]
    width: int
    kept: Sequence[PromptCandidate] = ()
    waiting: int = 0
    last: bool = False
    topics: PromptTopics = PromptTopics()

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given: dict[str, object] = {
            "question": self.question,
            "plan": self.plan,
            "offers": self.candidates,
            "kept": self.kept,
        }
        given |= {"topics": self.topics.linked, "absent": self.topics.absent}
        return {**given, "width": self.width, "waiting": self.waiting, "last": self.last}

    def trivial(self) -> Decision | None:
        """Nothing where nothing is offered."""
        return None if self.candidates or self.kept else Decision()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Every offer with all its ends."""
        offered = (*self.candidates[:shown], *self.kept)
        return {"picks": len(offered), "ends": mean_ends(offered), "unproven": estimate(self.question)}

    def likely(self, shown: int) -> Constraint | None:
        """Each number as the only pick, and behind it whether that decides; None for a judgement, which takes words."""
        if self.plan.kind in JUDGED:
            return None
        offered = (*self.candidates[:shown], *self.kept)
        texts = tuple(f"{each.number}{LAST_PICK}{decides}" for each in offered for decides in ("true", "false"))
        return Constraint(texts, len(texts), '{"picks": [{"offer": ', ",")

    def weighed(self, shares: Sequence[float], shown: int) -> Decision:
        """The likeliest paths, or the likeliest one alone where it rather decides than not, with its probability."""
        offered = (*self.candidates[:shown], *self.kept)
        pairs = zip(offered, shares[::2], shares[1::2], strict=True)
        best = sorted(pairs, key=lambda pair: -(pair[1] + pair[2]))[: self.width]
        decides = best[0][1] > best[0][2]
        picks = [{"offer": each.number, "ends": []} for each, _, _ in best[: 1 if decides else None]]
        decision = self.parse({"picks": picks, "decides": decides}, shown)
        return msgspec.structs.replace(decision, confidence=best[0][1]) if decides else decision

    def parse(self, reply: Mapping[str, object], shown: int) -> Decision:
        """The picks, the best first, and whether they decide; at most `width` where they do not."""
        read = fit(reply, ChooseReply)
        offered = (*self.candidates[:shown], *self.kept)
        tails = {each.number: len(each.tails) for each in offered}
        picks = entries(list(map(_entry, read.picks)), Cited, tails)
        picked = {int(pick.number): pick.ends for pick in picks}
        if self.plan.kind in JUDGED:
            return self._judged(read, tuple(picked))
        if not read.decides or not picked:
            return Decision(tuple(picked)[: self.width], decides=False, more=bool(read.more))
        ends = _ends(picked, tails)
        checks = checked(picks, offered)
        named = {number: some for number, some in ends.items() if some}
        marked = tuple(number for number in ends if number in checks)
        return Decision(tuple(ends), True, named, checks=marked, unproven=clause(read.unproven))

    def _judged(self, read: ChooseReply, picked: tuple[int, ...]) -> Decision:
        """A verdict or an option decides where it names what it rests on."""
        choice = option(read.option, self.plan.options) if self.plan.kind == "choice" else 0
        judged = verdict(read.verdict) if self.plan.kind in YES_NO else ""
        if picked and (judged or choice):
            bridge = clause(read.bridge)
            return Decision(picked, decides=True, verdict=judged, option=choice, bridge=bridge)
        claim = f"option {choice}" if choice else repr(judged)
        note = f"the model says {claim}, but names no path that this rests on: it is not taken"
        kept = picked[: self.width]
        return Decision(kept, decides=False, more=bool(read.more), note=note if judged or choice else "")

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ChooseCall":
        """The call as a walk like that makes it."""
        offers, topics = sketch.paths(sketch.offered), sketch.topics
        return cls(sketch.question, sketch.plan, offers, sketch.width, sketch.picked, topics=topics)


def _entry(item: object) -> object:
    """An entry by its number, which may stand alone."""
    return {**item, "number": item.get("offer")} if isinstance(item, dict) else {"number": item}


def _ends(picked: Mapping[int, list[Any]], tails: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """The numbers of the ends of each pick; one whose named ends all do not exist is dropped.

    No ends would mean all of them.
    """
    ends: dict[int, tuple[int, ...]] = {}
    for number, listed in picked.items():
        with contextlib.suppress(ModelReplyError):
            ends[number] = tuple(numbers(listed, range(tails[number] + 1)))
    if not ends:
        raise ModelReplyError("none of the ends that it names was offered")
    return ends
