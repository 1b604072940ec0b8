"""The plan of a question: keywords, steps, declarative statement, kind and mentions (FiDeLiS v4, appendix C.1)."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from fedkg.common.one_line import line
from fedkg.common.tokens import estimate
from fedkg.core.question import FEWEST_OPTIONS, MOST_OPTIONS, Kind, Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import Call
from fedkg.reasoner.reply_parsing import YES_NO, fit, texts
from fedkg.reasoner.sketch import WalkSketch

if TYPE_CHECKING:
    from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["HOLE", "STATEMENT", "PlanCall"]

# bounds on what a reply may bring in; all far above what a sensible reply holds
KEYWORDS, STEPS, MENTIONS = 30, 12, 20
KEYWORD_TOKENS, STEP_TOKENS, WORDING, LISTING = 60, 120, 40, 20
"""Tokens beyond those of the question that keywords, steps, statement, and what is copied from it take together."""
STATEMENT = "declarative_statement"
"""The key of the reply that verifiers alone need."""
HOLE = "*placeholder*"
"""Where the answer goes in a statement."""
# bounded as well: of a hundred thousand stars each would be tried as the first one
PLACEHOLDER = re.compile(r"[*\[<{]{0,4}\bplaceholder\b[*\]>}]{0,4}", re.IGNORECASE)


class PlanReply(msgspec.Struct):
    """The reply to `plan`."""

    keywords: list[Any]
    kind: Kind
    declarative_statement: str = ""
    planning_steps: list[Any] = []
    mentions: list[Any] = []
    options: list[Any] = []


class PlanCall(Call[Plan], frozen=True):
    """Asks for the plan of a question.

    The caller may give the kind, and the options of a choice; else the model finds them out. `known` are further keys
    of the reply that it is not asked for, since they are known or nothing needs them.
    """

    name: ClassVar[str] = "plan"

    kind: Kind | None = None
    options: Sequence[str] = ()
    known: frozenset[str] = frozenset()

    @property
    def prompt_kind(self) -> Kind | None:
        """The kind that was given."""
        return self.kind

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "kind": self.kind, "options": self.options}

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Keywords and steps of a long question; what is copied from it is as long as it is."""
        asked = estimate(" ".join([self.question, *self.options]))
        texts = {"keywords": KEYWORD_TOKENS + asked, "planning_steps": STEP_TOKENS + 2 * asked}
        return {**texts, STATEMENT: WORDING + 2 * asked, "mentions": LISTING + asked, "options": LISTING + asked}

    def adapted(self, template: "PromptTemplate") -> "PromptTemplate":
        """The template that asks for what is not known."""
        return template.without(self.known) if self.known else template

    def parse(self, reply: Mapping[str, object], shown: int) -> Plan:
        """The plan, of the kind and with the options that were given; only what was asked is a mention or an option."""
        read = fit({**reply, "kind": self.kind} if self.kind else reply, PlanReply)
        keywords = texts(read.keywords, KEYWORDS)
        if not keywords:
            raise ModelReplyError("it has no keywords")
        copied = _options(read.options, self.question) if read.kind == "choice" and not self.options else ()
        return Plan(
            keywords=keywords,
            steps=texts(read.planning_steps, STEPS),
            statement="" if STATEMENT in self.known else _statement(read.declarative_statement, read.kind),
            kind=read.kind,
            mentions=_mentions(read.mentions, " ".join([self.question, *self.options])),
            options=tuple(self.options) or copied,
        )

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "PlanCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.kind, sketch.options)


def _statement(text: str, kind: Kind) -> str:
    """The statement with its placeholder; one without would carry the model's own answer into the verification."""
    statement = PLACEHOLDER.sub(HOLE, text)
    if kind not in YES_NO and HOLE not in statement:
        raise ModelReplyError("its declarative_statement lacks the text *placeholder* where the answer goes")
    return str(line(statement, 4_000))


def _mentions(listed: list[Any], question: str) -> tuple[str, ...]:
    """What the question really names: a mention from elsewhere would start the search at the model's own guess.

    Where nothing is left the names are looked for among the question's words: no reason to lose the rest of the plan.
    """
    return _copied(listed, question)[:MENTIONS]


def _options(listed: list[Any], question: str) -> tuple[str, ...]:
    """The options that stand in the question."""
    options = _copied(listed, question)
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise ModelReplyError("its options are not two or more that are copied from the question")
    return options


def _copied(listed: list[Any], source: str) -> tuple[str, ...]:
    """Those of the listed texts that the source has, whatever their case, each once."""
    asked = " ".join(source.split()).casefold()
    texts = (" ".join(item.split()) for item in listed if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in texts if text and text.casefold() in asked))
