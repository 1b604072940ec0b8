"""Whole paths that lead to the answer, written or chosen by a model constrained to them (GCR section 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from fedkg.common.one_line import line
from fedkg.config.settings import PathScore
from fedkg.core.choice import Choice, PromptCandidate
from fedkg.core.path_errors import PathFault
from fedkg.llm.base import Completion, Constraint, Message, Request
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.path_format import PathForm, key, sequences
from fedkg.reasoner.reply_parsing import Whole, chosen, extract, fit
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["ReasoningPathsCall", "written_freely"]

LONGEST = 200
"""Most characters of a hypothesis."""


class HypothesesReply(msgspec.Struct):
    """The picks of a model that writes paths, and behind each what it goes on to answer."""

    picks: list[Whole]
    answers: list[str] = []


class ReasoningPathsCall(PlannedCall[tuple[Choice, ...]], frozen=True):
    """Asks for at most `width` of these whole paths, those that lead to the answer, the best first.

    Where the model writes them `score` is what they are compared by, `examples` are shown first, and it goes on with
    its `answers` where these are wanted. What is written `freely` may be no path of these: then it is a choice without
    a number, with its fault. `chains`: each path is the only one with its relations, so that these alone are chosen.
    """

    name: ClassVar[str] = "reasoning-paths"

    paths: Sequence[PromptCandidate]
    width: int
    score: PathScore = "trie"
    freely: bool = False
    answers: bool = False
    examples: int = 0
    chains: bool = False

    @property
    def free(self) -> bool:
        """Whether nothing constrains the model."""
        return self.freely

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "plan": self.plan, "paths": self.paths, "width": self.width}

    def trivial(self) -> tuple[Choice, ...] | None:
        """Nothing where there is no path."""
        return None if self.paths else ()

    def adapted(self, template: "PromptTemplate") -> "PromptTemplate":
        """The template whose schema lists the numbers of the paths."""
        return replace(template, schema=_listing(template.schema, [path.number for path in self.paths]))

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Twice the paths that may be chosen: what is beyond is not read."""
        return {"picks": min(shown, 2 * self.width)}

    def constrained(self, form: PathForm) -> Request:
        """To write the paths, as a model was fine-tuned to, where it can write no others (GCR section 4.3, Eq. 6).

        Written freely they are as many as a beam search finds, or as the model gives.
        """
        topics = dict.fromkeys(path.start for path in self.paths)
        task = Message("user", form.asked(self.question, topics, self.examples))
        if self.freely:
            return Request(self.name, (task,), {}, beams=self.width)
        written = [form.named(path) for path in self.paths]
        texts, names = tuple(text for text, _ in written), tuple(places for _, places in written)
        answer = form.answer if self.answers else ""
        free = names if self.chains else ()
        constraint = Constraint(texts, self.width, form.start, form.end, self.score, answer, free)
        return Request(self.name, (task,), {}, constraint=constraint)

    def read_written(self, reply: Completion, form: PathForm) -> tuple[Choice, ...]:
        """The paths that were written, the likeliest first; those of no path with what is wrong with them."""
        return written_freely(reply.text, self.paths, form) if self.freely else self._decoded(extract(reply.text))

    def _decoded(self, reply: Mapping[str, object]) -> tuple[Choice, ...]:
        """The choices, each with its hypothesis where the reply has one."""
        choices = self.parse(reply, len(self.paths))
        answers = fit(reply, HypothesesReply)
        hypotheses = dict(zip(map(int, answers.picks), answers.answers, strict=False))
        return tuple(Choice(choice.number, str(line(hypotheses.get(choice.number, ""), LONGEST))) for choice in choices)

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[Choice, ...]:
        """The choices, the best first."""
        return chosen(reply, self.paths[:shown], self.width)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ReasoningPathsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.offered), sketch.width)


def written_freely(text: str, paths: Sequence[PromptCandidate], form: PathForm) -> tuple[Choice, ...]:
    """The paths in a model's own words; a reply without any has one error of format."""
    numbers = {key(form.written(path)): path.number for path in reversed(paths)}
    known = {key(name) for path in paths for name in form.relations_of(form.written(path)) or ()}
    return tuple(
        Choice(numbers.get(key(path), 0), fault=None if key(path) in numbers else _fault(path, known, form))
        for sequence in sequences(text)
        for path in form.paths(sequence) or [""]
    )


def _fault(path: str, known: set[str], form: PathForm) -> PathFault:
    """What is wrong with a written path that is none of those within reach."""
    relations = form.relations_of(path)
    if relations is None:
        return "format errors"
    return "steps not in the graph" if known >= set(map(key, relations)) else "relations not in the graph"


def _listing(schema: Mapping[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """The schema of a reply with picks, which can be these numbers only."""
    listing = {"type": "array", "items": {"type": "integer", "enum": list(numbers)}}
    return {**schema, "properties": {**schema["properties"], "picks": listing}}
