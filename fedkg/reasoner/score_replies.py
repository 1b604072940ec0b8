"""What the replies become that weigh what was offered: links, adequacy, scores and weighted relation paths."""

import contextlib
import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from fedkg.core.choice import PromptCandidate, RelationPath
from fedkg.core.question import Mention
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Completion, Token
from fedkg.reasoner.reply_parsing import Flag, Numbered, Share, Whole, entries, extract, fit, flag, renamed

__all__ = ["adequate", "deducible", "links", "probability", "relation_paths", "scored"]

DEDUCIBLE = re.compile(r'"deducible"\s*:\s*"?(?P<said>\w+)')
NO_LETTERS = re.compile(r"[^a-z]")


class LinkedMention(Numbered):
    """A mention with the candidate that it means, 0 for none."""

    candidate: Whole


class ScoredCandidate(Numbered):
    """An offer with its score."""

    score: Share


class WeightedChain(msgspec.Struct):
    """A chain of relations with its weight."""

    relations: list[Whole]
    weight: Share


class LinksReply(msgspec.Struct):
    """The reply to `link`."""

    links: list[Any]


class AdequacyReply(msgspec.Struct):
    """The reply to `adequacy`."""

    adequate: Flag


class DeducibleReply(msgspec.Struct):
    """The reply to `deducible`."""

    deducible: Flag


class ScoresReply(msgspec.Struct):
    """The reply to `score-relations` and `score-entities`."""

    scores: list[Any]


class PlansReply(msgspec.Struct):
    """The reply to `relation-paths`."""

    plans: list[Any]


def links(reply: object, mentions: Sequence[Mention]) -> dict[str, int]:
    """The candidates of `link` by the mentions' texts; a candidate that a mention does not have is left out."""
    listed = entries(renamed(fit(reply, LinksReply).links, "mention"), LinkedMention, range(1, len(mentions) + 1))
    named = [(mentions[entry.number - 1], int(entry.candidate)) for entry in listed]
    meant = {mention.text: number for mention, number in named if 0 <= number <= len(mention.matches)}
    if listed and not meant:
        raise ModelReplyError("none of the candidates that it names was offered")
    return meant


def adequate(reply: object) -> bool:
    """The verdict of `adequacy`."""
    return bool(fit(reply, AdequacyReply).adequate)


def deducible(reply: object) -> bool:
    """What `deducible` says in words; how sure it is of that is its `probability`."""
    return bool(fit(reply, DeducibleReply).deducible)


def probability(reply: Completion) -> float:
    """The probability of yes in `deducible`, where its reply says yes or no: the softmax over the alternatives that are either.

    Raises ModelReplyError also where the reply came without its tokens.
    """
    deducible(extract(reply.text))
    said = [*DEDUCIBLE.finditer("".join(token.text for token in reply.spelled))]
    if not said:
        raise ModelReplyError("it came without the log-probabilities of its tokens")
    token = _token(reply.spelled, said[-1].start("said"))
    weights = {alike: weight for alike, weight in token.alternatives.items() if _verdict(alike) is not None}
    most = max(weights.values(), default=0.0)
    shares = {alike: math.exp(weight - most) for alike, weight in weights.items()}
    if not shares:
        raise ModelReplyError("the token of its verdict says neither yes nor no")
    return sum(share for alike, share in shares.items() if _verdict(alike)) / sum(shares.values())


def _token(spelled: Sequence[Token], place: int) -> Token:
    """The token that holds the character at that place."""
    ends = itertools.accumulate(len(token.text) for token in spelled)
    return next(token for token, end in zip(spelled, ends, strict=True) if place < end)


def _verdict(token: str) -> bool | None:
    """Yes or no, in whatever spelling and with whatever signs around; None for neither."""
    with contextlib.suppress(ValueError):
        return bool(flag(NO_LETTERS.sub("", token.lower())))
    return None


def scored(
    reply: object, offers: Sequence[PromptCandidate], shown: Sequence[PromptCandidate], key: str
) -> tuple[float, ...]:
    """The scores of the offers in their order, 0.0 for those that were not shown or that the reply leaves out.

    `key` is what the reply calls an offer.
    """
    listed = entries(renamed(fit(reply, ScoresReply).scores, key), ScoredCandidate, {offer.number for offer in shown})
    said = {int(entry.number): float(entry.score) for entry in listed}
    return tuple(said.get(offer.number, 0.0) for offer in offers)


def relation_paths(
    reply: object, relations: Sequence[PromptCandidate], depth: int, most: int
) -> tuple[RelationPath, ...]:
    """At most `most` chains of `relation-paths`, the heaviest first.

    A chain with a relation that was not offered, or with too many, is left out: what remains of it would lead elsewhere.
    """
    listed, known = fit(reply, PlansReply).plans, {relation.number for relation in relations}
    weights: dict[tuple[int, ...], float] = {}
    for item in listed:
        with contextlib.suppress(ModelReplyError):
            chain = fit(item, WeightedChain)
            numbers = tuple(int(number) for number in chain.relations)
            if 0 < len(numbers) <= depth and known.issuperset(numbers):
                weights[numbers] = max(float(chain.weight), weights.get(numbers, 0.0))
    if listed and not weights:
        raise ModelReplyError(
            f"none of its plans has a weight from 0 to 1 and 1 to {depth} relations that were offered"
        )
    best = sorted(weights, key=lambda numbers: -weights[numbers])[:most]
    return tuple(RelationPath(numbers, weights[numbers]) for numbers in best)
