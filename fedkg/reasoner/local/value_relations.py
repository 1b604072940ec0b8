"""Which of some relations holds a value that a question compares, by the names that its words tell."""

import re
from collections.abc import Sequence

from fedkg.common.english import roots
from fedkg.embed.bm25 import words

__all__ = ["holding"]

BRACKETS = re.compile(r" \([^()]*\)$")


def holding(names: Sequence[str], relations: Sequence[str]) -> int | None:
    """The place of the relation that is called so; None where none is.

    A relation may be called by one word more than the name: a "total area", an "area km²".
    """
    known = [_roots(relation) for relation in relations]
    for name in map(_roots, names):
        if name in known:
            return known.index(name)
    for name in map(_roots, names):
        longer = [place for place, each in enumerate(known) if name and name <= each and len(each) == len(name) + 1]
        if longer:
            return longer[0]
    return None


def _roots(name: str) -> frozenset[str]:
    return frozenset(roots(words(BRACKETS.sub("", name))))
