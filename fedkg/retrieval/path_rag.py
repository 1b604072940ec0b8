"""Path-RAG: the candidates for the next step, scored by meaning (FiDeLiS v4, section 3.1).

S0((r, e)) = cos(z(K), z(r)) + cos(z(K), z(e)), and S((r, e)) = S0((r, e)) + α · max over (r', e') in N(e) of S0((r', e')) (Eq. 2),
with K the plan's keywords in one string. Both terms of the maximum belong to one real edge; of a group's next hop only the
relations are compared. Of the two variants in appendix E of
the paper's first version the first (`path`, Eq. 8) adds β · the sum of S0 over the earlier steps of the path, the second
(`diverse`, Eq. 9) is in `diversity`; it takes the sum over N(e), not the maximum.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from fedkg.config.settings import Form, Retriever, Scoring, SearchSettings
from fedkg.core.path import QUALIFIERS, PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Term, own_name, relation_text
from fedkg.embed.base import Similarity
from fedkg.graph.explored import BOTH, ExploredGraph, closed, onward
from fedkg.retrieval.diversity import diverse

__all__ = ["DEFAULT_CANDIDATES", "EXAMPLES", "MOST_RELATIONS", "NEAR", "PathRag", "Ranking", "expand"]

DEFAULT_CANDIDATES = {"groups": 10, "pairs": 30}
"""Steps offered: thirty pairs as in the papers; ten groups hold more of the gold answers than those."""
MOST_RELATIONS = 30
"""Relations that a plan may be made of."""
NEAR = 4
"""Relations that are shown around an entity: as many as in the example of EPERM, appendix A.4."""
SHOWN_NEAR = 3
"""Ends that each of them shows."""
EXAMPLES = 2
"""Tails of a group that are compared with K: two say what kind of thing it leads to as well as eight do, at half the labels."""
LABELS = 300
"""Labels that one hop asks for where it needs fewer."""


class Ranking(msgspec.Struct, frozen=True):
    """The candidates, best first, and the `labels` of all that they show.

    `complete` is True where nothing was left out, neither by an endpoint nor by the bound on the frontier.
    """

    candidates: tuple[Step, ...]
    labels: dict[Term, str]
    complete: bool


class PathRag:
    """Path-RAG for one question: `query` makes K, the keywords in one string, once the topics' labels are known.

    Two retrievers to compare it with rank by the whole `question` and look no further than the step: `vanilla` compares it
    with relation and entity as one text (FiDeLiS v4, Table 2), `kaping` with the verbalised triple (Baek et al., 2023). For a
    third, `tog`, the model scores the relations: whoever asks it does that, here they are ranked by S0 for it.
    """

    def __init__(
        self,
        around: ExploredGraph,
        similarity: Similarity,
        query: Callable[[Mapping[Term, str]], str],
        search: SearchSettings,
        question: str = "",
    ) -> None:
        self._question = question
        self._around = around
        self._similarity = similarity
        self._query = query
        self._search = search

    async def relations(self, topics: Sequence[Iri], depth: int) -> tuple[DirectedRelation, ...]:
        """The relations within `depth` steps of the topics, the most similar to K first, at most MOST_RELATIONS.

        Each hop expands at most the frontier's number of nodes, so that it costs one batch.
        """
        nodes, seen = list(topics), set(topics)
        found: dict[DirectedRelation, None] = {}
        for _ in range(depth):
            await self._around.fetch(nodes)
            edges = [edge for node in nodes for edge in self._around.edges(node)]
            found.update(dict.fromkeys(edge.walked for edge in edges))
            nodes = [end for end in _spread(edges) if end not in seen][: self._search.frontier]
            seen.update(nodes)
        alike, _ = await self._alike(found, topics)
        return tuple(sorted(alike, key=lambda relation: -alike[relation])[:MOST_RELATIONS])

    async def surroundings(self, beams: Sequence[PartialPath]) -> tuple[dict[int, list[Step]], dict[Term, str]]:
        """What the graph says around each beam's ends: NEAR of its next steps, by how similar their relations are to K.

        By the beams' indices, and the labels that they show. The ends' edges cost one batch, and so do the labels.
        """
        await self._around.fetch(tail for beam in beams for tail in beam.tails)
        steps = [
            step
            for number, beam in enumerate(beams)
            for step in expand(self._around, "groups", number, beam, beam.tails)
        ]
        alike, names = await self._alike(dict.fromkeys(step.relation for step in steps), [beam.topic for beam in beams])
        near: dict[int, list[Step]] = {}
        for step in _sorted(steps, [alike[step.relation] for step in steps]):
            near.setdefault(step.beam, []).append(step)
        near = {number: own[:NEAR] for number, own in near.items()}
        shown = _shown([step for own in near.values() for step in own], SHOWN_NEAR)
        return near, names | await self._around.graph.labels(shown)

    async def rank(
        self,
        beams: Sequence[PartialPath],
        nodes: Sequence[Sequence[Term]],
        limit: int | None,
        *,
        lookahead: bool,
        retriever: Retriever | None = None,
        form: Form | None = None,
    ) -> Ranking:
        """All candidates over all beams, best first; `nodes` are the expanded tails of each beam.

        `retriever` and `form` stand for those of the settings.

        With `lookahead`, where there are more than `limit`, the best 2 · limit by S0 are ranked by S, and their next hop is
        fetched: the batch that the next step needs. A next hop that fits one batch is fetched beside the labels of this one.
        Steps that lead back come last: they are seldom meant, and each relation that is walked has one.
        """
        retriever = retriever or self._search.retriever
        lookahead = lookahead and self._search.alpha > 0 and retriever == "path-rag"
        found = [
            candidate
            for number, beam in enumerate(beams)
            for candidate in expand(self._around, form or self._search.form, number, beam, nodes[number], back=True)
        ]
        ahead = self._fitting(found) if lookahead else ()
        (scored, names), _ = await asyncio.gather(
            self._score(found, [beam.topic for beam in beams], retriever), self._around.fetch(ahead)
        )
        if self._varies("path", retriever):
            scored = await self._accumulated(scored, beams)
        if limit is not None and len(scored) > limit and lookahead:
            scored = await self._look_ahead(scored[: 2 * limit], names) + scored[2 * limit :]
        if limit is not None and self._varies("diverse", retriever):
            weights = self._search.lambda1, self._search.lambda2, self._search.tails
            scored = diverse(beams, scored[: 2 * limit], *weights) + scored[2 * limit :]
        whole = all(self._around.complete(tail, way) for beam in beams for tail in beam.tails for way in BOTH)
        return Ranking(tuple(_onward_first(scored, beams)), names, whole)

    async def _score(
        self,
        candidates: Sequence[Step],
        topics: Sequence[Term],
        retriever: Retriever = "path-rag",
        examples: int = EXAMPLES,
    ) -> tuple[list[Step], dict[Term, str]]:
        """The candidates by S0, and the labels of what they show, got in one batch.

        A group's entity term is that of the best of its `examples`, without any it has none.
        """
        shown = self._search.tails
        starts = (edge.start for found in candidates for edge in found.edges[:shown] if retriever == "kaping")
        names = await self._around.graph.labels([*topics, *starts, *_shown(candidates, shown)])
        if not candidates:
            return [], names
        if retriever in ("vanilla", "kaping"):
            return await self._compared(candidates, names, whole=retriever == "kaping"), names
        relations = [relation_text(candidate.relation, names) for candidate in candidates]
        tails = [[names[tail] for tail in found.tails[: min(examples, shown)]] for found in candidates]
        cosines = await self._cosines(self._query(names), [*relations, *(text for texts in tails for text in texts)])
        score = [
            cosines[name] + max((cosines[text] for text in texts), default=0.0)
            for name, texts in zip(relations, tails, strict=True)
        ]
        return _sorted(candidates, score), names

    async def _compared(self, candidates: Sequence[Step], names: Mapping[Term, str], *, whole: bool) -> list[Step]:
        """The candidates by the best of their shown edges, each as one text: relation and entity, or the `whole` triple."""
        texts = [
            [_verbalised(edge, names, whole=whole) for edge in found.edges[: self._search.tails]]
            for found in candidates
        ]
        cosines = await self._cosines(self._question, itertools.chain(*texts))
        return _sorted(candidates, [max(cosines[text] for text in own) for own in texts])

    def _fitting(self, candidates: Sequence[Step]) -> Sequence[Term]:
        """All tails, where they are few enough to be expanded at the next hop anyway."""
        tails = dict.fromkeys(tail for found in candidates for tail in found.tails if isinstance(tail, Iri))
        return tuple(tails) if len(tails) <= self._search.frontier else ()

    async def _look_ahead(self, best: Sequence[Step], names: dict[Term, str]) -> list[Step]:
        """S = S0 + α · the best S0 one hop further on, for the best candidates by S0; adds the labels that it got."""
        ahead = _share(best, self._search.frontier, self._search.beam)
        await self._around.fetch(node for nodes in ahead for node in nodes)
        flat = [
            found
            for number, (candidate, nodes) in enumerate(zip(best, ahead, strict=True))
            for found in expand(self._around, self._search.form, number, PartialPath(Iri(""), (candidate,)), nodes)
        ]
        # relations alone tell where a group leads on to: the ends of fifty nodes' edges are thousands of labels
        scored, more = await self._score(flat, [], examples=0 if self._search.form == "groups" else EXAMPLES)
        names |= more
        worth = (_sums if self._search.scoring == "diverse" else _peaks)(scored)
        alpha = self._search.alpha
        return _sorted(best, [found.score + alpha * worth.get(number, 0.0) for number, found in enumerate(best)])

    def _varies(self, scoring: Scoring, retriever: Retriever) -> bool:
        """Whether it is that variant of Path-RAG that ranks."""
        return retriever == "path-rag" and self._search.scoring == scoring

    async def _accumulated(self, candidates: Sequence[Step], beams: Sequence[PartialPath]) -> list[Step]:
        """The candidates by S0 + β · the sum of S0 over the steps before (Eq. 8)."""
        walked = [
            msgspec.structs.replace(step, beam=number) for number, beam in enumerate(beams) for step in beam.steps
        ]
        scored, _ = await self._score(walked, [beam.topic for beam in beams])
        before = _sums(scored)
        return _sorted(
            candidates, [found.score + self._search.beta * before.get(found.beam, 0.0) for found in candidates]
        )

    async def _alike(
        self, relations: Iterable[DirectedRelation], topics: Sequence[Term]
    ) -> tuple[dict[DirectedRelation, float], dict[Term, str]]:
        """How similar each relation's name is to K, and the labels that this took."""
        relations = list(relations)
        terms = dict.fromkeys(term for one in relations for term in (one.relation, one.via) if term)
        names = await self._around.graph.labels([*topics, *terms])
        texts = {relation: relation_text(relation, names) for relation in relations}
        cosines = await self._cosines(self._query(names), texts.values())
        return {relation: cosines[text] for relation, text in texts.items()}, names

    async def _cosines(self, query: str, texts: Iterable[str]) -> dict[str, float]:
        """The similarity of each distinct text to the query."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, (await self._similarity.scores(query, distinct)).tolist(), strict=True))


def expand(
    around: ExploredGraph, form: Form, number: int, beam: PartialPath, nodes: Sequence[Term], *, back: bool = False
) -> list[Step]:
    """The beam's next steps: the edges of its ends by relation and direction, as far as they are `onward` and not `closed`.

    Edges that lead back are left out where others of their relation lead on; with `back` they are a step of their own.
    """
    shut = closed(beam)
    ahead, behind = onward(
        around, beam, [(node, edge) for node in nodes for edge in around.edges(node) if edge.end not in shut]
    )
    whole = {way: all(around.complete(tail, way) for tail in beam.tails) for way in BOTH}
    found = [
        Step(number, relation, tuple(edges), complete=whole[relation.direction])
        for groups in ((ahead, behind) if back else (behind | ahead,))
        for relation, edges in groups.items()
        if not _repeats(relation, edges, groups)
    ]
    if form == "groups":
        return found
    return [Step(number, group.relation, (edge,), complete=group.complete) for group in found for edge in group.edges]


def _onward_first(candidates: Sequence[Step], beams: Sequence[PartialPath]) -> list[Step]:
    """The candidates in their order, but those that lead only to where their beam has been behind all others."""
    been = [{beam.topic, *(tail for step in beam.steps for tail in step.tails)} for beam in beams]
    return sorted(candidates, key=lambda found: been[found.beam].issuperset(found.tails))


def _repeats(relation: DirectedRelation, edges: Sequence[Edge], groups: Mapping[DirectedRelation, list[Edge]]) -> bool:
    """Whether an incoming group says what the outgoing one of the same relation says already (spouses, borders)."""
    twins = groups.get(relation.inverse, []) if relation.direction == "in" else []
    return {edge.end for edge in edges} <= {edge.end for edge in twins}


def _peaks(scored: Sequence[Step]) -> dict[int, float]:
    """The best score of each beam; the candidates are the best first."""
    return {found.beam: found.score for found in reversed(scored)}


def _sums(scored: Sequence[Step]) -> dict[int, float]:
    """The scores of each beam's candidates, added up."""
    sums: dict[int, float] = {}
    for found in scored:
        sums[found.beam] = sums.get(found.beam, 0.0) + found.score
    return sums


