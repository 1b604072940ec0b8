"""The SPARQL 1.1 query that computes what an operation computed: counts, extremes, comparisons, groups.

Ties are kept: a subquery finds the value of the rank that is asked for, and the answers are all that have it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from fedkg.core.operation import Computation, Condition, SetChain
from fedkg.core.terms import DirectedRelation
from fedkg.errors import TermError
from fedkg.sparql.condition_text import holds_expression, order_key, readable
from fedkg.sparql.query_writer import ANSWER, ANSWERS, COUNT, QueryChain, QueryStep, QueryWriter, Way, block

__all__ = ["operation_query"]


def operation_query(computation: Computation, writer: QueryWriter, about: Sequence[str] = ()) -> str:
    """A query that computes the same: rows (answer), one row (count) or (value), or an ASK where it asks whether.

    Raises TermError where a term is unwritable.
    """
    if len(computation.units) > 1:
        raise TermError("values of several units were converted")
    if computation.result == "compare":
        return _compared(computation, writer, about)
    if computation.result == "count":
        return writer.whole(COUNT, _members(computation, writer), about)
    bodies = {"group": _grouped, "extreme": _extreme}
    body = bodies.get(computation.result, _members)(computation, writer)
    return writer.whole(ANSWERS, body, about)


def _members(computation: Computation, writer: QueryWriter, end: str = ANSWER) -> list[str]:
    """The patterns of the combined sets and of their conditions."""
    first, *others = [_set(chains, writer, end) for chains in computation.sets]
    if computation.combine == "union":
        lines = writer.union([first, *others])
    elif computation.combine == "intersect":
        lines = [*first, *(one for group in others for one in group)]
    else:
        lines = [*first, *(one for group in others for one in block("FILTER NOT EXISTS", group))]
    for condition in computation.filters:
        if condition.named:
            raise TermError("names that were compared are of a language and of the best label: no query says that")
        lines += _condition(condition, computation, writer, end)
    return lines


def _condition(condition: Condition, computation: Computation, writer: QueryWriter, end: str) -> Iterator[str]:
    """That one of the end's values passes; of "not equal", that it has values and none of them is equal."""
    value = _value(condition.by, writer, end)
    yield from value.patterns
    if condition.comparison == "not_equal" and condition.by:
        other = _value(condition.by, writer, end)
        equal = holds_expression(msgspec.structs.replace(condition, comparison="equal"), other.variable, computation)
        yield from block("FILTER NOT EXISTS", [*other.patterns, f"FILTER({equal})"])
    else:
        yield f"FILTER({holds_expression(condition, value.variable, computation)})"


def _set(chains: Sequence[SetChain], writer: QueryWriter, end: str) -> list[str]:
    """The patterns of one set: the ends of its chains."""
    ways = (writer.chain(_chain(one), end) if one.relations else [writer.is_one(end, [one.topic])] for one in chains)
    return writer.union(list(ways))


class Value(NamedTuple):
    """The patterns that lead from an end to its value, and the variable of that: the end itself without a pattern."""

    patterns: list[str]
    variable: str


def _value(by: DirectedRelation | None, writer: QueryWriter, end: str) -> Value:
    if by is None:
        return Value([], end)
    variable = writer.variable()
    return Value(writer.step(_step(by), end, variable), variable)


def _extreme(computation: Computation, writer: QueryWriter) -> list[str]:
    """The ends whose value has that rank, ties too: of several values of an end the one that is furthest counts."""
    mine, best, member = writer.variable(), writer.variable(), writer.variable()
    furthest, order = ("MAX", "DESC") if computation.most else ("MIN", "ASC")
    offset = f" OFFSET {computation.rank - 1}" if computation.rank > 1 else ""
    lines: list[str] = []
    for end, shown, head, ending in (
        (ANSWER, mine, f"{{ SELECT {ANSWER} ", "}"),
        (
            member,
            best,
            f"{{ SELECT DISTINCT {best} WHERE {{ SELECT ",
            f"}} ORDER BY {order}({best}) LIMIT 1{offset} }}",
        ),
    ):
        value = _value(computation.by, writer, end)
        patterns = [*_members(computation, writer, end), *value.patterns, *readable(computation, value.variable)]
        key = order_key(computation, value.variable)
        lines += block(f"{head}({furthest}({key}) AS {shown}) WHERE", patterns, f" GROUP BY {end} {ending}")
    return [*lines, f"FILTER({mine} = {best})"]


