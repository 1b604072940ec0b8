"""`local` with a scorer that was trained on the relation chains of questions (`fedkg train scorer`).

The spans of the question are read as without one, by the embedder of the settings. Beside that the scorer compares the
whole question without its topic with each whole chain: so it was trained, and so it knows which chain lacks a step or
has one too many. A chain that questions were trained on asked for is compared by them, too: by its exemplars. What a
chain is less like the question than the best one is taken off its score, in part. So the best chain keeps its score,
and all that was tuned or fitted for the untrained model holds: a scorer that read the spans, too, lost more natural
questions than it won.

How much that counts was found out for each graph that the scorer was trained on. Which graph is asked is told by its
relations; on any other one it does not count.
"""

import itertools
from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

import msgspec

from fedkg.core.choice import ChainEvidence
from fedkg.core.terms import OPPOSITE
from fedkg.embed.base import Similarity
from fedkg.reasoner.local.chain_texts import chain_text, full_name, masked, steps
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.confidence import Calibration, of_embedder
from fedkg.reasoner.local.judge import ChainJudge
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.reading import ChainJudgement
from fedkg.reasoner.local.trained_graphs import TrainedGraph, graph_of

__all__ = ["ELSEWHERE", "VOUCHED", "WHOLE", "GraphCalibration", "TrainedChainJudge", "TrainedLocalModel"]

WHOLE = 0.8
"""How much a difference of whole likeness counts beside one of spans, where nothing tells more of the graph (tuned)."""
ELSEWHERE = 0.0
"""How much it counts on graphs that were not trained on: all that was tried lost answers there (docs/training.md)."""
RELATED = 0.4
"""How like the question a chain is at least that has something to do with it, though no span says so."""

AHEAD, VOUCHED = 0.1, 0.13
"""From which lead in likeness on a chain is right so often at least, however unsure the rest makes it: of those with a
confidence of less than 0.1 (held-out and further questions of the tuning halves, a third of them without an answer)."""
SURE, TOLD = 0.7, 0.1
"""From which likeness on, and from which lead on the same chain walked the other way, the scorer tells the direction,
whatever the order of the words does (tuned: on MetaQA the lead is 0.2 or so, where it has learned no direction 0)."""


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
        graphs: Sequence[TrainedGraph] = (),
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
    """The calibration where the scorer's likeness is evidence; `elsewhere` is that for all other graphs."""

    elsewhere: Calibration

    def confidence(self, evidence: ChainEvidence) -> float:
        """How likely the chain answers, in 0..1: no refusal where it is much more like the question than the next."""
        if not evidence.alike:
            return self.elsewhere.confidence(evidence)
        return max(super().confidence(evidence), VOUCHED * (evidence.ahead >= AHEAD))


class TrainedChainJudge(ChainJudge):
    """Judges chains by spans and a trained scorer, whose likeness of whole texts weighs as its graph is known."""

    def __init__(
        self, similarity: Similarity, scorer: Similarity, whole: float = ELSEWHERE, graphs: Sequence[TrainedGraph] = ()
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
        graph = self._graph(chains)
        weight = graph.whole if graph else self._whole
        if not weight or len({chain.topic for chain in chains}) > 1:
            return spans
        whole, begun = await self._likenesses(question, chains, graph.exemplars if graph else {})
        if partly:
            whole = [max(both) for both in zip(whole, begun, strict=True)]
        best = max(whole, default=0.0)
        clashing = [(chain, alike) for chain, one, alike in zip(chains, spans, whole, strict=True) if one.clashes]
        told = await self._told(question, clashing, graph) if graph else frozenset[RelationChain]()
        return [
            one._replace(
                score=one.score - weight * (best - alike),
                promise=one.promise - weight * (best - on),
                clashes=0 if chain in told else one.clashes,
                alike=alike if graph else 0.0,
                vouched=alike if graph and graph.calibrated else 0.0,
            )
            for chain, one, alike, on in zip(chains, spans, whole, begun, strict=True)
        ]

    async def _told(
        self, question: str, chains: Sequence[tuple[RelationChain, float]], graph: TrainedGraph
    ) -> frozenset[RelationChain]:
        """Those of the chains that are so like the question, and so much more like it than the way back is."""
        sure = [(chain, alike) for chain, alike in chains if alike >= SURE]
        back = [chain._replace(directions=tuple(OPPOSITE[way] for way in chain.directions)) for chain, _ in sure]
        likenesses, _ = await self._likenesses(question, back, graph.exemplars)
        return frozenset(chain for (chain, alike), other in zip(sure, likenesses, strict=True) if alike - other >= TOLD)

    def related(self, judged: ChainJudgement, fit: float) -> bool:
        """Whether the chain has anything to do with the question, part of which says it so well."""
        return judged.alike >= RELATED or super().related(judged, fit)

    async def fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well the spans say each chain, which takes no scorer."""
        return [one.fit for one in await super().judged(question, chains, partly=partly)]

    def topics_answer(self, chains: Sequence[RelationChain]) -> bool:
        """Whether it was the answer to any question that the scorer was trained on, where that tells something."""
        graph = self._graph(chains)
        return graph is None or graph.topics_answer

    def _graph(self, chains: Sequence[RelationChain]) -> TrainedGraph | None:
        """The graph of the chains, where the scorer was trained on it."""
        return graph_of(self._graphs, {name for chain in chains for name in map(full_name, chain.names)})

    async def _likenesses(
        self, question: str, chains: Sequence[RelationChain], exemplars: Mapping[str, Sequence[str]]
    ) -> tuple[list[float], list[float]]:
        """How like the question without its topic each chain is, as a whole and as one that goes on.

        The cosine of both; where there are exemplars of the chain, the mean of that and the cosine to the nearest one.
        """
        if not chains:
            return [], []
        texts = [[chain_text(each, goes_on=on) for each in map(steps, chains)] for on in (False, True)]
        asked_so = {text: exemplars.get(text, ()) for some in texts for text in some}
        distinct = list(dict.fromkeys((*asked_so, *itertools.chain.from_iterable(asked_so.values()))))
        [row] = await self._scorer.table([masked(question, chains[0].topic)], distinct)
        cosine = dict(zip(distinct, map(float, row), strict=True))
        likeness = {
            text: fmean((cosine[text], max(map(cosine.__getitem__, questions), default=cosine[text])))
            for text, questions in asked_so.items()
        }
        whole, begun = ([likeness[text] for text in some] for some in texts)
        return whole, begun
