"""GCR: graph-constrained reasoning over a KG-Trie (Luo et al. 2024, sections 4.2 to 4.4).

All paths within L hops of the topics are collected without a model and become a trie. The model writes or picks at
most K of them, held to the trie, so that none can be made up; one call then answers from all of them, each with the
end that it led to as its hypothesis. The answer set is completed as for FiDeLiS.

Three levels of constraint hold it to the trie; `door` among the `measures` is the one that was used. `token`: a local
model writes paths of one end each, and only tokens that go on in the trie are allowed; such a path stands for all
ends of its step. `schema`: one call is shown all paths, and the service holds the reply to their numbers. `index`:
the model walks the trie from hop to hop by picking numbers, which are checked. It is the paper's constraint, though
not its decoding.

In the paper a subgraph is there beforehand, and its model is fine-tuned to write paths. Here a graph is asked, so a
reach is bounded: what was left out is among the measures, and "none" is then not said. Without fine-tuning the model
may stop a path early, or go on too far: the shorter paths that it picked on its way are kept as far as K allows.

Calls: at most L at the level `index`, one at the others, and one that answers, besides the plan call, which finds the
topics.
"""

import itertools
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from fedkg.config.settings import ConstraintLevel, SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.path_errors import PathErrors
from fedkg.core.terms import Iri
from fedkg.llm.trie import Trie
from fedkg.methods.base import (
    Choosing,
    Completing,
    Decoding,
    Expanding,
    Inducing,
    Method,
    SearchResult,
    Task,
    Walk,
    Walking,
    ask,
)
from fedkg.methods.conclude import JUDGES, all_ends, answer, chains, completed, leaves, voted

__all__ = ["HOPS", "METHOD", "MOST_ENTITIES", "MOST_PATHS", "OFFERED", "search", "tokens"]

HOPS = 2
"""L unless the settings say how many: longer paths made the paper's answers worse (section 10.1)."""
MOST_ENTITIES = 200
"""Entities that are expanded at one hop."""
MOST_PATHS = 10_000
"""Paths in one trie, the best by the retriever's ranking."""
AGREEING = "hypotheses that name the end of their path"
"""The measure of what a writer decodes behind its paths, as a share."""
OFFERED = 100
"""Steps that one call is offered, where the settings do not say: as many as for ten paths of FiDeLiS."""


class Reach(msgspec.Struct, frozen=True):
    """The paths within reach, each under its tokens, and what is missing of them.

    `complete` is whether endpoints left nothing out; `unseen` entities were not expanded, and `left_out` paths had no
    room. `page` is how many steps the model is to be offered at once where that was not said (0: all).
    """

    paths: dict[tuple[Hashable, ...], PartialPath]
    complete: bool = True
    unseen: int = 0
    left_out: int = 0
    page: int = 0

    @property
    def whole(self) -> bool:
        """Whether these are all paths that the graph has."""
        return self.complete and not self.unseen and not self.left_out


class WalkedPaths(msgspec.Struct, frozen=True):
    """The paths that the model has chosen, best first, and whether all paths were offered.

    `constraint_level` is what held it to the trie; None where nothing did: `errors` are what it wrote then. Behind each
    path is its hypothesis, where the model has decoded one.
    """

    constraint_level: ConstraintLevel | None
    paths: tuple[PartialPath, ...]
    all_offered: bool = True
    hypotheses: tuple[str, ...] = ()
    errors: PathErrors = PathErrors()
    agreeing: float | None = None

    @property
    def measures(self) -> dict[str, float | str]:
        """What the document says of how they were chosen, or written."""
        door: dict[str, float | str] = {"door": self.constraint_level} if self.constraint_level else {}
        agreeing: dict[str, float | str] = {} if self.agreeing is None else {AGREEING: self.agreeing}
        return {**door, **agreeing, **self.errors.measures}


def search(task: Task) -> Walk:
    """The walk: all paths within reach, K of them that the model picks, one answer from these."""
    hops = METHOD.deepest(task.search)
    reach = yield from _reach(task.topics, hops)
    trie = Trie.of(reach.paths)
    measures: dict[str, float | str] = {
        "paths in the trie": len(trie),
        "paths left out": reach.left_out,
        "entities not expanded": reach.unseen,
    }
    if not reach.paths:
        return SearchResult(exhausted=reach.whole, measures=measures)
    most = (task.search.candidates or OFFERED) if reach.page else len(reach.paths)
    match task.search.decoding:
        case "none":
            walked = _ranked(reach, most)
        case "free":
            walked = (yield from _decoded(reach, task.search.top_paths)) or WalkedPaths(None, (), all_offered=False)
        case "trie":
            walked = (yield from _decoded(reach, task.search.top_paths)) or (
                yield from _walked(task, trie, reach.paths, hops, most)
            )
    result = yield from _ended(task, walked, exhausted=reach.whole and walked.all_offered and not walked.paths)
    return msgspec.structs.replace(result, measures={**walked.measures, **measures})


def _ranked(reach: Reach, most: int) -> WalkedPaths:
    """The paths that the retriever ranks first: what the answer call sees where no model picks any (Table 3)."""
    return WalkedPaths(None, tuple(sorted(reach.paths.values(), key=lambda path: -path.score)[:most]))


def tokens(path: PartialPath) -> tuple[Hashable, ...]:
    """A path as the trie has it: the topic, then each step as its relation with the ends that it leads to."""
    return (path.topic, *((step.relation, step.tails) for step in path.steps))


