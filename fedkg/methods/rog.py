"""RoG: reasoning on graphs by relation paths that are planned first and then looked for (Luo et al. 2024, section 4).

The model plans chains of relations from the topics; the graph shows which of them exist; the answer call sees those,
with all their ends. A chain of which one step does not exist is dropped as a whole: mended, it would be another plan,
which no model made.

The paper fine-tunes its planner on shortest paths, so that it knows the graph's relations by heart; here any model
plans, and is shown the relations within reach, though not which of them follows on which. What the paper calls
invalid plans can so be measured: the validity ratio is the share of planned steps that exist, and each plan is in the
graph, or has an error of format, a relation that was not offered, or a step that does not follow there.

Calls: one that plans the chains and one that answers, besides the plan call, which finds the topics. However little
is found, "the graph has none" is never the result: what was not planned was not looked at.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath
from fedkg.core.path_errors import PathErrors, PathFault
from fedkg.core.terms import DirectedRelation
from fedkg.methods.base import Answering, Completing, Method, Planning, Task, Walk, ask
from fedkg.methods.conclude import JUDGES, all_ends, answer

__all__ = ["METHOD", "search"]


def search(task: Task) -> Walk:
    """At most `search.beam` chains of at most `search.depth` relations, planned, grounded and judged."""
    planned = yield from ask(Planning(task.topics, task.search.depth, task.search.beam, faulty=True))
    chains, faults = [chain for chain in planned if not chain.fault], [chain.fault for chain in planned if chain.fault]
    walked: tuple[PartialPath, ...] = ()
    if chains:
        walked = yield from ask(Completing(tuple(chain.path for chain in chains)))
    grounded = tuple(path for path in walked if _existing(path) == len(path.steps))
    result = yield from _answered(task, grounded)
    return msgspec.structs.replace(result, measures={**_validity(walked), **_errors(walked, faults).measures})


def _answered(task: Task, grounded: tuple[PartialPath, ...]) -> Walk:
    """The answer call; without it all ends of the chains, as of the paper's planner alone, but for a judgement."""
    if not (task.search.last_step or task.together):
        return (yield from all_ends(grounded, (), exhausted=False))
    result = yield from answer(Answering(grounded), together=task.together)
    return result if task.search.last_step else msgspec.structs.replace(result, note=JUDGES)


def _existing(path: PartialPath) -> int:
    """How many steps of a chain the graph has; after one that is missing there is nowhere to go on from."""
    return sum(bool(step.edges) for step in path.steps)


def _validity(walked: Sequence[PartialPath]) -> dict[str, float | str]:
    """The share of planned steps that exist, and how many were planned; no share where nothing was.

    A chain is planned once for all topics: what counts is the topic from which it leads furthest.
    """
    furthest: dict[tuple[DirectedRelation, ...], int] = {}
    for path in walked:
        furthest[path.chain] = max(_existing(path), furthest.get(path.chain, 0))
    planned = sum(map(len, furthest))
    ratio = {"validity ratio": sum(furthest.values()) / planned} if planned else {}
    return {**ratio, "planned steps": planned}


def _errors(walked: Sequence[PartialPath], faults: Sequence[PathFault]) -> PathErrors:
    """The plans by what is wrong with them; one that the graph has from any of the topics is in it."""
    whole = {path.chain for path in walked if _existing(path) == len(path.steps)}
    plans = {path.chain for path in walked}
    counted = Counter[PathFault](faults) + Counter[PathFault]({"steps not in the graph": len(plans - whole)})
    return PathErrors(len(plans) + len(faults), dict(counted))


METHOD = Method(
    "RoG: relation paths planned, then grounded",
    "Luo et al. 2024 (Reasoning on Graphs), section 4",
    search,
    calls=lambda search, _topics: {"relation-paths": 1, **({"answer": 1} if search.last_step else {})},
)
