"""EPERM (Long et al.) without training: a subgraph, weighted plans in it, an answer from weighted evidence paths.

Subgraph retriever: per hop the model scores every step around the frontier, S(Q, r) of Eq. 2, and the top K are
walked; what they are called is the subgraph's relations. Evidence path finder: the model chains these to at most s
weighted plans; each is looked for in the graph, and per hop the entities are scored with what the graph has around
them (Eq. 3), of which the top S of each plan are gone on from. A path's weight is the product of the plan's weight
and its entities' scores. Answer predictor: the answer call sees the paths with their weights, the heaviest first
(Algorithm 1, appendix A.4).

What differs from the paper: its three modules are one fine-tuned model, here any model is asked. A relation is scored
with the path before it where there are several, since it may help after one and not after another. A plan's entities
are those that the whole graph has, not the subgraph only, and one from which the plan leads nowhere is no part of a
path. The ends of a plan are scored and ordered, but not cut to S: a question with nine answers has nine. Paths of one
plan are shown as one, each end with the weight of the heaviest path to it; each answer stands on a path of that weight.

Calls: one per hop for the relations, one per hop for the entities, one that plans and one that answers: at most 2D +
2 besides the plan call, which finds the topics.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Iri, Term
from fedkg.errors import BudgetError
from fedkg.methods.base import (
    Answering,
    Completing,
    Expanding,
    Method,
    PlannedChain,
    Planning,
    Scoring,
    SearchResult,
    Task,
    Walk,
    Walking,
    ask,
)
from fedkg.methods.conclude import JUDGES, answer, chains
from fedkg.methods.intersections import in_common, led_to

__all__ = ["HOPS", "METHOD", "OFFERED", "search"]

HOPS = 3
"""D, most hops: no question of the paper's data sets needs more (Table 6); its own D is not stated."""
OFFERED = 100
"""Steps that are scored at a hop unless the settings say how many, the best by the retriever: the paper scores all."""


PlanKey = tuple[Iri, tuple[DirectedRelation, ...]]
"""Which plan a path follows: its topic, and the relations from there."""


class Subgraph(msgspec.Struct, frozen=True):
    """The relations that were kept, the best first; `whole` is True where the graph has no others within reach."""

    relations: tuple[DirectedRelation, ...]
    whole: bool


class Branch(msgspec.Struct, frozen=True):
    """A path through the tree of a plan, T(j) of the paper.

    `ahead` are the steps that it has yet to take, with all their edges, `path.score` is its weight, and at the end of
    its plan `weights` are those of the path to each end.
    """

    plan: int
    path: PartialPath
    ahead: tuple[Step, ...]
    weights: Mapping[Term, float] = {}

    @property
    def step(self) -> Step:
        """The next step, with the edges that go on from the path; back only where none goes on."""
        walked = {self.path.topic, *(tail for step in self.path.steps for tail in step.tails)}
        edges = tuple(edge for edge in self.ahead[0].edges if edge.start in self.path.tails)
        onward = tuple(edge for edge in edges if edge.end not in walked)
        return msgspec.structs.replace(self.ahead[0], edges=onward or edges)


class Evidence(msgspec.Struct, frozen=True):
    """The evidence paths, the heaviest first, and by topic and chain the weight of the path to each end; or none."""

    paths: tuple[PartialPath, ...]
    weights: Mapping[PlanKey, Mapping[Term, float]] = {}

    def of_ends(self, path: PartialPath) -> tuple[float, ...]:
        """The weights of the path's ends, in their order; none where they were not weighed."""
        weights = self.weights.get((path.topic, path.chain), {})
        return tuple(weights[end] for end in path.tails) if weights else ()

    def apart(self, result: SearchResult) -> SearchResult:
        """The result whose paths lead to ends of one weight each, which is their score."""
        parts = [
            part
            for path, numbers in zip(result.paths, result.tails, strict=True)
            for part in self._parted(path, numbers)
        ]
        paths, tails = tuple(path for path, _ in parts), tuple(numbers for _, numbers in parts)
        return msgspec.structs.replace(result, paths=paths, tails=tails)

    def _parted(self, path: PartialPath, numbers: Collection[int]) -> list[tuple[PartialPath, tuple[int, ...]]]:
        by_weight: dict[float, set[Term]] = {}
        for number, (end, weight) in enumerate(zip(path.tails, self.of_ends(path), strict=False), 1):
            if not numbers or number in numbers:
                by_weight.setdefault(weight, set()).add(end)
        parts = [
            msgspec.structs.replace(led_to(path, ends), score=weight)
            for weight, ends in sorted(by_weight.items(), reverse=True)
        ]
        named = [tuple(range(1, len(part.tails) + 1)) if numbers else () for part in parts]
        return list(zip(parts, named, strict=True)) or [(path, tuple(numbers))]


