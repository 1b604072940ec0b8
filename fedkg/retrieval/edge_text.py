"""Candidates ranked by the texts of their edges, compared with the question: what `vanilla` and `kaping` share."""

import itertools
from collections.abc import Mapping, Sequence

from fedkg.core.path import Step
from fedkg.core.terms import Edge, Term, own_name, relation_text
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.candidates import sorted_by

__all__ = ["best_edge_first", "pair_text", "triple_text"]


async def best_edge_first(
    candidates: Sequence[Step], labels: Mapping[Term, str], context: RetrievalContext, *, whole: bool
) -> list[Step]:
    """The candidates by the best of their shown edges, as relation and entity or as the `whole` triple."""
    if not candidates:
        return []
    text = triple_text if whole else pair_text
    texts = [[text(edge, labels) for edge in candidate.edges[: context.search.tails]] for candidate in candidates]
    cosines = await context.similarities(context.question, itertools.chain(*texts))
    return sorted_by(candidates, [max(cosines[text] for text in of_edges) for of_edges in texts])


def pair_text(edge: Edge, labels: Mapping[Term, str]) -> str:
    """An edge without its start: `directed by Peter Jackson`."""
    return f"{relation_text(edge.walked, labels)} {_name(edge.end, labels)}"


def triple_text(edge: Edge, labels: Mapping[Term, str]) -> str:
    """An edge in the order of the graph, whichever way it is walked: `(King Kong, directed by, Peter Jackson)`."""
    ends = (edge.start, edge.end) if edge.direction == "out" else (edge.end, edge.start)
    subject, value = (_name(term, labels) for term in ends)
    return f"({subject}, {relation_text(edge.walked, labels)}, {value})"


def _name(term: Term, labels: Mapping[Term, str]) -> str:
    return labels.get(term) or own_name(term)
