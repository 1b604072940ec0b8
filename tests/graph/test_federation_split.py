"""The law of federation: a graph that lies in two parts, under two sets of names, is the graph that it was."""

import asyncio
import itertools
from functools import partial

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.config import profiles
from fedkg.config.profiles import Profile
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Direction, Iri, Term
from fedkg.engine.assembly import doubtful, ends
from fedkg.engine.completion import complete
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.federated import FederatedGraph
from fedkg.sparql.results import accept
from fedkg.transport.client import EndpointClient
from fedkg.transport.embedded import EmbeddedTransport
from tests.support.federation import SAME, TABLE

NODES = range(5)
NAMES = st.sampled_from(NODES)
# subject, relation, object, and the parts that say so: the first one, the second one or both
SAID = st.sampled_from([(False,), (True,), (False, True)])
TRIPLES = st.lists(st.tuples(NAMES, st.sampled_from("pq"), NAMES, SAID), max_size=12)
# for every node whether the first part says the link, and whether it does so from its own copy on
LINKS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=len(NODES), max_size=len(NODES))
DECLARED = st.sampled_from(["none", "one", "both"])
WAYS: st.SearchStrategy[Direction] = st.sampled_from(["out", "in"])
CHAINS = st.lists(
    st.builds(DirectedRelation, st.sampled_from("pq").map(lambda p: Iri(f"http://r/{p}")), WAYS), min_size=1, max_size=3
)

Triple = tuple[int, str, int, tuple[bool, ...]]


def name(node: int, *, far: bool) -> str:
    """The IRI of a node in one of the parts."""
    return f"http://{'y' if far else 'x'}/{node}"


def graph(lines: list[str], called: str, authorities: tuple[str, ...] = ()) -> SparqlGraph:
    """A graph in process."""
    store = pyoxigraph.Store()
    store.load(input="\n".join(lines).encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    select = EndpointClient(
        [EmbeddedTransport(store, called)], partial(accept, endpoint=called), endpoint=called, detects=False
    )
    profile = Profile(called, authorities=authorities, shape=profiles.find("generic").shape)
    return SparqlGraph(EndpointSource(called, called, profile, select, MemoryStore()), identity=TABLE)


def seen(around: ExploredGraph, entity: Iri) -> set[tuple[str, str, str]]:
    """The entity's edges without who said them, in the first part's names."""

    def near(term: Term) -> str:
        return term.text.replace("//y/", "//x/")

    return {(near(edge.subject), edge.relation.value, near(edge.object)) for edge in around.edges(entity)}


async def fetched(whole: FederatedGraph | SparqlGraph, far: bool) -> list[set[tuple[str, str, str]]]:
    """The edges of every node, asked for at once under the names of one part."""
    around, entities = ExploredGraph(whole), [Iri(name(node, far=far)) for node in NODES]
    await around.fetch(entities)
    return [seen(around, entity) for entity in entities]


def halves(triples: list[Triple], links: list[tuple[bool, bool]], declared: str) -> tuple[FederatedGraph, SparqlGraph]:
    """The graph in two parts that the links join, and the same graph whole, in the first part's names."""
    parts: dict[bool, list[str]] = {True: [], False: []}
    for subject, relation, target, places in triples:
        for part in places:
            parts[part].append(f"<{name(subject, far=part)}> <http://r/{relation}> <{name(target, far=part)}> .")
    for node, (first, from_first) in enumerate(links):
        ends = name(node, far=False), name(node, far=True)
        here, there = ends if from_first else ends[::-1]
        parts[not first].append(f"<{here}> <{SAME}> <{there}> .")
    left = graph(parts[False], "one", ("http://x/",) if declared != "none" else ())
    right = graph(parts[True], "two", ("http://y/",) if declared == "both" else ())
    lines = [f"<{name(s, far=False)}> <http://r/{r}> <{name(o, far=False)}> ." for s, r, o, _ in triples]
    return FederatedGraph([left, right], TABLE), graph(lines, "whole")


@given(TRIPLES, LINKS, DECLARED, st.booleans())
def test_a_split_graph_has_the_edges_of_the_whole(
    triples: list[Triple], links: list[tuple[bool, bool]], declared: str, far: bool
) -> None:
    """Whoever says the links, and whoever declares authorities: every node has all its edges under either name."""
    split, whole = halves(triples, links, declared)
    assert asyncio.run(fetched(split, far)) == asyncio.run(fetched(whole, far=False))


async def reached(whole: FederatedGraph | SparqlGraph, topic: str, chain: list[DirectedRelation]) -> list[str]:
    """The answers at the end of the chain, in the first part's names; every walk to one of them connects."""
    beam = PartialPath(Iri(topic), tuple(Step(0, relation, ()) for relation in chain))
    (beam,) = await complete(ExploredGraph(whole), [beam])
    chosen = [(beam, ())]
    ending = ends(chosen, await whole.links(doubtful(chosen)))
    for end in ending.shown:
        assert (end.walk[0].start, end.walk[-1].end) == (beam.topic, end.tail)
        assert all(before.end == after.start for before, after in itertools.pairwise(end.walk))
    answers = {end.tail for end in ending.shown}
    assert ending.total == len(answers)
    return sorted(tail.text.replace("//y/", "//x/") for tail in answers)


@given(TRIPLES, LINKS, DECLARED, st.booleans(), CHAINS)
def test_a_split_graph_has_the_answers_of_the_whole(
    triples: list[Triple],
    links: list[tuple[bool, bool]],
    declared: str,
    far: bool,
    chain: list[DirectedRelation],
) -> None:
    """Each answer once, whatever names it has; what leads back does so under every name."""
    split, whole = halves(triples, links, declared)
    expected = asyncio.run(reached(whole, name(0, far=False), chain))
    assert asyncio.run(reached(split, name(0, far=far), chain)) == expected
