"""What the published queries of QALD-10 compute, stated as operations, and whether they find facts on CoDEx at all.

A count over nothing is 0: of the questions whose query gives the published answer on this graph many have the answer 0,
because the graph lacks what is counted. Only the others are answerable there.

    python -m eval.support.stated_operations --data DATA    # writes eval/benchmarks/qald10-codex-operations.json
"""

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pyoxigraph import RdfFormat, Store
from rdflib import BNode, Literal, URIRef
from rdflib.paths import Path as PropertyPath
from rdflib.paths import SequencePath
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from eval.support.report import FOLDER, options
from fedkg.bench.data import definitions, files
from fedkg.bench.data.gold_operations import Comparison, GoldFilter, GoldOperation, GoldSet

__all__ = ["counted", "operation", "stated"]

FILE = FOLDER / "benchmarks" / "qald10-codex-operations.json"
COMPARED: dict[str, Comparison] = {"<": "less", ">": "more", "<=": "at_most", ">=": "at_least", "=": "equal"}
COUNTS = re.compile(r"SELECT\s+(?:DISTINCT\s+)?\(\s*(?:COUNT|SUM|AVG)[^{]*\{", re.IGNORECASE)
ENTITY = "http://www.wikidata.org/entity/"
Triple = tuple[Any, Any, Any]


class GoldQuery:
    """A published query by its parts: triples, filters, what is projected, and what is computed."""

    def __init__(self, text: str) -> None:
        algebra = translateQuery(parseQuery(text)).algebra
        nodes = list(_nodes(algebra))
        self.asks = algebra.name == "AskQuery"
        listed = [triple for node in nodes if node.name == "BGP" for triple in node.triples]
        self.triples: list[Triple] = [step for triple in listed for step in _steps(*triple)]
        self.comparisons = [node for node in nodes if node.name == "RelationalExpression"]
        self.choices = [node for node in nodes if node.name == "Builtin_IF"]
        self.counts = [node.vars for node in nodes if node.name == "Aggregate_Count"]
        self.aggregates = [node for node in nodes if node.name in {"Aggregate_Sum", "Aggregate_Avg"}]
        self.projected = () if self.asks else tuple(algebra.PV)

    @property
    def plain(self) -> bool:
        """Whether it has relations and counts alone: no mean or sum, no relation that is repeated or one of several."""
        return not self.aggregates and not any(isinstance(relation, PropertyPath) for _, relation, _ in self.triples)

    def path(self, start: Any, end: Any) -> tuple[str, ...] | None:
        """The relations that lead from a term to another one, `^` before one that is walked backwards."""
        if isinstance(end, CompValue):
            return None
        reached: dict[Any, tuple[str, ...]] = {start: ()}
        waiting = [start]
        for node in waiting:
            for subject, relation, target in self.triples:
                for here, there, sign in ((subject, target, ""), (target, subject, "^")):
                    if here == node and there not in reached:
                        reached[there] = (*reached[node], f"{sign}{relation}")
                        waiting.append(there)
        return reached.get(end)

    @property
    def entities(self) -> list[URIRef]:
        """The entities that it names, as its triples have them."""
        ends = (term for subject, _, target in self.triples for term in (subject, target))
        return list(dict.fromkeys(term for term in ends if isinstance(term, URIRef) and term.startswith(ENTITY)))


def _steps(subject: Any, relation: Any, target: Any) -> Iterator[Triple]:
    """The triples of a chain of relations, or the one triple."""
    relations = relation.args if isinstance(relation, SequencePath) else [relation]
    nodes = [subject, *(BNode() for _ in relations[1:]), target]
    yield from zip(nodes, relations, nodes[1:], strict=False)


def _nodes(part: Any) -> Iterator[CompValue]:
    """All parts of an algebra expression that have a name."""
    if isinstance(part, CompValue):
        yield part
        for inner in part.values():
            yield from _nodes(inner)
    elif isinstance(part, list | tuple) and not isinstance(part, str):
        for inner in part:
            yield from _nodes(inner)


