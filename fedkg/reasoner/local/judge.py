"""How well questions say chains of relations: likenesses of spans and names, readings of questions under way."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from fedkg.common.bounded import BoundedDict
from fedkg.core.choice import PromptCandidate
from fedkg.core.nameless import NO_NAME
from fedkg.embed.base import Matrix, Similarity
from fedkg.reasoner.local.chains import RelationChain, RelationName, chain_of
from fedkg.reasoner.local.likeness import likeness, lists
from fedkg.reasoner.local.parting import partings
from fedkg.reasoner.local.reading import LONGER, UNLIKE, UNSAID, ChainJudgement, Reading, together

__all__ = ["LEAST", "ChainJudge", "share"]

READINGS = 64
"""Readings that are kept: those of the questions under way, with what their spans are like."""
NAMELESS = 0.15
"""Taken off where no end has a name: one as good with names is meant."""
WHOLE = 0.4
"""What the likeness to a relation's whole name counts beside that to its label (tuned)."""
NOTHING = ChainJudgement(UNSAID, UNSAID, UNSAID, 0, 0)
"""Of a chain that only leads to the same thing."""
LEAST = 0.01
"""The score of what has something in common with the question, whatever speaks against it: 0 is dropped."""


class ChainJudge:
    """Judges chains by the words of a question without its topic, as `similarity` compares texts."""

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity
        self._readings: BoundedDict[tuple[str, str, tuple[str, ...]], Reading] = BoundedDict(READINGS)

    async def judged(
        self,
        question: str,
        chains: Sequence[RelationChain],
        *,
        partly: bool = False,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> list[ChainJudgement]:
        """How well each chain is said, and what else speaks for or against it.

        `parts` are the words that are about each topic, where these are not all of the question. Steps from one entity
        to another that is the same thing are said by none, and make a chain longer all the same.
        """
        topics = list(dict.fromkeys(chain.topic for chain in chains))
        told = [chain.told() for chain in chains]
        judged: dict[RelationChain, ChainJudgement] = {}
        for topic in topics:
            reading = self._reading(parts.get(topic, question), topic, tuple(topics), question)
            alike = [chain for chain in dict.fromkeys(told) if chain.topic == topic and chain.relations]
            if alike:
                judged |= reading.judged(await self._likeness(reading, alike), alike, partly=partly)
        return [_longer(judged.get(one, NOTHING), chain, one) for chain, one in zip(chains, told, strict=True)]

    async def met(self, question: str, paths: Sequence[PromptCandidate]) -> list[ChainJudgement]:
        """How well the chain of each path is said; of one that stands for several the mean of all.

        Chains from several topics that meet are each said by their own part of the question.
        """
        every = [_meeting(path) for path in paths]
        chains = list(dict.fromkeys(chain for group in every for chain in group))
        judged = dict(zip(chains, await self.judged(question, chains), strict=True))
        means = [together([judged[chain] for chain in group]) for group in every]
        several = [place for place, group in enumerate(every) if len({chain.topic for chain in group}) > 1]
        for place, mean in zip(several, await self._parted(question, [every[place] for place in several]), strict=True):
            means[place] = mean or means[place]
        return [_nameless(one) if set(path.tails) == {NO_NAME} else one for path, one in zip(paths, means, strict=True)]

    async def _parted(self, question: str, groups: Sequence[tuple[RelationChain, ...]]) -> list[ChainJudgement | None]:
        """How well chains that meet are said, by the best way to part the question; None where it is one part."""
        best: list[ChainJudgement | None] = [None] * len(groups)
        topics = tuple(dict.fromkeys(chain.topic for group in groups for chain in group))
        for way in partings(question, topics):
            chains = list(dict.fromkeys(chain for group in groups for chain in group))
            judged = dict(zip(chains, await self.judged(question, chains, parts=way), strict=True))
            means = [together([judged[chain] for chain in group]) for group in groups]
            best = [mean if one is None else max(one, mean, key=_score) for one, mean in zip(best, means, strict=True)]
        return best

    async def weighted(
        self, question: str, tried: Sequence[tuple[tuple[int, ...], RelationChain]], *, partly: bool = False
    ) -> list[tuple[float, tuple[tuple[int, ...], RelationChain]]]:
        """The chains with their scores in 0..1, the best first."""
        score = await self.shares(question, [chain for _, chain in tried], partly=partly)
        return sorted(zip(score, tried, strict=True), key=lambda weighted: -weighted[0])

    async def shares(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """The scores in 0..1; above 0 for every chain that part of the question says."""
        fits = await self.fits(question, chains, partly=True)
        judged = await self.judged(question, chains, partly=partly)
        least = [LEAST if fit > self.similarity.unrelated else 0.0 for fit in fits]
        return [max(low, share(one.score)) for low, one in zip(least, judged, strict=True)]

    async def fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well each chain is said by the question without its topic."""
        return [one.fit for one in await self.judged(question, chains, partly=partly)]

    def related(self, judged: ChainJudgement, fit: float) -> bool:
        """Whether the chain has anything to do with the question, part of which says it so well."""
        return fit > self.similarity.unrelated

    def topics_answer(self, chains: Sequence[RelationChain]) -> bool:
        """Whether the topic of such chains may be an answer beside others."""
        return True

    async def weakest(self, question: str, chain: RelationChain) -> float:
        """The likeness of the relation that the question says least to the span that says it best."""
        chain = chain.told()
        spans = await self._likeness(self._reading(question, chain.topic, (chain.topic,), question), [chain])
        return min((float(spans[name].max()) for name in chain.names), default=0.0)

    async def _likeness(self, reading: Reading, chains: Sequence[RelationChain]) -> dict[RelationName, Matrix]:
        """For each relation how much each span says it."""
        names = list(dict.fromkeys(name for chain in chains for name in chain.names))
        if not reading.likeness.keys() >= set(names):
            every = list(dict.fromkeys((*reading.likeness, *names)))  # words are as rare as they are among all of them
            labels, beside = zip(*every, strict=True)
            table = likeness(reading.spans, labels, await self._alike(reading.spans, every), beside)
            reading.likeness |= zip(every, table.T, strict=True)
        return reading.likeness

    async def _alike(self, spans: Sequence[str], names: Sequence[RelationName]) -> Matrix:
        """How alike in meaning spans and relations are, shape (spans, names); by their whole names where these help."""
        wholes = [place for place, (_, beside) in enumerate(names) if beside]
        texts = [label for label, _ in names] + [" ".join(names[place][::-1]) for place in wholes]
        table = await self.similarity.table(spans, texts)
        alike = table[:, : len(names)].copy()
        share = np.array([1.0 if lists(names[place][0]) else WHOLE for place in wholes], dtype=np.float32)
        mixed = (1 - share) * alike[:, wholes] + share * table[:, len(names) :]
        alike[:, wholes] = np.maximum(alike[:, wholes], mixed)
        return alike

    def _reading(self, text: str, topic: str, topics: tuple[str, ...], question: str) -> Reading:
        """The reading of a question, or a part of it, about one topic; that of one under way is there already."""
        key = (text, topic, topics)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = Reading(text, topic, topics, question)
        return reading


def _longer(judged: ChainJudgement, chain: RelationChain, told: RelationChain) -> ChainJudgement:
    """The judgement of a chain by that of what is told of it; one that ends with such a step only says itself again."""
    more = LONGER * (len(chain.relations) - len(told.relations))
    again = UNLIKE * (more > 0 and chain.relations[-1:] != told.relations[-1:])
    return judged._replace(score=judged.score - more - again, promise=judged.promise - more) if more else judged


def _score(judged: ChainJudgement) -> float:
    return judged.score


def _meeting(path: PromptCandidate) -> tuple[RelationChain, ...]:
    """The chain of a path, and those that lead to the same ends from other topics: of the same kinds."""
    chain = chain_of(path)
    return (chain, *(chain_of(other)._replace(kinds=chain.kinds) for other in path.also))


def _nameless(judged: ChainJudgement) -> ChainJudgement:
    """The judgement of a chain whose ends have no name, and are no answers."""
    return judged._replace(score=judged.score - NAMELESS)


def share(score: float) -> float:
    """The score as a share, in 0..1."""
    return min(1.0, max(0.0, float(score)))
