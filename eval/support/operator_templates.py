"""The templates of our own questions for operators, and the queries that find their gold answers.

A template names the sets of a graph, as property paths from a topic, what is computed over them, and how people ask for
it. The queries are plain SPARQL of the endpoint's own engine: nothing of fedkg's operators is used.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from fedkg.bench.data.gold_operations import Comparison, GoldFilter, GoldOperation, GoldSet
from fedkg.bench.data.questions import Missing

__all__ = [
    "PLAN",
    "PREFIXES",
    "Operator",
    "QuestionTemplate",
    "Refusal",
    "TemplatePlan",
    "full",
    "gold_query",
    "plan",
    "prefixed",
    "stated",
    "steps",
    "terms",
]

PLAN = Path(__file__).resolve().parents[1] / "plans" / "operators.toml"
PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "het": "http://het.io/schema/",
    "db": "http://www.drugbank.ca/vocab/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "wikibase": "http://wikiba.se/ontology#",
}
Operator = Literal[
    "count", "distinct", "extreme", "filter", "intersect", "difference", "group", "compare", "verdict", "gap"
]
Topics = Sequence[Sequence[str]]
RESULTS: dict[Operator, tuple[Any, Any]] = {
    "count": ("count", "which"),
    "distinct": ("count", "which"),
    "extreme": ("extreme", "which"),
    "filter": ("ends", "which"),
    "intersect": ("ends", "which"),
    "difference": ("ends", "which"),
    "group": ("group", "which"),
    "compare": ("compare", "which"),
    "verdict": ("compare", "whether"),
    "gap": ("compare", "difference"),
}
COMBINED: dict[Operator, Any] = {"intersect": "intersect", "difference": "difference"}
COMPARED = {"more": ">", "less": "<", "after": ">", "before": "<"}


class QuestionTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for, of which sets, in which words.

    `sets` are property paths from the topics {a} and {b}; of the comparing operators the pool that the two are drawn
    from, which are of the class `ends`. `by` leads to the value, or to the group. `sizes` bound the first set,
    `covered` is the least share of it that has a value. `topic` is the class of the topics; `group` names a list of
    labels, where only these make sense. `steps` are what may stand for {v} and {w}.
    """

    graph: str
    name: str
    operator: Operator
    sets: tuple[str, ...]
    wordings: tuple[str, ...]
    number: int
    sizes: tuple[int, int] = (2, 60)
    by: str = ""
    most: bool = True
    rank: int = 1
    comparison: Comparison | None = None
    steps: tuple[int, ...] = ()
    covered: float = 0.0
    combine: Literal["", "intersect"] = ""
    topic: str = ""
    ends: str = ""
    group: str = ""


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question without an answer: `query` finds what would be one, or `lacks` is what the graph has no name for."""

    graph: str
    operator: Operator
    lacking: Missing
    question: str
    topics: tuple[str, ...] = ()
    query: str = ""
    lacks: str = ""


class TemplatePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All templates, lists of labels, the refusals, and the questions that a reader has taken out, by their text."""

    groups: dict[str, tuple[str, ...]]
    template: tuple[QuestionTemplate, ...]
    unanswerable: tuple[Refusal, ...] = ()
    dropped: tuple[str, ...] = ()


def plan(file: Path = PLAN) -> TemplatePlan:
    """What the questions are made from."""
    return msgspec.toml.decode(file.read_bytes(), type=TemplatePlan)


def full(name: str) -> str:
    """The IRI that a prefixed name stands for."""
    prefix, _, local = name.partition(":")
    return PREFIXES[prefix] + local


def steps(path: str) -> tuple[str, ...]:
    """The IRIs of a property path, `^` before one that is walked backwards."""
    return tuple("^" * (step[0] == "^") + full(step.lstrip("^")) for step in path.split("/")) if path else ()


def gold_query(template: QuestionTemplate, topics: Topics, values: Sequence[str] = ()) -> str:
    """The query whose ?x are the gold answers; an ASK for a verdict. `topics` are the IRIs of each."""
    return prefixed(QUERIES[template.operator](template, topics, values))


def prefixed(body: str) -> str:
    """The query with the prefixes that it uses."""
    used = set(re.findall(r"(\w+):\w", re.sub(r'<[^>]*>|"[^"]*"', " ", body)))
    return " ".join([*(f"PREFIX {name}: <{PREFIXES[name]}>" for name in sorted(used)), body])


def stated(template: QuestionTemplate, topics: Topics, values: Sequence[str] = ()) -> GoldOperation:
    """What the question asks to be computed."""
    pair = template.operator in {"compare", "verdict", "gap"}
    paths = ["" for _ in topics] if pair else template.sets
    chosen = (GoldFilter(steps(template.by), template.comparison, tuple(values)),) if template.comparison else ()
    result, form = RESULTS[template.operator]
    return GoldOperation(
        sets=tuple(GoldSet(tuple(iris), steps(path)) for iris, path in zip(topics, paths, strict=True)),
        combine=template.combine or COMBINED.get(template.operator, "union"),
        filters=chosen,
        result=result,
        by=() if chosen else steps(template.by),
        most=template.most,
        rank=template.rank,
        form=form,
    )


