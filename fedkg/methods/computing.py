"""One operation computed over completed sets: what answers, which values decided, and what has to be admitted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial

import msgspec

from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.choice import Conclusion
from fedkg.core.operation import Comparison, Computation, Condition, Operation, OperationResult, SetChain
from fedkg.core.path import PartialPath
from fedkg.core.terms import Blank, DirectedRelation, Literal, Term
from fedkg.methods.base import SearchResult
from fedkg.methods.conclude import cut
from fedkg.methods.intersections import led_to
from fedkg.operators.comparing import apart, order
from fedkg.operators.over_sets import combined, filtered, largest_groups, ranked
from fedkg.operators.units import stated_unit, unit_of
from fedkg.operators.values import ReadValue, read, read_words

__all__ = ["Computing"]

BESIDE = 50
"""Paths to values of ends that do not answer, which a document shows."""
UNORDERED = "which of the two values is more"
NO_DISTANCE = "how far the two values are apart"
QUOTES = " \"'“”‘’"


class Computing:
    """One operation over completed sets: `sets` by number, `valued` are the same paths with a relation more.

    `all_sets`: no set was left out that might be needed. `names` are those of entities whose names are compared.
    """

    def __init__(
        self,
        before: SearchResult,
        operation: Operation,
        sets: Mapping[int, PartialPath],
        valued: Mapping[DirectedRelation, Sequence[PartialPath]],
        *,
        all_sets: bool = True,
        names: Mapping[Term, str] | None = None,
    ) -> None:
        self.names = names or {}
        self.before, self.operation, self.sets, self.valued = before, operation, sets, valued
        self.caveats = list(before.caveats)
        self.complete = all_sets and all(map(_whole, (sets.values(), *valued.values())))
        self.decided: list[tuple[Term, Term]] = []
        self.checks: list[PartialPath] = []
        self.units: dict[str, None] = {}
        self.notes: list[str] = []

    def result(self) -> SearchResult:
        """The answers with their paths, what was computed, and what has to be admitted."""
        operation = self.operation
        groups = [self._ends(group) for group in operation.sets]
        compares = operation.result == "compare"
        members = combined(groups, "union" if compares else operation.combine)
        kept, missing, conditions = self._filtered(members)
        results: Mapping[OperationResult, Callable[[tuple[Term, ...]], Outcome]] = {
            "ends": self._plain,
            "count": partial(self._count, missing=missing),
            "extreme": self._extreme,
            "group": self._group,
            "compare": self._compare,
        }
        done = results[operation.result](kept)
        computation = Computation(
            operation.result,
            tuple(tuple(self._chain(number) for number in group) for group in operation.sets),
            operation.combine,
            conditions,
            operation.by,
            operation.most,
            operation.rank,
            operation.form,
            members=len(kept),
            missing=missing + done.missing,
            complete=self.complete,
            value=done.value,
            counts=done.counts,
            units=tuple(self.units) if any(self.units) else (),
        )
        self._admit(computation, undecided=done.undecided)
        return msgspec.structs.replace(
            self.before,
            paths=done.paths if self.complete or self._excludes() else tuple(map(cut, done.paths)),
            tails=((),) * len(done.paths),
            conclusion=msgspec.structs.replace(self.before.conclusion, verdict=done.conclusion.verdict, tails={}),
            exhausted=self.before.exhausted
            and self.complete
            and not (computation.missing or done.open or self._crosses()),
            caveats=tuple(dict.fromkeys(self.caveats)),
            checks=tuple(self.checks),
            computation=computation,
            decided=tuple(dict.fromkeys(self.decided)),
            beside=done.beside,
            note="; ".join(filter(None, (self.before.note, *dict.fromkeys(self.notes)))),
        )

    def _excludes(self) -> bool:
        """Whether ends are among the kept ones only because not everything is there that might rule them out."""
        operation = self.operation
        first = set(operation.sets[0])
        others = [path for number, path in self.sets.items() if number not in first]
        ruling = [self.valued[each.by] for each in operation.filters if each.by and each.comparison == "not_equal"]
        return (operation.combine == "difference" and not _whole(others)) or not all(map(_whole, ruling))

    def _crosses(self) -> bool:
        """Whether sets of several endpoints are held against each other: a copy of an entity is another term."""
        operation = self.operation
        if operation.combine == "union" or operation.result == "compare" or len(operation.sets) == 1:
            return False
        last = (edge for path in self.sets.values() for step in path.steps[-1:] for edge in step.edges)
        return len({edge.endpoint for edge in last}) > 1

    def _ends(self, group: Iterable[int]) -> list[Term]:
        return [tail for number in group for tail in self.sets[number].tails]

    def _chain(self, number: int) -> SetChain:
        return SetChain(self.sets[number].topic, self.sets[number].chain)

    def _terms(self, ends: Iterable[Term], by: DirectedRelation | None) -> dict[Term, list[Term]]:
        """What the relation leads to from each of the ends; the ends themselves without one."""
        if by is None:
            return {end: [end] for end in ends}
        terms: dict[Term, list[Term]] = {end: [] for end in ends}
        for path in self.valued[by]:
            for edge in path.steps[-1].edges:
                if edge.start in terms and edge.end not in terms[edge.start]:
                    terms[edge.start].append(edge.end)
        return terms

    def _filtered(self, members: tuple[Term, ...]) -> tuple[tuple[Term, ...], int, tuple[Condition, ...]]:
        """The ends that meet all filters, how many are not decided, and the filters as they were computed."""
        kept, missing = members, 0
        conditions = []
        for each in self.operation.filters:
            terms = self._terms(kept, each.by)
            named = any(term in self.names for several in terms.values() for term in several)
            values = self._read(kept, each.by)
            bounds = [_bound(words, each.comparison, named=named) for words in each.values]
            split = filtered(values, each.comparison, bounds)
            kept, missing = split.kept, missing + len(split.undecided)
            bounds = self._in_units(bounds, values)
            conditions.append(Condition(each.comparison, tuple(map(_written, bounds, each.values)), each.by, named))
        for each in self.operation.filters:
            if each.by:  # the edges over which ends meet a condition are part of their proof
                self._decide(kept, each.by)
        return kept, missing, tuple(conditions)

    def _read(self, ends: Iterable[Term], by: DirectedRelation | None) -> dict[Term, list[ReadValue]]:
        """The values of the ends that can be read, those of entities by their names, with units stated beside them."""
        if by is None:
            return {end: [value] if (value := read(end, self.names)) else [] for end in ends}
        values: dict[Term, dict[ReadValue, None]] = {end: {} for end in ends}
        for path in self.valued[by]:
            for edge in path.steps[-1].edges:
                value = read(edge.end, self.names, stated_unit(edge.qualifiers)) if edge.start in values else None
                if value:
                    values[edge.start][value] = None
                    self.units |= {value.unit: None} if value.kind == "number" else {}
        return {end: list(several) for end, several in values.items()}

    def _in_units(self, bounds: Sequence[ReadValue], values: Mapping[Term, Sequence[ReadValue]]) -> list[ReadValue]:
        """The bounds in the unit of the values, where these have one; else it is said that theirs is taken for it."""
        stated = {value.unit for several in values.values() for value in several if value.kind == "number"}
        asked = next((bound.unit for bound in bounds if unit_of(bound.unit)), "")
        if asked and "" in stated:
            self.notes.append(f"the graph states no unit: its values are compared as if they were in {asked}")
        if asked and len(stated) == 1:
            return [bound.within(next(iter(stated))) or bound for bound in bounds]
        return list(bounds)

    def _decide(self, ends: Iterable[Term], by: DirectedRelation) -> None:
        """The values of these ends decided: their edges prove the ends."""
        wanted = set(ends)
        for path in self.valued[by]:
            last = path.steps[-1]
            edges = tuple(edge for edge in last.edges if edge.start in wanted)
            if edges:
                step = msgspec.structs.replace(last, edges=edges)
                self.checks.append(PartialPath(path.topic, (*path.steps[:-1], step), path.score))
                self.decided += [(edge.start, edge.end) for edge in edges]

    def _answering(self, ends: Sequence[Term]) -> tuple[PartialPath, ...]:
        """The sets' paths as far as they lead to these ends; a topic that is an end itself is a path without steps."""
        wanted = set(ends)
        paths = [led_to(path, wanted) if path.steps else path for path in self.sets.values()]
        return tuple(path for path in paths if wanted.intersection(path.tails))

    def _plain(self, kept: tuple[Term, ...]) -> "Outcome":
        return Outcome(self._answering(kept))

    def _count(self, kept: tuple[Term, ...], *, missing: int) -> "Outcome":
        """The ends to be counted; where none is left of whole sets, and all were decided, 0, proven by the sets."""
        known = self.complete and not missing and not self.operation.unproven
        if kept or not known or not any(path.tails for path in self.sets.values() if path.steps):
            return self._plain(kept)
        return Outcome(tuple(path for path in self.sets.values() if path.steps and path.tails), value="0")

    def _extreme(self, kept: tuple[Term, ...]) -> "Outcome":
        assert self.operation.by is not None
        by = self.operation.by
        best = ranked(self._read(kept, by), most=self.operation.most, rank=self.operation.rank)
        self._decide(best.ends, by)
        beside = self._beside(set(kept) - set(best.ends), by)
        return Outcome(self._answering(best.ends), len(best.missing), best.undecided, beside=beside)

    def _group(self, kept: tuple[Term, ...]) -> "Outcome":
        assert self.operation.by is not None
        by = self.operation.by
        # what is only known to be there is no group
        named = self._terms(kept, by).items()
        terms = {end: [value for value in several if not isinstance(value, Blank)] for end, several in named}
        most, number = largest_groups(terms, most=self.operation.most, rank=self.operation.rank)
        paths = [self._within(path, kept, set(most)) for path in self.valued[by]]
        self.checks = []
        self.decided = [(end, value) for end, values in terms.items() for value in values if value in most]
        missing = sum(not values for values in terms.values())
        return Outcome(tuple(path for path in paths if path.tails), missing, counts=(number,) * len(most))

    def _compare(self, kept: tuple[Term, ...]) -> "Outcome":
        """Two ends by their values; open, and unproven, where a set has not one end, or one has no value."""
        assert self.operation.by is not None
        by, operation = self.operation.by, self.operation
        ends = [tuple(dict.fromkeys(self._ends(group))) for group in operation.sets]
        terms = self._terms(kept, by)
        values = self._read(kept, by)
        if any(len(several) != 1 or not values.get(several[0]) for several in ends) or ends[0] == ends[1]:
            return self._open("one value of each of the two that are compared")
        first, second = ends[0][0], ends[1][0]
        if operation.form == "which":
            return self._which(kept, values)
        paths = tuple(path for each in self.valued[by] if (path := self._within(each, kept, None)).tails)
        self.decided = [(end, value) for end in (first, second) for value in terms[end]]
        if operation.form == "whether":
            ordered = order(values[first], values[second])
            conclusion = Conclusion(verdict="yes" if ordered == ("more" if operation.most else "less") else "no")
            return Outcome(paths, conclusion=conclusion) if ordered else self._open(UNORDERED)
        distances = {apart(left, right) for left in values[first] for right in values[second]}
        distance = distances.pop() if len(distances) == 1 else None
        return self._open(NO_DISTANCE) if distance is None else Outcome(paths, value=_plain_number(distance))

    def _which(self, kept: tuple[Term, ...], values: Mapping[Term, Sequence[ReadValue]]) -> "Outcome":
        """The one of two that has more, or both where they have the same; open where their values leave it so."""
        assert self.operation.by is not None
        by, (left, right) = self.operation.by, values.values()
        same = set(left) == set(right)  # of one year: both answer, and it is said
        ordered = order(left, right)
        if not ordered and not same:
            return self._open(UNORDERED)
        best = ranked(values, most=self.operation.most)
        self._decide(kept, by)
        self.checks = [self._within(path, best.ends, None) for path in self.checks]
        self.checks = [path for path in self.checks if path.steps[-1].edges]
        beside = self._beside(set(kept) - set(best.ends), by)
        return Outcome(self._answering(best.ends), undecided=not ordered, beside=beside)

    def _open(self, about: str) -> "Outcome":
        """No answer: the graph does not show what would have to be known."""
        self.caveats.append(Caveat(CaveatKind.UNPROVEN, about))
        self.decided, self.checks = [], []
        return Outcome((), open=True)

    def _within(self, path: PartialPath, starts: Iterable[Term], ends: set[Term] | None) -> PartialPath:
        """The path with those edges of its last step that lead from these nodes, to these ends (None: any)."""
        wanted, last = set(starts), path.steps[-1]
        edges = tuple(edge for edge in last.edges if edge.start in wanted and (ends is None or edge.end in ends))
        return PartialPath(path.topic, (*path.steps[:-1], msgspec.structs.replace(last, edges=edges)), path.score)

    def _beside(self, ends: set[Term], by: DirectedRelation) -> tuple[PartialPath, ...]:
        """Paths to the values of these ends, each alone."""
        alone = [
            PartialPath(path.topic, (*path.steps[:-1], msgspec.structs.replace(path.steps[-1], edges=(edge,))))
            for path in self.valued[by]
            for edge in path.steps[-1].edges
            if edge.start in ends
        ]
        self.decided += [(path.steps[-1].edges[0].start, path.tails[0]) for path in alone[:BESIDE]]
        return tuple(alone[:BESIDE])

    def _admit(self, computation: Computation, *, undecided: bool) -> None:
        """What is missing: an incomplete set, ends without a value, values that cannot be told apart."""
        if not self.complete and (computation.result not in {"ends", "count"} or self._excludes()):
            self.caveats.append(Caveat(CaveatKind.PARTIAL, "not every end of the sets was fetched"))
        if self._crosses():
            about = "an entity that several endpoints have under several names is not seen to be in both sets"
            self.caveats.append(Caveat(CaveatKind.PARTIAL, about))
        if computation.missing:
            ends = "end has" if computation.missing == 1 else "ends have"
            about = f"{computation.missing:,} {ends} no value that can be compared"
            self.caveats.append(Caveat(CaveatKind.PARTIAL, about))
        if undecided:
            about = "imprecise dates, or several values of an end, leave open which comes first"
            self.caveats.append(Caveat(CaveatKind.PARTIAL, about))


