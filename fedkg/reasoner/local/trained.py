"""`local` with a scorer that was trained on the relation chains of questions (`fedkg train scorer`).

The spans of the question are read as without one, by the embedder of the settings. Beside that the scorer compares the
whole question without its topic with each whole chain: so it was trained, and so it knows which chain lacks a step or
has one too many. What a chain is less like the question than the best one is taken off its score, in part. So the best
chain keeps its score, and all that was tuned or fitted for the untrained model holds: a scorer that read the spans,
too, lost more natural questions than it won.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fedkg.embed.base import Similarity
from fedkg.reasoner.local.chain_texts import chain_text, masked, steps
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.judge import ChainJudge
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.reading import ChainJudgement

__all__ = ["WHOLE", "TrainedChainJudge", "TrainedLocalModel"]

WHOLE = 0.8
"""How much a difference of whole likeness counts beside one of spans (tuned)."""


class TrainedLocalModel(LocalModel):
    """Chooses by spans and a trained scorer; `whole` is the weight of its likeness of whole texts."""

    def __init__(
        self,
        similarity: Similarity,
        scorer: Similarity,
        whole: float = WHOLE,
        *,
        calibration: Calibration | None = None,
    ) -> None:
        super().__init__(similarity, calibration, TrainedChainJudge(similarity, scorer, whole))


class TrainedChainJudge(ChainJudge):
    """Judges chains by spans and a trained scorer; `whole` is the weight of its likeness of whole texts."""

    def __init__(self, similarity: Similarity, scorer: Similarity, whole: float = WHOLE) -> None:
        super().__init__(similarity)
        self._scorer = scorer
        self._whole = whole

    async def judged(
        self,
        question: str,
        chains: Sequence[RelationChain],
        *,
        partly: bool = False,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> list[ChainJudgement]:
        """How like the question each chain is, as a whole and as a beginning, and how well its spans say it.

        By its spans alone where several topics are named: the scorer is trained on questions about one.
        """
        spans = await super().judged(question, chains, partly=partly, parts=parts)
        if len({chain.topic for chain in chains}) > 1:
            return spans
        whole, begun = await self._likenesses(question, chains)
        if partly:
            whole = [max(both) for both in zip(whole, begun, strict=True)]
        best = max(whole, default=0.0)
        return [
            one._replace(score=self._less(one.score, best - alike), promise=self._less(one.promise, best - on))
            for one, alike, on in zip(spans, whole, begun, strict=True)
        ]

    async def fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well the spans say each chain, which takes no scorer."""
        return [one.fit for one in await super().judged(question, chains, partly=partly)]

    def _less(self, score: float, missing: float) -> float:
        return score - self._whole * missing

    async def _likenesses(self, question: str, chains: Sequence[RelationChain]) -> tuple[list[float], list[float]]:
        """The cosine of the question without its topic and each chain, as a whole and as one that goes on."""
        if not chains:
            return [], []
        texts = [[chain_text(each, goes_on=on) for each in map(steps, chains)] for on in (False, True)]
        distinct = list(dict.fromkeys(text for some in texts for text in some))
        [row] = await self._scorer.table([masked(question, chains[0].topic)], distinct)
        likeness = dict(zip(distinct, map(float, row), strict=True))
        whole, begun = ([likeness[text] for text in some] for some in texts)
        return whole, begun
