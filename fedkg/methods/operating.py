"""What no path says is computed at the end of a walk: how many, the largest, which of two, those without others.

The walk of any method finds paths as ever. Where the question has words of an operator, one further call is shown their
ends as numbered sets and the relations that these have, and names what is computed over them, by numbers. A walk may
have named the operator itself: then that call asks for less, and is not made where nothing or no more is needed. The
sets are completed, the values fetched by one more step of the same paths, and pure functions do the rest.
"""

from collections.abc import Mapping, Sequence

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.operation import OF_TEXTS, Combination, Operation, Operator
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Kind
from fedkg.core.terms import DirectedRelation, Iri, Term
from fedkg.errors import BudgetError
from fedkg.methods.base import Completing, Expanding, Naming, Operating, SearchResult, Walk, Walking, ask
from fedkg.methods.computing import Computing
from fedkg.methods.intersections import led_to
from fedkg.operators.values import read

__all__ = ["operated"]

MOST_SETS = 8
OFFERED: Mapping[Operator | None, tuple[int, int]] = {"extreme": (14, 0), "compare": (14, 0), "group": (2, 18)}
"""Relations that are offered for an operator: of numbers and dates, and others."""
VALUED, OTHERS = 14, 6
"""The same for others, and where none is known."""
COMBINED: Mapping[Operator | None, Combination] = {"both": "intersect", "difference": "difference"}
"""Operators that need nothing but the sets."""
PAIR = 2
"""Most ends that are compared with each other; more are many."""
NEED_BY = ("extreme", "compare", "group")
ONE_SET = "the other set of ends: only one was reached"


def operated(walk: Walk, kind: Kind = "entities", *, cued: bool = True) -> Walk:
    """The walk, and what is computed over the ends that it came to; its own result where that is nothing.

    The model is asked where the question has cues of an operator (`cued`), or the conclusion `computes`, unless the
    walk has named an operator that needs no values. Where there is no budget left for it the result is the walk's, with
    the caveat `unproven`.
    """
    result = yield from walk
    operator: Operator | None = "compare" if kind == "yesno" else result.conclusion.operator
    if operator == "ends" or not (cued or result.conclusion.computes):
        return result
    combine = COMBINED.get(operator)
    every = result.paths if combine else _bases(result)
    bases = every[:MOST_SETS]
    if not bases:
        return result
    if combine and len(bases) == 1:
        return msgspec.structs.replace(_with_caveat(result, ONE_SET), exhausted=False)
    try:
        if combine:
            operation: Operation | None = _combination(len(bases), combine, kind)
        else:
            operation = yield from _asked(bases, operator)
        if operation is None:
            return result
        return (yield from _computed(result, bases, operation, left_out=len(every) - len(bases)))
    except BudgetError:
        return _with_caveat(result, "what is computed over the ends: the budget was spent")


def _combination(sets: int, combine: Combination, kind: Kind) -> Operation:
    """The operation that needs nothing but so many sets."""
    groups = tuple((number,) for number in range(1, sets + 1))
    return Operation("count" if kind == "count" else "ends", groups, combine)


def _asked(bases: tuple[PartialPath, ...], operator: Operator | None) -> Walking[Operation | None]:
    """The operation that the model names over these sets."""
    relations = yield from _relations(bases, *OFFERED.get(operator, (VALUED, OTHERS)))
    return (yield from ask(Operating(bases, relations, operator)))


def _bases(result: SearchResult) -> tuple[PartialPath, ...]:
    """The paths whose ends are sets: a path to values is one to what has them."""
    bases: dict[object, PartialPath] = {}
    for path in result.paths:
        base = path
        if path.steps and not any(isinstance(tail, Iri) for tail in path.tails):
            base = PartialPath(path.topic, path.steps[:-1], path.score)
        bases.setdefault((base.topic, base.chain), base)
    return tuple(bases.values())


