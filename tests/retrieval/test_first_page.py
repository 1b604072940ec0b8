"""What a model sees first: a share of each topic, the unhelpful last, nothing twice, the best tails of long groups."""

from collections.abc import Callable

import numpy as np
import pytest

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Direction, Edge, Iri, Literal
from fedkg.embed.base import Matrix
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph, frontier
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.first_page import dated_once, helpful_first, shared_page, unhelpful_relations
from tests.support.ranking import KONG, Exact, names, rank, ranked

CATEGORY = "http://www.wikidata.org/prop/direct/P910"
PATHS = [PartialPath(Iri(f"http://x/{name}")) for name in "abc"]


def step(path: int, relation: str, subject: str, target: str, direction: Direction = "out") -> Step:
    """A group of one edge."""
    edge = Edge(Iri(f"http://x/{subject}"), Iri(relation), Iri(f"http://x/{target}"), direction, "e")
    return Step(path, edge.walked, (edge,))


def test_unhelpful_relations_come_last() -> None:
    """The file names them; they are still there."""
    assert Iri(CATEGORY) in unhelpful_relations()
    category, spouse = step(0, CATEGORY, "a", "k"), step(0, "http://x/spouse", "a", "b")
    assert helpful_first([category, spouse]) == [spouse, category]


def test_an_edge_seen_from_both_ends_counts_once() -> None:
    """From the other end it comes last; the same way walked by two paths is no repetition."""
    there, again = step(0, "http://x/spouse", "a", "b"), step(1, "http://x/spouse", "a", "b", "in")
    other = step(1, "http://x/job", "b", "j")
    assert helpful_first([there, again, other]) == [there, other, again]
    alike = step(1, "http://x/spouse", "a", "b")
    assert helpful_first([there, alike, other]) == [there, alike, other]


@pytest.mark.parametrize(
    ("owners", "size", "page"),
    [
        ("aaaaab", 4, [0, 1, 2, 5]),
        ("aaaab", 5, [0, 1, 2, 3, 4]),
        ("ab", 1, [0]),
        ("aaabc", 3, [0, 3, 4]),
        ("aaa", 2, [0, 1]),
    ],
)
def test_each_topic_has_a_share_of_the_page(owners: str, size: int, page: list[int]) -> None:
    """Whatever the first one has; the order stays, and nothing is left out."""
    steps = [step("abc".index(owner), f"http://x/r{number}", owner, "t") for number, owner in enumerate(owners)]
    shared = shared_page(steps, PATHS, size)
    assert [steps.index(candidate) for candidate in shared[:size]] == page
    assert sorted(map(steps.index, shared)) == list(range(len(steps)))


class Worded(Exact):
    """A similarity that knows what each text is worth to each single keyword."""

    def __init__(self, pooled: dict[str, float], single: dict[str, float]) -> None:
        super().__init__(pooled)
        self.single = single

    async def table(self, queries: list[str], texts: list[str]) -> Matrix:  # type: ignore[override]  # as it is called
        """The worth to any keyword."""
        return np.array([[self.single.get(text, 0.0) for text in texts] for _ in queries], dtype=np.float32)


async def test_the_best_single_keyword_counts(films: SparqlGraph) -> None:
    """Where a relation is more like one of them than like all together; not with the paper's scoring."""
    similarity = Worded({"directed by": 0.6, "starring": 0.2}, {"starring": 0.9})
    explored = ExploredGraph(films)
    order = {}
    for scoring in ("keywords", "lookahead"):
        search = SearchSettings(scoring=scoring)
        paths = [PartialPath(KONG)]
        nodes = frontier(paths, search.frontier, explored)
        await explored.fetch(node for row in nodes for node in row)
        context = RetrievalContext(explored, similarity, lambda _: "all", search, "?", ("actor", "cast"))  # type: ignore[arg-type]  # Exact is one
        order[scoring] = names(await rank(context, paths, nodes, 5, lookahead=False))[0]
    assert order == {"keywords": ">starring", "lookahead": ">directed by"}


async def test_tails_of_a_long_group_stand_in_the_order_in_which_they_match(
    make_graph: Callable[..., SparqlGraph],
) -> None:
    """The best first; a group that is shown whole stays in the graph's order, and so does the paper's page."""
    graph = make_graph(":kong r:starring :actor1, :actor2, :actor3 .", name="cast")
    ends = {}
    for key, tails, scoring in (("long", 2, "keywords"), ("whole", 3, "keywords"), ("paper", 2, "lookahead")):
        ranking = await ranked(graph, Exact({"actor3": 0.9}), PartialPath(KONG), limit=2, tails=tails, scoring=scoring)
        ends[key] = [tail.text[-2] for tail in ranking.candidates[0].tails]
    assert ends == {"long": ["3", "1", "2"], "whole": ["1", "2", "3"], "paper": ["1", "2", "3"]}


def test_a_date_is_offered_once() -> None:
    """Of the same date of one node; two nodes may well have the same."""
    born = Iri("http://x/born")
    dates = [Literal("1994-12-17", "http://www.w3.org/2001/XMLSchema#date"), Literal("17 December 1994")]
    edges = tuple(Edge(Iri(f"http://x/{who}"), born, date, "out", "e") for who in "ab" for date in dates)
    once = dated_once(Step(0, edges[0].walked, (*edges[:2], edges[3])))
    assert once.edges == (edges[0], edges[3])
    assert dated_once(once) is once


def test_the_paper_s_call_plan_has_the_paper_s_scoring() -> None:
    """Unless another one is set."""
    assert SearchSettings().path_rag == "keywords"
    assert SearchSettings(call_plan="paper").path_rag == "lookahead"
    assert SearchSettings(scoring="path").path_rag == "path"
