"""The query that proves an answer: from the chosen paths, or from the operation over them, to one SPARQL query.

It says what the document says and no more. Where an endpoint would return further ends of the same relations, since a
model picked some or some have no name, the answers are named in it. What no query can say has none: a judgement, what a
model remembers, an identifier that stands for an entity.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from fedkg.core.operation import Computation
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Edge, Literal, Term
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
    chains = _chains(chosen)
    alternatives = _alternatives({chain: tails.answering for chain, tails in chains.items()}, facts.answers)
    led_to = {end for joined in alternatives for end in set.intersection(*(chains[one].all for one in joined))}
    picked = sorted(facts.answers) if led_to != set(facts.answers) else []
    if len(picked) > MOST_PICKED:
        return ""
    cut = any(not path.complete for path, _ in chosen)
    return answer_query(
        alternatives,
        writer,
        checks=[_check(path) for path in checks],
        picked=picked,
        count=facts.counts,
        about=[*about, PICKED if picked else "", CUT if cut else ""],
    )


class Tails(NamedTuple):
    """What a chain leads to: the ends that answer, and all of them."""

    answering: set[Term]
    all: set[Term]


def _chains(chosen: Selection) -> dict[QueryChain, Tails]:
    """The chains of the paths with what they lead to; two of the same relations are one where a query can say so."""
    chains: dict[QueryChain, Tails] = {}
    for path, numbers in chosen:
        chain = _chain(path)
        answering = {tail for number, tail in enumerate(path.tails, 1) if not numbers or number in numbers}
        tails = Tails(answering, set(path.tails))
        for other in list(chains):
            if joined := _joined(other, chain):
                before = chains.pop(other)
                chain, tails = joined, Tails(before.answering | tails.answering, before.all | tails.all)
        chains[chain] = tails
    return chains


def _joined(one: QueryChain, other: QueryChain) -> QueryChain | None:
    """Both as one chain; None where they differ in more than one step, or in a relation."""
    if one.topic != other.topic or len(one.steps) != len(other.steps):
        return None
    steps = [_both(mine, theirs) for mine, theirs in zip(one.steps, other.steps, strict=True)]
    different = sum(mine != theirs for mine, theirs in zip(one.steps, other.steps, strict=True))
    return QueryChain(one.topic, tuple(filter(None, steps))) if all(steps) and different <= 1 else None


def _both(one: QueryStep, other: QueryStep) -> QueryStep | None:
    """A step by the ways of both; None where their relations differ."""
    if {way.relation for way in one.ways} != {way.relation for way in other.ways}:
        return None
    ways = tuple(dict.fromkeys((*one.ways, *other.ways)))
    return QueryStep(ways, one.back or other.back, one.ahead or other.ahead)


def _alternatives(ends: Mapping[QueryChain, set[Term]], answers: Collection[Term]) -> list[list[QueryChain]]:
    """The sets of chains that lead to an answer together, without those that hold another one.

    Where each answer is the end of both of two chains these are joined; where some are the end of one, it is enough.
    """
    together = {frozenset(chain for chain in ends if end in ends[chain]) for end in answers} - {frozenset()}
    least = [chains for chains in together if not any(other < chains for other in together)]
    order = list(ends)
    return sorted(
        (sorted(chains, key=order.index) for chains in least), key=lambda chains: [order.index(one) for one in chains]
    )


def _chain(path: PartialPath) -> QueryChain:
    steps = [_step(step, PartialPath(path.topic, path.steps[:place])) for place, step in enumerate(path.steps)]
    return QueryChain(path.topic, tuple(steps))


def _step(step: Step, before: PartialPath) -> QueryStep:
    """The step with the ways in which its edges were walked. Raises TermError for one over an identifier."""
    seen = before.ancestors()
    back = {edge.end == edge.start or edge.end in seen.get(edge.start, ()) for edge in step.edges}
    values = all(isinstance(edge.end, Literal) for edge in step.edges)
    ways = tuple(dict.fromkeys(map(_way, step.edges)))
    return QueryStep(ways, values or True in back, values or False in back)


def _way(edge: Edge) -> Way:
    if edge.identifies:
        raise TermError("an identifier stands for an entity: no query says that")
    link = edge.same
    return Way(edge.walked, edge.endpoint, link.walked if link else None, link.endpoint if link else "")


def _check(path: PartialPath) -> Check:
    """The condition that the last step of that path is."""
    step = path.steps[-1]
    return Check(QueryStep(tuple(dict.fromkeys(map(_way, step.edges))), back=True), step.tails)
