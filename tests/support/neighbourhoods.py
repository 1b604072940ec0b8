"""Neighbourhoods of small graphs, as tests compare them."""

import msgspec

from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Iri

__all__ = ["ends", "iri", "timeless"]


def iri(name: str) -> Iri:
    """The example's IRI of that name."""
    return Iri(f"http://x/{name}")


def ends(near: Neighbourhood) -> list[str]:
    """Where the edges lead, by short names."""
    return sorted(edge.end.text.replace("<http://x/", "").rstrip(">") for edge in near.edges)


def timeless(near: Neighbourhood) -> Neighbourhood:
    """The neighbourhood without the time at which it was asked for."""
    edges = tuple(msgspec.structs.replace(edge, retrieved_at="") for edge in near.edges)
    return msgspec.structs.replace(near, edges=edges, retrieved_at="")
