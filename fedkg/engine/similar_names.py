"""Names that nothing is called: entities whose label means the same, among the labels that earlier walks have shown.

The labels only suggest a name; which entity bears it is asked of the graph. A name that differs from a label in a word
of its own is another name, however alike the two are: "World War I" and "World War II", two people of one family name.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from fedkg.common.normalize import content_words
from fedkg.core.question import Match
from fedkg.graph.base import Graph

__all__ = ["Similar", "alike"]

Similar = Callable[[Sequence[str]], Awaitable[Mapping[str, list[Match]]]]
"""For each name what is near to it in meaning, the nearest first, with the cosine as score."""
LEAST = 0.85
"""Least cosine of a label that a name is taken for; all-MiniLM-L6-v2: `NYC` and `New York City` .92, `Mozart` and
`Wolfgang Amadeus Mozart` .88, `Peter Jackson` and `Michael Jackson` .78."""
BELOW_ALIAS = 0.8
"""What the cosine is multiplied by, so that a label which only means the same stands behind every alias."""


async def alike(graph: Graph, names: Sequence[str], similar: Similar, limit: int) -> dict[str, list[Match]]:
    """For each name the entities of the graph whose label means the same; nothing where there is none.

    Raises EndpointError.
    """
    near = {name: _the_same(name, matches) for name, matches in (await similar(names)).items()}
    labels = list(dict.fromkeys(match.label for matches in near.values() for match in matches))
    called = await graph.search(labels, limit) if labels else {}
    return {name: _borne(matches, called)[:limit] for name, matches in near.items() if matches}


def _the_same(name: str, matches: Sequence[Match]) -> list[Match]:
    return [match for match in matches if match.score >= LEAST and not _differ(name, match.label)]


def _borne(near: Sequence[Match], called: Mapping[str, Sequence[Match]]) -> list[Match]:
    """Those that the graph calls so; relations are none of its entities."""
    confirmed = {match.iri: match for matches in called.values() for match in matches}
    return [
        msgspec.structs.replace(confirmed[match.iri], score=min(BELOW_ALIAS * match.score, BELOW_ALIAS - 0.01))
        for match in near
        if match.iri in confirmed
    ]


def _differ(name: str, label: str) -> bool:
    """Whether a proper name and a label share a word, and each has another: a short form lacks some, or shares none."""
    words, others = set(content_words(name.casefold())), set(content_words(label.casefold()))
    figures = {word for word in words ^ others if any(char.isdigit() for char in word)}
    proper = any(char.isalnum() and not char.islower() for char in name)
    return bool(figures) or (proper and bool(words & others) and bool(words - others) and bool(others - words))
