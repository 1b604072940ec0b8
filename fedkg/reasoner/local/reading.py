"""How well a question expresses a chain of relations: which of its words express which relation, in their order.

English names relations outwards from the entity, before it ("the A of the B of X") or after it ("X's B's A"). So the
question without its topic is read in the order of a walk, cut into as many spans as the chain has relations, and each
relation is compared with its own span; the best cut counts. Every word belongs to a span: what no relation says makes
its span less like the relation, which also tells how long the chain has to be.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fedkg.common.normalize import STOP_WORDS
from fedkg.embed.base import Matrix
from fedkg.reasoner.local.chains import RelationChain

__all__ = ["UNSAID", "Reading", "asks_time"]

AGAINST = 0.08
"""Taken off for each step against its direction: of two walks with one name, the straight one is more often meant."""
TURN, TURNED = 0.12, 0.2
"""Taken off for each turn back by the relation just walked; given for such a turn where the question says "the
same"."""
LONGER = 0.02
"""Taken off for each step after the first: of two walks that fit alike, the shorter one is meant."""
UNDATED = 0.12
"""Taken off where the question asks for a time and the ends are none, or the other way round."""
UNREAD = np.float32(-np.inf)
UNSAID = -1.0
"""The fit of a chain that has more relations than the question has words for."""
MOST_UNITS = 16
"""A longer question is read by twos or threes of its words: spans grow with the square."""

TOKEN = re.compile(r"'s\b|[\w-]+")
APPOSITION = re.compile(r"\b(?:the|an?) [\w-]+ $", re.IGNORECASE)  # "the film X": what X is, not what is asked of it
SAME = re.compile(r"\b(same|shares?|shared|also|both|together|co)\b", re.IGNORECASE)
TIME = re.compile(r"\b(when|years?|dates?)\b", re.IGNORECASE)
FIRST = frozenset("'s a an are did do does is of the was were".split())
"""Words that say nothing where a span begins with them."""


class Reading:
    """A question about one topic: its words in the orders in which a walk from there may meet them."""

    def __init__(self, question: str, topic: str) -> None:
        before, after = _around(question.replace("’", "'"), topic)
        self._rest = f"{before} {after}"
        orders = [_spans(_grouped(order)) for order in _orders(before, after)] or [{(0, 1): question}]
        self.spans = tuple(dict.fromkeys(text for order in orders for text in order.values()))
        places = {text: place for place, text in enumerate(self.spans)}
        self._orders = [_places(order, places) for order in orders]

    def bonus(self, chain: RelationChain) -> float:
        """What counts for or against a chain beside its words: turns, directions, length, and the kind of its ends."""
        turns = TURNED * bool(chain.turns) if SAME.search(self._rest) else -TURN * chain.turns
        unlike = chain.dated is not None and chain.dated != asks_time(self._rest)
        longer = len(chain.relations) - 1
        return turns - AGAINST * chain.against - UNDATED * unlike - LONGER * longer

    def fits(
        self, likeness: Mapping[str, Matrix], chains: Sequence[tuple[str, ...]], *, partly: bool = False
    ) -> list[float]:
        """How well each chain is expressed: the mean similarity of its relations to their spans, for the best cut.

        `likeness` has for each relation that of all `spans`. With `partly` words may be left over anywhere, and
        relations unsaid.
        """
        fit = dict.fromkeys(chains, UNSAID)
        for order in self._orders:
            tables = {relation: np.append(alike, UNREAD)[order] for relation, alike in likeness.items()}
            sums: dict[tuple[str, ...], Matrix] = {(): _start(len(order) - 1, partly=partly)}
            for chain in fit:
                best = float(_summed(sums, tables, chain, partly=partly)[-1]) / max(1, len(chain))
                fit[chain] = max(fit[chain], best)
        return [fit[chain] for chain in chains]


def asks_time(question: str) -> bool:
    """Whether the answer is a date."""
    return TIME.search(question) is not None


def _around(question: str, topic: str) -> tuple[str, str]:
    """The question before and after the mention of its topic; all of it is before where it is not mentioned."""
    name = topic.replace("’", "'").strip()
    mention = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE) if name else None
    return (APPOSITION.sub("", question[: mention.start()]), question[mention.end() :]) if mention else (question, "")


def _orders(before: str, after: str) -> list[list[tuple[int, str]]]:
    """The units in walking order, each with its place in the text: what is nearest to the topic comes first.

    After a possessive the walk goes on to the right; else it may begin on either side.
    """
    left = list(enumerate(_units(before)))[::-1]
    right = list(enumerate(_units(after), len(left)))
    orders = [right + left] if after.startswith("'s") else [left + right, right + left]
    return [list(order) for order in dict.fromkeys(map(tuple, orders)) if order]


def _units(text: str) -> list[str]:
    """The content words of a text, each with the small words before it; those at the end belong to the last one."""
    units: list[str] = []
    small: list[str] = []
    for word in TOKEN.findall(text.lower()):
        small.append(word)
        if word not in STOP_WORDS and word != "'s":
            units.append(" ".join(small))
            small = []
    return [*units[:-1], " ".join([*units[-1:], *small])] if units or small else []


def _grouped(order: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The units, neighbours as one where there are too many."""
    size = -(-len(order) // MOST_UNITS)
    groups = [sorted(order[start : start + size]) for start in range(0, len(order), size)]
    return [(group[0][0], " ".join(text for _, text in group)) for group in groups]


def _spans(order: Sequence[tuple[int, str]]) -> dict[tuple[int, int], str]:
    """The text from each unit of a walking order to before each later one, its words as they stand in the question."""
    ends = range(1, len(order) + 1)
    return {(start, end): _text(order[start:end]) for end in ends for start in range(end)}


def _places(spans: Mapping[tuple[int, int], str], places: Mapping[str, int]) -> NDArray[np.intp]:
    """The place of the span from unit i to before unit j, shape (units + 1, units + 1).

    The last one where there is none.
    """
    units = max(end for _, end in spans)
    table = np.full((units + 1, units + 1), -1)
    for cut, text in spans.items():
        table[cut] = places[text]
    return table


def _text(units: Sequence[tuple[int, str]]) -> str:
    words = " ".join(text for _, text in sorted(units)).split()
    begin = next((place for place, word in enumerate(words) if word not in FIRST), 0)
    # an "of" at the end leads to the topic: no step of its own
    return " ".join(words[begin:]).replace(" 's", "'s").removesuffix(" of")


def _start(units: int, *, partly: bool) -> Matrix:
    """The sums before the first relation: no word is said yet."""
    return np.array([0.0] + [0.0 if partly else -np.inf] * units, dtype=np.float32)


def _summed(
    sums: dict[tuple[str, ...], Matrix], tables: Mapping[str, Matrix], chain: tuple[str, ...], *, partly: bool
) -> Matrix:
    """For each number of units the most that the chain's relations are like spans of these; kept in `sums` by chain."""
    if chain not in sums:
        before = _summed(sums, tables, chain[:-1], partly=partly)
        best = (before[:, np.newaxis] + tables[chain[-1]]).max(axis=0)
        sums[chain] = np.maximum.accumulate(np.maximum(best, before)) if partly else best
    return sums[chain]
