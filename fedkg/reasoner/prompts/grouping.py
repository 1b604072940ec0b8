"""Offers under the path that they extend, so that a prompt writes it once."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fedkg.core.choice import PromptCandidate

__all__ = ["OfferGroup", "by_path"]


KEPT = re.compile(r"path \d+", re.IGNORECASE)


class OfferGroup(NamedTuple):
    """Offers with one `heading`, what comes before their last steps; "" for one that is written as a whole."""

    heading: str
    offers: tuple[PromptCandidate, ...]


def by_path(offers: Sequence[PromptCandidate], kept: Sequence[PromptCandidate]) -> list[OfferGroup]:
    """First those that extend a kept path, in the order of these, then the others, by the first offer of each path."""
    beyond: dict[int, list[PromptCandidate]] = {path.number: [] for path in kept}
    others: dict[str, list[PromptCandidate]] = {}
    for offer in offers:
        if not offer.beyond:
            others.setdefault(offer.stem, []).append(offer)
        elif offer.beyond in beyond:
            beyond[offer.beyond].append(offer)
    groups = [OfferGroup(f"path {number}", tuple(group)) for number, group in beyond.items() if group]
    return groups + [
        OfferGroup(_heading(stem) if len(group) > 1 else "", tuple(group)) for stem, group in others.items()
    ]


def _heading(stem: str) -> str:
    """What stands before the last steps; in quotes where an entity is called as the kept paths are."""
    return f'"{stem}"' if KEPT.fullmatch(stem) else stem
