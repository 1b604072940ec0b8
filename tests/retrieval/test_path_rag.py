"""Path-RAG on a small real graph: scores, lookahead and the variants of the papers."""

from collections.abc import Callable, Mapping

import pytest

from fedkg.config.settings import SearchSettings
from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Term, relation_name
from fedkg.embed.lazy import LazySimilarity
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph, frontier
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.path_rag import EXAMPLES
from tests.support.ranking import JACKSON, KONG, Exact, names, rank, ranked


async def test_a_pair_scores_relation_plus_entity(films: SparqlGraph) -> None:
    """S0((r, e)) = cos(K, r) + cos(K, e)."""
    worth = {"starring": 0.5, "Naomi Watts": 0.3, "Jack Black": 0.1}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG), form="pairs")
    assert ranking.candidates[0].score == pytest.approx(0.8)
    assert ranking.candidates[1].score == pytest.approx(0.6)


async def test_a_group_scores_relation_plus_its_best_tail(films: SparqlGraph) -> None:
    """A group's entity term is that of the best of its examples."""
    worth = {"starring": 0.5, "Naomi Watts": 0.3, "Jack Black": 0.1, "directed by": 0.7}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG))
    assert names(ranking)[:2] == [">starring", ">directed by"]
    assert [candidate.score for candidate in ranking.candidates[:2]] == pytest.approx([0.8, 0.7])


async def test_a_group_is_told_by_two_of_its_tails(make_graph: Callable[..., SparqlGraph]) -> None:
    """The others are shown, but nobody embeds their labels; a pair is told by its own."""
    cast = ", ".join(f":actor{number}" for number in range(6))
    graph = make_graph(f":kong r:starring {cast} .", name="cast")
    groups, pairs = Exact({}), Exact({})
    ranking = await ranked(graph, groups, PartialPath(KONG))
    assert [len(candidate.tails) for candidate in ranking.candidates] == [6]
    assert sum(text.startswith("actor") for text in groups.asked) == EXAMPLES
    await ranked(graph, pairs, PartialPath(KONG), form="pairs")
    assert sum(text.startswith("actor") for text in pairs.asked) == 6


async def test_one_shown_tail_is_all_that_tells(films: SparqlGraph) -> None:
    """What a candidate does not show does not rank it."""
    similarity = Exact({"Naomi Watts": 0.9})
    ranking = await ranked(films, similarity, PartialPath(KONG), tails=1)
    assert "Naomi Watts" not in similarity.asked
    assert {candidate.score for candidate in ranking.candidates} == {0.0}


async def test_lookahead_adds_alpha_times_the_best_next_edge(films: SparqlGraph) -> None:
    """S = S0 + alpha * max S0 one hop on, both terms of the maximum from one real edge (Eq. 2)."""
    worth = {"directed by": 0.35, "release year": 0.52, "starring": 0.1, "place of birth": 0.2, "Fran Walsh": 0.4}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG), form="pairs", limit=2, ahead=True, alpha=0.5)
    # the best edge after Peter Jackson is (spouse 0.0, Fran Walsh 0.4), not birth 0.2 plus Walsh 0.4
    assert names(ranking)[0] == ">directed by"
    assert ranking.candidates[0].score == pytest.approx(0.35 + 0.5 * 0.4)


async def test_the_exact_lookahead_sees_all_candidates_and_the_edge_straight_back(films: SparqlGraph) -> None:
    """S of Eq. 2 to the letter: where all candidates are offered too, at the last hop too, King Kong in N(Jackson)."""
    worth = {"directed by": 0.35, "release year": 0.52, "starring": 0.1, "King Kong": 0.3}
    settings = {"form": "pairs", "limit": 50, "alpha": 0.5, "lookahead": "exact"}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG), **settings)  # type: ignore[arg-type]  # mixed
    scores = {names(ranking)[n]: candidate.score for n, candidate in enumerate(ranking.candidates)}
    # the best edge of Peter Jackson leads back to King Kong over the relation that was walked
    assert scores[">directed by"] == pytest.approx(0.35 + 0.5 * (0.35 + 0.3))
    assert scores[">release year"] == pytest.approx(0.52), "a value leads nowhere"


async def test_the_exact_lookahead_goes_beyond_every_end_of_a_group(films: SparqlGraph) -> None:
    """Relation and entity of an edge one hop on both count, whatever the frontier is."""
    worth = {"directed by": 0.35, "place of birth": 0.4, "Fran Walsh": 0.9, "release year": 0.52}
    settings = {"limit": 1, "ahead": True, "alpha": 0.5, "lookahead": "exact", "frontier": 1}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG), **settings)  # type: ignore[arg-type]  # mixed
    assert ranking.candidates[0].score == pytest.approx(0.35 + 0.5 * 0.9)


async def test_a_group_leads_on_by_its_next_relations(films: SparqlGraph) -> None:
    """S = S0 + alpha * the best next relation: the labels beyond it are thousands, and nobody embeds them."""
    worth = {"directed by": 0.35, "release year": 0.52, "starring": 0.1, "place of birth": 0.4, "Fran Walsh": 0.9}
    similarity = Exact(worth)
    ranking = await ranked(films, similarity, PartialPath(KONG), limit=2, ahead=True, alpha=0.5)
    assert names(ranking)[0] == ">directed by"
    assert ranking.candidates[0].score == pytest.approx(0.35 + 0.5 * 0.4)
    assert "Fran Walsh" not in similarity.asked


