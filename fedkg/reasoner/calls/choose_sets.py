"""Next steps of several paths, and what the question needs of the sets that they lead to, in one call."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from fedkg.core.choice import Decision
from fedkg.core.operation import Operator
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.reply_parsing import fit

__all__ = ["ChooseSetsCall"]


class OperatorReply(msgspec.Struct):
    """What the reply has beside that to `choose`."""

    operator: Operator | None = None


class ChooseSetsCall(ChooseCall, frozen=True):
    """Asks as `choose` does, and which operator a question with words of one needs; never of a judgement.

    What decides are picks that lead to the sets: the values that they are compared by are found afterwards.
    """

    name: ClassVar[str] = "choose-sets"

    def parse(self, reply: Mapping[str, object], shown: int) -> Decision:
        """The decision with its operator. Raises ModelReplyError."""
        read = fit(reply, OperatorReply)
        return msgspec.structs.replace(super().parse(reply, shown), operator=read.operator)