def _reach(topics: Sequence[Iri], hops: int) -> Walking[Reach]:
    """Breadth first: the paths of one step, then those of two; within a hop the best ones first."""
    partial_paths = tuple(PartialPath(topic) for topic in topics)
    reach = Reach({})
    for depth in range(1, hops + 1):
        # all that follows is walked anyway: a retriever's look at the hop after it would be fetched for nothing
        expansion = yield from ask(Expanding(depth, partial_paths, last=True, frontier=MOST_ENTITIES))
        ends = sum(isinstance(tail, Iri) for path in partial_paths for tail in path.tails)
        longer = (partial_paths[candidate.path_index].extend(candidate) for candidate in expansion.candidates)
        extended = {tokens(path): path for path in longer}
        kept = dict(itertools.islice(extended.items(), MOST_PATHS - len(reach.paths)))
        reach = Reach(
            reach.paths | kept,
            reach.complete and expansion.complete,
            reach.unseen + max(0, ends - MOST_ENTITIES),
            reach.left_out + len(extended) - len(kept),
            expansion.page,
        )
        partial_paths = tuple(kept.values())
        if not partial_paths:
            break
    return reach


def _decoded(reach: Reach, width: int) -> Walking[WalkedPaths | None]:
    """At the level `token` or `schema`, or freely, in one call; None where neither takes so many paths, or it failed.

    Written freely are only paths that the model knows of: "none" is not said of the others.
    """
    paths = tuple(reach.paths.values())
    decoded = yield from ask(Decoding(paths, width))
    if decoded is None:
        return None
    chosen, level = tuple(paths[number - 1] for number in decoded.numbers), decoded.constraint_level
    return WalkedPaths(level, chosen, level is not None, decoded.hypotheses, decoded.errors, decoded.agreeing)


def _walked(
    task: Task, trie: Trie[Hashable], paths: Mapping[tuple[Hashable, ...], PartialPath], hops: int, most: int
) -> Walking[WalkedPaths]:
    """At the level `index`: at each hop the model picks among what follows the picked paths in the trie.

    First come the paths that it said are enough, then those that no other goes on from, then the shorter ones before
    them.
    """
    partial_paths, width = tuple(PartialPath(topic) for topic in task.topics), task.search.top_paths
    finished: list[PartialPath] = []
    trail: list[PartialPath] = []
    all_offered = True
    for depth in range(1, hops + 1):
        following = _following(partial_paths, trie, paths)
        all_offered = all_offered and len(following) <= most
        offered = following[:most]
        if not offered:
            break
        need = Choosing(depth, tuple(partial_paths[step.path_index].extend(step) for step in offered), width)
        decision = yield from ask(need)
        picked = tuple(need.numbered[number] for number in decision.picks)
        trail += picked
        if decision.decides:
            finished += picked
            break
        partial_paths = picked
    ranked = dict.fromkeys((*finished, *leaves(trail), *trail[::-1]))
    return WalkedPaths("index", tuple(ranked)[:width], all_offered)


def _following(
    partial_paths: Sequence[PartialPath], trie: Trie[Hashable], paths: Mapping[tuple[Hashable, ...], PartialPath]
) -> tuple[Step, ...]:
    """The steps with which these paths go on in the trie, the best first."""
    steps = [
        msgspec.structs.replace(paths[(*prefix, token)].steps[-1], path_index=number)
        for number, prefix in enumerate(map(tokens, partial_paths))
        for token in trie.children(prefix)
    ]
    return tuple(sorted(steps, key=lambda step: -step.score))


def _ended(task: Task, walked: WalkedPaths, *, exhausted: bool) -> Walk:
    """The answer call; without it the ends of the paths, but for a judgement, which only the model can make.

    Those are the hypotheses of the paths (section 9, without the general LLM), of which the one to which most paths
    lead comes first.
    """
    if not (task.search.last_step or task.together):
        return voted((yield from all_ends(walked.paths, (), exhausted=exhausted)))
    result = yield from _induced(walked, together=task.together, exhausted=exhausted)
    return result if task.search.last_step else msgspec.structs.replace(result, note=JUDGES)


def _induced(walked: WalkedPaths, *, together: bool, exhausted: bool) -> Walk:
    """The answer from all paths.

    They are completed before it where they decide together, else those that were chosen, after it.
    """
    shown = chains(walked.paths)
    hypotheses = _of_chains(shown, walked)
    if shown and together:
        shown = yield from ask(Completing(shown))
    result = yield from answer(Inducing(shown, hypotheses), together=together, exhausted=exhausted)
    if together or not result.paths:
        return result
    return msgspec.structs.replace(result, paths=(yield from completed(result.paths)))


def _of_chains(shown: Sequence[PartialPath], walked: WalkedPaths) -> tuple[str, ...]:
    """The hypotheses of the paths as they are shown; none where none was decoded."""
    if not any(walked.hypotheses):
        return ()
    of_chain: dict[object, dict[str, None]] = {}
    for path, hypothesis in zip(walked.paths, walked.hypotheses, strict=True):
        of_chain.setdefault((path.topic, path.chain), {})[hypothesis] = None
    return tuple(", ".join(filter(None, of_chain[path.topic, path.chain])) for path in shown)


def calls(search: SearchSettings, _topics: int) -> dict[str, int]:
    """The most calls by name: one a hop where a model picks the paths, and one that answers."""
    counted = {
        "choose": search.depth if search.decoding == "trie" else 0,
        "reasoning-paths": int(search.decoding == "free"),
        "inductive": int(search.last_step),
    }
    return {name: count for name, count in counted.items() if count}


METHOD = Method(
    "GCR: graph-constrained reasoning over a KG-Trie",
    "Luo et al. 2024 (GCR), sections 4.2 to 4.4",
    search,
    decodes=True,
    calls=calls,
    hops=HOPS,
)
