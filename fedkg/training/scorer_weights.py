"""What a scorer is to know of each graph that it was trained on: how it is asked, and how much the scorer counts there.

The latter is found by questions that it was not trained on.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from fedkg.reasoner.local import trained_graphs
from fedkg.reasoner.local.chain_texts import chain_text, masked
from fedkg.reasoner.local.trained import WHOLE
from fedkg.reasoner.local.trained_graphs import TrainedGraph
from fedkg.training.chain_records import ChainRecord
from fedkg.training.scorer_confidence import FEWEST, asked_chains, by_graph, enough
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
    of_graphs = by_graph(data)
    graphs = [_graph(parts) for parts in of_graphs]
    (out / trained_graphs.FILE).write_bytes(trained_graphs.written(graphs))
    weighed = [
        msgspec.structs.replace(graph, whole=await _best(parts, out, on_progress))
        for graph, parts in zip(graphs, of_graphs, strict=True)
    ]
    (out / trained_graphs.FILE).write_bytes(trained_graphs.written(weighed))


async def _best(parts: Sequence[QuestionData], out: Path, on_progress: Progress) -> float:
    """The weight by which most of these questions are answered rightly."""
    if not enough(parts):
        return WHOLE
    right = dict.fromkeys(WEIGHTS, 0)
    for part, weight in itertools.product(parts, WEIGHTS):
        judged = await asked_chains(part, out, on_progress, weight=weight)
        right[weight] += sum(one.right for one in judged)
    return max(WEIGHTS, key=lambda weight: (right[weight], -weight))


def _graph(parts: Sequence[QuestionData]) -> TrainedGraph:
    trained = [record for part in parts for record in part.trained]
    asked = [record for record in trained if record.recipe.questions]  # made ones are no people's
    topics_answer = len(asked) < FEWEST or any(record.topic_answers for record in asked)
    return TrainedGraph(
        parts[0].about.endpoints, WHOLE, _relations(parts), _exemplars(trained), topics_answer, enough(parts)
    )


def _relations(parts: Iterable[QuestionData]) -> frozenset[str]:
    """All that the questions lead along, or past."""
    records = (record for part in parts for record in (*part.trained, *part.held_out))
    return frozenset(name for record in records for steps in (record.chain, *record.offers) for name, _ in steps)


def _exemplars(trained: Iterable[ChainRecord]) -> Mapping[str, tuple[str, ...]]:
    """The questions that are trained on, by the text of their chain and those of its beginnings."""
    found: dict[str, dict[str, None]] = {}
    for record in trained:
        asked, chain = masked(record.question, record.topic), record.chain
        begun = (chain_text(chain[:length], goes_on=True) for length in range(1, len(chain)))
        for text in (chain_text(chain), *begun):
            found.setdefault(text, {})[asked] = None
    return {text: tuple(questions) for text, questions in found.items() if text}
