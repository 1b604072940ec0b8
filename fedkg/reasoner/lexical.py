"""A reasoning model without any language model: for use without a key, for tests, and as a baseline.

It plans by content words, looks for the chain of relations that the question's words say best (`chains`), stops when no longer
chain is said better, and answers with the tails of the best chain. What it cannot do, it abstains from.
"""

from collections.abc import Sequence

from fedkg.common.normalize import content_words
from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import Choice, Conclusion, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.question import Kind, Mention, Plan, Style, guessed
from fedkg.embed.base import Matrix, Similarity
from fedkg.reasoner.chain_reading import Reading, RelationChain, chain_of, likeness

__all__ = ["LocalModel"]

PLANNED = 12
"""Plans that are made longer, of each length: all chains of three of thirty relations would be 27,000."""
LEFT = 0.05
"""A chain that fits so much better without some of the words does not say all of the question."""
LEAST = 0.01
"""The score of what has something in common with the question, whatever speaks against it: 0 is dropped."""


class LocalModel:
    """Chooses by how well the question without its topic says the relations of a chain."""

    name = "local"
    exhaustive = True
    left_out = 0
    door: ConstraintLevel = "index"
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
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """The best chains."""
        return await self.choose(question, plan, offers, width)

    async def deductive(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> tuple[Verdict, ...]:
        """Everything follows and nothing finishes: the answer call compares the chains of all depths."""
        return tuple(Verdict(path.number, follows=True, finishes=False) for path in paths)

    async def deducible(
        self, question: str, plan: Plan, path: PromptCandidate, kept: Sequence[PromptCandidate] = ()
    ) -> float:
        """Nothing: it has no probabilities of its own."""
        return 0.0

    async def choose(
        self,
        question: str,
        plan: Plan,
        offers: Sequence[PromptCandidate],
        width: int,
        kept: Sequence[PromptCandidate] = (),
    ) -> tuple[Choice, ...]:
        """The `width` best chains; none where none is better than the best chain that it extends."""
        chains = [chain_of(offer) for offer in offers]
        walked = [chain.before() for chain in chains if len(chain.relations) > 1]
        score = await self._scores(question, chains + walked)
        new, old = score[: len(chains)], score[len(chains) :]
        if not new or (old and max(new) <= max(old)):
            return ()
        best = sorted(range(len(new)), key=lambda index: -new[index])[:width]
        return tuple(Choice(offers[index].number) for index in best)

    async def adequacy(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> bool:
        """Whether the best chain is no guess and says all of the question: without some of the words it would fit no better."""
        conclusion = await self.answer(question, plan, paths)
        if not conclusion.paths or conclusion.note:
            return False
        best = [chain_of(paths[conclusion.paths[0] - 1])]
        [whole], [part] = await self._fits(question, best), await self._fits(question, best, partly=True)
        return part - whole <= LEFT

    async def score_relations(
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate]
    ) -> tuple[float, ...]:
        """How well part of the question says the chains that the relations end."""
        return tuple(await self._shares(question, [chain_of(offer) for offer in offers], partly=True))

    async def score_entities(self, question: str, plan: Plan, offers: Sequence[PromptCandidate]) -> tuple[float, ...]:
        """The mean of how well part of the question says the chain, and how much what is shown of the entity resembles it."""
        said = await self._shares(question, [chain_of(offer) for offer in offers], partly=True)
        shown = await self._similarity.scores(question, [offer.text for offer in offers])
        return tuple((one + _share(other)) / 2 for one, other in zip(said, shown, strict=True))

    async def relation_paths(
        self, question: str, plan: Plan, relations: Sequence[PromptCandidate], depth: int, most: int
    ) -> tuple[RelationPath, ...]:
        """The chains that the question says best; of each length the best are made longer."""
        single: list[tuple[tuple[int, ...], RelationChain]] = [((one.number,), chain_of(one)) for one in relations]
        longest, plans = single, await self._weighted(question, single)
        for _ in range(1, depth):
            partly = await self._weighted(question, longest, partly=True)
            stems = [stem for _, stem in partly[:PLANNED]]
            longest = [(tried + one, chain.then(step)) for tried, chain in stems for one, step in single]
            plans += await self._weighted(question, longest)
        best = sorted(plans, key=lambda plan: -plan[0])[:most]
        return tuple(RelationPath(numbers, weight) for weight, (numbers, _) in best)

    async def reasoning_paths(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """The paths with the best chains."""
        score = await self._scores(question, [chain_of(path) for path in paths])
        best = sorted(range(len(paths)), key=lambda index: -score[index])[:width]
        return tuple(Choice(paths[index].number) for index in best)

    async def answer(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> Conclusion:
        """All tails of the best chain; nothing where even that does not resemble the question."""
        chains = [chain_of(path) for path in paths]
        score = await self._scores(question, chains)
        best = max(range(len(paths)), key=lambda index: score[index], default=None)
        if best is None:
            return Conclusion()
        [said] = await self._fits(question, [chains[best]], partly=True)
        if said <= self._similarity.unrelated:
            return Conclusion()
        share = _share(score[best])
        weak = share < self._similarity.weak
        note = f"this is a guess: its relations resemble the question by {share:.2f} only" if weak else ""
        return Conclusion((paths[best].number,), note=note)

    async def inductive(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], hypotheses: Sequence[str]
    ) -> Conclusion:
        """As `answer`: a hypothesis says nothing that the path's relations do not."""
        return await self.answer(question, plan, paths)

    async def model_only(
        self, question: str, kind: Kind, options: Sequence[str] = (), style: Style = "io", sample: int = 0
    ) -> ModelOnlyAnswer:
        """Nothing: it remembers nothing of the world."""
        return ModelOnlyAnswer()

    async def close(self) -> None:
        """Nothing to free."""

    async def _weighted(
        self, question: str, tried: Sequence[tuple[tuple[int, ...], RelationChain]], *, partly: bool = False
    ) -> list[tuple[float, tuple[tuple[int, ...], RelationChain]]]:
        """The chains with their scores in 0..1, the best first."""
        score = await self._shares(question, [chain for _, chain in tried], partly=partly)
        return sorted(zip(score, tried, strict=True), key=lambda found: -found[0])

    async def _shares(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """The scores in 0..1; above 0 for every chain that part of the question says."""
        said = await self._fits(question, chains, partly=True)
        score = await self._scores(question, chains, partly=partly)
        least = [LEAST if one > self._similarity.unrelated else 0.0 for one in said]
        return [max(low, _share(one)) for low, one in zip(least, score, strict=True)]

    async def _scores(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well each chain is said, and what else speaks for or against it."""
        fits = await self._fits(question, chains, partly=partly)
        readings = {topic: Reading(question, topic) for topic in {chain.topic for chain in chains}}
        return [fit + readings[chain.topic].bonus(chain) for fit, chain in zip(fits, chains, strict=True)]

    async def _fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well each chain is said by the question without its topic."""
        fit = [0.0] * len(chains)
        for topic in dict.fromkeys(chain.topic for chain in chains):
            places = [place for place, chain in enumerate(chains) if chain.topic == topic]
            reading = Reading(question, topic)
            own = [chains[place].relations for place in places]
            found = reading.fits(await self._likeness(reading.spans, own), own, partly=partly)
            for place, value in zip(places, found, strict=True):
                fit[place] = value
        return fit

    async def _likeness(self, spans: Sequence[str], chains: Sequence[tuple[str, ...]]) -> dict[str, Matrix]:
        """For each relation how much each span says it."""
        names = list(dict.fromkeys(name for chain in chains for name in chain))
        columns = (await self._similarity.table(spans, names)).T
        return {name: likeness(spans, name, column) for name, column in zip(names, columns, strict=True)}


def _share(score: float) -> float:
    return min(1.0, max(0.0, float(score)))
