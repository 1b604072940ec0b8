"""What a question says that no chain of relations answers to: negations, ranks, comparisons, the sex of what is sought.

`local` reads over such words, so an answer to a question that has one is a guess. The words are data
(`common/english.toml`); one that is part of a relation's or a topic's name is read.
"""

import functools
import re
from collections.abc import Iterable, Sequence

from fedkg.common.english import english, wordings
from fedkg.common.normalize import normalized_answer, without
from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.likeness import covered
from fedkg.reasoner.local.wording import kind_noun, small

__all__ = ["unread"]

WORD = re.compile(r"[^\W_]+(?:['’]t\b)?")
HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
HOW_MANY_PEOPLE = re.compile(r"\bhow many (?:people|persons|inhabitants|residents)\b", re.IGNORECASE)
HOW_OLD = re.compile(r"\bhow old\b", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?[\d.,]+")
AGE = re.compile(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?")
"""A number that is no year."""


def unread(question: str, paths: Sequence[PromptCandidate], taken: Sequence[PromptCandidate], *, counted: bool) -> str:
    """What makes the answer by the `taken` paths a guess, as a clause; "" for nothing.

    `paths` are all that were offered, `counted` tells whether the ends are counted.
    """
    rest = _unnamed(question, paths, taken)
    words = [word for word in WORD.findall(rest.lower()) if _unread(word, taken)]
    words += [word for path in taken for word in _beside(question, path)]
    if HOW_MANY.search(rest) and not (counted or _numbers(taken)):
        words.append("how many")
    if HOW_OLD.search(rest) and not _ages(taken):  # dates of birth or death, from which no age is worked out
        words.append("how old")
    if words:
        listed = ", ".join(f"'{word}'" for word in dict.fromkeys(words))
        return f"the question says {listed}, which local does not read"
    if counted and HOW_MANY_PEOPLE.search(question) and any(path.directions[-1:] == ("in",) for path in taken):
        return "those are counted whom the graph names, which are seldom all people"
    return "the answer is the topic of the question itself" if any(map(_circular, taken)) else ""


def _unnamed(question: str, paths: Iterable[PromptCandidate], taken: Iterable[PromptCandidate]) -> str:
    """The question without the names of its topics, and of the ends."""
    topics = {name for path in paths for other in (path, *path.also) for name in (other.topic, other.start)}
    names = topics.union(*(path.tails for path in taken))
    return functools.reduce(without, sorted(names, key=len, reverse=True), question)


def _unread(word: str, taken: Sequence[PromptCandidate]) -> bool:
    """Whether the word, in small letters, is one that no chain answers to, and no relation's name has it."""
    lists = english()
    if word in lists.sexed:
        return not lists.sexed[word] & _named(taken)
    if word in lists.unread:
        return word not in _named(taken) | _worded(taken)
    return word.endswith(("n't", "n’t"))


def _relations(taken: Iterable[PromptCandidate]) -> list[str]:
    return [name for path in taken for other in (path, *path.also) for name in (*other.relations, *other.typed)]


def _named(taken: Iterable[PromptCandidate]) -> set[str]:
    """The words of the relations' names."""
    return {word for name in _relations(taken) for word in WORD.findall(name.lower().replace("_", " "))}


def _worded(taken: Iterable[PromptCandidate]) -> set[str]:
    """The words by which people ask for the relations."""
    return {word for name in _relations(taken) for text in wordings(name) for word in text.split()}


def _beside(question: str, path: PromptCandidate) -> list[str]:
    """The word between an article and the topic, "the fake X", where it names no kind and no relation says it."""
    match = re.search(rf"\b(?:the|an?) ([\w-]+) {re.escape(path.topic)}(?!\w)", question, re.IGNORECASE)
    word = match.group(1).lower() if path.topic and match else ""
    read = not word or small(word) or kind_noun(word) or any(covered(word, name)[0] for name in path.relations)
    return [] if read else [word]


def _numbers(taken: Iterable[PromptCandidate]) -> bool:
    return all(NUMBER.fullmatch(tail) for path in taken for tail in path.tails)


def _ages(taken: Iterable[PromptCandidate]) -> bool:
    return all(AGE.fullmatch(tail) for path in taken for tail in path.tails)


def _circular(path: PromptCandidate) -> bool:
    """Whether the path ends where it starts."""
    start = normalized_answer(path.start or path.topic)
    return any(normalized_answer(tail) == start for tail in path.tails)
