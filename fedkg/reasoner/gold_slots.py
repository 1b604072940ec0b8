"""The operation of a gold query in numbers of what is offered."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction
from fedkg.operators.values import read_words
from fedkg.reasoner.gold_chain import GoldChain, GoldSlots
from fedkg.reasoner.gold_view import steps_of

__all__ = ["mentions", "operate_reply"]

OWN_NAME = "label"
"""The relation by which a query has an entity's name, by its own name."""
MOST_WORDS = 4
"""Words of a question that are one value: "500 million US dollars"."""


def mentions(gold: GoldChain, question: str) -> list[str]:
    """The longest name of each topic of an operation that stands in the question; none of other questions."""
    chains = gold.operation.sets if gold.operation else ()
    standing = [[name for name in chain.starts if _stands(name, question)] for chain in chains]
    return list(dict.fromkeys(max(names, key=len) for names in standing if names))


def _stands(name: str, question: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE))


def operate_reply(
    slots: GoldSlots,
    question: str,
    paths: Sequence[PromptCandidate],
    relations: Sequence[PromptCandidate],
    *,
    named: bool = False,
) -> dict[str, Any]:
    """The reply to `operate`; one without sets, which computes nothing, where a slot is not offered.

    `named`: the ends' own names are offered, too.
    """
    pair = slots.result == "compare"
    sets = [_path(chain, paths, pair=pair) for chain in slots.sets]
    by = slots.sets[0].steps[-1] if pair else slots.by
    filters = [(_relation(bound.by, relations), bound) for bound in slots.filters]
    held = [number or (named and bound.by[0] == OWN_NAME) for number, bound in filters]
    wanted = [*sets, *held, *([_relation(by, relations)] if by else [])]
    if not all(wanted):
        return {"sets": []}
    return {
        "sets": sets,
        "combine": slots.combine,
        "filters": [
            {
                "relation": number,
                "comparison": bound.comparison,
                "values": [_words(value, question) for value in bound.values],
            }
            for number, bound in filters
        ],
        "result": slots.result,
        "relation": _relation(by, relations) if by else 0,
        "most": slots.most,
        "rank": slots.rank,
        "form": slots.form,
    }


def _path(chain: GoldChain, paths: Sequence[PromptCandidate], *, pair: bool) -> int:
    """The number of the path to the set; of a comparison that to what has the value. 0 for none."""
    steps = chain.steps[:-1] if pair else chain.steps
    return next((path.number for path in paths if steps_of(path) == steps and chain.starts_at(path.start)), 0)


def _relation(step: tuple[str, Direction], relations: Sequence[PromptCandidate]) -> int:
    """The number of the relation; 0 for none."""
    return next((each.number for each in relations if steps_of(each)[-1:] == (step,)), 0)


def _words(value: str, question: str) -> str:
    """The words of the question that name this value: "500 million" for 500000000; the value where none do."""
    if value.casefold() in question.casefold():
        return value
    wanted = read_words(value)
    return next((words for words in _spans(question) if read_words(words).low == wanted.low), value)


def _spans(question: str) -> Iterator[str]:
    """A few words of the question each, with a number at the front."""
    words = question.split()
    for start, word in enumerate(words):
        if any(letter.isdigit() for letter in word):
            yield from (" ".join(words[start:end]) for end in range(start + 1, start + MOST_WORDS + 1))
