"""The candidates for the next step: groups and pairs, and what leads back."""

from collections.abc import Callable

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Iri
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import IDLE, ExploredGraph
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.candidates import expand
from tests.support.ranking import KONG, Exact, names, rank, ranked


async def test_groups_hold_all_tails_of_a_relation_and_direction(films: SparqlGraph) -> None:
    """One candidate per relation and direction, with every tail."""
    ranking = await ranked(films, Exact({}), PartialPath(KONG))
    assert sorted(names(ranking)) == [">directed by", ">release year", ">starring"]
    starring = next(c for c in ranking.candidates if "starring" in c.relation.relation.value)
    assert [ranking.labels[tail] for tail in starring.tails] == ["Jack Black", "Naomi Watts"]


async def test_pairs_hold_one_edge_each(films: SparqlGraph) -> None:
    """In the papers' form a candidate is one (relation, entity) pair."""
    ranking = await ranked(films, Exact({}), PartialPath(KONG), form="pairs")
    assert len(ranking.candidates) == 4
    assert all(len(candidate.edges) == 1 for candidate in ranking.candidates)


async def test_steps_never_lead_back(films: SparqlGraph) -> None:
    """From a film over its director to the director's films: the film itself is not among them."""
    first = (await ranked(films, Exact({"directed by": 1.0}), PartialPath(KONG))).candidates[0]
    ranking = await ranked(films, Exact({}), PartialPath(KONG).extend(first))
    back = next(c for c in ranking.candidates if c.relation == first.relation.inverse)
    assert [tail.text for tail in back.tails] == ["<http://x/rings>"]


async def test_what_leads_back_is_a_step_of_its_own(make_graph: Callable[..., SparqlGraph]) -> None:
    """Of the parents of Ann's child one is another and one is Ann: whoever asks may mean either."""
    facts = ":ann r:child :kim . :kim r:parent :ann, :bob . :bob r:child :kim ."
    ann, graph = Iri("http://x/ann"), make_graph(facts, name="family")
    child = next(
        c for c in (await ranked(graph, Exact({}), PartialPath(ann))).candidates if c.relation.direction == "out"
    )
    candidates = (await ranked(graph, Exact({}), PartialPath(ann).extend(child))).candidates
    tails = [[tail.text for tail in c.tails] for c in candidates if c.relation.relation == Iri("http://x/r/parent")]
    assert tails == [["<http://x/bob>"], ["<http://x/ann>"]]


async def test_what_leads_back_comes_last(make_graph: Callable[..., SparqlGraph]) -> None:
    """However well it sounds: what leads on is meant more often, and a page of offers has ten places."""
    facts = ":ann r:child :kim . :kim r:parent :ann, :bob . :kim r:job :smith ."
    graph, ann = make_graph(facts, name="family"), Iri("http://x/ann")
    child = next(
        c for c in (await ranked(graph, Exact({}), PartialPath(ann))).candidates if c.relation.direction == "out"
    )
    candidates = (await ranked(graph, Exact({"parent": 1.0, "ann": 1.0}), PartialPath(ann).extend(child))).candidates
    assert [tail.text for c in candidates for tail in c.tails] == [
        "<http://x/bob>",
        "<http://x/smith>",
        "<http://x/ann>",
    ]


async def test_a_circle_ends(make_graph: Callable[..., SparqlGraph]) -> None:
    """Two that know each other: after as many steps as may lead to nothing new there is no candidate left."""
    graph, beam = make_graph(":kong r:knows :bee . :bee r:knows :kong .", name="pair"), PartialPath(KONG)
    for _ in range(1 + IDLE):
        [step] = (await ranked(graph, Exact({}), beam)).candidates
        beam = beam.extend(step)
    assert (await ranked(graph, Exact({}), beam)).candidates == ()


async def test_the_best_over_all_beams_are_kept(films: SparqlGraph) -> None:
    """Steps of several beams compete for the same places; each knows its beam."""
    walsh = Iri("http://x/walsh")
    ranking = await ranked(films, Exact({"spouse": 0.9}), PartialPath(KONG), PartialPath(walsh), limit=2)
    assert [candidate.path_index for candidate in ranking.candidates] == [1, 0, 0, 0]
    assert ranking.complete


async def test_an_incoming_group_that_says_nothing_new_is_left_out(films: SparqlGraph) -> None:
    """Both say that they are spouses: one candidate is enough."""
    ranking = await ranked(films, Exact({}), PartialPath(Iri("http://x/walsh")))
    assert names(ranking) == [">spouse"]


async def test_the_form_may_be_asked_for(films: SparqlGraph) -> None:
    """A method of triples gets pairs, whatever the settings say."""
    around = ExploredGraph(films)
    await around.fetch([KONG])
    context = RetrievalContext(around, Exact({}), lambda _names: "", SearchSettings(form="groups"))
    ranking = await rank(context, [PartialPath(KONG)], [[KONG]], None, lookahead=False, form="pairs")
    assert [len(candidate.edges) for candidate in ranking.candidates] == [1] * 4


async def test_unknown_surroundings_have_no_steps(make_graph: Callable[..., SparqlGraph]) -> None:
    """What was not fetched is not walked: no edge comes from anywhere but an endpoint."""
    around = ExploredGraph(make_graph(":a r:to :b ."))
    steps: list[Step] = expand(around, "groups", 0, PartialPath(Iri("http://x/a")), [Iri("http://x/a")])
    assert steps == []
