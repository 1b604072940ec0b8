"""What a search may ask for: the vocabulary between a method, which does no I/O, and its driver, which does it all.

A method is a generator: it yields a need and is sent what it needed, until it returns what it found. So a method can be
tested with a list of replies, and every method runs on every graph, model and budget.

Where a budget is spent the need is answered with a BudgetError: a method that has an answer by then returns it.
"""

from collections.abc import Generator
from typing import Any

import msgspec

from fedkg.records import Beam, Candidate, Conclusion

__all__ = [
    "Answering",
    "Choosing",
    "Completing",
    "Deducing",
    "Expanding",
    "Expansion",
    "Found",
    "Need",
    "Picking",
    "Walk",
]


class Expanding(msgspec.Struct, frozen=True):
    """Asks for the ranked next steps of these beams; the reply is an Expansion. `last`: no step follows this one."""

    depth: int
    beams: tuple[Beam, ...]
    last: bool = False


class Expansion(msgspec.Struct, frozen=True):
    """The candidates, best first, and `page`, how many of them are offered at once (0: all).

    `complete` is True where the endpoints left nothing out.
    """

    candidates: tuple[Candidate, ...]
    complete: bool
    page: int = 0


class Choosing(msgspec.Struct, frozen=True):
    """Asks the model, in one call, for at most `width` candidates, each verified; the reply is a tuple of Picks.

    `kept` are paths that were walked before and that the verification counts in.
    """

    depth: int
    beams: tuple[Beam, ...]
    candidates: tuple[Candidate, ...]
    width: int
    kept: tuple[Beam, ...] = ()


class Picking(msgspec.Struct, frozen=True):
    """Asks the model for at most `width` candidates of one beam, unverified; the reply is a tuple of Picks."""

    depth: int
    beam: Beam
    candidates: tuple[Candidate, ...]
    width: int


class Deducing(msgspec.Struct, frozen=True):
    """Asks the model to verify walked paths; the reply is a tuple of Verdicts. `kept` are paths as in `Choosing`."""

    depth: int
    beams: tuple[Beam, ...]
    kept: tuple[Beam, ...] = ()


class Completing(msgspec.Struct, frozen=True):
    """Asks for all tails along the beams' relation chains; the reply is a tuple of Beams in the same order."""

    beams: tuple[Beam, ...]


class Answering(msgspec.Struct, frozen=True):
    """Asks the model which paths answer the question; the reply is a Conclusion."""

    beams: tuple[Beam, ...]


class Found(msgspec.Struct, frozen=True):
    """The end of a search: the paths that answer, what the model concluded of them, and how the search ended.

    `tails` are, per beam, the numbers (from 1) of its answering tails, empty for all of them. `exhausted` is True where
    everything that the graph has within reach was seen, so that an empty result means that the graph says none.
    """

    beams: tuple[Beam, ...] = ()
    tails: tuple[tuple[int, ...], ...] = ()
    conclusion: Conclusion = Conclusion()
    exhausted: bool = False


Need = Expanding | Choosing | Picking | Deducing | Completing | Answering
Walk = Generator[Need, Any, Found]