def operation(text: str) -> GoldOperation | None:
    """What the query computes; None where that is no operation over the ends of paths from entities that it names."""
    query = GoldQuery(text)
    if not query.plain:
        return None
    if query.choices:
        return _comparison(query)
    if query.asks:
        return _verdict(query)
    asked = query.counts[0] if len(query.counts) == 1 else query.projected[0] if not query.counts else None
    paths = [(entity, query.path(entity, asked)) for entity in query.entities] if asked is not None else []
    sets = tuple(GoldSet((str(entity),), path) for entity, path in paths if path)
    filters = tuple(_filters(query, asked)) if sets else ()
    told = sum(len(part.path) for part in sets) + sum(len(part.by) for part in filters)
    if not sets or len(filters) < len(query.comparisons) or told < len(query.triples):
        return None
    result = "count" if query.counts else "ends"
    return GoldOperation(sets, "intersect" if len(sets) > 1 else "union", filters, result=result)  # type: ignore[arg-type]  # one of both


def _filters(query: GoldQuery, asked: Any) -> Iterator[GoldFilter]:
    """The values that what is asked for is compared with."""
    for comparison in query.comparisons:
        by = query.path(asked, _compared(comparison.expr))
        value = _constant(comparison.other)
        if by and value and comparison.op in COMPARED:
            yield GoldFilter(by, COMPARED[comparison.op], (value,))


def _compared(term: Any) -> Any:
    """The variable whose value is compared, or the year of whose value."""
    return term.arg if isinstance(term, CompValue) and term.name == "Builtin_YEAR" else term


def _constant(term: Any) -> str:
    """A value as it is written, also in a cast (`xsd:integer("200000")`)."""
    if isinstance(term, CompValue) and term.name == "Function":
        [term] = term.expr
    return str(term) if isinstance(term, Literal) else ""


def _comparison(query: GoldQuery) -> GoldOperation | None:
    """Which of two entities has more of a value; None where what is compared was counted."""
    [choice] = query.choices
    condition, first, second = choice.arg1, choice.arg2, choice.arg3
    while condition.name != "RelationalExpression":
        condition = condition.expr
    by, other = query.path(first, condition.expr), query.path(second, condition.other)
    if not by or by != other:
        return None
    sets = (GoldSet((str(first),)), GoldSet((str(second),)))
    return GoldOperation(sets, result="compare", by=by, most=condition.op in {">", ">="})


def _verdict(query: GoldQuery) -> GoldOperation | None:
    """Whether something passes: a value that is compared, or an entity that all triples lead to."""
    starts = [subject for subject, _, _ in query.triples if isinstance(subject, URIRef)]
    if not query.comparisons or len(set(starts)) != 1:
        return None
    [comparison] = query.comparisons
    by, value = query.path(starts[0], comparison.expr), _constant(comparison.other)
    if not by or not value:
        return None
    chosen = GoldFilter(by, COMPARED[comparison.op], (value,))
    return GoldOperation((GoldSet((str(starts[0]),)),), filters=(chosen,), result="compare", form="whether")


def counted(text: str) -> list[str]:
    """For each thing that the query counts, a query whether there is any of it."""
    prefixes = text[: re.search(r"SELECT|ASK", text, re.IGNORECASE).start()]  # type: ignore[union-attr]  # one of both
    return [f"{prefixes} ASK {_group(text, match.end() - 1)}" for match in COUNTS.finditer(text)]


def _group(text: str, start: int) -> str:
    """The group in braces that begins there."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[start : at + 1]
    return text[start:]


def stated(rows: Sequence[Mapping[str, Any]], store: Store) -> dict[str, dict[str, Any]]:
    """The operation of each question that has one, and whether its query finds facts, by ids."""
    facts = {row["id"]: all(bool(store.query(ask)) for ask in counted(row["sparql"])) for row in rows}
    operations = {row["id"]: operation(row["sparql"]) for row in rows}
    return {
        "operations": {name: value for name, value in operations.items() if value and _computes(value)},
        "facts": {name: "some" if value else "none" for name, value in facts.items()},
    }


def _computes(value: GoldOperation) -> bool:
    """Whether it is more than the ends of one path."""
    return value.result != "ends" or bool(value.filters) or len(value.sets) > 1


def main() -> None:
    """Writes the file."""
    data: Path = options(__doc__ or "").parse_args().data
    definition = definitions.find("qald10-codex")
    read = gzip.decompress(files.find(definition, definition.questions, data).read_bytes())
    known = msgspec.json.decode((data / "answerable.json").read_bytes())["gold_sparql"]["qald10-wikidata-en"]
    rows = [
        row for line in read.splitlines() if known.get((row := msgspec.json.decode(line))["id"]) in {"exact", "some"}
    ]
    store = Store()
    store.bulk_load(gzip.decompress((data / definition.graph).read_bytes()), format=RdfFormat.N_TRIPLES)
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(stated(rows, store))) + b"\n")


if __name__ == "__main__":
    main()
