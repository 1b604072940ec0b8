"""Questions of yes or no that name two things and no relation: "Was X in Y?" is so where the graph connects the two."""

import functools
import re
from collections.abc import Sequence

from fedkg.common.normalize import STOP_WORDS, without
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import guessed

__all__ = ["connecting"]

WORD = re.compile(r"[^\W_]+")
SAYS = frozenset({"by", "why", "how", "when", "where"})
"""Small words that ask for more than a connection: "was X by Y" asks who made it."""
GOING = frozenset({"go", "goes", "went", "gone", "ever", "there"})
PAIR = 2


def connecting(question: str, paths: Sequence[PromptCandidate]) -> list[int]:
    """The places of the paths that lead in one step from one of two topics to the other, the first topic's first.

    None where the question is none of yes or no, or says more than small words: which relation is meant is left open.
    """
    topics = sorted(dict.fromkeys(path.topic for path in paths), key=lambda topic: _place(topic, question))
    if len(topics) != PAIR or guessed(question) != "yesno" or not _bare(question, topics):
        return []
    joined = [place for place, path in enumerate(paths) if _joins(path, paths)]
    return sorted(joined, key=lambda place: topics.index(paths[place].topic))


def _place(topic: str, question: str) -> int:
    return question.casefold().find(topic.casefold())


def _bare(question: str, topics: Sequence[str]) -> bool:
    """Whether the question has nothing but small words beside its topics."""
    words = WORD.findall(functools.reduce(without, topics, question).lower())
    return all(word in (STOP_WORDS | GOING) - SAYS for word in words)


def _joins(path: PromptCandidate, paths: Sequence[PromptCandidate]) -> bool:
    """Whether the path is one step to the other topic."""
    others = {other.start for other in paths if other.topic != path.topic}
    return len(path.relations) == 1 and not path.also and any(tail in others for tail in path.tails)
