"""Searches driven by hand: a driver replies to each need."""

from collections.abc import Callable, Sequence
from typing import Any

from fedkg.config.settings import SearchSettings
from fedkg.core.choice import Choice, Conclusion, Decision, Verdict
from fedkg.core.path import Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.methods import fidelis
from fedkg.methods.base import (
    Answering,
    Choosing,
    Completing,
    Deducing,
    Expanding,
    Expansion,
    Need,
    Picking,
    SearchResult,
    Task,
    Walk,
)

__all__ = ["OTHER", "TOPIC", "Driver", "drive", "kinds", "step"]

TOPIC = Iri("http://x/topic")
OTHER = Iri("http://x/other")


def step(name: str, start: str = "topic", beam: int = 0, score: float = 1.0) -> Step:
    """A candidate with one edge from `start` over the relation `name` to a node of the same name."""
    relation = Iri(f"http://x/r/{name}")
    edge = Edge(Iri(f"http://x/{start}"), relation, Iri(f"http://x/{name}"), "out", "e")
    return Step(beam, DirectedRelation(relation, "out"), (edge,), score)


def drive(
    settings: SearchSettings,
    answer: Callable[[Need[object]], Any],
    *,
    together: bool = False,
    topics: Sequence[Iri] = (TOPIC,),
    search: Callable[[Task], Walk] = fidelis.search,
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs a search; `answer` is the driver."""
    walk = search(Task(tuple(topics), settings, together))
    needs: list[Need[object]] = [next(walk)]
    try:
        while True:
            needs.append(walk.send(answer(needs[-1])))
    except StopIteration as end:
        return end.value, needs


def kinds(needs: list[Need[object]]) -> list[str]:
    """The names of the needs, in order."""
    return [type(need).__name__ for need in needs]


class Driver:
    """A driver that offers two steps at each depth and finishes at `finish_at` (0: never)."""

    def __init__(self, finish_at: int = 0, picks: int = 2, conclude: Conclusion | None = None) -> None:
        self.finish_at = finish_at
        self.picks = picks
        self.conclude = conclude
        self.depth = 0

    def __call__(self, need: Need[object]) -> Any:
        """The reply to a need."""
        match need:
            case Expanding():
                self.depth = need.depth
                steps = [
                    step(f"d{need.depth}b{n}{k}", f"n{n}", n) for n in range(len(need.partial_paths)) for k in "ab"
                ]
                return Expansion(tuple(steps), complete=True)
            case Choosing():
                offered = list(need.numbered)[: len(need.offers)]
                return Decision(
                    tuple(offered[: min(self.picks, need.width)]),
                    decides=need.depth == self.finish_at and self.picks > 0,
                )
            case Picking():
                return (Choice(1), Choice(2))[: need.width]
            case Deducing():
                finishes = need.depth == self.finish_at
                return tuple(Verdict(n, True, finishes) for n in range(1, len(need.partial_paths) + 1))
            case Completing():
                return need.partial_paths
            case Answering():
                return self.conclude or Conclusion(tuple(range(1, len(need.partial_paths) + 1)))
