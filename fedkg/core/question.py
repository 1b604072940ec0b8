"""What may be asked: the question, its kind and its options, each in one line, refused before anybody is asked."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from fedkg.core.terms import Iri
from fedkg.errors import QuestionError

__all__ = [
    "FEWEST_OPTIONS",
    "JUDGED",
    "LONGEST_OPTION",
    "LONGEST_QUESTION",
    "MOST_OPTIONS",
    "Kind",
    "Match",
    "Mention",
    "Plan",
    "Style",
    "check_options",
    "check_question",
    "evident",
    "guessed",
]

Kind = Literal["entities", "literal", "count", "yesno", "claim", "choice"]
Style = Literal["io", "few-shot", "cot"]
"""How a model is asked without a graph: for the answer alone, with examples, or to think before it answers."""
JUDGED: frozenset[Kind] = frozenset({"yesno", "claim", "choice"})
"""Kinds whose answer is a judgement on several paths together, yes, no or an option, and not the end of a path."""


class Match(msgspec.Struct, frozen=True):
    """An entity that a text may mean.

    `score` in 0..1: 1.0 for an exact label, at least 0.8 for another spelling and an alias, less for a name that is
    only like the text. `description` and `type` say in words what it is, where that is known; `mention` is the
    question's own words.
    """

    iri: Iri
    label: str
    score: float
    description: str = ""
    mention: str = ""
    type: str = ""


class Plan(msgspec.Struct, frozen=True):
    """What the plan call returns (FiDeLiS v4, appendix C.1): keywords K, steps w, the declarative statement q'.

    `statement` keeps the text *placeholder* where the answer goes; `mentions` are the entities that the question names;
    `options` are what a question of the kind `choice` offers, in its order.
    """

    keywords: tuple[str, ...]
    steps: tuple[str, ...] = ()
    statement: str = ""
    kind: Kind = "entities"
    mentions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Mention(msgspec.Struct, frozen=True):
    """A name in a question, and the entities that are called so, the best first."""

    text: str
    matches: tuple[Match, ...]


LONGEST_QUESTION = 4_000
"""Characters; cases that end in a question, as in medical examinations, have up to 2,700."""
LONGEST_OPTION = 500
FEWEST_OPTIONS, MOST_OPTIONS = 2, 20
"""How many options a multiple choice has."""
# "can you name …" asks for names
YES_NO = re.compile(
    r"\s*(?!(can|could|would|will) you)(is|are|was|were|did|does|do|has|have|had|can|could|will|would)\b", re.IGNORECASE
)
# a preposition may come before it: "In which city …"
ASKS = re.compile(r"\s*(?:\w{2,5} )?(who|whom|whose|what|which|when|where|how)\b", re.IGNORECASE)
OR = re.compile(r"\bor\b", re.IGNORECASE)
COUNT = re.compile(r"\s*(?:\w{2,5} )?how many\b", re.IGNORECASE)
LITERAL = re.compile(r"\s*(when|how (tall|high|long|old|far|large|big|much))\b", re.IGNORECASE)


def check_question(question: str) -> str:
    """The question in one line. Raises QuestionError where it is empty or no question of this length is one."""
    text = " ".join(question.split())
    if not text:
        raise QuestionError("the question is empty")
    if not _is_text(text):
        raise QuestionError("the question holds bytes that are no UTF-8 text")
    if len(text) > LONGEST_QUESTION:
        raise QuestionError(f"the question has {len(text):,} characters; at most {LONGEST_QUESTION:,} are taken")
    return text


def guessed(question: str) -> Kind:
    """The kind of a question by its first words, where no model is asked: entities, literal, count or yesno."""
    if COUNT.match(question):
        return "count"
    if YES_NO.match(question):
        return "yesno"
    return "literal" if LITERAL.match(question) else "entities"


def evident(question: str) -> Kind | None:
    """The kind of a question whose first words leave no doubt of it; None for claims, requests and choices."""
    return guessed(question) if (ASKS.match(question) or YES_NO.match(question)) and not OR.search(question) else None


def check_options(kind: Kind | None, options: str | Sequence[str]) -> tuple[Kind | None, tuple[str, ...]]:
    """The kind and the options, each in one line; options make a choice. Raises QuestionError where they do not fit."""
    if kind is not None and kind not in get_args(Kind):
        raise QuestionError(f"no kind of question is called {kind!r}", hint=f"kinds: {', '.join(get_args(Kind))}")
    if not options:
        return kind, ()
    if kind not in (None, "choice"):
        raise QuestionError(f"a question of the kind {kind} has no options", hint="options are those of a choice")
    # a single text is one option, and not as many as it has letters
    given = [options] if isinstance(options, str) else options
    lines = tuple(" ".join(option.split()) for option in given)
    if fault := _fault(lines):
        raise QuestionError(fault, hint=f"give {FEWEST_OPTIONS} to {MOST_OPTIONS} different options")
    return "choice", lines


def _fault(options: Sequence[str]) -> str:
    """What is wrong with the options; empty where nothing is."""
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        return f"{len(options)} {'option is' if len(options) == 1 else 'options are'} no choice"
    if not all(options):
        return "an option is empty"
    if not all(map(_is_text, options)):
        return "an option holds bytes that are no UTF-8 text"
    if len({option.casefold() for option in options}) < len(options):
        return "an option is given twice"
    longest = max(map(len, options))
    if longest > LONGEST_OPTION:
        return f"an option has {longest:,} characters; at most {LONGEST_OPTION:,} are taken"
    return ""


def _is_text(text: str) -> bool:
    """Whether the text has a form in UTF-8: bytes of a command line that are none have become halves of characters."""
    return text == text.encode("utf-8", "replace").decode("utf-8")
