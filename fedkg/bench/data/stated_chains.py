"""Gold chains of questions whose set states what is computed, or whose published query has a single fact.

Relations are named by the labels of their properties, as a model is shown them.
"""

from collections.abc import Sequence

from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_operations import GoldOperation, GoldSet
from fedkg.bench.data.gold_queries import gold_fact
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.core.question import Kind
from fedkg.core.terms import Direction, Iri
from fedkg.reasoner.gold_chain import GoldBound, GoldChain, GoldSlots, Steps

__all__ = ["stated"]

DIRECT, ENTITY = "/prop/direct/", "/entity/"


def stated(question: BenchmarkQuestion, query: str, facts: Facts) -> GoldChain:
    """The chain of a question over Wikidata; one without steps where neither an operation nor one fact is stated."""
    answers = tuple(answer.label for answer in question.answers)
    chain = _computed(question.operation, facts) if question.operation else _of_fact(query, facts)
    if chain is None:
        return GoldChain((), answers, proven=False, id=question.id)
    kind = "yesno" if question.kind == "yesno" else chain.kind
    verdict = answers[0] if kind == "yesno" and answers else ""
    return chain._replace(answers=answers, id=question.id, kind=kind, verdict=verdict)


def _of_fact(query: str, facts: Facts) -> GoldChain | None:
    """The chain of a query with one fact."""
    fact = gold_fact(query)
    if fact is None:
        return None
    relation = fact.step.relation.value
    step = (_name(relation, facts), fact.step.direction)
    return GoldChain((step,), (), starts=facts.names(fact.topic))


def _computed(operation: GoldOperation, facts: Facts) -> GoldChain | None:
    """The chains to each set of an operation, and what is computed over them; of a comparison to the values."""
    pair = operation.result == "compare"
    filters = tuple(
        GoldBound(_step(bound.by, facts)[0], bound.comparison, bound.values) for bound in operation.filters if bound.by
    )
    if pair and filters and not operation.by:  # whether one value is beyond a bound
        return _of_set(operation.sets[0], (operation.filters[0].by), facts)
    sets = tuple(_of_set(each, operation.by if pair else (), facts) for each in operation.sets)
    by = _step(operation.by, facts) if operation.by and not pair else ()
    kind: Kind = "count" if operation.result == "count" else "yesno" if operation.form == "whether" else "entities"
    slots = GoldSlots(
        sets,
        operation.result,
        operation.combine,
        filters,
        by[-1] if by else None,
        operation.most,
        operation.rank,
        operation.form,
    )
    return sets[0]._replace(kind=kind, operation=slots)


def _of_set(each: GoldSet, by: Sequence[str], facts: Facts) -> GoldChain:
    names = [name for topic in each.topics for name in facts.names(Iri(topic))]
    return GoldChain(_step((*each.path, *by), facts), (), starts=tuple(names))


def _step(path: Sequence[str], facts: Facts) -> Steps:
    """The relations of a path by name, `^` before one that is walked backwards."""
    ways = (_way(step) for step in path)
    return tuple((_name(step.lstrip("^"), facts), way) for step, way in zip(path, ways, strict=True))


def _way(step: str) -> Direction:
    return "in" if step[0] == "^" else "out"


def _name(relation: str, facts: Facts) -> str:
    """The label of the relation, or of the property that a direct relation is of; else its local name."""
    labelled = (facts.label(Iri(iri)) for iri in (relation, relation.replace(DIRECT, ENTITY)))
    return next(filter(None, labelled), Iri(relation).local_name)