def search(task: Task) -> Walk:
    """The three stages; `search.depth` bounds the hops further.

    Where no path can be judged any more, the measures are left.
    """
    depth = METHOD.deepest(task.search)
    subgraph = yield from _retrieved(task, depth)
    plans: tuple[PlannedChain, ...] = ()
    if subgraph.relations:
        plans = yield from ask(Planning(task.topics, depth, task.search.top_plans, subgraph.relations))
    if not plans:
        return SearchResult(exhausted=subgraph.whole, measures=_measures(subgraph))
    grounded: list[tuple[PlannedChain, PartialPath]] = []
    try:
        walks = yield from ask(Completing(tuple(plan.path for plan in plans)))
        grounded += [(plan, walk) for plan, walk in zip(plans, walks, strict=True) if walk.tails]
        evidence = yield from (_weighed(grounded, task.search) if task.search.weights else _unweighed(grounded))
        result = yield from _answered(task, evidence)
    except BudgetError:
        result = SearchResult()
    return msgspec.structs.replace(result, measures=_measures(subgraph, plans, [plan for plan, _ in grounded]))


def _answered(task: Task, evidence: Evidence) -> Walk:
    """The answer predictor; without it all that the evidence paths lead to, the heaviest first (Table 4).

    A judgement only the model can make. Each answer stands on a path with the weight of its own end.
    """
    if task.search.last_step or task.together:
        need = Answering(evidence.paths, weights=tuple(map(evidence.of_ends, evidence.paths)))
        result = yield from answer(need, together=task.together)
        note = "" if task.search.last_step else JUDGES
        return msgspec.structs.replace(evidence.apart(result), note=note)
    paths = in_common(evidence.paths) or evidence.paths
    result = evidence.apart(SearchResult(paths, ((),) * len(paths)))
    heaviest = sorted(zip(result.paths, result.tails, strict=True), key=lambda pair: -pair[0].score)
    return msgspec.structs.replace(result, paths=tuple(p for p, _ in heaviest), tails=tuple(t for _, t in heaviest))


def _measures(
    subgraph: Subgraph, plans: Sequence[PlannedChain] = (), grounded: Sequence[PlannedChain] = ()
) -> dict[str, float | str]:
    """The figures of a search; a plan is made once for all topics, and is grounded where one of them has it."""
    return {
        "plans": len({plan.relations for plan in plans}),
        "grounded plans": len({plan.relations for plan in grounded}),
        "relations in the subgraph": len(subgraph.relations),
    }


def _retrieved(task: Task, depth: int) -> Walking[Subgraph]:
    """The subgraph retriever: K steps at each hop, over all paths."""
    partial_paths = tuple(PartialPath(topic) for topic in task.topics)
    scores: dict[DirectedRelation, float] = {}
    whole = True
    for hop in range(1, depth + 1):
        # the model scores the step itself: a retriever's look at the one after it would be fetched for nothing
        expansion = yield from ask(Expanding(hop, partial_paths, last=True, form="groups"))
        offered = expansion.candidates[: task.search.candidates or OFFERED]
        best = yield from _relevant(hop, partial_paths, offered, task.search.top_relations)
        whole = whole and expansion.complete and len(best) == len(expansion.candidates)
        for step in best:
            scores[step.relation] = max(step.score, scores.get(step.relation, 0.0))
        partial_paths = tuple(partial_paths[step.path_index].extend(step) for step in best)
        if not partial_paths:
            break
    return Subgraph(tuple(sorted(scores, key=lambda relation: -scores[relation])), whole and not partial_paths)


def _relevant(
    hop: int, partial_paths: tuple[PartialPath, ...], offered: tuple[Step, ...], most: int
) -> Walking[list[Step]]:
    """The top K of the steps by the model's score (Eq. 2); those with equal ones as the retriever ranks them."""
    if not offered:
        return []
    scores = yield from ask(Scoring(hop, "relations", partial_paths, offered))
    scored = [msgspec.structs.replace(step, score=score) for step, score in zip(offered, scores, strict=True)]
    return sorted(scored, key=lambda step: -step.score)[:most]


def _unweighed(grounded: Sequence[tuple[PlannedChain, PartialPath]]) -> Walking[Evidence]:
    """The paths of the plans as the graph has them, none scored or left out (Table 3, without filtering)."""
    yield from ()
    return Evidence(chains([walk for _, walk in grounded]))


def _weighed(grounded: Sequence[tuple[PlannedChain, PartialPath]], search: SearchSettings) -> Walking[Evidence]:
    """The evidence path finder: the weighted paths of the plans, the heaviest first, those of one plan as one."""
    branches = [
        Branch(number, PartialPath(plan.topic, score=plan.weight), _leading(walk))
        for number, (plan, walk) in enumerate(grounded)
    ]
    for hop in range(1, max((len(branch.ahead) for branch in branches), default=0) + 1):
        done = [branch for branch in branches if not branch.ahead]
        branches = done + (yield from _grown(hop, [branch for branch in branches if branch.ahead], search))
    return _evidence(sorted(branches, key=lambda branch: -branch.path.score))


