"""The query that proves an answer: from the chosen paths, or from the operation over them, to one SPARQL query.

It says what the document says and no more. Where an endpoint would return further ends of the same relations, since a
model picked some or some have no name, the answers are named in it. What no query can say has none: a judgement, what a
model remembers, an identifier that stands for an entity.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from fedkg.core.operation import Computation
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal, Term
from fedkg.engine.assembly import Selection
from fedkg.errors import TermError
from fedkg.graph.base import Graph
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.federated import FederatedGraph
from fedkg.sparql.answer_query import Check, answer_query
from fedkg.sparql.operation_query import operation_query
from fedkg.sparql.query_writer import QueryChain, QueryStep, QueryWriter, Way

__all__ = ["QueryFacts", "endpoint_urls", "endpoints", "proving_query"]

MOST_PICKED = 200
"""Answers that a query names; more make no query that a person reads, or an endpoint takes."""
PICKED = "the relations have further ends: those that answer are named"
CUT = "not every edge was fetched: there may be more answers"
Key = tuple[Iri, tuple[DirectedRelation, ...]]


class QueryFacts(NamedTuple):
    """What a query is made of, beside the paths: the answers' terms, all of them, and the labels.

    `counts`: their number answers. `urls` are those of endpoints by name.
    """

    question: str
    answers: Collection[Term]
    names: Mapping[Term, str]
    urls: Mapping[str, str]
    counts: bool = False
    operation: Computation | None = None


def proving_query(chosen: Selection, checks: Sequence[PartialPath], facts: QueryFacts) -> str:
    """The query; "" where there is none."""
    paths = [path for path, _ in chosen if path.steps]
    endpoints = [
        leg.endpoint for path in (*paths, *checks) for step in path.steps for edge in step.edges for leg in edge.walk
    ]
    home = endpoints[0] if endpoints else ""
    writer = QueryWriter(facts.names, home, facts.urls)
    about = [facts.question, f"to be asked at {home}" if home else ""]
    try:
        if facts.operation:
            return operation_query(facts.operation, writer, about) if len(set(endpoints)) <= 1 else ""
        return _query(chosen, checks, facts, writer, about) if paths and facts.answers else ""
    except (TermError, KeyError):
        return ""


def endpoints(graph: Graph) -> list[SparqlGraph]:
    """The endpoints of a graph: itself, or its members."""
    members = graph.members if isinstance(graph, FederatedGraph) else [graph]
    return [member for member in members if isinstance(member, SparqlGraph)]


def endpoint_urls(graph: Graph) -> dict[str, str]:
    """The URLs of the endpoints that a query may name, by their names; none that may hold a password or a key."""
    sources = ((member.name, member.identity) for member in endpoints(graph))
    return {name: url for name, url in sources if url.startswith(("http://", "https://")) and not set("@?") & set(url)}


def _query(
    chosen: Selection, checks: Sequence[PartialPath], facts: QueryFacts, writer: QueryWriter, about: Sequence[str]
) -> str:
    ends: dict[Key, set[Term]] = {}
    chains: dict[Key, QueryChain] = {}
    for path, numbers in chosen:
        key = path.topic, path.chain
        tails = {tail for number, tail in enumerate(path.tails, 1) if not numbers or number in numbers}
        ends[key] = ends.get(key, set()) | tails
        chains.setdefault(key, _chain(path))
    alternatives = _alternatives(ends, facts.answers)
    led_to = {end for keys in alternatives for end in set.intersection(*(_tails(chosen, key) for key in keys))}
    picked = sorted(facts.answers) if led_to != set(facts.answers) else []
    if len(picked) > MOST_PICKED:
        return ""
    cut = any(not path.complete for path, _ in chosen)
    return answer_query(
        [[chains[key] for key in keys] for keys in alternatives],
        writer,
        checks=[_check(path) for path in checks],
        picked=picked,
        count=facts.counts,
        about=[*about, PICKED if picked else "", CUT if cut else ""],
    )


def _alternatives(ends: Mapping[Key, set[Term]], answers: Collection[Term]) -> list[list[Key]]:
    """The sets of chains that lead to an answer together, without those that hold another one.

    Where each answer is the end of both of two chains these are joined; where some are the end of one, it is enough.
    """
    together = {frozenset(key for key in ends if end in ends[key]) for end in answers} - {frozenset()}
    least = [keys for keys in together if not any(other < keys for other in together)]
    order = list(ends)
    return sorted(
        (sorted(keys, key=order.index) for keys in least), key=lambda keys: [order.index(key) for key in keys]
    )


def _tails(chosen: Selection, key: Key) -> set[Term]:
    """All ends of the paths of that key, picked or not."""
    return {tail for path, _ in chosen if (path.topic, path.chain) == key for tail in path.tails}


def _chain(path: PartialPath) -> QueryChain:
    steps = [_step(step, PartialPath(path.topic, path.steps[:place])) for place, step in enumerate(path.steps)]
    return QueryChain(path.topic, tuple(steps))


def _step(step: Step, before: PartialPath) -> QueryStep:
    """The step with the ways in which its edges were walked. Raises TermError for one over an identifier."""
    seen = before.ancestors()
    back = any(edge.end in seen.get(edge.start, ()) for edge in step.edges)
    values = all(isinstance(edge.end, Literal) for edge in step.edges)
    return QueryStep(tuple(dict.fromkeys(map(_way, step.edges))), back or values)


def _way(edge: Edge) -> Way:
    if edge.identifies:
        raise TermError("an identifier stands for an entity: no query says that")
    link = edge.same
    return Way(edge.walked, edge.endpoint, link.walked if link else None, link.endpoint if link else "")


def _check(path: PartialPath) -> Check:
    """The condition that the last step of that path is."""
    step = path.steps[-1]
    return Check(QueryStep(tuple(dict.fromkeys(map(_way, step.edges))), back=True), step.tails)