def _shown(candidates: Sequence[Step], tails: int) -> list[Term]:
    """The terms whose labels are needed: relations, and the first tails of each candidate with their qualifiers.

    Further tails fill up the batch: it is one request anyway, and whatever becomes an answer needs its label.
    """
    terms: dict[Term, None] = {}
    for candidate in candidates:
        terms.update(dict.fromkeys(term for term in (candidate.relation.relation, candidate.relation.via) if term))
        terms.update(dict.fromkeys(candidate.tails[:tails]))
        said = [leg for edge in candidate.edges[:tails] for leg in edge.qualifiers[:QUALIFIERS]]
        terms.update(dict.fromkeys(term for leg in said for term in (leg.relation, leg.value)))
    further = (tail for candidate in candidates for tail in candidate.tails[tails:] if tail not in terms)
    return [*terms, *itertools.islice(further, max(0, LABELS - len(terms)))]


def _verbalised(edge: Edge, names: Mapping[Term, str], *, whole: bool) -> str:
    """An edge as text, in the order of the graph; without its start unless it is wanted `whole`."""
    relation, end = relation_text(edge.walked, names), names.get(edge.end) or own_name(edge.end)
    start = names.get(edge.start) or own_name(edge.start)
    if not whole:
        return f"{relation} {end}"
    return f"({start}, {relation}, {end})" if edge.direction == "out" else f"({end}, {relation}, {start})"