class Outcome(msgspec.Struct, frozen=True):
    """What a result comes to. `undecided`: it may be another one; `open`: there is none for want of values."""

    paths: tuple[PartialPath, ...]
    missing: int = 0
    undecided: bool = False
    open: bool = False
    value: str = ""
    counts: tuple[int, ...] = ()
    conclusion: Conclusion = Conclusion()
    beside: tuple[PartialPath, ...] = ()


def _whole(paths: Iterable[PartialPath]) -> bool:
    return all(path.complete for path in paths)


def _bound(words: str, comparison: Comparison, *, named: bool) -> ReadValue:
    """What values are compared with: a text where names are, and where a part of a text is asked for."""
    if named or comparison in {"contains", "starts_with"}:
        return ReadValue("text", text=words.strip(QUOTES))
    return read_words(words)


def _written(value: ReadValue, words: str) -> str:
    """A bound as a document shows it: a number plain, a date with its precision, else in the question's words."""
    if value.kind == "number":
        return _plain_number(value.low[0])
    if value.kind == "date" and value.low[0] == value.high[0]:
        year, month, day = (int(part) for part in value.low)
        texts = [f"{'-' if year < 0 else ''}{abs(year):04}", f"{month:02}", f"{day:02}"]
        same = 3 if value.exact else 2 if value.low[1] == value.high[1] else 1
        return "-".join(texts[:same])
    return words


def _plain_number(number: Decimal) -> str:
    return Literal(f"{number.normalize():f}").value
