"""The protocol of a reasoning model: typed questions in, picks of what was offered out.

A reasoning model never writes IRIs or queries; it picks numbers of offers. Whoever implements it has already checked the
picks: a number that was not offered does not come back.
"""

from collections.abc import Sequence
from typing import Protocol

from fedkg.records import Conclusion, Kind, Offer, Pick, Plan, Verdict

__all__ = ["ReasoningModel"]


class ReasoningModel(Protocol):
    """What the search asks of a model.

    `exhaustive` says that offers cost nothing, so that all candidates are offered instead of the best few;
    `abstains` are the kinds of question that it cannot answer.
    """

    name: str
    exhaustive: bool
    abstains: frozenset[Kind]

    async def plan(self, question: str) -> Plan:
        """Keywords, steps, declarative statement, kind and mentions of a question (FiDeLiS v4, appendix C.1)."""
        ...

    async def beam(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer], width: int
    ) -> tuple[Pick, ...]:
        """At most `width` steps that extend one path (None: nothing walked yet), unverified (appendix C.4)."""
        ...

    async def deductive(self, question: str, plan: Plan, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
        """For each path whether its last step follows, and whether the statement is deducible (appendix C.2)."""
        ...

    async def choose(self, question: str, plan: Plan, offers: Sequence[Offer], width: int) -> tuple[Pick, ...]:
        """`beam` for all paths and `deductive` in one: at most `width` offers, each verified; none where nothing leads on.

        An offer's text starts with the path that it extends.
        """
        ...

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """Which of the walked paths, and which of their tails, answer the question (appendix C.5)."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...
