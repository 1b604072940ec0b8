"""What the questions of ComplexWebQuestions ask to be computed: their composition type and their query tell.

A conjunction is asked for what meets several conditions, a comparative for what has more or less of a value than one
that the question names, a superlative for what has most or least of it (Talmor and Berant 2018, section 3). Their
queries follow one template, in which `?x` is asked for (see `gold_conditions`).
"""

import re

from fedkg.bench.data.gold_conditions import FREEBASE, gold_conditions
from fedkg.bench.data.gold_operations import Comparison, GoldFilter, GoldOperation, GoldSet
from fedkg.core.terms import DirectedRelation

__all__ = ["composed_operation"]

ORDER = re.compile(r"ORDER BY (?:(DESC)\()?(?:xsd:\w+\()?(\?\w+)\)*\s*LIMIT 1\b")
BOUND = re.compile(r"FILTER \((?:xsd:\w+\()?(\?\w+)\)* (<|>|<=|>=) \"([^\"]*)\"")
COMPARED: dict[str, Comparison] = {"<": "less", ">": "more", "<=": "at_most", ">=": "at_least"}
TYPED = {"conjunction", "comparative", "superlative"}


def composed_operation(kind: str, query: str) -> GoldOperation | None:
    """What a question of that composition type asks to be computed; None where one path answers it.

    None also where the query tells of nothing that leads to what is asked for. Sets are walked as FB15k-237 has their
    relations, those over a mediator as one.
    """
    if kind not in TYPED:
        return None
    sets = tuple(GoldSet((check.value.value,), (_sign(check.step.inverse),)) for check in gold_conditions(query))
    filters = tuple(
        GoldFilter(by, COMPARED[sign], (value,))
        for name, sign, value in BOUND.findall(query)
        if (by := _by(query, name))
    )
    ranked = ORDER.search(query)
    if not sets or (len(sets) == 1 and not filters and not ranked):
        return None
    return GoldOperation(
        sets,
        "intersect" if len(sets) > 1 else "union",
        filters,
        result="extreme" if ranked else "ends",
        by=_by(query, ranked[2]) if ranked else (),
        most=not ranked or bool(ranked[1]),
    )


def _sign(step: DirectedRelation) -> str:
    """A directed relation as operations name it."""
    return ("^" if step.direction == "in" else "") + step.relation.value


def _by(query: str, value: str) -> tuple[str, ...]:
    """The relations from what is asked for to that variable: one, or two over a mediator; none where it is further."""
    last = re.search(rf"(\?\w+) ns:([\w.]+) {re.escape(value)}(?!\w)", query)
    if not last or last[1] == "?x":
        return (FREEBASE + last[2],) if last else ()
    first = re.search(rf"\?x ns:([\w.]+) {re.escape(last[1])}(?!\w)", query)
    return (FREEBASE + first[1], FREEBASE + last[2]) if first else ()
