"""How a search ends: the answer call over the paths that it has come to, and the whole answer set.

Paths of one chain of relations are shown as one, and completed before the model judges them where they are sure to be
shown, after it where it may choose few of many. Where they start from several topics the model sees where they meet,
too: what two films have in common is the end of a path from each, and of neither alone.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Term
from fedkg.errors import BudgetError
from fedkg.methods.base import Answering, Completing, Inducing, SearchResult, Task, Walk, Walking, ask
from fedkg.methods.conditions import checked
from fedkg.methods.intersections import groups, in_common, joined

__all__ = ["JUDGES", "all_ends", "answer", "chains", "completed", "conclude", "cut", "ended", "leaves", "voted"]

JUDGES = "the answer call was made although last_step is off: only the model can judge a question of this kind"
"""The note of an answer that was judged in spite of the settings."""


def ended(task: Task, finished: Sequence[PartialPath], trail: Sequence[PartialPath], *, exhausted: bool) -> Walk:
    """The answer call; or what the paths lead to, unless the answer is a judgement, which only the model can make."""
    if not (task.search.last_step or task.together):
        return (yield from all_ends(finished, trail, exhausted=exhausted))
    result = yield from conclude(finished, trail, together=task.together, exhausted=exhausted)
    return result if task.search.last_step else msgspec.structs.replace(result, note=JUDGES)


def conclude(finished: Sequence[PartialPath], trail: Sequence[PartialPath], *, together: bool, exhausted: bool) -> Walk:
    """The end of a search that kept the paths of `trail`, in the order walked; `finished` of them are enough to answer.

    Finished paths are completed first, so that the model sees all their tails. Without any it sees the kept paths of
    every depth, the deepest first. Where paths decide `together` it sees all evidence, what decided first; so it does
    where they start from several topics.
    """
    if len({path.topic for path in trail}) > 1 and not together:
        return (yield from _met(chains((*finished, *trail[::-1])), len(chains(finished)), exhausted=exhausted))
    certain = (*finished, *leaves(trail)) if together else finished
    if certain:
        whole = yield from ask(Completing(chains(certain)))
        return (yield from answer(Answering(whole), together=together, exhausted=exhausted))
    paths = chains(trail[::-1])
    return (yield from answer(Answering(paths), exhausted=exhausted, partial=paths))


def all_ends(finished: Sequence[PartialPath], trail: Sequence[PartialPath], *, exhausted: bool) -> Walk:
    """The end of a search without an answer call: all ends of the finished paths, else of the longest from each topic.

    Of paths from several topics it is what they have in common, where there is something.
    """
    chosen = chains(finished or _longest(trail))
    if not chosen:
        return SearchResult(exhausted=exhausted)
    whole = yield from completed(chosen)
    best = in_common(whole) or whole
    return SearchResult(best, ((),) * len(best), exhausted=exhausted)


def voted(result: SearchResult) -> SearchResult:
    """The result with the ends first to which the most of its paths lead; among equals the first path's."""
    votes = Counter(tail for path in result.paths for tail in path.tails)
    ranked = [
        (path, tuple(number for number, tail in enumerate(path.tails, 1) if votes[tail] == most))
        for most in sorted(set(votes.values()), reverse=True)
        for path in result.paths
    ]
    kept = [(path, numbers) for path, numbers in ranked if numbers]
    paths, tails = tuple(path for path, _ in kept), tuple(numbers for _, numbers in kept)
    return msgspec.structs.replace(result, paths=paths, tails=tails)


def _longest(trail: Sequence[PartialPath]) -> list[PartialPath]:
    """The paths of each topic that are as long as any of it."""
    most: dict[Term, int] = {}
    for path in trail:
        most[path.topic] = max(len(path.steps), most.get(path.topic, 0))
    return [path for path in trail if len(path.steps) == most[path.topic]]


def _met(partial_paths: tuple[PartialPath, ...], finished: int, *, exhausted: bool) -> Walk:
    """The end of a search from several topics; the first paths are `finished`.

    These and the ones that meet are completed first, so that all is there that they have in common.
    """
    sure = sorted({*range(finished), *(number for group in groups(partial_paths) for number in group)})
    whole = (yield from ask(Completing(tuple(partial_paths[number] for number in sure)))) if sure else ()
    known = dict(zip(sure, whole, strict=True))
    need = joined([known.get(number, path) for number, path in enumerate(partial_paths)])
    left = [path for number, path in enumerate(partial_paths) if number not in known]
    return (yield from answer(need, exhausted=exhausted, partial=left))


