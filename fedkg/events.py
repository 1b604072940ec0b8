"""Typed events of a run, in the order they happen: what every door (terminal, JSON, page) shows of a walk."""

import msgspec

from fedkg.records import Answer, Match, Plan, Usage

__all__ = ["Answered", "Chosen", "Event", "Fetched", "Linked", "Planned", "Ranked", "Verified", "Warned"]


class Planned(msgspec.Struct, frozen=True, tag=True):
    """The question was analysed."""

    plan: Plan


class Linked(msgspec.Struct, frozen=True, tag=True):
    """The topic entities were found."""

    topics: tuple[Match, ...]


class Fetched(msgspec.Struct, frozen=True, tag=True):
    """Neighbourhoods are there: `entities` asked for, `edges` got, `incomplete` of them cut; `usage` so far."""

    depth: int
    entities: int
    edges: int
    incomplete: int
    usage: Usage


class Ranked(msgspec.Struct, frozen=True, tag=True):
    """Path-RAG scored `considered` candidates; `offered` are the best, one line each."""

    depth: int
    considered: int
    offered: tuple[str, ...]


class Chosen(msgspec.Struct, frozen=True, tag=True):
    """The model chose these steps, one line each; none means that nothing leads on."""

    depth: int
    steps: tuple[str, ...]


class Verified(msgspec.Struct, frozen=True, tag=True):
    """How the chosen steps were verified: kept for the next depth, or finished."""

    depth: int
    kept: tuple[str, ...]
    finished: tuple[str, ...]


class Warned(msgspec.Struct, frozen=True, tag=True):
    """Something a reader of the answer should know."""

    message: str


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The end of the run: always the last event."""

    answer: Answer


Event = Planned | Linked | Fetched | Ranked | Chosen | Verified | Warned | Answered