def _spread(edges: Sequence[Edge]) -> list[Iri]:
    """Where the edges lead to, one end of each relation first: the first few then lead on in every way that there is."""
    ends: dict[DirectedRelation, list[Iri]] = {}
    for edge in edges:
        if isinstance(edge.end, Iri):
            ends.setdefault(edge.walked, []).append(edge.end)
    tiers = itertools.zip_longest(*ends.values())
    return list(dict.fromkeys(end for tier in tiers for end in tier if end is not None))


def _share(candidates: Sequence[Step], budget: int, favoured: int) -> list[list[Iri]]:
    """The tails of each candidate that are looked at: one of each, then more of the best ones, `budget` in all."""
    nodes = [[tail for tail in candidate.tails if isinstance(tail, Iri)] for candidate in candidates]
    extra = max(0, budget - len(nodes)) // max(1, min(favoured, len(nodes)))
    return [tails[: 1 + (extra if number < favoured else 0)] for number, tails in enumerate(nodes)]


def _sorted(candidates: Sequence[Step], scores: Sequence[float]) -> list[Step]:
    scored = [msgspec.structs.replace(found, score=score) for found, score in zip(candidates, scores, strict=True)]
    return sorted(scored, key=lambda found: (-found.score, found.beam, found.relation.relation.value))
