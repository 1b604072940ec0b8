"""Path-RAG: the candidates for the next step, scored by meaning (FiDeLiS v4, section 3.1).

S0((r, e)) = cos(z(K), z(r)) + cos(z(K), z(e)), and S((r, e)) = S0((r, e)) + α · max over (r', e') in N(e) of S0((r',
e')) (Eq. 2), with K the plan's keywords in one string. Both terms of the maximum belong to one real edge; of a group's
next hop only the relations are compared. Of the two variants in appendix E of the paper's first version the first
(`path`, Eq. 8) adds β · the sum of S0 over the earlier steps of the path, the second (`diverse`, Eq. 9) is in
`diversity`; it takes the sum over N(e), not the maximum.

The scoring `keywords` is ours, and the default of our call plan: the relation's term is the larger of cos(z(K), z(r))
and the best cos(z(k), z(r)) of a single keyword k that a model planned, which a dozen keywords in one string drown. The
first page is then put together as in `first_page`, and tails of long groups stand in the order in which they match.
"""

from collections.abc import Mapping, Sequence

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Edge, Iri, Term, relation_text
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import expand, next_steps, ranking, shown_labels, sorted_by
from fedkg.retrieval.diversity import diverse
from fedkg.retrieval.first_page import dated_once, helpful_first, shared_page

__all__ = ["EXAMPLES", "PathRag", "score_alone"]

EXAMPLES = 2
"""Tails of a group that are compared with K: two tell what it leads to as well as eight do, at half the labels."""


