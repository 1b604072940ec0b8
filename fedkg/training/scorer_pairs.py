"""What a scorer is shown: a question's words, the chain that says the same, and chains of the same topic that do not.

As it is used, so it is trained (`fedkg.reasoner.local.trained`): the whole question against whole chains, and against
chains that are still to be gone on with.
"""

import hashlib
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from fedkg.core.terms import OPPOSITE
from fedkg.reasoner.local.chain_texts import NamedStep, chain_text, masked
from fedkg.training.chain_records import ChainRecord

__all__ = ["NEGATIVES", "ScorerPair", "hard_negatives", "held_out", "pairs", "rivals"]

NEGATIVES = 4
"""Chains of the same topic that a question is shown beside the right one."""
Chain = tuple[NamedStep, ...]


class ScorerPair(msgspec.Struct, frozen=True):
    """One example: the anchor is to be more like the positive than like each of the negatives."""

    anchor: str
    positive: str
    negatives: tuple[str, ...]


def held_out(record: ChainRecord, share: float, seed: int) -> bool:
    """Whether the question is not trained on: all questions about one entity are, or are not."""
    return drawn_out(record.entity or record.id, share, seed)


def drawn_out(entity: str, share: float, seed: int) -> bool:
    """Whether that entity is one of the `share` that questions are not trained on, whatever the others are."""
    digest = hashlib.sha256(f"{seed} {entity}".encode()).digest()
    return int.from_bytes(digest[:4]) < share * (1 << 32)


def pairs(record: ChainRecord, draw: random.Random, number: int = NEGATIVES) -> Iterator[ScorerPair]:
    """The examples of one question, each with so many negatives, which `draw` chooses."""
    anchor, chain = masked(record.question, record.topic), record.chain
    yield _pair(anchor, chain_text(chain), rivals(record), draw, number)
    for length in range(1, len(chain)):
        others = _unlike(record, _open_rivals(record, length), chain_text(chain[:length], goes_on=True))
        yield _pair(anchor, chain_text(chain[:length], goes_on=True), [others], draw, number)


def rivals(record: ChainRecord) -> list[list[str]]:
    """Chains of the same topic that do not say the question, by what is wrong with them.

    A relation that is another one, the last or one before it; what ends too early; what ends too late; and the chain
    itself with the mark of one that goes on.
    """
    chain, offers = record.chain, record.offers
    last = len(chain) - 1
    changed = [_changed(chain, offers[place], place) for place in range(last + 1)]
    early = [chain_text(chain[:length]) for length in range(1, len(chain))]
    late = [chain_text((*chain, step)) for step in offers[-1]]
    kinds = [changed[last], [*itertools.chain(*changed[:last])], early, late, [chain_text(chain, goes_on=True)]]
    return [kept for kind in kinds if (kept := _unlike(record, kind, chain_text(chain)))]


def _changed(chain: Chain, offers: Sequence[NamedStep], place: int) -> list[str]:
    """The chain with each of the other offers in that place, and with its relation walked the other way."""
    name, direction = chain[place]
    steps = [step for step in (*offers, (name, OPPOSITE[direction])) if step != chain[place]]
    return [chain_text((*chain[:place], step, *chain[place + 1 :])) for step in steps]


def _open_rivals(record: ChainRecord, length: int) -> list[str]:
    """What a walk may take for the beginning of that length: others of it, and the beginning as a whole chain."""
    chain = record.chain
    steps = [step for step in record.offers[length - 1] if step != chain[length - 1]]
    others = [chain_text((*chain[: length - 1], step), goes_on=True) for step in steps]
    return [*others, chain_text(chain[:length])]


def _unlike(record: ChainRecord, texts: Iterable[str], positive: str) -> list[str]:
    """The texts without those of chains that lead to the same answers."""
    right = {positive, *map(chain_text, record.also)}
    return [text for text in dict.fromkeys(texts) if text not in right]


def hard_negatives(kinds: Sequence[Sequence[str]], draw: random.Random, number: int) -> tuple[str, ...]:
    """So many of the texts, drawn from each kind in turn, in any order; where there are fewer, some stand twice."""
    shuffled = [draw.sample(list(kind), len(kind)) for kind in draw.sample(list(kinds), len(kinds))]
    turns = (text for turn in itertools.zip_longest(*shuffled) for text in turn if text is not None)
    return tuple(itertools.islice(itertools.cycle(dict.fromkeys(turns)), number))


def _pair(anchor: str, positive: str, kinds: Sequence[Sequence[str]], draw: random.Random, number: int) -> ScorerPair:
    return ScorerPair(anchor, positive, hard_negatives(kinds, draw, number))
