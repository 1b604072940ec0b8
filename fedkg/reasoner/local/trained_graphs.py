"""What a trained scorer knows of each graph that it was trained on: the file `judge.json` in its folder."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from fedkg.common.one_line import line
from fedkg.errors import ModelNameError

__all__ = ["FILE", "TrainedGraph", "graph_of", "read", "written"]

FILE = "judge.json"
KNOWN = 0.5
"""The share of a question's relations that a graph has to have, to be the one that is asked."""


class TrainedGraph(msgspec.Struct, frozen=True):
    """One graph that was trained on: its `relations` by their full names, and the weight of the scorer there.

    `whole` is how much a difference of whole likeness counts beside one of spans. `exemplars` are, by the text of a
    chain, the questions without their topics that ask for it; of a chain that goes on those that ask for such a one.
    `topics_answer` is False where no question has its own topic for an answer: there it is none beside others.
    `calibrated`: there were enough questions that it was not trained on for the confidence table to be fitted on.
    """

    endpoints: tuple[str, ...]
    whole: float
    relations: frozenset[str]
    exemplars: Mapping[str, tuple[str, ...]] = {}
    topics_answer: bool = True
    calibrated: bool = True


def graph_of(graphs: Sequence[TrainedGraph], relations: Collection[str]) -> TrainedGraph | None:
    """The graph that most of these relations are of; None where no graph has half of them."""
    best = max(graphs, key=lambda graph: len(graph.relations & set(relations)), default=None)
    known = best is not None and len(best.relations & set(relations)) >= KNOWN * len(set(relations))
    return best if known and relations else None


def read(folder: Path) -> tuple[TrainedGraph, ...]:
    """The graphs of the scorer in that folder; none where it has no such file. Raises ModelNameError."""
    file = folder / FILE
    if not file.is_file():
        return ()
    try:
        return msgspec.json.decode(file.read_bytes(), type=tuple[TrainedGraph, ...])
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{FILE} of the scorer in {str(folder)!r} cannot be read: {line(str(error), 200)}"
        raise ModelNameError(message, asked=str(folder), hint="train the scorer anew") from error


def written(graphs: Sequence[TrainedGraph]) -> bytes:
    """The graphs as they stand in the file, the same for the same graphs."""
    return msgspec.json.format(msgspec.json.encode(list(graphs), order="deterministic"), indent=1) + b"\n"
