"""The queries that ask an answer's endpoints for the edges of its proofs again: the requests of a verification."""

from collections.abc import Iterator, Sequence

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.terms import Edge
from fedkg.graph.base import chunks
from fedkg.graph.endpoint import HOLDS_BATCH, askable
from fedkg.sparql import build

__all__ = ["ProofQuery", "proof_queries"]


class ProofQuery(msgspec.Struct, frozen=True):
    """A SPARQL query with a row (i) for each of so many `edges` that the endpoint has, numbered from 0."""

    endpoint: str
    edges: int
    query: str


def proof_queries(answer: Answer, endpoint: str, unknown: str = "") -> Iterator[ProofQuery]:
    """The queries for that endpoint, in the order of the paths; edges that no query can name are left out.

    `unknown` is the prefix of IRIs that stand for a value which is not known, from the endpoint's profile.
    """
    for part in chunks(_edges(answer, endpoint), HOLDS_BATCH):
        yield ProofQuery(endpoint, len(part), build.holds(part, unknown))


def _edges(answer: Answer, endpoint: str) -> Sequence[Edge]:
    """The distinct edges that the endpoint returned."""
    shown = (shown.edge for path in answer.paths for shown in path.edges if shown.endpoint == endpoint)
    return [edge for edge in dict.fromkeys(shown) if askable(edge)]
