"""A reasoning model without any language model: for use without a key, for tests, and as a baseline.

It plans by content words, scores whole relation chains against the question, stops when a longer chain says no more of the
question than a shorter one, and answers with the tails of the best chain. What it cannot do, it abstains from.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fedkg.embed.base import Similarity
from fedkg.question import guessed
from fedkg.records import Conclusion, Kind, Mention, Offer, Pick, Plan, Recalled, RelationPath, Style, Verdict
from fedkg.trie import Door
from fedkg.words import content_words, without

__all__ = ["LocalModel"]

HOP_PENALTY = 0.03
"""Taken off a chain's score per relation: a longer text shares more with any question, said or not."""
PAIRED = 12
"""Relations that are tried in pairs: the best ones, since all pairs of a hundred would be ten thousand texts."""


class Chain(NamedTuple):
    """A walk as it is scored: the mention of its topic, and the names of its relations."""

    topic: str
    relations: tuple[str, ...]

    def before(self) -> "Chain":
        """The chain without its last step."""
        return Chain(self.topic, self.relations[:-1])

    def texts(self) -> tuple[str, str]:
        """The chain in both orders: questions name relations along the walk or against it."""
        return "'s ".join(self.relations), "'s ".join(reversed(self.relations))

    def penalty(self) -> float:
        """What is taken off the similarity of its text."""
        return HOP_PENALTY * len(self.relations)