def terms(iris: Sequence[str]) -> str:
    """IRIs as they stand in a query."""
    wikidata = PREFIXES["wd"]
    return " ".join(f"wd:{iri.removeprefix(wikidata)}" if iri.startswith(wikidata) else f"<{iri}>" for iri in iris)


def _leads(iris: Sequence[str], path: str, end: str, name: str = "a") -> str:
    """The pattern from a topic, which may be several nodes of one name, over a path to a variable."""
    if len(iris) == 1:
        return f"{terms(iris)} {path} {end}"
    return f"VALUES ?{name} {{ {terms(iris)} }} ?{name} {path} {end}"


def _sets(template: QuestionTemplate, topics: Topics, end: str) -> str:
    names = "ab"
    return " . ".join(
        _leads(iris, path, end, names[at]) for at, (iris, path) in enumerate(zip(topics, template.sets, strict=True))
    )


def _condition(template: QuestionTemplate, values: Sequence[str]) -> str:
    value = "YEAR(?v)" if template.comparison in {"after", "before", "between"} or _of_year(template) else "?v"
    match template.comparison:
        case "between":
            return f"{value} >= {values[0]} && {value} <= {values[1]}"
        case "contains":
            return f'CONTAINS(LCASE(STR(?v)), "{values[0].lower()}")'
        case "equal":
            return f"{value} = {values[0]}" if template.steps else f'STR(?v) = "{values[0]}"'
    return f"{value} {COMPARED[template.comparison or 'more']} {values[0]}"


def _of_year(template: QuestionTemplate) -> bool:
    return template.comparison == "equal" and bool(template.steps)


def _filtered(template: QuestionTemplate, values: Sequence[str], end: str) -> str:
    return f" . {end} {template.by} ?v FILTER({_condition(template, values)})" if template.comparison else ""


def _count(template: QuestionTemplate, topics: Topics, values: Sequence[str]) -> str:
    inner = _sets(template, topics, "?e") + _filtered(template, values, "?e")
    return f"SELECT (COUNT(DISTINCT ?e) AS ?x) WHERE {{ {inner} }}"


def _filter(template: QuestionTemplate, topics: Topics, values: Sequence[str]) -> str:
    return f"SELECT DISTINCT ?x WHERE {{ {_sets(template, topics, '?x')}{_filtered(template, values, '?x')} }}"


def _intersect(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    return f"SELECT DISTINCT ?x WHERE {{ {_sets(template, topics, '?x')} }}"


def _difference(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    kept, left = (_leads(iris, path, "?x", name) for iris, path, name in zip(topics, template.sets, "ab", strict=True))
    return f"SELECT DISTINCT ?x WHERE {{ {kept} FILTER NOT EXISTS {{ {left} }} }}"


def _ranked(template: QuestionTemplate, pattern: str) -> str:
    order = "DESC(MAX(?v))" if template.most else "MIN(?v)"
    offset = f" OFFSET {template.rank - 1}" if template.rank > 1 else ""
    return f"SELECT ?x WHERE {{ {pattern} . ?x {template.by} ?v }} GROUP BY ?x ORDER BY {order} LIMIT 1{offset}"


def _extreme(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    return _ranked(template, _sets(template, topics, "?x"))


def _compare(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    return _ranked(template, f"VALUES ?x {{ {terms([iris[0] for iris in topics])} }}").replace(" . ?x", " ?x", 1)


def _verdict(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    first, second = (terms(iris) for iris in topics)
    sign = ">" if template.most else "<"
    return f"ASK {{ {first} {template.by} ?v . {second} {template.by} ?w FILTER(?v {sign} ?w) }}"


def _gap(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    first, second = (terms(iris) for iris in topics)
    between = "?v - ?w" if template.most else "YEAR(?w) - YEAR(?v)"
    return f"SELECT DISTINCT ({between} AS ?x) WHERE {{ {first} {template.by} ?v . {second} {template.by} ?w }}"


def _group(template: QuestionTemplate, topics: Topics, _: Sequence[str]) -> str:
    members = f"{{ SELECT DISTINCT ?e WHERE {{ {_sets(template, topics, '?e')} }} }}"
    return f"SELECT ?x WHERE {{ {members} ?e {template.by} ?x }} GROUP BY ?x ORDER BY DESC(COUNT(DISTINCT ?e)) LIMIT 1"


QUERIES = {
    "count": _count,
    "distinct": _count,
    "extreme": _extreme,
    "filter": _filter,
    "intersect": _intersect,
    "difference": _difference,
    "group": _group,
    "compare": _compare,
    "verdict": _verdict,
    "gap": _gap,
}
