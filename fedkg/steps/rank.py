"""Path-RAG: the candidates for the next step, scored by meaning (FiDeLiS v4, section 3.1).

S0((r, e)) = cos(z(K), z(r)) + cos(z(K), z(e)), and S((r, e)) = S0((r, e)) + α · max over (r', e') in N(e) of S0((r', e')) (Eq. 2),
with K the plan's keywords in one string. Both terms of the maximum belong to one real edge.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from fedkg.embed.base import Similarity
from fedkg.graph.surroundings import BOTH, Surroundings
from fedkg.records import QUALIFIERS, Beam, Candidate
from fedkg.settings import Search
from fedkg.terms import DirectedRelation, Edge, Iri, Term, relation_text

__all__ = ["DEFAULT_CANDIDATES", "PathRag", "Ranking", "expand"]

DEFAULT_CANDIDATES = {"groups": 10, "pairs": 30}
"""Candidates offered: thirty pairs as in the papers; ten groups hold more of the gold answers than those."""


LABELS = 300
"""Labels that one hop asks for where it needs fewer."""


class Ranking(msgspec.Struct, frozen=True):
    """The candidates, best first, and the `labels` of all that they show.

    `complete` is True where nothing was left out, neither by an endpoint nor by the bound on the frontier.
    """

    candidates: tuple[Candidate, ...]
    labels: dict[Term, str]
    complete: bool


class PathRag:
    """Path-RAG for one question: `query` makes K, the keywords in one string, once the topics' labels are known."""

    def __init__(
        self, around: Surroundings, similarity: Similarity, query: Callable[[Mapping[Term, str]], str], search: Search
    ) -> None:
        self._around = around
        self._similarity = similarity
        self._query = query
        self._search = search

    async def rank(
        self, beams: Sequence[Beam], nodes: Sequence[Sequence[Term]], limit: int | None, *, lookahead: bool
    ) -> Ranking:
        """All candidates over all beams, best first; `nodes` are the expanded tails of each beam.

        With `lookahead`, where there are more than `limit`, the best 2 · limit by S0 are ranked by S, and their next hop is
        fetched: the batch that the next step needs. A next hop that fits one batch is fetched beside the labels of this one.
        """
        lookahead = lookahead and self._search.alpha > 0
        found = [
            candidate
            for number, beam in enumerate(beams)
            for candidate in expand(self._around, self._search.form, number, beam, nodes[number])
        ]
        ahead = self._fitting(found) if lookahead else ()
        (scored, names), _ = await asyncio.gather(
            self._score(found, [beam.topic for beam in beams]), self._around.fetch(ahead)
        )
        if limit is not None and len(scored) > limit and lookahead:
            scored = await self._look_ahead(scored[: 2 * limit], names) + scored[2 * limit :]
        whole = all(self._around.complete(tail, way) for beam in beams for tail in beam.tails for way in BOTH)
        return Ranking(tuple(scored), names, whole)

    async def _score(
        self, candidates: Sequence[Candidate], topics: Sequence[Term]
    ) -> tuple[list[Candidate], dict[Term, str]]:
        """The candidates by S0, and the labels of what they show, got in one batch.

        A group's entity term is that of the best of its shown tails; literals have none.
        """
        names = await self._around.graph.labels([*topics, *_shown(candidates, self._search.tails)])
        if not candidates:
            return [], names
        relations = [relation_text(candidate.relation, names) for candidate in candidates]
        tails = [[names[tail] for tail in found.tails[: self._search.tails]] for found in candidates]
        cosines = await self._cosines(self._query(names), [*relations, *(text for texts in tails for text in texts)])
        score = [
            cosines[name] + max((cosines[text] for text in texts), default=0.0)
            for name, texts in zip(relations, tails, strict=True)
        ]
        return _sorted(candidates, score), names

    def _fitting(self, candidates: Sequence[Candidate]) -> Sequence[Term]:
        """All tails, where they are few enough to be expanded at the next hop anyway."""
        tails = dict.fromkeys(tail for found in candidates for tail in found.tails if isinstance(tail, Iri))
        return tuple(tails) if len(tails) <= self._search.frontier else ()

    async def _look_ahead(self, best: Sequence[Candidate], names: dict[Term, str]) -> list[Candidate]:
        """S = S0 + α · the best S0 one hop further on, for the best candidates by S0; adds the labels that it got."""
        ahead = _share(best, self._search.frontier, self._search.beam)
        await self._around.fetch(node for nodes in ahead for node in nodes)
        flat = [
            found
            for number, (candidate, nodes) in enumerate(zip(best, ahead, strict=True))
            for found in expand(self._around, self._search.form, number, Beam(Iri(""), (candidate,)), nodes)
        ]
        scored, more = await self._score(flat, [])
        names |= more
        peaks: dict[int, float] = {}
        for found in scored:
            peaks.setdefault(found.beam, found.score)
        alpha = self._search.alpha
        return _sorted(best, [found.score + alpha * peaks.get(number, 0.0) for number, found in enumerate(best)])

    async def _cosines(self, query: str, texts: Iterable[str]) -> dict[str, float]:
        """The similarity of each distinct text to the query."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, (await self._similarity.scores(query, distinct)).tolist(), strict=True))


def expand(
    around: Surroundings, form: Literal["groups", "pairs"], number: int, beam: Beam, nodes: Sequence[Term]
) -> list[Candidate]:
    """The beam's next steps: its edges without those that lead back, under whatever name, by relation and direction."""
    ancestors = beam.ancestors()
    groups: dict[DirectedRelation, list[Edge]] = {}
    for node in nodes:
        back = around.alike({node, *ancestors.get(node, ())})
        for edge in around.edges(node):
            if edge.end not in back:
                groups.setdefault(edge.walked, []).append(edge)
    whole = {way: all(around.complete(tail, way) for tail in beam.tails) for way in BOTH}
    found = [
        Candidate(number, relation, tuple(edges), complete=whole[relation.direction])
        for relation, edges in groups.items()
        if not _repeats(relation, edges, groups)
    ]
    if form == "groups":
        return found
    return [
        Candidate(number, group.relation, (edge,), complete=group.complete) for group in found for edge in group.edges
    ]


def _repeats(relation: DirectedRelation, edges: Sequence[Edge], groups: Mapping[DirectedRelation, list[Edge]]) -> bool:
    """Whether an incoming group says what the outgoing one of the same relation says already (spouses, borders)."""
    twins = groups.get(relation.inverse, []) if relation.direction == "in" else []
    return {edge.end for edge in edges} <= {edge.end for edge in twins}


def _shown(candidates: Sequence[Candidate], tails: int) -> list[Term]:
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


def _share(candidates: Sequence[Candidate], budget: int, favoured: int) -> list[list[Iri]]:
    """The tails of each candidate that are looked at: one of each, then more of the best ones, `budget` in all."""
    nodes = [[tail for tail in candidate.tails if isinstance(tail, Iri)] for candidate in candidates]
    extra = max(0, budget - len(nodes)) // max(1, min(favoured, len(nodes)))
    return [tails[: 1 + (extra if number < favoured else 0)] for number, tails in enumerate(nodes)]


def _sorted(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    scored = [msgspec.structs.replace(found, score=score) for found, score in zip(candidates, scores, strict=True)]
    return sorted(scored, key=lambda found: (-found.score, found.beam, found.relation.relation.value))
