"""The fused call plan of FiDeLiS: one call chooses, verifies and, where what it is shown decides, answers.

A pool holds every offer that was not shown yet. A round expands the paths that were picked last, shows a page of what
they lead to, and beside that of what waits: further offers where the model wants `more`, and those of topics without a
pick. Offers are numbered through the whole walk; what was picked stays in sight under its number, and can decide later.
Calls that are left go to what was not seen: first to offers that wait, then beyond offers that were passed over.

Conditions on ends are told by what the ends lead to, which the page after a pick shows: see `conditions`.

A decision ends the walk. No other call is made on evidence that was called insufficient, and none to choose from a
single offer. The answer call is made where ends that are not shown have to be told apart, and where nothing was judged:
by a model that does not judge, a fallback, or another verifier.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.choice import Conclusion, Decision
from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri
from fedkg.methods.base import Choosing, Expanding, SearchResult, Task, Walk, Walking, ask
from fedkg.methods.conclude import JUDGES, all_ends, chains, completed, conclude, leaves
from fedkg.methods.conditions import checked
from fedkg.methods.intersections import in_common, led_to
from fedkg.methods.verifiers import verified

__all__ = ["JUDGES", "search"]

NEXT_PAGES = 3
"""A page after one without a pick is this many times as long: forty offers fit two calls."""


@dataclass
class Pool:
    """What a walk has come to: offers `shown`, by number from 1, those that are `waiting`, those that were `picked`.

    `ahead` are the paths to be expanded next, `expanded` the numbers of those that were; topics have no positive
    number. `complete`: endpoints left nothing out. `judged`: what was picked is not enough, as the model says. `more`:
    it wants further offers. `finished` are paths that a verifier of its own finished. `size` is that of a page, 0 for
    all.
    """

    ahead: dict[int, PartialPath]
    shown: list[PartialPath] = field(default_factory=list)
    waiting: list[PartialPath] = field(default_factory=list)
    picked: dict[int, PartialPath] = field(default_factory=dict)
    finished: list[PartialPath] = field(default_factory=list)
    expanded: set[int] = field(default_factory=set)
    complete: bool = True
    judged: bool = False
    more: bool = False
    size: int = 0

    @classmethod
    def of(cls, topics: Sequence[Iri]) -> "Pool":
        """Where a walk starts."""
        return cls({-number: PartialPath(topic) for number, topic in enumerate(topics)})

    def page(self, fresh: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
        """The offers to be shown next, which wait no more: fresh ones, then those that wait.

        Half of a page of fresh ones is for those that wait and are wanted, where there are some.
        """
        wanted = [path for path in self.waiting if not fresh or self._wanted(path)]
        size = self.size or len(fresh) + len(wanted)
        share = min(len(wanted), max(size // 2, size - len(fresh)))
        page = (*fresh[: size - share], *wanted[:share])
        taken = set(map(id, page))
        self.waiting = [path for path in (*fresh, *self.waiting) if id(path) not in taken]
        return page

    def show(self, page: Sequence[PartialPath]) -> dict[int, PartialPath]:
        """The page by its numbers, which run on."""
        first = len(self.shown) + 1
        self.shown += page
        return dict(enumerate(page, first))

    def walk_on(self, picks: Mapping[int, PartialPath], depth: int) -> None:
        """These are picked, and expanded next as far as they go on."""
        self.picked |= picks
        self.ahead = {number: path for number, path in picks.items() if _goes_on(path, depth)}

    def passed_over(self, depth: int) -> dict[int, PartialPath]:
        """The shortest of the offers that could be walked on, up to this depth, and were not."""
        left = {
            number: path
            for number, path in enumerate(self.shown, 1)
            if number not in self.expanded and _goes_on(path, depth)
        }
        shortest = min((len(path.steps) for path in left.values()), default=0)
        return {number: path for number, path in left.items() if len(path.steps) == shortest}

    def _wanted(self, path: PartialPath) -> bool:
        """Whether the model wants more of all, or nothing was picked yet from the path's topic."""
        return self.more or path.topic not in {picked.topic for picked in self.picked.values()}


