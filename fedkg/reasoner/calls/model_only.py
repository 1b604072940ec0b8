"""The answer from a model's memory, without a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from fedkg.core.choice import ModelOnlyAnswer
from fedkg.core.question import Kind, Plan, Style, guessed
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import Call
from fedkg.reasoner.reply_parsing import YES_NO, fit, option, texts, verdict
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["ModelOnlyCall"]

ANSWERS = 50
"""Most answers that are taken: far more than a sensible reply holds."""
THOUGHTS, SENTENCES, LISTED = 1_000, 300, 400
"""Tokens of a reply: of its reasoning in the style `cot`, in another one, and of its answers together."""


class ModelOnlyReply(msgspec.Struct):
    """The reply to `model-only`, where it is no verdict or option; its reasoning is not read."""

    answers: list[Any]


class ModelOnlyCall(Call[ModelOnlyAnswer], frozen=True):
    """Asks for the model's own answer; each `sample` from 1 on is another one (`Request.sample`).

    `few-shot` shows examples, `cot` lets the model think first.
    """

    name: ClassVar[str] = "model-only"

    kind: Kind
    options: Sequence[str] = ()
    style: Style = "io"
    sample: int = 0

    @property
    def prompt_kind(self) -> Kind | None:
        """The kind of the question."""
        return self.kind

    @property
    def sample_number(self) -> int:
        """The sample that is wanted."""
        return self.sample

    def values(self) -> dict[str, object]:
        """What the template is given."""
        plan = Plan((), kind=self.kind, options=tuple(self.options))
        return {"question": self.question, "plan": plan, "style": self.style}

    def adapted(self, template: "PromptTemplate") -> "PromptTemplate":
        """The template without its examples, unless these are what is wanted."""
        return template if self.style == "few-shot" else replace(template, examples=())

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Some paragraphs of reasoning where the model is to think first, else some sentences; many answers."""
        return {"reasoning": THOUGHTS if self.style == "cot" else SENTENCES, "answers": LISTED}

    def parse(self, reply: Mapping[str, object], shown: int) -> ModelOnlyAnswer:
        """The answer, by the kind of question; an empty one where the model does not know."""
        if self.kind in YES_NO:
            return ModelOnlyAnswer(verdict=verdict(_value(reply, "verdict")))
        if self.kind == "choice":
            return ModelOnlyAnswer(option=option(_value(reply, "option"), self.options))
        answers = fit(reply, ModelOnlyReply).answers
        # a count may come as a number
        values = texts([str(item) if type(item) is int else item for item in answers], ANSWERS)
        if answers and not values:
            raise ModelReplyError("none of its answers is a text")
        return ModelOnlyAnswer(values)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ModelOnlyCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.kind or guessed(sketch.question), sketch.options)


def _value(reply: Mapping[str, object], key: str) -> object:
    if key not in reply:
        raise ModelReplyError(f"it has no {key}")
    return reply[key]
