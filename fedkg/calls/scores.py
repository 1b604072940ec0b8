"""What the replies become that weigh what was offered: links, adequacy, scores and weighted relation paths."""

import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from fedkg.calls.reading import Flag, Numbered, Share, Whole, entries, fit, renamed
from fedkg.errors import ModelReplyError
from fedkg.records import Mention, Offer, RelationPath

__all__ = ["adequate", "links", "relation_paths", "scored"]


class Linked(Numbered):
    """A mention with the candidate that it means, 0 for none."""

    candidate: Whole


class Scored(Numbered):
    """An offer with its score."""

    score: Share


class Weighted(msgspec.Struct):
    """A chain of relations with its weight."""

    relations: list[Whole]
    weight: Share


class LinksReply(msgspec.Struct):
    """The reply to `link`."""

    links: list[Any]


class AdequacyReply(msgspec.Struct):
    """The reply to `adequacy`."""

    adequate: Flag


class ScoresReply(msgspec.Struct):
    """The reply to `score-relations` and `score-entities`."""

    scores: list[Any]


class PlansReply(msgspec.Struct):
    """The reply to `relation-paths`."""

    plans: list[Any]


def links(reply: object, mentions: Sequence[Mention]) -> dict[str, int]:
    """The candidates of `link` by the mentions' texts; a candidate that a mention does not have is left out."""
    listed = entries(renamed(fit(reply, LinksReply).links, "mention"), Linked, range(1, len(mentions) + 1))
    named = [(mentions[entry.number - 1], int(entry.candidate)) for entry in listed]
    meant = {mention.text: number for mention, number in named if 0 <= number <= len(mention.matches)}
    if listed and not meant:
        raise ModelReplyError("none of the candidates that it names was offered")
    return meant


def adequate(reply: object) -> bool:
    """The verdict of `adequacy`."""
    return bool(fit(reply, AdequacyReply).adequate)


def scored(reply: object, offers: Sequence[Offer], shown: Sequence[Offer], key: str) -> tuple[float, ...]:
    """The scores of the offers in their order, 0.0 for those that were not shown or that the reply leaves out.

    `key` is what the reply calls an offer.
    """
    listed = entries(renamed(fit(reply, ScoresReply).scores, key), Scored, {offer.number for offer in shown})
    said = {int(entry.number): float(entry.score) for entry in listed}
    return tuple(said.get(offer.number, 0.0) for offer in offers)


def relation_paths(reply: object, relations: Sequence[Offer], depth: int, most: int) -> tuple[RelationPath, ...]:
    """At most `most` chains of `relation-paths`, the heaviest first.

    A chain with a relation that was not offered, or with too many, is left out: what remains of it would lead elsewhere.
    """
    listed, known = fit(reply, PlansReply).plans, {relation.number for relation in relations}
    weights: dict[tuple[int, ...], float] = {}
    for item in listed:
        with contextlib.suppress(ModelReplyError):
            chain = fit(item, Weighted)
            numbers = tuple(int(number) for number in chain.relations)
            if 0 < len(numbers) <= depth and known.issuperset(numbers):
                weights[numbers] = max(float(chain.weight), weights.get(numbers, 0.0))
    if listed and not weights:
        raise ModelReplyError(
            f"none of its plans has a weight from 0 to 1 and 1 to {depth} relations that were offered"
        )
    best = sorted(weights, key=lambda numbers: -weights[numbers])[:most]
    return tuple(RelationPath(numbers, weights[numbers]) for numbers in best)