def _grouped(computation: Computation, writer: QueryWriter) -> list[str]:
    """How many members lead to each value, how many to the one of that rank, and that both are the same."""
    number, best = writer.variable(), writer.variable()
    member, same = writer.variable(), writer.variable()
    mine, others = _value(computation.by, writer, member), _value(computation.by, writer, same)
    order = f"{'DESC' if computation.most else 'ASC'}({best})"
    offset = f" OFFSET {computation.rank - 1}" if computation.rank > 1 else ""
    counted = f"{{ SELECT ({mine.variable} AS {ANSWER}) (COUNT(DISTINCT {member}) AS {number}) WHERE"
    ranked = f"{{ SELECT DISTINCT {best} WHERE {{ SELECT (COUNT(DISTINCT {same}) AS {best}) WHERE"
    return [
        *block(counted, [*_members(computation, writer, member), *mine.patterns], f" GROUP BY {mine.variable} }}"),
        *block(
            ranked,
            [*_members(computation, writer, same), *others.patterns],
            f" GROUP BY {others.variable} }} ORDER BY {order} LIMIT 1{offset} }}",
        ),
        f"FILTER({number} = {best})",
    ]


def _compared(computation: Computation, writer: QueryWriter, about: Sequence[str]) -> str:
    """Which of two topics has more, whether the first one has, or by how much their values differ."""
    ends = [_end(chains[0], writer) for chains in computation.sets]
    sides = [_side(computation, writer, end) for end in ends]
    body = [one for side in sides for one in side.patterns]
    left, right = (side.variable for side in sides)
    more, less = "><" if computation.most else "<>"
    if computation.form == "whether":
        return writer.whole("ASK", [*body, f"FILTER({left} {more} {right})"], about)
    if computation.form == "difference":
        return writer.whole(f"SELECT DISTINCT (ABS({left} - {right}) AS ?value) WHERE", body, about)
    # without a relation the ends are the values, and what they start from answers
    answers = [
        end.variable if computation.by else writer.term(chains[0].topic)
        for end, chains in zip(ends, computation.sets, strict=True)
    ]
    either = [
        [*body, f"FILTER({left} {sign}= {right})", f"BIND({answer} AS {ANSWER})"]
        for sign, answer in zip((more, less), answers, strict=True)
    ]
    return writer.whole(ANSWERS, writer.union(either), about)


def _side(computation: Computation, writer: QueryWriter, end: Value) -> Value:
    """One side of a comparison with the key of its value: of several values the one that is furthest counts."""
    value = _value(computation.by, writer, end.variable)
    patterns, key = [*end.patterns, *value.patterns], order_key(computation, value.variable)
    several = max(Counter(one.end for one in computation.deciding).values(), default=0) > 1
    if not (several and computation.by) or computation.form == "difference":
        return Value(patterns, key)
    best, kept = writer.variable(), end.variable if end.patterns else ""
    head = f"{{ SELECT {kept} ({'MAX' if computation.most else 'MIN'}({key}) AS {best}) WHERE".replace("  ", " ")
    return Value(block(head, patterns, f" GROUP BY {kept} }}" if kept else " }"), best)


def _end(chain: SetChain, writer: QueryWriter) -> Value:
    """The end of a set of one: the topic itself where no relation is walked."""
    if not chain.relations:
        return Value([], writer.term(chain.topic))
    end = writer.variable()
    return Value(writer.chain(_chain(chain), end), end)


def _chain(chain: SetChain) -> QueryChain:
    return QueryChain(chain.topic, tuple(map(_step, chain.relations)))


def _step(relation: DirectedRelation) -> QueryStep:
    return QueryStep((Way(relation, ""),))
