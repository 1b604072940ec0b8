"""The rows of our own questions for operators: drafts and refusals with the gold answers that their queries find."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import msgspec
from pyoxigraph import QueryBoolean, Store

from eval.support.operator_questions import Draft, GraphFacts, drafts, half_of, worded
from eval.support.operator_templates import (
    Operator,
    QuestionTemplate,
    Refusal,
    TemplatePlan,
    gold_query,
    prefixed,
    stated,
    terms,
)
from fedkg.bench.data.formats import Entity
from fedkg.bench.data.gold_operations import GoldOperation
from fedkg.bench.data.questions import Missing
from fedkg.core.question import Kind

__all__ = ["HALVES", "OperatorQuestion", "gold", "made"]

HALVES = ("tuning", "test")
KINDS: dict[Operator, Kind] = {"count": "count", "distinct": "count", "verdict": "yesno", "gap": "literal"}
RELATIONS = {
    "codex-m": "?x wikibase:directClaim ?p ; rdfs:label|skos:altLabel ?name",
    "biomed": "{ SELECT DISTINCT ?x WHERE { ?s ?x ?o } } OPTIONAL { ?x rdfs:label ?label } "
    "BIND(CONCAT(STR(?x), COALESCE(STR(?label), '')) AS ?name)",
}
"""All relations, with their names."""
OFTEN, SELDOM = 5, 2
"""How many questions have one topic: of a group of few, and of others."""


class OperatorQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A row of ours: as any set's, and what it was made from, its half, its operation, and the query of its answers."""

    id: str
    question: str
    kind: Kind
    shape: Operator
    template: str = ""
    half: str
    topics: tuple[Entity, ...]
    answers: tuple[Entity | bool, ...]
    unanswerable: Missing = ""
    operation: GoldOperation | None = None
    sparql: str

    @property
    def gold(self) -> set[str]:
        """The answers: IRIs, values, or the verdict."""
        return {str(answer) if isinstance(answer, bool) else str(answer.iri or answer.value) for answer in self.answers}


def made(plan: TemplatePlan, name: str, store: Store) -> Iterator[OperatorQuestion]:
    """The questions of one graph, half by half, numbered."""
    facts = GraphFacts(store)
    refusals = [_refusal(refusal, facts) for refusal in plan.unanswerable if refusal.graph == name]
    rows = [*_answerable(plan, name, store, facts), *refusals]
    numbers: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: HALVES.index(row.half)):
        numbers[row.half] += 1
        yield msgspec.structs.replace(row, id=f"operators-{name}-{row.half}-{numbers[row.half]:03}")


def gold(store: Store, query: str, facts: GraphFacts) -> tuple[Entity | bool, ...]:
    """What the query finds, entities with their labels."""
    result = store.query(query)
    if isinstance(result, QueryBoolean):
        return (bool(result),)
    terms_found = {row["x"].value for row in result}
    return tuple(
        Entity(iri=value, label=facts.labels.get(value)) if value.startswith("http") else Entity(value=value)
        for value in sorted(terms_found)
    )


def _answerable(plan: TemplatePlan, name: str, store: Store, facts: GraphFacts) -> Iterator[OperatorQuestion]:
    used: Counter[str] = Counter()
    left_out = set(plan.dropped)
    for half in HALVES:
        for template in plan.template:
            if template.graph == name:
                fresh = _fresh(template, facts, half, used, plan.groups.get(template.group, ()))
                for row in islice(_rows(fresh, store, facts, half, left_out), template.number):
                    left_out.add(row.question)
                    yield row


def _fresh(
    template: QuestionTemplate, facts: GraphFacts, half: str, used: Counter[str], group: Sequence[str]
) -> Iterator[Draft]:
    """Drafts whose topics are not in too many questions; what is taken counts as used."""
    most = OFTEN if template.group else SELDOM
    for draft in drafts(template, facts, half, used, group):
        names = [name.casefold() for name in draft.names]
        if all(used[name] < most for name in names):
            used.update(names)
            yield draft


def _rows(
    fresh: Iterable[Draft], store: Store, facts: GraphFacts, half: str, left_out: Collection[str]
) -> Iterator[OperatorQuestion]:
    """The drafts in words, in turn, with what the graph answers."""
    at = 0
    for draft in fresh:
        text = worded(draft, facts, at, half)
        if text not in left_out:
            at += 1
            query = gold_query(draft.template, draft.topics, draft.values)
            yield OperatorQuestion(
                id="",
                question=text,
                kind=KINDS.get(draft.template.operator, "entities"),
                shape=draft.template.operator,
                template=draft.template.name,
                half=half,
                topics=tuple(Entity(iri=iri, label=facts.labels[iri]) for topic in draft.topics for iri in topic),
                answers=gold(store, query, facts),
                operation=stated(draft.template, draft.topics, draft.values),
                sparql=query,
            )


def _refusal(refusal: Refusal, facts: GraphFacts) -> OperatorQuestion:
    """A question that the graph cannot answer, in the half of its topics."""
    nodes = [facts.nodes(label) for label in refusal.topics]
    halves = {half_of(label) for label in refusal.topics}
    if len(halves) > 1:
        raise ValueError(f"topics of both halves: {refusal.question}")
    known = [Entity(iri=iri, label=facts.labels[iri]) for topic in nodes for iri in topic]
    return OperatorQuestion(
        id="",
        question=refusal.question,
        kind=KINDS.get(refusal.operator, "entities"),
        shape=refusal.operator,
        half=halves.pop(),
        topics=tuple(known or (Entity(label=label) for label in refusal.topics)),
        answers=(),
        unanswerable=refusal.lacking,
        sparql=prefixed(_lacking(refusal, nodes)),
    )


def _lacking(refusal: Refusal, nodes: Sequence[Sequence[str]]) -> str:
    """The query that finds what would answer: the fact, the entity of that name, or a relation with such a name."""
    if refusal.lacking == "fact":
        listed = " ".join(f"VALUES ?{name} {{ {terms(topic)} }}" for name, topic in zip("ab", nodes, strict=False))
        return f"SELECT DISTINCT ?x WHERE {{ {listed} {refusal.query.format(a='?a', b='?b')} }}"
    if refusal.lacking == "entity":
        name = refusal.topics[0].casefold()
        return f'SELECT ?x WHERE {{ ?x rdfs:label|skos:altLabel ?name FILTER(LCASE(STR(?name)) = "{name}") }}'
    relation = RELATIONS[refusal.graph]
    return f'SELECT ?x WHERE {{ {relation} FILTER(CONTAINS(LCASE(?name), "{refusal.lacks}")) }}'
