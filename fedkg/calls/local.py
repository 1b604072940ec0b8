"""A reasoning model without any language model: for use without a key, for tests, and as a baseline.

It plans by content words, scores whole relation chains against the question, stops when a longer chain says no more of the
question than a shorter one, and answers with the tails of the best chain. What it cannot do, it abstains from.
"""

import re
from collections.abc import Sequence

from fedkg.embed.base import Similarity
from fedkg.records import Conclusion, Kind, Offer, Pick, Plan, Verdict
from fedkg.words import content_words, without

__all__ = ["LocalModel"]

# "can you name …" asks for names
YES_NO = re.compile(
    r"\s*(?!(can|could|would|will) you)(is|are|was|were|did|does|do|has|have|had|can|could|will|would)\b", re.IGNORECASE
)
COUNT = re.compile(r"\s*how many\b", re.IGNORECASE)
LITERAL = re.compile(r"\s*(when|how (tall|high|long|old|far|large|big|much))\b", re.IGNORECASE)


class LocalModel:
    """Chooses by the similarity of relation chains to the question without its topic."""

    name = "local"
    exhaustive = True
    abstains: frozenset[Kind] = frozenset({"yesno", "claim", "choice"})

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    async def plan(self, question: str) -> Plan:
        """Content words as keywords; the kind by the question's first words; mentions are left to the linking step."""
        return Plan(content_words(question) or (question,), kind=_kind(question))

    async def beam(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer], width: int
    ) -> tuple[Pick, ...]:
        """The best chains."""
        return await self.choose(question, plan, offers, width)

    async def deductive(self, question: str, plan: Plan, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
        """Everything follows and nothing finishes: the answer call compares the chains of all depths."""
        return tuple(Verdict(path.number, follows=True, finishes=False) for path in paths)

    async def choose(self, question: str, plan: Plan, offers: Sequence[Offer], width: int) -> tuple[Pick, ...]:
        """The `width` best chains; none where none is better than the best chain that it extends."""
        score = await self._scores(question, offers, 0)
        before = await self._scores(question, offers, 1)
        if max(score, default=0.0) <= max(before, default=0.0):
            return ()
        best = sorted(range(len(offers)), key=lambda index: -score[index])[:width]
        return tuple(Pick(offers[index].number) for index in best)

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """All tails of the best chain."""
        score = await self._scores(question, paths, 0)
        best = max(range(len(paths)), key=lambda index: score[index], default=None)
        return Conclusion() if best is None else Conclusion((paths[best].number,))

    async def close(self) -> None:
        """Nothing to free."""

    async def _scores(self, question: str, offers: Sequence[Offer], dropped: int) -> list[float]:
        """The score of each offer's chain without its last `dropped` relations; 0.0 for an empty chain.

        Questions name relations in the order of the walk or against it ("the birthplace of the wife"), so the better of
        both orders counts.
        """
        score = [0.0] * len(offers)
        for topic in dict.fromkeys(offer.topic for offer in offers):
            indices = [number for number, offer in enumerate(offers) if offer.topic == topic]
            chains = [offers[number].relations[: len(offers[number].relations) - dropped] for number in indices]
            texts = [text for chain in chains for text in ("'s ".join(chain), "'s ".join(reversed(chain)))]
            found = await self._similarity.scores(without(question, topic), texts)
            for place, number in enumerate(indices):
                score[number] = max(float(found[2 * place]), float(found[2 * place + 1])) if chains[place] else 0.0
        return score


def _kind(question: str) -> Kind:
    if COUNT.match(question):
        return "count"
    if YES_NO.match(question):
        return "yesno"
    return "literal" if LITERAL.match(question) else "entities"
