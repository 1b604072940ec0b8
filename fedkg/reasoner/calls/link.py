"""Which entity each mention of a question means."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.core.question import Mention
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import Call
from fedkg.reasoner.reply_parsing import Numbered, Whole, entries, fit, renamed
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["LinkCall"]


class LinkedMention(Numbered):
    """A mention with the candidate that it means, 0 for none."""

    candidate: Whole


class LinksReply(msgspec.Struct):
    """The reply to `link`."""

    links: list[Any]


class LinkCall(Call[dict[str, int]], frozen=True):
    """Asks for the number (from 1) of the match that each mention means, by its text.

    0 where none fits; a mention that the reply leaves out is missing.
    """

    name: ClassVar[str] = "link"

    mentions: Sequence[Mention]

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "mentions": self.mentions}

    def trivial(self) -> dict[str, int] | None:
        """Nothing where nothing is open."""
        return None if self.mentions else {}

    def lengths(self, shown: int) -> Mapping[str, int]:
        """A match for each mention."""
        return {"links": shown}

    def parse(self, reply: Mapping[str, object], shown: int) -> dict[str, int]:
        """The matches by the mentions' texts; one that a mention does not have is left out."""
        mentions = self.mentions[:shown]
        listed = entries(renamed(fit(reply, LinksReply).links, "mention"), LinkedMention, range(1, len(mentions) + 1))
        named = [(mentions[entry.number - 1], int(entry.candidate)) for entry in listed]
        meant = {mention.text: number for mention, number in named if 0 <= number <= len(mention.matches)}
        if listed and not meant:
            raise ModelReplyError("none of the candidates that it names was offered")
        return meant

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "LinkCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.mentions)
