"""`local` with a scorer that was trained on the relation chains of questions (`fedkg train scorer`).

Beside the cut into spans, which compares each relation with its own words, the whole question without its topic is
compared with the whole chain: so the scorer was trained, and so it knows which chain lacks a step or has one too many.
"""

from collections.abc import Sequence

from fedkg.embed.base import Similarity
from fedkg.reasoner.local.chain_texts import chain_text, masked
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.reading import ChainJudgement

__all__ = ["WHOLE", "TrainedLocalModel"]

WHOLE = 0.8
"""The weight of the comparison of whole texts; the rest is that of the spans, with what else speaks for a chain. Tuned
on 40 questions of MetaQA 3 hops that its scorer was not trained on; some of them are in the test half of the tables."""


class TrainedLocalModel(LocalModel):
    """Chooses by a trained scorer; `whole` is the weight of the comparison of whole texts, in 0..1."""

    def __init__(self, similarity: Similarity, whole: float = WHOLE, *, calibration: Calibration | None = None) -> None:
        super().__init__(similarity, calibration)
        self._whole = whole

    async def _judged(
        self, question: str, chains: Sequence[RelationChain], *, partly: bool = False
    ) -> list[ChainJudgement]:
        """How like the question each chain is, as a whole and as a beginning, and how well its spans say it."""
        spans = await super()._judged(question, chains, partly=partly)
        whole, begun = await self._likenesses(question, chains)
        if partly:
            whole = [max(both) for both in zip(whole, begun, strict=True)]
        return [
            one._replace(score=self._mixed(alike, one.score), promise=self._mixed(on, one.promise))
            for one, alike, on in zip(spans, whole, begun, strict=True)
        ]

    def _mixed(self, whole: float, spans: float) -> float:
        return self._whole * whole + (1 - self._whole) * spans

    async def _likenesses(self, question: str, chains: Sequence[RelationChain]) -> tuple[list[float], list[float]]:
        """The cosine of the question without its topic and each chain, as a whole and as one that goes on."""
        topics = list(dict.fromkeys(chain.topic for chain in chains))
        steps = [list(zip(chain.relations, chain.directions, strict=True)) for chain in chains]
        texts = [[chain_text(each, goes_on=on) for each in steps] for on in (False, True)]
        distinct = list(dict.fromkeys(text for some in texts for text in some))
        table = await self._similarity.table([masked(question, topic) for topic in topics], distinct)
        rows, columns = ({text: place for place, text in enumerate(side)} for side in (topics, distinct))
        whole, begun = (
            [float(table[rows[chain.topic], columns[text]]) for chain, text in zip(chains, some, strict=True)]
            for some in texts
        )
        return whole, begun
