"""From beams to the answers and paths of a document."""

from collections.abc import Callable, Sequence
from typing import Literal

import pytest

from fedkg.core import terms
from fedkg.core.answer import Answer, AnswerValue, Path, Status
from fedkg.core.choice import Conclusion
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Kind, Plan
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.engine import assembly
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph

KONG = Iri("http://x/kong")


async def compose(
    graph: SparqlGraph,
    kind: Kind,
    chosen: Sequence[tuple[PartialPath, Sequence[int]]],
    verdict: Literal["yes", "no", ""] = "",
    option: int = 0,
) -> tuple[tuple[AnswerValue, ...], tuple[Path, ...]]:
    """The answers and paths with the graph's own labels; a choice is between two actors."""
    ends, plan = assembly.ends(chosen), Plan((), kind=kind, options=("Jack Black", "Naomi Watts"))
    conclusion = Conclusion(verdict=verdict, option=option)
    return assembly.compose(plan, ends, conclusion, await graph.labels(assembly.terms(ends)))


async def group(graph: SparqlGraph, start: Iri, relation: str) -> Step:
    """The step of that relation as the graph says it."""
    explored = ExploredGraph(graph)
    await explored.fetch([start])
    walked = DirectedRelation(Iri(f"http://x/r/{relation}"), "out")
    return Step(0, walked, tuple(explored.along(start, walked)), 0.7)


async def test_every_answer_has_a_path_with_labels(films: SparqlGraph) -> None:
    """Each tail is an assembly, grounded by the path that leads to it; edges carry labels, endpoint and time."""
    path = PartialPath(KONG).extend(await group(films, KONG, "starring"))
    answers, paths = await compose(films, "entities", [(path, ())])
    assert [(value.value, value.iri, value.grounded, value.paths) for value in answers] == [
        ("Jack Black", "http://x/black", True, (0,)),
        ("Naomi Watts", "http://x/watts", True, (1,)),
    ]
    edge = paths[0].edges[0]
    assert edge.labels == {
        "<http://x/kong>": "King Kong",
        "<http://x/r/starring>": "starring",
        "<http://x/black>": "Jack Black",
    }
    assert (edge.endpoint, edge.retrieved_at[:2]) == ("films", "20")


async def test_the_model_may_choose_among_the_tails(films: SparqlGraph) -> None:
    """Tail numbers count from 1 in the order shown."""
    path = PartialPath(KONG).extend(await group(films, KONG, "starring"))
    answers, _ = await compose(films, "entities", [(path, (2,))])
    assert [value.value for value in answers] == ["Naomi Watts"]


async def test_a_literal_answer_has_no_iri(films: SparqlGraph) -> None:
    """A literal is grounded like a node."""
    path = PartialPath(KONG).extend(await group(films, KONG, "year"))
    (value,), _ = await compose(films, "literal", [(path, ())])
    assert (value.value, value.iri, value.grounded) == ("2005", None, True)
    assert isinstance(value.term, terms.Literal)


@pytest.mark.parametrize(("relation", "expected"), [("starring", "2"), ("year", "2005")])
async def test_counting_counts_nodes_unless_the_graph_says_the_number(
    films: SparqlGraph, relation: str, expected: str
) -> None:
    """Nodes are counted here; a number that the graph says itself, such as of inhabitants, is taken as it is."""
    path = PartialPath(KONG).extend(await group(films, KONG, relation))
    (value,), paths = await compose(films, "count", [(path, ())])
    assert value.value == expected
    assert value.paths == tuple(range(len(paths)))


@pytest.mark.parametrize("kind", ["yesno", "claim"])
async def test_a_verdict_stands_on_its_paths(films: SparqlGraph, kind: Kind) -> None:
    """Yes and no are the model's judgement on the paths that it named, not a node on them; no verdict is no answer."""
    path = PartialPath(KONG).extend(await group(films, KONG, "directed_by"))
    (value,), paths = await compose(films, kind, [(path, ())], "yes")
    assert (value.value, value.grounded, value.paths, len(paths)) == ("yes", False, (0,), 1)
    assert (await compose(films, kind, [(path, ())], ""))[0] == ()
    assert (await compose(films, kind, [], "no"))[0] == ()


async def test_an_option_stands_on_its_paths(films: SparqlGraph) -> None:
    """The answer is the option's text with its number, judged and not grounded; no option is no answer."""
    path = PartialPath(KONG).extend(await group(films, KONG, "starring"))
    (value,), paths = await compose(films, "choice", [(path, ())], option=2)
    assert value == AnswerValue("Naomi Watts", label="2", paths=(0, 1))
    options = ("Jack Black", "Naomi Watts")
    assert Answer("who?", "choice", Status.ANSWERED, (value,), paths, options=options).unproven() == ()
    assert (await compose(films, "choice", [(path, ())]))[0] == ()
    assert (await compose(films, "choice", [], option=1))[0] == ()


