"""What an answer admits: why it might be another one, or rests on more than its paths show."""

from enum import StrEnum

import msgspec

__all__ = ["Caveat", "CaveatKind"]


class CaveatKind(StrEnum):
    """What kind of doubt it is; `Caveat.about` says what it is about.

    guess: the confidence in the answer is below its threshold, or `local` went past words of the question. partial:
    data are missing on a way that the search took, so that the answer might be another one with all of them; about what
    is missing. unproven: a condition of the question that no edge shows, in its words. bridge: common knowledge that a
    verdict rests on, in the model's words.
    loosely_linked: a topic that was linked by part of its name, or to another IRI than the one that was given.
    dropped_topic: a topic of the question that the search went on without. cut: there is more than was looked at.
    recalled: the answer is the model's own, from memory, and no path proves it; about how the graph's search ended.
    """

    GUESS = "guess"
    PARTIAL = "partial"
    UNPROVEN = "unproven"
    BRIDGE = "bridge"
    LOOSELY_LINKED = "loosely_linked"
    DROPPED_TOPIC = "dropped_topic"
    CUT = "cut"
    RECALLED = "recalled"


class Caveat(msgspec.Struct, frozen=True):
    """One thing that an answer admits, and what it is about."""

    kind: CaveatKind
    about: str
