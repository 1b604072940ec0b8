"""What a question calls a topic that it does not call by its label: "picasso" for Pablo Picasso."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from fedkg.common.english import everyday
from fedkg.common.normalize import mentioned
from fedkg.core.choice import PromptCandidate

__all__ = ["as_named", "mention"]

WORD = re.compile(r"[\w.-]*\w")


def as_named(question: str, candidates: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """The candidates with their topics as the question names them."""
    return [_named(question, candidate) for candidate in candidates]


def _named(question: str, candidate: PromptCandidate) -> PromptCandidate:
    topic, also = mention(question, candidate.topic), tuple(as_named(question, candidate.also))
    if topic == candidate.topic and also == candidate.also:
        return candidate
    return msgspec.structs.replace(candidate, topic=topic, also=also)


@lru_cache(maxsize=1 << 12)
def mention(question: str, topic: str) -> str:
    """The topic as it stands in the question: in whole, else the most words of its name in a row.

    The topic itself where there are none, or only everyday words: "university" is no mention of a University of Oxford.
    """
    if not topic.strip() or mentioned(question, topic):
        return topic
    spans, name = [match.span() for match in WORD.finditer(question)], WORD.findall(topic.lower())
    asked = [question[start:end].lower() for start, end in spans]
    runs = [run for run in _runs(asked, name) if not all(map(everyday, asked[run[0] : run[1]]))]
    start, end = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    return question[spans[start][0] : spans[end - 1][1]] if end else topic


def _runs(asked: Sequence[str], name: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From where to before which word of the question a run of the name's words stands in it."""
    for start in range(len(asked)):
        for first in range(len(name)):
            size = 0
            while asked[start + size : start + size + 1] == name[first + size : first + size + 1] != []:
                size += 1
            if size:
                yield start, start + size