class PathRag:
    """The retriever `path-rag`.

    Where another hop follows and there are more candidates than `limit`, the best 2 · limit by S0 are ranked by S, and
    their next hop is fetched: the batch that the next step needs. A next hop that fits one batch is fetched beside the
    labels of this one. With the `exact` lookahead all candidates are ranked by S at every hop, over all edges of all
    their ends, however many requests these take.
    """

    looks_ahead = True
    asks_model = False

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first. Raises EndpointError."""
        return await self.scored(next_steps(request, context), request, context)

    async def scored(self, steps: Sequence[Step], request: RankingRequest, context: RetrievalContext) -> Ranking:
        """These candidates, best first. Raises EndpointError."""
        search, limit = context.search, request.limit
        ours = search.path_rag == "keywords"
        keywords = context.keywords if ours else ()
        exact = search.lookahead == "exact" and search.alpha > 0 and not ours
        lookahead = request.lookahead and search.alpha > 0 and not exact
        candidates = [dated_once(step) if ours else step for step in steps]
        ahead = _fitting(candidates, search.frontier) if lookahead else _tails(candidates) if exact else ()
        (scored, labels), _ = await concurrently(
            score_alone(candidates, request.topics, context, keywords=keywords), context.explored.fetch(ahead)
        )
        if search.path_rag == "path":
            scored = await _accumulated(scored, request, context)
        if exact:
            scored, further = await _look_at_all(scored, context)
            labels = labels | further
        if limit is not None and len(scored) > limit and lookahead and not ours:
            best, further = await _look_ahead(scored[: 2 * limit], request, context)
            scored, labels = best + scored[2 * limit :], labels | further
        if limit is not None and search.path_rag == "diverse":
            weights = search.lambda1, search.lambda2, search.tails
            scored = diverse(request.partial_paths, scored[: 2 * limit], *weights) + scored[2 * limit :]
        if limit is None or not ours:
            return ranking(scored, labels, request, context)
        ranked = ranking(helpful_first(scored), labels, request, context)
        paged = shared_page(ranked.candidates, request.partial_paths, limit)
        matched = await _matching_first(paged[:limit], labels, context)
        return msgspec.structs.replace(ranked, candidates=(*matched, *paged[limit:]))


async def score_alone(
    candidates: Sequence[Step],
    topics: Sequence[Term],
    context: RetrievalContext,
    examples: int = EXAMPLES,
    keywords: Sequence[str] = (),
) -> tuple[list[Step], dict[Term, str]]:
    """The candidates by S0, best first, and the labels of what they show, got in one batch.

    A group's entity term is that of the best of its `examples`, without any it has none. Of a relation the best of the
    single `keywords` counts, where it is more like it than K.
    """
    labels = await shown_labels(candidates, topics, context)
    if not candidates:
        return [], labels
    compared = min(examples, context.search.tails)
    relations = [relation_text(candidate.relation, labels) for candidate in candidates]
    tails = [[labels[tail] for tail in candidate.tails[:compared]] for candidate in candidates]
    texts = [*relations, *(text for texts in tails for text in texts)]
    cosines = await context.similarities(context.query(labels), texts)
    single = await _best_single(keywords, relations, context)
    scores = [
        max(cosines[name], single.get(name, cosines[name])) + max((cosines[text] for text in texts), default=0.0)
        for name, texts in zip(relations, tails, strict=True)
    ]
    return sorted_by(candidates, scores), labels


async def _best_single(keywords: Sequence[str], texts: Sequence[str], context: RetrievalContext) -> dict[str, float]:
    """The similarity of each text to the keyword that it is most like; empty without keywords."""
    distinct = list(dict.fromkeys(texts))
    if not (keywords and distinct):
        return {}
    table = await context.similarity.table(keywords, distinct)
    return dict(zip(distinct, table.max(axis=0).tolist(), strict=True))


async def _matching_first(page: Sequence[Step], labels: Mapping[Term, str], context: RetrievalContext) -> list[Step]:
    """The candidates with the tails first that match K, of groups that have more than are shown.

    Only tails whose labels are there are compared; those that match weakly stay in the graph's order.
    """
    long = [step for step in page if len(step.tails) > context.search.tails]
    texts = [labels[tail] for step in long for tail in step.tails if tail in labels]
    cosines = await context.similarities(context.query(labels), texts) if texts else {}
    weak = context.similarity.weak

    def match(edge: Edge) -> float:
        cosine = cosines.get(labels.get(edge.end, ""), 0.0)
        return cosine if cosine >= weak else 0.0

    ordered = {id(step): tuple(sorted(step.edges, key=match, reverse=True)) for step in long}
    return [msgspec.structs.replace(step, edges=ordered.get(id(step), step.edges)) for step in page]


def _fitting(candidates: Sequence[Step], budget: int) -> Sequence[Term]:
    """All tails, where they are few enough to be expanded at the next hop anyway."""
    tails = _tails(candidates)
    return tails if len(tails) <= budget else ()


def _tails(candidates: Sequence[Step]) -> Sequence[Term]:
    """All tails that can be expanded, each once."""
    return tuple(dict.fromkeys(tail for candidate in candidates for tail in candidate.tails if isinstance(tail, Iri)))


async def _look_ahead(
    best: Sequence[Step], request: RankingRequest, context: RetrievalContext
) -> tuple[list[Step], dict[Term, str]]:
    """S = S0 + α · the best S0 one hop further on, for the best candidates by S0, and the labels that it got."""
    search, explored = context.search, context.explored
    ahead = _share(best, search.frontier, search.beam)
    await explored.fetch(node for nodes in ahead for node in nodes)
    following = [
        step
        for number, (candidate, nodes) in enumerate(zip(best, ahead, strict=True))
        for step in expand(explored, request.form, number, PartialPath(Iri(""), (candidate,)), nodes)
    ]
    # relations alone tell where a group leads on to: the ends of fifty nodes' edges are thousands of labels
    scored, labels = await score_alone(following, [], context, 0 if request.form == "groups" else EXAMPLES)
    return _with_gains(best, scored, search), labels


async def _look_at_all(candidates: Sequence[Step], context: RetrievalContext) -> tuple[list[Step], dict[Term, str]]:
    """S = S0 + α · the best S0 one hop further on, to the letter of Eq. 2, and the labels that it got.

    N(e) are all edges of all ends, the one straight back among them, whose relation and end both count; their
    neighbourhoods are fetched.
    """
    explored = context.explored
    following = [
        Step(number, edge.walked, (edge,))
        for number, candidate in enumerate(candidates)
        for tail in candidate.tails
        for edge in explored.edges(tail)
    ]
    scored, labels = await score_alone(following, [], context)
    return _with_gains(candidates, scored, context.search), labels


def _with_gains(candidates: Sequence[Step], following: Sequence[Step], search: SearchSettings) -> list[Step]:
    """The candidates by S0 + α · what follows them is worth; their numbers are the indices of what follows."""
    gains = (_sums if search.path_rag == "diverse" else _peaks)(following)
    scores = [candidate.score + search.alpha * gains.get(number, 0.0) for number, candidate in enumerate(candidates)]
    return sorted_by(candidates, scores)


async def _accumulated(candidates: Sequence[Step], request: RankingRequest, context: RetrievalContext) -> list[Step]:
    """The candidates by S0 + β · the sum of S0 over the steps before (Eq. 8)."""
    walked = [
        msgspec.structs.replace(step, path_index=number)
        for number, path in enumerate(request.partial_paths)
        for step in path.steps
    ]
    scored, _ = await score_alone(walked, request.topics, context)
    before, beta = _sums(scored), context.search.beta
    return sorted_by(
        candidates, [candidate.score + beta * before.get(candidate.path_index, 0.0) for candidate in candidates]
    )


def _peaks(scored: Sequence[Step]) -> dict[int, float]:
    """The best score of each path; the candidates are the best first."""
    return {candidate.path_index: candidate.score for candidate in reversed(scored)}


def _sums(scored: Sequence[Step]) -> dict[int, float]:
    """The scores of each path's candidates, added up."""
    sums: dict[int, float] = {}
    for candidate in scored:
        sums[candidate.path_index] = sums.get(candidate.path_index, 0.0) + candidate.score
    return sums


def _share(candidates: Sequence[Step], budget: int, favoured: int) -> list[list[Iri]]:
    """The tails of each candidate that are looked at: one of each, then more of the best ones, `budget` in all."""
    nodes = [[tail for tail in candidate.tails if isinstance(tail, Iri)] for candidate in candidates]
    extra = max(0, budget - len(nodes)) // max(1, min(favoured, len(nodes)))
    return [tails[: 1 + (extra if number < favoured else 0)] for number, tails in enumerate(nodes)]
