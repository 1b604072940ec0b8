"""What a further message of a conversation refers to."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.core.conversation import KnownEntity, Reference
from fedkg.core.terms import Iri
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import Call
from fedkg.reasoner.reply_parsing import Flag, Whole, fit, numbers
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["MOST_REFERRED", "FollowUpCall"]

MOST_REFERRED = 3
"""Entities that a question starts from at most."""


class FollowUpReply(msgspec.Struct):
    """The reply to `follow-up`."""

    alone: Flag
    question: Whole = Whole(0)
    entities: list[Any] = []
    words: list[Any] = []


class FollowUpCall(Call[Reference], frozen=True):
    """Asks what the message `question` refers to: to some of the known `entities`, an earlier question, or nothing.

    `questions` are the earlier ones, the latest first.
    """

    name: ClassVar[str] = "follow-up"

    questions: Sequence[str]
    entities: Sequence[KnownEntity]

    @property
    def words(self) -> Sequence[str]:
        """The words of the message, as the model is shown them by number."""
        return self.question.split()

    def values(self) -> dict[str, object]:
        """What the template is given."""
        shown = {"questions": self.questions, "entities": self.entities}
        return {"question": self.question, "words": self.words, **shown}

    def trivial(self) -> Reference | None:
        """The first message of a conversation refers to nothing."""
        return None if self.questions else Reference(alone=True)

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Every entity and every word."""
        return {"entities": len(self.entities), "words": len(self.words)}

    def parse(self, reply: Mapping[str, object], shown: int) -> Reference:
        """The numbers that were shown; others are dropped. Raises ModelReplyError where nothing is left."""
        read = fit(reply, FollowUpReply)
        if read.alone:
            return Reference(alone=True)
        entities = numbers(read.entities, range(1, len(self.entities) + 1))[:MOST_REFERRED]
        question = int(read.question) if 0 < read.question <= len(self.questions) else 0
        words = numbers(read.words, range(1, len(self.words) + 1)) if question else []
        named = (words[0], words[-1]) if words and not entities and words[0] <= words[-1] else None
        if not entities and not named:
            raise ModelReplyError("it refers to no known entity and names none by its words, and does not stand alone")
        return Reference(question=question, entities=tuple(entities), words=named)

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "FollowUpCall":
        """The call as a conversation about a walk like that makes it."""
        topic = KnownEntity(Iri("http://example.org/topic"), sketch.topic, "topic", 1)
        return cls(sketch.question, (sketch.question,), (topic,))
