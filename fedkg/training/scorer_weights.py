"""How much a scorer is to count on each graph that it was trained on, by questions that it was not trained on."""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from fedkg.reasoner.local import graph_weights
from fedkg.reasoner.local.graph_weights import GraphWeight
from fedkg.reasoner.local.trained import WHOLE
from fedkg.training.scorer_confidence import FEWEST, asked_chains, held_out
from fedkg.training.scorer_data import Progress, QuestionData

__all__ = ["WEIGHTS", "write_weights"]

WEIGHTS = (WHOLE, 2 * WHOLE, 4 * WHOLE, 8 * WHOLE)
"""The weights that are tried. Of several that answer as many questions rightly the least is taken."""


async def write_weights(
    data: Sequence[QuestionData], out: Path, on_progress: Progress = lambda _what, _done, _all: None
) -> None:
    """Writes into the folder `out` the weight by which most held-out questions of each graph are answered rightly.

    A graph with too few of them has the least weight. Raises InputError where an endpoint
    of the data cannot be opened.
    """
    by_graph: dict[str, list[QuestionData]] = {}
    for part in held_out(data):
        by_graph.setdefault(part.graph, []).append(part)
    graphs = [GraphWeight(_endpoints(parts), WHOLE, _relations(parts)) for parts in by_graph.values()]
    (out / graph_weights.FILE).write_bytes(graph_weights.written(graphs))
    weighed = [
        GraphWeight(graph.endpoints, await _best(parts, out, on_progress), graph.relations)
        for graph, parts in zip(graphs, by_graph.values(), strict=True)
    ]
    (out / graph_weights.FILE).write_bytes(graph_weights.written(weighed))


async def _best(parts: Sequence[QuestionData], out: Path, on_progress: Progress) -> float:
    """The weight by which most of these questions are answered rightly."""
    if sum(len(part.held_out) for part in parts) < FEWEST:
        return WHOLE
    right = dict.fromkeys(WEIGHTS, 0)
    for part, weight in itertools.product(parts, WEIGHTS):
        judged = await asked_chains(part, out, on_progress, weight=weight)
        right[weight] += sum(one.right for one in judged)
    return max(WEIGHTS, key=lambda weight: (right[weight], -weight))


def _endpoints(parts: Sequence[QuestionData]) -> tuple[str, ...]:
    return parts[0].about.endpoints


def _relations(parts: Iterable[QuestionData]) -> frozenset[str]:
    """All that the questions lead along, or past."""
    records = (record for part in parts for record in (*part.trained, *part.held_out))
    return frozenset(name for record in records for steps in (record.chain, *record.offers) for name, _ in steps)