class LocalModel:
    """Chooses by the similarity of relation chains to the question without its topic."""

    name = "local"
    exhaustive = True
    left_out = 0
    door: Door = "index"
    held = 0
    abstains: frozenset[Kind] = frozenset({"yesno", "claim", "choice"})

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    async def plan(self, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
        """Content words as keywords; the kind by the question's first words; mentions are left to the linking step."""
        return Plan(content_words(question) or (question,), kind=kind or guessed(question), options=tuple(options))

    async def link(self, question: str, mentions: Sequence[Mention]) -> dict[str, int]:
        """Nothing: what descriptions and question have in common has been looked at before."""
        return {}

    async def beam(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer], width: int
    ) -> tuple[Pick, ...]:
        """The best chains."""
        return await self.choose(question, plan, offers, width)

    async def deductive(self, question: str, plan: Plan, paths: Sequence[Offer]) -> tuple[Verdict, ...]:
        """Everything follows and nothing finishes: the answer call compares the chains of all depths."""
        return tuple(Verdict(path.number, follows=True, finishes=False) for path in paths)

    async def deducible(self, question: str, plan: Plan, path: Offer, kept: Sequence[Offer] = ()) -> float:
        """Nothing: it has no probabilities of its own."""
        return 0.0

    async def choose(
        self, question: str, plan: Plan, offers: Sequence[Offer], width: int, kept: Sequence[Offer] = ()
    ) -> tuple[Pick, ...]:
        """The `width` best chains; none where none is better than the best chain that it extends."""
        chains = [_chain(offer) for offer in offers]
        walked = [chain.before() for chain in chains if len(chain.relations) > 1]
        score = await self._scores(question, chains + walked)
        new, old = score[: len(chains)], score[len(chains) :]
        if not new or (old and max(new) <= max(old)):
            return ()
        best = sorted(range(len(new)), key=lambda index: -new[index])[:width]
        return tuple(Pick(offers[index].number) for index in best)

    async def adequacy(self, question: str, plan: Plan, paths: Sequence[Offer]) -> bool:
        """Whether the best chain resembles the question enough for an answer that is no guess."""
        conclusion = await self.answer(question, plan, paths)
        return bool(conclusion.paths) and not conclusion.note

    async def score_relations(
        self, question: str, plan: Plan, path: Offer | None, offers: Sequence[Offer]
    ) -> tuple[float, ...]:
        """The scores of the chains that the relations end, what is below 0 as 0."""
        return tuple(map(_share, await self._scores(question, [_chain(offer) for offer in offers])))

    async def score_entities(self, question: str, plan: Plan, offers: Sequence[Offer]) -> tuple[float, ...]:
        """How much what is shown of each entity resembles the question, what is below 0 as 0."""
        return tuple(map(_share, await self._similarity.scores(question, [offer.text for offer in offers])))

    async def relation_paths(
        self, question: str, plan: Plan, relations: Sequence[Offer], depth: int, most: int
    ) -> tuple[RelationPath, ...]:
        """The single relations and the pairs of the best ones, by how much they resemble the question."""
        single = await self._weighted(question, [(relation,) for relation in relations])
        pairs = itertools.product([chain[0] for _, chain in single[:PAIRED]], repeat=2) if depth > 1 else ()
        # scored once more together: lexical scores compare within one call only
        both = await self._weighted(question, [*(chain for _, chain in single), *pairs])
        return tuple(RelationPath(tuple(one.number for one in chain), weight) for weight, chain in both[:most])

    async def reasoning_paths(self, question: str, plan: Plan, paths: Sequence[Offer], width: int) -> tuple[Pick, ...]:
        """The paths with the best chains."""
        score = await self._scores(question, [_chain(path) for path in paths])
        best = sorted(range(len(paths)), key=lambda index: -score[index])[:width]
        return tuple(Pick(paths[index].number) for index in best)

    async def answer(self, question: str, plan: Plan, paths: Sequence[Offer]) -> Conclusion:
        """All tails of the best chain; nothing where even that does not resemble the question."""
        chains = [_chain(path) for path in paths]
        score = await self._scores(question, chains)
        best = max(range(len(paths)), key=lambda index: score[index], default=None)
        if best is None or (likeness := score[best] + chains[best].penalty()) <= self._similarity.unrelated:
            return Conclusion()
        note = (
            f"this is a guess: its relations resemble the question by {likeness:.2f} only"
            if likeness < self._similarity.weak
            else ""
        )
        return Conclusion((paths[best].number,), note=note)

    async def inductive(
        self, question: str, plan: Plan, paths: Sequence[Offer], hypotheses: Sequence[str]
    ) -> Conclusion:
        """As `answer`: a hypothesis says nothing that the path's relations do not."""
        return await self.answer(question, plan, paths)

    async def model_only(
        self, question: str, kind: Kind, options: Sequence[str] = (), style: Style = "io", sample: int = 0
    ) -> Recalled:
        """Nothing: it remembers nothing of the world."""
        return Recalled()

    async def close(self) -> None:
        """Nothing to free."""

    async def _weighted(
        self, question: str, chains: Sequence[tuple[Offer, ...]]
    ) -> list[tuple[float, tuple[Offer, ...]]]:
        """The chains of relations with their scores, the best first."""
        score = await self._scores(question, [Chain(chain[0].topic, tuple(map(_name, chain))) for chain in chains])
        return sorted(zip(map(_share, score), chains, strict=True), key=lambda found: -found[0])

    async def _scores(self, question: str, chains: Sequence[Chain]) -> list[float]:
        """The score of each chain.

        The better of both orders counts. All chains of a topic are scored together: lexical scores compare within one call only.
        """
        score = [0.0] * len(chains)
        for topic in dict.fromkeys(chain.topic for chain in chains):
            places = [place for place, chain in enumerate(chains) if chain.topic == topic]
            texts = [text for place in places for text in chains[place].texts()]
            found = await self._similarity.scores(without(question, topic), texts)
            for number, place in enumerate(places):
                best = max(float(value) for value in found[2 * number : 2 * number + 2])
                score[place] = best - chains[place].penalty()
        return score


def _chain(offer: Offer) -> Chain:
    """The chain that an offer shows; of a relation that is offered alone, its name."""
    return Chain(offer.topic, offer.relations or (_name(offer),))


def _name(relation: Offer) -> str:
    """A relation's name without its arrows."""
    return relation.text.strip("→← ")


def _share(score: float) -> float:
    return min(1.0, max(0.0, float(score)))
