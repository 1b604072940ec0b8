"""What a question asks to be computed, as its set states it: sets of a graph, and one operation over them.

A relation is an IRI, with `^` before one that is walked backwards; several are a chain, walked one after the other.
"""

from typing import Literal

import msgspec

__all__ = ["Comparison", "GoldFilter", "GoldOperation", "GoldSet"]

Comparison = Literal[
    "equal", "less", "at_most", "more", "at_least", "before", "after", "between", "contains", "not_equal"
]


class GoldSet(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The ends of a path: `topics` are the IRIs of what one name means, `path` the relations from any of them.

    Without a path the topic itself is the set; without a topic it is not known where the path begins.
    """

    topics: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class GoldFilter(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A condition on the ends: what `by` leads to compares so to the values, as the gold query writes these."""

    by: tuple[str, ...]
    comparison: Comparison
    values: tuple[str, ...]


class GoldOperation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The sets, how they are combined, which of their ends stay, and what is computed over these.

    result: `ends` are the answers themselves, `count` how many there are, `extreme` the one of that `rank` by the value
    that `by` leads to, `compare` two ends by such a value, `group` the value of `by` that most of the ends (or least)
    have. `most` is the direction of all three. form: of a comparison whether it asks which of the two, whether it is
    so, or by how much.
    """

    sets: tuple[GoldSet, ...]
    combine: Literal["union", "intersect", "difference"] = "union"
    filters: tuple[GoldFilter, ...] = ()
    result: Literal["ends", "count", "extreme", "compare", "group"] = "ends"
    by: tuple[str, ...] = ()
    most: bool = True
    rank: int = 1
    form: Literal["which", "whether", "difference"] = "which"
