"""`local` with a scorer that was trained on the relation chains of questions (`fedkg train scorer`).

The spans of the question are read as without one, by the embedder of the settings. Beside that the scorer compares the
whole question without its topic with each whole chain: so it was trained, and so it knows which chain lacks a step or
has one too many. What a chain is less like the question than the best one is taken off its score, in part. So the best
chain keeps its score, and all that was tuned or fitted for the untrained model holds: a scorer that read the spans,
too, lost more natural questions than it won.

How much that counts was found out for each graph that the scorer was trained on. Which graph is asked is told by its
relations; on any other one it does not count.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from fedkg.core.choice import ChainEvidence
from fedkg.embed.base import Similarity
from fedkg.reasoner.local.chain_texts import chain_text, full_name, masked, steps
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.confidence import Calibration, of_embedder
from fedkg.reasoner.local.graph_weights import GraphWeight, graph_of
from fedkg.reasoner.local.judge import ChainJudge
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.reading import ChainJudgement

__all__ = ["ELSEWHERE", "WHOLE", "GraphCalibration", "TrainedChainJudge", "TrainedLocalModel"]

WHOLE = 0.8
"""How much a difference of whole likeness counts beside one of spans, where nothing tells more of the graph (tuned)."""
ELSEWHERE = 0.0
"""How much it counts on graphs that were not trained on: all that was tried lost answers there (docs/training.md)."""
RELATED = 0.4
"""How like the question a chain is at least that has something to do with it, though no span says so."""

SURE = 0.7
"""From which likeness on the scorer tells the direction, whatever the order of the words does (tuned)."""


class TrainedLocalModel(LocalModel):
    """Chooses by spans and a trained scorer, which counts `whole` on graphs that are none of `graphs`.

    `calibration` is for these, as fitted with the scorer; elsewhere the bundled one counts.
    """

    def __init__(
        self,
        similarity: Similarity,
        scorer: Similarity,
        whole: float = ELSEWHERE,
        *,
        calibration: Calibration | None = None,
        graphs: Sequence[GraphWeight] = (),
    ) -> None:
        bundled = of_embedder(similarity.name)
        both = GraphCalibration(**msgspec.structs.asdict(calibration or bundled), elsewhere=bundled)
        super().__init__(similarity, both, TrainedChainJudge(similarity, scorer, whole, graphs))
        self._parts = similarity, scorer, calibration, graphs

    def weighing(self, whole: float) -> "TrainedLocalModel":
        """The same model, whose scorer counts so much on every graph."""
        similarity, scorer, calibration, graphs = self._parts
        weighed = [msgspec.structs.replace(graph, whole=whole) for graph in graphs]
        return TrainedLocalModel(similarity, scorer, whole, calibration=calibration, graphs=weighed)


class GraphCalibration(Calibration, frozen=True, kw_only=True):
    """The calibration where the scorer's likeness is evidence; `elsewhere` is that for other graphs."""

    elsewhere: Calibration

    def confidence(self, evidence: ChainEvidence) -> float:
        """How likely the chain answers, in 0..1."""
        return super().confidence(evidence) if evidence.alike else self.elsewhere.confidence(evidence)


class TrainedChainJudge(ChainJudge):
    """Judges chains by spans and a trained scorer, whose likeness of whole texts weighs as its graph is known."""

    def __init__(
        self, similarity: Similarity, scorer: Similarity, whole: float = ELSEWHERE, graphs: Sequence[GraphWeight] = ()
    ) -> None:
        super().__init__(similarity)
        self._scorer = scorer
        self._whole = whole
        self._graphs = tuple(graphs)

    async def judged(
        self,
        question: str,
        chains: Sequence[RelationChain],
        *,
        partly: bool = False,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> list[ChainJudgement]:
        """How like the question each chain is, as a whole and as a beginning, and how well its spans say it.

        By its spans alone where several topics are named, since the scorer is trained on questions about one, and where
        the scorer does not count.
        """
        spans = await super().judged(question, chains, partly=partly, parts=parts)
        graph = graph_of(self._graphs, {name for chain in chains for name in map(full_name, chain.names)})
        weight = graph.whole if graph else self._whole
        if not weight or len({chain.topic for chain in chains}) > 1:
            return spans
        whole, begun = await self._likenesses(question, chains)
        if partly:
            whole = [max(both) for both in zip(whole, begun, strict=True)]
        best = max(whole, default=0.0)
        return [
            one._replace(
                score=one.score - weight * (best - alike),
                promise=one.promise - weight * (best - on),
                clashes=0 if graph and alike >= SURE else one.clashes,
                alike=alike if graph else 0.0,
            )
            for one, alike, on in zip(spans, whole, begun, strict=True)
        ]

    def related(self, judged: ChainJudgement, fit: float) -> bool:
        """Whether the chain has anything to do with the question, part of which says it so well."""
        return judged.alike >= RELATED or super().related(judged, fit)

    async def fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well the spans say each chain, which takes no scorer."""
        return [one.fit for one in await super().judged(question, chains, partly=partly)]

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