def _relations(bases: tuple[PartialPath, ...], most_valued: int, most_others: int) -> Walking[tuple[Step, ...]]:
    """The relations of the ends, those to numbers and dates first, each once with the edges of all sets.

    What a single one of many ends has comes last: nothing is compared by it.
    """
    depth = 1 + max(1, *(len(base.steps) for base in bases))  # at the first hop topics would be checked again
    retriever = SearchSettings().retriever
    expansion = yield from ask(Expanding(depth, bases, last=True, retriever=retriever, form="groups"))
    steps: dict[DirectedRelation, Step] = {}
    for step in expansion.candidates:
        before = steps.get(step.relation)
        edges = dict.fromkeys((*(before.edges if before else ()), *step.edges))
        steps[step.relation] = msgspec.structs.replace(step, edges=tuple(edges))
    many = sum(len(base.tails) for base in bases) > PAIR
    ordered = sorted(steps.values(), key=lambda step: many and len({edge.start for edge in step.edges}) == 1)
    valued = [step for step in ordered if any(_ordered(tail) for tail in step.tails[:3])]
    relations = {step.relation for step in valued}
    others = [step for step in ordered if step.relation not in relations]
    return (*valued[:most_valued], *others[:most_others])


def _ordered(term: Term) -> bool:
    value = read(term)
    return value is not None and value.kind != "text"


def _computed(result: SearchResult, bases: tuple[PartialPath, ...], operation: Operation, *, left_out: int) -> Walk:
    """What the operation comes to. Where it takes all sets that were offered, those `left_out` are missing."""
    if operation.unproven:
        result = _with_caveat(result, operation.unproven)
    if not operation.sets:
        return result
    if operation.result in NEED_BY and operation.by is None:
        admitted = result if operation.unproven else _with_caveat(result, "by what the ends are to be compared")
        return msgspec.structs.replace(admitted, paths=(), tails=(), exhausted=False)
    sets, valued = yield from _completed(result, bases, operation)
    all_sets = not (left_out and len(sets) == len(bases))
    compared = _compared_names(operation, sets, valued)
    names = (yield from ask(Naming(compared))) if compared else {}
    return Computing(result, operation, sets, valued, all_sets=all_sets, names=names).result()


def _with_caveat(result: SearchResult, about: str) -> SearchResult:
    """The result, with the caveat that this is unproven."""
    return msgspec.structs.replace(result, caveats=(*result.caveats, Caveat(CaveatKind.UNPROVEN, about)))


def _completed(
    result: SearchResult, bases: tuple[PartialPath, ...], operation: Operation
) -> Walking[tuple[dict[int, PartialPath], dict[DirectedRelation, list[PartialPath]]]]:
    """The sets of the operation, completed, by their numbers, and each with the relations to values."""
    used = list(dict.fromkeys(number for group in operation.sets for number in group))
    wanted = dict.fromkeys(filter(None, (operation.by, *(each.by for each in operation.filters))))
    chosen = [bases[number - 1] for number in used]
    extended = [(base, relation) for relation in wanted for base in chosen]
    needed = (*chosen, *(base.extend(Step(0, relation, ())) for base, relation in extended))
    values = frozenset(range(len(chosen), len(needed)))  # who directs a film may play in it
    whole = yield from ask(Completing(needed, values))
    sets = dict(zip(used, whole, strict=False))
    if result.checks:  # what was checked leaves only some of the ends
        kept = {tail for base in chosen for tail in base.tails}
        sets = {number: led_to(path, kept) if path.steps else path for number, path in sets.items()}
    valued: dict[DirectedRelation, list[PartialPath]] = {}
    for (_, relation), path in zip(extended, whole[len(chosen) :], strict=True):
        valued.setdefault(relation, []).append(path)
    return sets, valued


def _compared_names(
    operation: Operation,
    sets: Mapping[int, PartialPath],
    valued: Mapping[DirectedRelation, Sequence[PartialPath]],
) -> tuple[Term, ...]:
    """The entities whose names a filter compares: the ends, or what its relation leads to."""
    wanted: dict[Term, None] = {}
    for each in operation.filters:
        if each.comparison in OF_TEXTS:
            paths = valued[each.by] if each.by else sets.values()
            wanted |= dict.fromkeys(tail for path in paths for tail in path.tails if isinstance(tail, Iri))
    return tuple(wanted)
