"""Conditions on ends: a step beyond them tells which of them answer ("which of these has Khartoum as its capital?").

The page after a pick shows what its ends lead to, with the values: so a condition costs no call of its own, and no
prompt of its own either. The model picks such a step like any other offer, marks it as a check, and names those of its
values that meet the condition. What answers are the ends before it that lead there: the program tells which these are.
Several checks of the same ends hold together. A question of two conditions so takes two calls, and a third one where
its values are too many for a page: the answer call has checks, too.
"""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath
from fedkg.core.terms import DirectedRelation, Iri, Term
from fedkg.methods.base import SearchResult
from fedkg.methods.intersections import led_to

__all__ = ["REMOVED", "checked"]

REMOVED = "no end of the paths meets all of the conditions that were checked"


Picked = dict[tuple[Iri, tuple[DirectedRelation, ...]], list[tuple[PartialPath, tuple[int, ...]]]]
"""By the topic and the relations: the paths over these, each with the numbers of the tails that are meant."""


def checked(result: SearchResult, checks: Sequence[bool]) -> SearchResult:
    """The result with the ends that the `checks` among its paths leave, an entry for each path.

    These paths give way to the ones that they check, with the ends that meet all conditions, and stand in
    `SearchResult.checks`. A note says where no end does. A path of one step checks nothing: it is dropped.
    """
    if not any(checks):
        return result
    conditions, plain = _apart(result, checks)
    kept: list[tuple[PartialPath, tuple[int, ...]]] = []
    proofs: list[PartialPath] = []
    for key, picked in conditions.items():
        paths = [led_to(path, _named(path, numbers)) for path, numbers in picked]
        # the ends may be picked beside what checks them, all or some
        limits = [_named(path, numbers) for path, numbers in plain.pop(key, ())]
        if ends := set.intersection(*map(_starts, paths), *limits):
            kept.append((_before(paths, ends), ()))
            proofs += [_from(path, ends) for path in paths]
    kept += [pair for pairs in plain.values() for pair in pairs]
    partial_paths, tails = tuple(path for path, _ in kept), tuple(numbers for _, numbers in kept)
    note = result.note if kept else REMOVED
    return msgspec.structs.replace(result, paths=partial_paths, tails=tails, checks=tuple(proofs), note=note)


def _apart(result: SearchResult, checks: Sequence[bool]) -> tuple[Picked, Picked]:
    """The checks, by the path that each checks, and the other paths."""
    conditions: Picked = {}
    plain: Picked = {}
    for path, numbers, checking in zip(result.paths, result.tails, checks, strict=True):
        if not checking:
            plain.setdefault((path.topic, path.chain), []).append((path, numbers))
        elif len(path.steps) > 1:
            conditions.setdefault((path.topic, path.chain[:-1]), []).append((path, numbers))
    return conditions, plain


def _named(path: PartialPath, numbers: Sequence[int]) -> set[Term]:
    """The ends with these numbers, all without any."""
    return {tail for number, tail in enumerate(path.tails, 1) if not numbers or number in numbers}


def _starts(path: PartialPath) -> set[Term]:
    return {edge.start for edge in path.steps[-1].edges}


def _before(paths: Sequence[PartialPath], ends: set[Term]) -> PartialPath:
    """The path that these check, to those of its ends; complete only where every check is."""
    base = led_to(PartialPath(paths[0].topic, paths[0].steps[:-1], paths[0].score), ends)
    last = base.steps[-1]
    complete = last.complete and all(path.steps[-1].complete for path in paths)
    return PartialPath(base.topic, (*base.steps[:-1], msgspec.structs.replace(last, complete=complete)), base.score)


def _from(path: PartialPath, ends: set[Term]) -> PartialPath:
    """The path with those edges of its last step that start at these ends."""
    last = path.steps[-1]
    edges = tuple(edge for edge in last.edges if edge.start in ends)
    return PartialPath(path.topic, (*path.steps[:-1], msgspec.structs.replace(last, edges=edges)), path.score)
