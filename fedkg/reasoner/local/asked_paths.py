"""The question that the paths of a question answer: without the words of what is computed over their ends."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Kind, guessed
from fedkg.reasoner.local.asking import asking
from fedkg.reasoner.local.chains import RelationChain, chain_of
from fedkg.reasoner.local.likeness import covered
from fedkg.reasoner.local.mention import as_named
from fedkg.reasoner.local.operation_reading import read
from fedkg.reasoner.local.operation_record import OperationReading
from fedkg.reasoner.local.spelling import spelled
from fedkg.reasoner.local.value_relations import holding

__all__ = ["AskedPaths", "asked_paths", "kind_asked"]

APART = re.compile(
    r"\bhow (?:many (?:years|months|weeks|days|hours|minutes|seconds|centimetres|centimeters|metres|meters|kilometres|"
    r"kilometers|miles|feet|kilograms|tonnes|tons|(?:square|cubic) [a-z]+|dollars|euros|inhabitants|people)|much)\b"
    r".*\b(?:than|between|before|after|separates?|apart)\b|\bdifference\b.*\bbetween\b",
    re.IGNORECASE,
)
COUNTED = re.compile(r"^(?:\w{2,4} )?how many\b|\bthe (?:total )?number of\b", re.IGNORECASE)
THERE_IS = re.compile(
    r"^(?:is|are) there (?:any(?:thing|one|body)\b(?! (?:called|named)\b)"
    r"|(?:any|some|an?) [a-z -]+? (?:i|you|we|one|he|she|they|people) (?:can|could|may|might|should)\b)",
    re.IGNORECASE,
)
"""It asks what there is, not whether."""
EITHER = re.compile(r"^(?:is|are|was|were)\b.*\bor\b.*\b\w+(?:er|est|first)\b", re.IGNORECASE)
IS = re.compile(r"\b(what|who|where|when|which|how)['’]s\b", re.IGNORECASE)
"""No possessive: "what's" is "what is"."""
COUNT = re.compile(r"\b(?:number of|count)\b", re.IGNORECASE)
NUMBER = re.compile(r"\+?[\d.,]+")
SAID = 0.9
"""Least share of a relation's name that words or wordings of the question say."""


class AskedPaths(NamedTuple):
    """The candidates with their topics as the question names them, and what is asked of their chains.

    `parts` are the words that are about each topic, where these are not all of `text`; `operation` is what was read out
    of the question, None where its paths answer it.
    """

    text: str
    candidates: tuple[PromptCandidate, ...]
    parts: Mapping[str, str]
    operation: OperationReading | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics as the question names them, each once."""
        return _topics(self.candidates)

    @property
    def chains(self) -> list[RelationChain]:
        """The chains of the candidates, from their topics as the question names them."""
        return list(map(chain_of, self.candidates))

    @property
    def compared_values(self) -> tuple[PromptCandidate, ...]:
        """Of a comparison the paths to the values of both topics; none where one of them has none."""
        if self.operation is None or not self.operation.pair:
            return ()
        sides = self.operation.sides(self.topics)
        values = [self.measured([path for path in self.candidates if path.topic in side]) for side in sides]
        return tuple(path for paths in values for path in paths) if all(values) else ()

    def measured(self, paths: Sequence[PromptCandidate]) -> list[PromptCandidate]:
        """The one of these paths that leads in one step to what the operation compares, if there is one."""
        names = self.operation.measure.names if self.operation else ()
        place = holding(names, [path.relations[-1] if len(path.relations) == 1 else "" for path in paths])
        return [] if place is None else [paths[place]]


def asked_paths(question: str, candidates: Sequence[PromptCandidate]) -> AskedPaths:
    """What is asked of the candidates; the question itself where no operator is read."""
    question = IS.sub(r"\1 is", question)
    shown = tuple(as_named(question, candidates))
    question = spelled(asking(question, _topics(shown)), _topics(shown))
    operation = read(question, _topics(shown))
    if operation is None or (operation.result == "count" and any(_states(question, path) for path in shown)):
        return AskedPaths(question, shown, {})
    if not operation.minus:
        return AskedPaths(operation.rest, shown, {}, operation)
    return AskedPaths(operation.rest, shown, _parts(operation, _topics(shown)), operation)


def kind_asked(question: str) -> Kind:
    """The kind of the question by its words: how many there are of something is counted, how many years are a value."""
    question = asking(question)
    if APART.search(question):
        return "literal"
    if COUNTED.search(question):
        return "count"
    kind = guessed(question)
    asks_which = EITHER.search(question) or THERE_IS.search(question)
    return "entities" if kind == "yesno" and asks_which else kind


def _states(question: str, path: PromptCandidate) -> bool:
    """Whether the path leads to the number that is asked for: the "students count" of "how many students"."""
    counted = COUNT.sub("", path.relations[-1]).strip() if path.relations and path.directions[-1:] == ("out",) else ""
    said = counted != "" and covered(question, counted)[1] >= SAID
    return said and bool(path.tails) and all(NUMBER.fullmatch(tail) for tail in path.tails)


def _parts(operation: OperationReading, topics: Sequence[str]) -> dict[str, str]:
    """The words about each topic: what is taken away is asked of the topics that it names."""
    minus = operation.minus.casefold()
    return {topic: operation.minus if topic.casefold() in minus else operation.rest for topic in topics}


def _topics(candidates: Sequence[PromptCandidate]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other.topic for each in candidates for other in (each, *each.also)))