def search(task: Task, settings: SearchSettings) -> Walk:
    """The walk from the topic entities; `settings` are those of the task with room for a path from each."""
    pool, calls = Pool.of(task.topics), settings.depth
    while calls and (page := (yield from _next_page(pool, task, settings))):
        offers = pool.show(page)
        if len(offers) == 1 and not (pool.waiting or pool.picked):  # there is nothing to choose from
            pool.walk_on(offers, settings.depth)
            continue
        calls -= 1
        need = _choosing(pool, offers, settings.beam, last=not calls)
        if task.computes and not task.together:
            need = msgspec.structs.replace(need, operators=True)
        decision = yield from ask(need)
        if decision.decides and settings.verifier == "deductive":
            sets = decision.operator not in (None, "ends")
            return (yield from _sets(need, decision) if sets else _decided(task, pool, need, decision))
        if not (yield from _taken_up(task, pool, need, decision, settings)):
            break
    return (yield from _undecided(task, pool, settings.depth))


def _next_page(pool: Pool, task: Task, settings: SearchSettings) -> Walking[tuple[PartialPath, ...]]:
    """Expands what is ahead; the offers to be shown now, none where all was seen."""
    while True:
        ahead = pool.ahead or ({} if pool.waiting else pool.passed_over(settings.depth))
        fresh = (yield from _expanded(pool, ahead, task, settings)) if ahead else ()
        if (page := pool.page(fresh)) or not ahead:
            return page


