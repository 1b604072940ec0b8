"""A conversation: its questions with what they were about, and what a further message refers to, by numbers alone."""

from typing import Literal

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.question import Match
from fedkg.core.terms import Iri

__all__ = ["KnownEntity", "Pronoun", "Reference", "Turn"]

Pronoun = Literal["", "he", "she", "it", "they"]
"""How an entity was called by a pronoun; "" where it was not."""


class Turn(msgspec.Struct, frozen=True):
    """A question of a conversation as it was asked, its topics, its answer, and the pronoun that meant the topics."""

    question: str
    topics: tuple[Match, ...]
    answer: Answer
    pronoun: Pronoun = ""


class KnownEntity(msgspec.Struct, frozen=True):
    """An entity that a conversation has come by: as topic, as answer or on a path of its turn, 1 for the latest.

    `type` says what it is, where that is known; `pronoun` is what it was called by; `mention` the question's own words
    for a topic.
    """

    iri: Iri
    label: str
    role: Literal["topic", "answer", "path"]
    turn: int
    type: str = ""
    pronoun: Pronoun = ""
    mention: str = ""


class Reference(msgspec.Struct, frozen=True):
    """What a message of a conversation refers to.

    `alone`: to nothing, it names all that it asks about. `question` is the earlier question that it asks of something
    else, from 1 for the latest, 0 for none. `entities` are the numbers of the known entities that it means, from 1;
    `words` the first and the last word, from 1, of a name that is no known entity's.
    """

    alone: bool = False
    question: int = 0
    entities: tuple[int, ...] = ()
    words: tuple[int, int] | None = None
    pronoun: Pronoun = ""
