"""How a trained scorer reads a question and a chain of relations: the texts that it was trained with."""

import itertools
import re
from collections.abc import Sequence

from fedkg.common.normalize import STOP_WORDS
from fedkg.core.terms import Direction
from fedkg.reasoner.local.chains import RelationChain, RelationName

__all__ = ["NamedStep", "chain_text", "full_name", "label_of", "masked", "steps"]

NamedStep = tuple[str, Direction]
"""A relation by its name, and which way it is walked."""
BRACKETS = re.compile(r" \([^()]*\)$")
WORD = re.compile(r"'s\b|[\w-]+")
TOPIC = "X"
"""What stands for the topic."""
AGAINST = "← "
"""Before a relation that is walked against its direction."""
GOES_ON = " …"
"""Behind a chain that is not at its end."""


def masked(question: str, topic: str) -> str:
    """The question in small letters with X in place of its topic, so that nothing is learned of single entities.

    Where the topic is called otherwise there, X stands for the most words in a row that its name has; where there are
    none, the question is as it is.
    """
    words = WORD.findall(question.replace("’", "'").lower())
    names = WORD.findall(topic.replace("’", "'").lower())
    start, end = _mention(words, names)
    return " ".join([*words[:start], *([TOPIC] if end > start else []), *words[end:]]).replace(" 's", "'s")


def _mention(words: Sequence[str], names: Sequence[str]) -> tuple[int, int]:
    """From which word to before which other the topic is mentioned; nothing where none of its content words is."""
    runs = [(start, start + _run(words[start:], names)) for start in range(len(words))]
    told = [(start, end) for start, end in runs if set(words[start:end]) - STOP_WORDS or words[start:end] == names]
    return max(told, key=lambda run: run[1] - run[0], default=(0, 0))


def _run(words: Sequence[str], names: Sequence[str]) -> int:
    """How many words from here on stand in the name in this order, in a row."""
    return max((_shared(words, names[start:]) for start in range(len(names))), default=0)


def _shared(words: Sequence[str], names: Sequence[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(words, names, strict=False)))


def steps(chain: RelationChain) -> tuple[NamedStep, ...]:
    """The relations of the chain by their full names, with their directions."""
    return tuple(zip(map(full_name, chain.names), chain.directions, strict=False))


def full_name(name: RelationName) -> str:
    """The label, and behind it in brackets what the whole name says beside it: `film (actor performance)`."""
    label, beside = name
    return f"{label} ({beside})" if beside else label


def label_of(name: str) -> str:
    """The name without what stands in brackets behind it."""
    return BRACKETS.sub("", name) or name


def chain_text(steps: Sequence[NamedStep], *, goes_on: bool = False) -> str:
    """The relations in a row, `directed by, ← starred actors`; `goes_on` marks a chain that leads on to the answer."""
    text = ", ".join((AGAINST if direction == "in" else "") + name for name, direction in steps)
    return text + GOES_ON if goes_on else text