def _evidence(branches: Sequence[Branch]) -> Evidence:
    """The branches, those of one plan joined; an end to which several of them lead has the most of its weights."""
    weights: dict[PlanKey, dict[Term, float]] = {}
    for branch in branches:
        ends = weights.setdefault((branch.path.topic, branch.path.chain), {})
        for end in branch.path.tails:
            ends[end] = max(branch.weights.get(end, 0.0), ends.get(end, 0.0))
    return Evidence(chains([branch.path for branch in branches]), weights)


def _leading(walk: PartialPath) -> tuple[Step, ...]:
    """The steps of a walk with only those edges that lead on to its end."""
    steps: list[Step] = []
    for step in reversed(walk.steps):
        ahead = {edge.start for edge in steps[0].edges} if steps else set(step.tails)
        steps.insert(0, msgspec.structs.replace(step, edges=tuple(edge for edge in step.edges if edge.end in ahead)))
    return tuple(steps)


def _grown(hop: int, branches: Sequence[Branch], search: SearchSettings) -> Walking[list[Branch]]:
    """Each path one step longer, at the entities that score best; about `frontier` are scored, in one call."""
    share = max(1, search.frontier // max(1, len(branches)))
    paths = tuple(branch.path for branch in branches)
    steps = [branch.step for branch in branches]
    pairs = tuple(pair for number, step in enumerate(steps) for pair in _pairs(number, step, share))
    if not pairs:
        return []
    scores = yield from ask(Scoring(hop, "entities", paths, pairs, surroundings=True))
    weighed: list[dict[Term, float]] = [{} for _ in branches]
    for pair, score in zip(pairs, scores, strict=True):
        weighed[pair.path_index][pair.tails[0]] = score * paths[pair.path_index].score
    grown = [
        longer
        for branch, step, weights in zip(branches, steps, weighed, strict=True)
        for longer in _longer(branch, step, weights)
    ]
    return _best(grown, search.top_entities)


def _pairs(number: int, step: Step, most: int) -> list[Step]:
    """The step to each of its first entities, over all edges to it; each is less than the step where there are more."""
    complete = step.complete and len(step.tails) <= most
    edges = [tuple(edge for edge in step.edges if edge.end == tail) for tail in step.tails[:most]]
    return [Step(number, step.relation, part, complete=complete) for part in edges]


def _longer(branch: Branch, step: Step, weights: Mapping[Term, float]) -> list[Branch]:
    """The branch with each of the weighed entities; at the end of a plan with all of them, the heaviest first.

    Those that were not scored, since there are too many, weigh as much as the lightest of the others.
    """
    if not weights:
        return []
    ahead = branch.ahead[1:]
    if ahead:
        pairs = _pairs(0, step, len(weights))
        steps = [msgspec.structs.replace(pair, score=weights[pair.tails[0]]) for pair in pairs]
        return [Branch(branch.plan, branch.path.extend(longer), ahead) for longer in steps]
    edges = tuple(sorted(step.edges, key=lambda edge: -weights.get(edge.end, 0.0)))
    longer = msgspec.structs.replace(step, edges=edges, score=max(weights.values()))
    ends = {**dict.fromkeys(step.tails, min(weights.values())), **weights}
    return [Branch(branch.plan, branch.path.extend(longer), (), ends)]


def _best(branches: Sequence[Branch], most: int) -> list[Branch]:
    """Of each plan the top S; where there are more, they are marked as not all."""
    plans: dict[int, list[Branch]] = {}
    for branch in sorted(branches, key=lambda branch: -branch.path.score):
        plans.setdefault(branch.plan, []).append(branch)
    return [
        branch if len(ranked) <= most else _partial(branch) for ranked in plans.values() for branch in ranked[:most]
    ]


def _partial(branch: Branch) -> Branch:
    """The branch as one beside which others were left out."""
    *before, last = branch.path.steps
    path = PartialPath(
        branch.path.topic, (*before, msgspec.structs.replace(last, complete=False)), score=branch.path.score
    )
    return msgspec.structs.replace(branch, path=path)


def calls(search: SearchSettings, _topics: int) -> dict[str, int]:
    """The most calls by name: two a hop, one that plans, and one that answers."""
    counted = {
        "score-relations": search.depth,
        "relation-paths": 1,
        "score-entities": search.depth if search.weights else 0,
        "weighted-answer": int(search.last_step and search.weights),
        "answer": int(search.last_step and not search.weights),
    }
    return {name: count for name, count in counted.items() if count}


METHOD = Method(
    "EPERM: weighted plans and evidence paths, training-free",
    "EPERM (Long et al.), Methodology and Algorithm 1",
    search,
    calls=calls,
    hops=HOPS,
)