def answer(
    need: Answering | Inducing,
    *,
    together: bool = False,
    exhausted: bool = False,
    partial: Sequence[PartialPath] = (),
) -> Walk:
    """What the model makes of these paths; no call where there are none. Those that are `partial` are completed then.

    Paths that decide `together` count with all tails.
    """
    if not need.partial_paths:
        return SearchResult(exhausted=exhausted)
    conclusion = yield from ask(need)
    also = need.also if isinstance(need, Answering) else ()
    chosen = [
        (*pair, number in conclusion.checks)
        for number in conclusion.paths
        for pair in _with(
            need.partial_paths[number - 1],
            () if together else conclusion.tails.get(number, ()),
            () if number in conclusion.checks else also[number - 1 : number],
        )
    ]
    left = tuple(path for path in dict.fromkeys(path for path, _, _ in chosen) if path in partial)
    more = dict(zip(left, (yield from completed(left)), strict=True)) if left else {}
    shown = [_whole(path, numbers, more.get(path, path)) for path, numbers, _ in chosen]
    paths, tails = tuple(path for path, _ in shown), tuple(numbers for _, numbers in shown)
    if not conclusion.topics_answer:
        tails = tuple(map(_but_topic, paths, tails))
    result = SearchResult(paths, tails, conclusion, exhausted)
    return checked(result, [checking for _, _, checking in chosen])


def _whole(path: PartialPath, tails: tuple[int, ...], whole: PartialPath) -> tuple[PartialPath, tuple[int, ...]]:
    """The path where it is whole, and the numbers that these tails have there; as it is where none of them is there.

    No number at all would stand for every tail.
    """
    numbers = _numbers(whole, {path.tails[number - 1] for number in tails})
    return (path, tails) if tails and not numbers else (whole, numbers)


def _but_topic(path: PartialPath, tails: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of those tails that are not the path's topic, where there are others."""
    every = tails or tuple(range(1, len(path.tails) + 1))
    others = tuple(number for number in every if path.tails[number - 1] != path.topic)
    return others if others and len(others) < len(every) else tails


def _with(
    path: PartialPath, tails: tuple[int, ...], also: Sequence[Sequence[PartialPath]]
) -> list[tuple[PartialPath, tuple[int, ...]]]:
    """The path and those that are shown with it, each with the numbers of the tails that answer."""
    ends = {path.tails[number - 1] for number in tails}
    others = [other for group in also for other in group]
    return [(path, tails), *((other, _numbers(other, ends)) for other in others)]


def _numbers(path: PartialPath, ends: Collection[Term]) -> tuple[int, ...]:
    return tuple(number for number, tail in enumerate(path.tails, 1) if tail in ends)


def leaves(trail: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
    """The paths that no other of them goes on from, the latest first."""
    walked = {path.steps[:-1] for path in trail}
    return tuple(path for path in reversed(trail) if path.steps not in walked)


def chains(partial_paths: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
    """The paths; those with one chain of relations are joined, with the edges of all: completed they are the same."""
    alike: dict[object, list[PartialPath]] = {}
    for path in partial_paths:
        alike.setdefault((path.topic, path.chain), []).append(path)
    return tuple(
        PartialPath(same[0].topic, tuple(map(_joined, zip(*(path.steps for path in same), strict=True))), same[0].score)
        for same in alike.values()
    )


def _joined(steps: Sequence[Step]) -> Step:
    """Steps over one relation as one that leads to the ends of all of them, with the score of the first."""
    edges = dict.fromkeys(edge for step in steps for edge in step.edges)
    return msgspec.structs.replace(steps[0], edges=tuple(edges), complete=all(step.complete for step in steps))


def completed(chosen: tuple[PartialPath, ...]) -> Walking[tuple[PartialPath, ...]]:
    """The chosen paths with all their tails.

    Where there is no time for that, as they are: the answer is known already.
    """
    try:
        chosen = yield from ask(Completing(chosen))
    except BudgetError:
        chosen = tuple(map(cut, chosen))
    return chosen


def cut(path: PartialPath) -> PartialPath:
    """The path as one that may have further tails."""
    steps = tuple(msgspec.structs.replace(step, complete=False) for step in path.steps)
    return PartialPath(path.topic, steps, path.score)