def _expanded(
    pool: Pool, ahead: Mapping[int, PartialPath], task: Task, settings: SearchSettings
) -> Walking[tuple[PartialPath, ...]]:
    """The paths that lead one step beyond these, best first."""
    paths = tuple(ahead.values())
    depth = 1 + max(len(path.steps) for path in paths)
    # without a plan the ranking knows the question's own words alone: later pages are longer, too
    page = None if task.planned else settings.whole if depth == 1 else max(1, settings.whole // 2)
    need = Expanding(depth, paths, depth == settings.depth, retriever=settings.retriever, page=page)
    expansion = yield from ask(need)
    pool.complete = pool.complete and expansion.complete
    pool.expanded.update(ahead)
    pool.ahead, pool.size = {}, expansion.page
    return tuple(paths[candidate.path_index].extend(candidate) for candidate in expansion.candidates)


def _choosing(pool: Pool, offers: Mapping[int, PartialPath], width: int, *, last: bool) -> Choosing:
    """The call over a page, with what was picked before."""
    return Choosing(
        max(len(path.steps) for path in offers.values()),
        tuple(offers.values()),
        width,
        tuple(pool.picked.values()),
        (*offers, *pool.picked),
        len(pool.waiting),
        last,
    )


def _taken_up(task: Task, pool: Pool, need: Choosing, decision: Decision, settings: SearchSettings) -> Walking[bool]:
    """Takes up the picks of a decision that does not end the walk; False where the walk ends all the same.

    Of a question with words of an operator that is where nothing is picked and no more is wanted: sets and values that
    are missing are rarely further away, and pages of what lies there are long.
    """
    picks = {number: need.numbered[number] for number in decision.picks if number not in pool.picked}
    pool.more = decision.more
    pool.judged = decision.decides is not None and settings.verifier == "deductive"
    if not picks:
        pool.size *= NEXT_PAGES
        return decision.decides is not None and (decision.more or not task.computes)
    if settings.verifier != "deductive":
        return (yield from _verified(task, pool, picks, settings))
    pool.walk_on(picks, settings.depth)
    return True


def _verified(task: Task, pool: Pool, picks: Mapping[int, PartialPath], settings: SearchSettings) -> Walking[bool]:
    """Walks on what another verifier keeps of the picks; False where what it finished ends the walk."""
    before = leaves(tuple(pool.picked.values())) if task.together or len(task.topics) > 1 else ()
    depth = max(len(path.steps) for path in picks.values())
    paths = yield from verified(settings.verifier, depth, tuple(picks.values()), before)
    pool.walk_on({number: path for number, path in picks.items() if path in paths.kept}, settings.depth)
    pool.finished += paths.finished
    done = {path.topic for path in pool.finished}
    if done and task.together:
        pool.ahead = {}
    pool.ahead = {number: path for number, path in pool.ahead.items() if path.topic not in done}
    return bool(pool.ahead or not done)


def _goes_on(path: PartialPath, depth: int) -> bool:
    return len(path.steps) < depth and any(isinstance(tail, Iri) for tail in path.tails)


def _decided(task: Task, pool: Pool, need: Choosing, decision: Decision) -> Walk:
    """The answer of a decision: all of a verdict's evidence, or the ends of the picks that answer.

    Where these cannot be told by what was shown, the answer call tells them apart.
    """
    picks = tuple(need.numbered[number] for number in decision.picks)
    if task.together:
        whole = yield from completed(chains(picks))
        judgement = Conclusion(verdict=decision.verdict, option=decision.option, bridge=decision.bridge)
        return SearchResult(whole, ((),) * len(whole), judgement)
    if not (task.search.last_step or decision.checks):
        result = yield from all_ends(picks, (), exhausted=False)
        return msgspec.structs.replace(result, conclusion=_concluded(decision))
    named = tuple(decision.ends.get(number, ()) for number in decision.picks)
    checks = tuple(number in decision.checks for number in decision.picks)
    shown = map(_shown, picks, named, checks, [task.search.tails] * len(picks))
    if not task.search.last_step or (task.search.form == "groups" and all(shown)):
        judgement = _concluded(decision)
        result = checked(SearchResult((yield from completed(picks)), named, judgement), checks)
        if len({path.topic for path in result.paths}) < 2:
            return result
        if common := in_common([_meant(path, ends) for path, ends in zip(result.paths, result.tails, strict=True)]):
            return msgspec.structs.replace(result, paths=common, tails=((),) * len(common))
        if any(result.tails):
            return result
    trail = (*pool.picked.values(), *picks)
    return (yield from conclude(picks, trail, together=False, exhausted=False))


def _concluded(decision: Decision) -> Conclusion:
    """What a decision that is no judgement says beside its picks."""
    return Conclusion(unproven=decision.unproven, operator=decision.operator, confidence=decision.confidence)


def _sets(need: Choosing, decision: Decision) -> Walk:
    """The picks with all their ends: sets, over which something is computed."""
    whole = yield from completed(tuple(need.numbered[number] for number in decision.picks))
    return SearchResult(whole, ((),) * len(whole), _concluded(decision))


def _meant(path: PartialPath, ends: Sequence[int]) -> PartialPath:
    """The path as far as it leads to the ends of these numbers; none stands for all."""
    return led_to(path, {path.tails[number - 1] for number in ends}) if ends else path


def _shown(path: PartialPath, named: tuple[int, ...], checking: bool, tails: int) -> bool:
    """Whether all of the path's ends answer, or those that do were among the first, which were shown.

    A check for certain entities has shown them: ends stand in the order in which they match the question. One for
    numbers and dates might be met by others, too.
    """
    if not named or len(path.tails) <= tails:
        return 0 not in named
    return checking and 0 not in named and all(isinstance(path.tails[number - 1], Iri) for number in named)


def _undecided(task: Task, pool: Pool, depth: int) -> Walk:
    """The end of a walk that nothing has decided: the answer call, unless its evidence was called insufficient."""
    exhausted = pool.complete and not (pool.waiting or pool.finished or _open(pool, depth))
    picked = tuple(pool.picked.values())
    if not (task.search.last_step or task.together):
        return (yield from all_ends(pool.finished, picked, exhausted=exhausted))
    unseen = task.together and any(len(path.tails) > task.search.tails for path in picked)
    if pool.judged and not unseen:
        return SearchResult(exhausted=exhausted)
    result = yield from conclude(pool.finished, picked, together=task.together, exhausted=exhausted)
    return result if task.search.last_step else msgspec.structs.replace(result, note=JUDGES)


def _open(pool: Pool, depth: int) -> bool:
    """Whether something could still be walked on: what is ahead, was passed over, or was picked at the last depth."""
    return bool(pool.ahead or pool.passed_over(depth)) or any(
        len(path.steps) == depth and any(isinstance(tail, Iri) for tail in path.tails) for path in pool.picked.values()
    )