async def test_the_same_answer_over_two_paths_is_one_answer(films: SparqlGraph) -> None:
    """Two chains that lead to one node give one answer with two paths; one that was chosen twice is one."""
    path = PartialPath(KONG).extend(await group(films, KONG, "directed_by"))
    rings = Iri("http://x/rings")
    other = PartialPath(rings).extend(await group(films, rings, "directed_by"))
    answers, paths = await compose(films, "entities", [(path, ()), (other, ()), (path, ())])
    assert [value.paths for value in answers] == [(0, 1)]
    assert len(paths) == 2


def edge_of(subject: str, target: str, endpoint: str, relation: str = "to") -> Edge:
    """What one of two endpoints says."""
    ends = Iri(f"http://{subject}"), Iri(f"http://{target}")
    return Edge(ends[0], Iri(f"http://r/{relation}"), ends[1], "out", endpoint)


def test_copies_are_one_answer() -> None:
    """In any order the shortest IRI is the answer; the walk to the copy goes on over the link; none counts twice."""
    edges = (edge_of("x/a", "y/longer", "two"), edge_of("x/a", "x/b", "one"), edge_of("x/a", "x/c", "one"))
    chosen = [(PartialPath(Iri("http://x/a")).extend(Step(0, edges[0].walked, edges)), ())]
    assert set(assembly.doubtful(chosen)) == {edge.end for edge in edges}
    link = edge_of("y/longer", "x/b", "two", "same")
    proven = assembly.ends(chosen, [link])
    assert [(end.tail.text, end.walk) for end in proven.shown] == [
        ("<http://x/b>", (edges[0], link)),
        ("<http://x/b>", (edges[1],)),
        ("<http://x/c>", (edges[2],)),
    ]
    (count,), paths = assembly.compose(Plan((), kind="count"), proven, Conclusion(), {})
    assert (count.value, count.paths) == ("2", (0, 1, 2))
    document = Answer("how many?", "count", Status.ANSWERED, (count,), paths)
    assert document.unproven() == ()


def test_chains_of_copies_are_not_closed() -> None:
    """Of three in a row the ends are two answers: nobody said that they are one."""
    edges = [edge_of("x/a", f"y/{name}", "one") for name in ("b", "c", "d")]
    links = [
        edge_of("y/b", "y/c", "two"),
        edge_of("y/c", "y/b", "two"),
        edge_of("y/c", "y/d", "two"),
        edge_of("y/d", "y/c", "two"),
    ]
    proven = assembly.ends([(PartialPath(Iri("http://x/a")).extend(Step(0, edges[0].walked, tuple(edges))), ())], links)
    assert {end.tail.text for end in proven.shown} == {"<http://y/b>", "<http://y/d>"}
    assert proven.total == 2


def test_one_endpoint_calls_a_thing_by_one_name() -> None:
    """What one endpoint alone has said is not asked about."""
    edges = tuple(edge_of("x/a", name, "one") for name in ("x/b", "y/b"))
    assert assembly.doubtful([(PartialPath(Iri("http://x/a")).extend(Step(0, edges[0].walked, edges)), ())]) == []


async def test_several_numbers_are_values_and_not_counted(make_graph: Callable[..., SparqlGraph]) -> None:
    """Two censuses of one town are two answers to how many live there, not the number two."""
    graph = make_graph(":town r:population 5000, 6000, 1.5e3 .")
    town = Iri("http://x/town")
    answers, _ = await compose(graph, "count", [(PartialPath(town).extend(await group(graph, town, "population")), ())])
    assert sorted(value.value for value in answers) == ["1500", "5000", "6000"]


async def test_a_tail_without_a_walk_is_no_answer(make_graph: Callable[..., SparqlGraph]) -> None:
    """Fail closed: steps that do not connect prove nothing."""
    graph = make_graph(":a r:to :b .")
    stray = Edge(Iri("http://x/elsewhere"), Iri("http://x/r/to"), Iri("http://x/b"), "out", "test")
    path = PartialPath(Iri("http://x/a"), (Step(0, stray.walked, (stray,)),))
    assert await compose(graph, "entities", [(path, ())], "") == ((), ())


async def test_literals_are_shown_readable_and_kept_as_they_are(make_graph: Callable[..., SparqlGraph]) -> None:
    """The value is for people; the term is what the graph said, and what it can be asked for again."""
    wkt = "<http://www.opengis.net/ont/geosparql#wktLiteral>"
    graph = make_graph(f':kong r:p "-0043-03-15"^^xsd:date, "0044"^^xsd:gYear, "Point(13.38 52.51)"^^{wkt} .')
    values, _ = await compose(graph, "entities", [(PartialPath(KONG).extend(await group(graph, KONG, "p")), ())])
    assert {value.value for value in values} == {"15 March 44 BC", "44", "52.51 N, 13.38 E"}
    assert {value.term.value for value in values if isinstance(value.term, terms.Literal)} == {
        "-0043-03-15",
        "0044",
        "Point(13.38 52.51)",
    }
