"""Whole paths that lead to the answer, written or chosen by a model constrained to them (GCR section 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from fedkg.config.settings import PathScore
from fedkg.core.choice import Choice, PromptCandidate
from fedkg.llm.base import Constraint, Message, Request
from fedkg.reasoner import path_format
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import chosen
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["ReasoningPathsCall"]


class ReasoningPathsCall(PlannedCall[tuple[Choice, ...]], frozen=True):
    """Asks for at most `width` of these whole paths, those that lead to the answer, the best first.

    `score` is what they are compared by where the model writes them.
    """

    name: ClassVar[str] = "reasoning-paths"

    paths: Sequence[PromptCandidate]
    width: int
    score: PathScore = "trie"

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

    def constrained(self) -> Request:
        """To write the paths, as a model was fine-tuned to, when it can write no others (GCR section 4.3, Eq. 6)."""
        topics = dict.fromkeys(path.start for path in self.paths)
        texts = tuple(path.text for path in self.paths)
        constraint = Constraint(texts, self.width, path_format.START, path_format.END, self.score)
        task = Message("user", path_format.prompt("gcr", self.question, topics))
        return Request(self.name, (task,), {}, constraint=constraint)

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[Choice, ...]:
        """The choices, the best first."""
        return chosen(reply, self.paths[:shown], self.width)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ReasoningPathsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.offered), sketch.width)


def _listing(schema: Mapping[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """The schema of a reply with picks, which can be these numbers only."""
    listing = {"type": "array", "items": {"type": "integer", "enum": list(numbers)}}
    return {**schema, "properties": {**schema["properties"], "picks": listing}}
