"""Names that are written otherwise than the graph writes them: misspelled, or initials in small letters."""

from collections.abc import Sequence

import msgspec

from fedkg.common.english import everyday
from fedkg.core.question import Match
from fedkg.engine.mentions import ALIAS
from fedkg.engine.names import common
from fedkg.graph.base import Graph

__all__ = ["spelled", "word_alone"]

CANDIDATES = 5
MISSPELLED, MOST_MISSPELLED = 0.7, 0.79
"""Least score of a label that a name may be a misspelling of: about seven letters of eight; and what it counts at most:
such a topic is linked loosely."""
APART = 0.03
"""By how much a label is to be more like the name than those of all other entities: nearer ones leave open who is
meant."""
SHORTEST_NAME, LONGEST_INITIALS = 4, 5


async def spelled(graph: Graph, name: str) -> Match | None:
    """The one entity whose label is spelled almost like the name; None where there is none, or several are.

    Of a name in small letters the last words may be what is asked about it: "reese witherspon husband". Raises
    EndpointError.
    """
    if initials := _initials(name):
        found = (await graph.search([initials], CANDIDATES)).get(initials, [])
        if found:
            return msgspec.structs.replace(found[0], mention=name)
    for form in _forms(name):
        if match := await _nearest(graph, form):
            return match
    return None


def word_alone(match: Match) -> bool:
    """Whether a misspelled word is no name but one by which questions ask for something: "langauge"."""
    return match.score < ALIAS and common(match.label)


def _initials(name: str) -> str:
    """The name as initials, "USSR" for "ussr"; "" where it can be none."""
    return name.upper() if name.isalpha() and name.islower() and 1 < len(name) <= LONGEST_INITIALS else ""


def _forms(name: str) -> list[str]:
    """The name, and in small letters without everyday words at its end."""
    forms, words = [name], name.split()
    while name.islower() and len(words) > 1 and everyday(words[-1]):
        words = words[:-1]
        forms.append(" ".join(words))
    return [form for form in forms if len(form) >= SHORTEST_NAME]


async def _nearest(graph: Graph, name: str) -> Match | None:
    looked_up = (await graph.lookup([name], CANDIDATES)).get(name, [])
    near = sorted((*looked_up, *await graph.nearest(name)), key=lambda match: -match.score)
    near = [match for match in near if match.score >= MISSPELLED and _figures(match.label) == _figures(name)]
    if not near or _unclear(near):
        return None
    return msgspec.structs.replace(near[0], mention=name, score=min(near[0].score, MOST_MISSPELLED))


def _unclear(near: Sequence[Match]) -> bool:
    """Whether entities of other names are as good as the best."""
    best = near[0]
    return any(
        match.label.casefold() != best.label.casefold() and match.score > best.score - APART for match in near[1:]
    )


def _figures(text: str) -> list[str]:
    """The figures in a text: who asks for "Iron Man 4" does not mean the third."""
    return [char for char in text if char.isdigit()]
