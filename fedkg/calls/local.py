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
HOP_PENALTY = 0.03
"""Taken off a chain's score per relation: a longer text shares more with any question, said or not."""
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
        chains = [(offer.topic, offer.relations) for offer in offers]
        walked = [(topic, relations[:-1]) for topic, relations in chains if len(relations) > 1]
        score = await self._scores(question, chains + walked)
        new, old = score[: len(chains)], score[len(chains) :]
        if not new or (old and max(new) <= max(old)):
            return ()
        best = sorted(range(len(new)), key=lambda index: -new[index])[:width]
        return tuple(Pick(offers[index].number) for index in best)

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """All tails of the best chain."""
        score = await self._scores(question, [(path.topic, path.relations) for path in paths])
        best = max(range(len(paths)), key=lambda index: score[index], default=None)
        return Conclusion() if best is None else Conclusion((paths[best].number,))

    async def close(self) -> None:
        """Nothing to free."""

    async def _scores(self, question: str, chains: Sequence[tuple[str, tuple[str, ...]]]) -> list[float]:
        """The score of each chain, given with the mention of its topic.

        Questions name relations in the order of the walk or against it ("the birthplace of the wife"), so the better of
        both orders counts. All chains of a topic are scored together: lexical scores compare within one call only.
        """
        score = [0.0] * len(chains)
        for topic in dict.fromkeys(topic for topic, _ in chains):
            places = [place for place, (own, _) in enumerate(chains) if own == topic]
            texts = [text for place in places for text in _texts(chains[place][1])]
            found = await self._similarity.scores(without(question, topic), texts)
            for number, place in enumerate(places):
                best = max(float(value) for value in found[2 * number : 2 * number + 2])
                score[place] = best - HOP_PENALTY * len(chains[place][1])
        return score


def _texts(relations: Sequence[str]) -> tuple[str, str]:
    return "'s ".join(relations), "'s ".join(reversed(relations))


def _kind(question: str) -> Kind:
    if COUNT.match(question):
        return "count"
    if YES_NO.match(question):
        return "yesno"
    return "literal" if LITERAL.match(question) else "entities"