async def test_without_alpha_nothing_is_fetched_ahead(films: SparqlGraph, meter: Meter) -> None:
    """Alpha = 0 is the ablation "no lookahead", and costs no request."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=1, ahead=True, alpha=0.0)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_lookahead_is_prefetch(films: SparqlGraph, meter: Meter) -> None:
    """The next hop asks nothing more for the tails that the lookahead has fetched."""
    around, search = ExploredGraph(films), SearchSettings()
    context = RetrievalContext(around, Exact({"directed by": 1.0}), lambda _names: "", search)
    await around.fetch([KONG])
    best = (await rank(context, [PartialPath(KONG)], [[KONG]], 1, lookahead=True)).candidates[0]
    before = meter.usage().by_kind["neighbours"]
    beam = PartialPath(KONG).extend(best)
    nodes = frontier([beam], search.frontier, around)
    await around.fetch(nodes[0])
    assert nodes == [[JACKSON]]
    assert meter.usage().by_kind["neighbours"] == before == 4


async def test_a_next_hop_that_fits_one_batch_is_fetched_beside_the_labels(films: SparqlGraph, meter: Meter) -> None:
    """Whoever is chosen, its edges are there then: two requests that the next step would have waited for."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=10, ahead=True)
    assert meter.usage().by_kind["neighbours"] == 4


async def test_where_all_candidates_are_offered_a_larger_next_hop_is_not_fetched(
    films: SparqlGraph, meter: Meter
) -> None:
    """The lookahead decides who enters the top n; where all enter there is nothing to decide."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=10, ahead=True, frontier=2)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_the_last_hop_fetches_nothing_ahead(films: SparqlGraph, meter: Meter) -> None:
    """There is no next step that would ask for it."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=10, ahead=False)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_the_topics_labels_come_with_the_first_batch(films: SparqlGraph, meter: Meter) -> None:
    """K is made when they are known; relations, topics and tails cost one request together."""
    seen: set[str] = set()

    def query(known: Mapping[Term, str]) -> str:
        seen.add(known[KONG])
        return ""

    around = ExploredGraph(films)
    await around.fetch([KONG])
    context = RetrievalContext(around, Exact({}), query, SearchSettings())
    await rank(context, [PartialPath(KONG)], [[KONG]], 5, lookahead=False)
    assert seen == {"King Kong"}
    assert meter.usage().by_kind["labels"] == 1


async def test_it_ranks_by_shared_words_with_a_real_similarity(films: SparqlGraph, hashing: LazySimilarity) -> None:
    """A whole run with an embedder that needs no weights."""
    around = ExploredGraph(films)
    await around.fetch([KONG])
    context = RetrievalContext(around, hashing, lambda _names: "release year", SearchSettings())
    assert names(await rank(context, [PartialPath(KONG)], [[KONG]], 1, lookahead=False))[0] == ">release year"
    assert hashing.embedded > 0


def second(films: SparqlGraph) -> tuple[ExploredGraph, PartialPath]:
    """The first step from King Kong to its director, who is worth 0.5 and the relation 0.25."""
    relation = DirectedRelation(Iri("http://x/r/directed_by"), "out")
    edge = Edge(KONG, relation.relation, JACKSON, "out", "films")
    return ExploredGraph(films), PartialPath(KONG).extend(Step(0, relation, (edge,), 9.0))


async def test_variant_1_adds_what_the_steps_before_were_worth(films: SparqlGraph) -> None:
    """S0 of each earlier step, whatever its score was, times beta (first version, Eq. 8), to all steps of its path."""
    around, beam = second(films)
    await around.fetch([KONG, JACKSON])
    exact = Exact({"directed by": 0.25, "Peter Jackson": 0.5, "spouse": 0.1, "release year": 0.3})
    scores = {}
    for scoring, beta in (("lookahead", 2.0), ("path", 2.0), ("path", 0.0)):
        search = SearchSettings(scoring=scoring, beta=beta)  # type: ignore[arg-type]  # one of both
        context = RetrievalContext(around, exact, lambda _names: "", search)
        ranking = await rank(context, [beam, PartialPath(KONG)], [[JACKSON], [KONG]], None, lookahead=False)
        scores[scoring, beta] = {
            (c.path_index, relation_name(c.relation, ranking.labels)): c.score for c in ranking.candidates
        }
    assert scores["path", 0.0] == scores["lookahead", 2.0]
    assert scores["path", 2.0][0, "spouse"] == pytest.approx(0.1 + 2.0 * 0.75)
    assert scores["path", 2.0][1, "release year"] == pytest.approx(0.3), "the first step has none before it"


async def test_variant_2_sums_the_next_hop_and_tells_paths_apart(films: SparqlGraph) -> None:
    """The sum where Eq. 2 has the maximum (first version, Eq. 9); the first one is as different as can be."""
    worth = {"directed by": 0.35, "release year": 0.52, "starring": 0.1, "place of birth": 0.2, "Fran Walsh": 0.4}
    settings = {"limit": 2, "ahead": True, "alpha": 0.5, "lambda1": 0.5, "lambda2": 0.25, "frontier": 50}
    ranking = await ranked(films, Exact(worth), PartialPath(KONG), scoring="diverse", **settings)  # type: ignore[arg-type]  # mixed
    assert names(ranking)[0] == ">directed by"
    # one hop on are his birthplace, his wife, and his other film over the same relation
    assert ranking.candidates[0].score == pytest.approx(0.5 * (0.35 + 0.5 * (0.2 + 0.35)) + 0.25)


@pytest.mark.parametrize("scoring", ["path", "diverse"])
@pytest.mark.parametrize("retriever", ["vanilla", "kaping", "tog"])
async def test_variants_are_of_path_rag_only(films: SparqlGraph, retriever: str, scoring: str) -> None:
    """Other retrievers rank as they do."""
    plain, varied = [
        await ranked(films, Exact({"starring": 0.5}), PartialPath(KONG), limit=1, retriever=retriever, scoring=variant)
        for variant in ("lookahead", scoring)
    ]
    assert plain == varied
