"""Path-RAG on a small real graph, with a similarity in which shared words count."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.surroundings import Surroundings, frontier
from fedkg.meter import Meter
from fedkg.records import Beam, Candidate
from fedkg.settings import Search
from fedkg.steps.rank import PathRag, Ranking, expand
from fedkg.terms import DirectedRelation, Iri, Term, relation_name, relation_text

KONG, JACKSON = Iri("http://x/kong"), Iri("http://x/jackson")


class Exact:
    """A similarity that is told what each text is worth."""

    name = "exact"
    embedded = 0
    unrelated = 0.0
    weak = 0.0

    def __init__(self, worth: dict[str, float]) -> None:
        self.worth = worth
        self.asked: list[str] = []

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The worth of each text, 0 where nothing was told."""
        self.asked += texts
        return np.array([self.worth.get(text, 0.0) for text in texts], dtype=np.float32)


async def ranked(
    graph: SparqlGraph,
    similarity: object,
    *beams: Beam,
    limit: int | None = None,
    ahead: bool = False,
    **settings: object,
) -> Ranking:
    """The ranking of the next steps of some beams."""
    around, search = Surroundings(graph), Search(**settings)  # type: ignore[arg-type]  # keyword by keyword
    nodes = frontier(beams, search.frontier, around)
    await around.fetch(node for own in nodes for node in own)
    rag = PathRag(around, similarity, lambda _names: "who is the director", search)  # type: ignore[arg-type]  # Exact is one
    return await rag.rank(beams, nodes, limit, lookahead=ahead)


def names(ranking: Ranking) -> list[str]:
    """The relations offered, in order, with an arrow for the direction."""
    arrow = {"out": ">", "in": "<"}
    return [arrow[c.relation.direction] + relation_name(c.relation, ranking.labels) for c in ranking.candidates]


async def test_groups_hold_all_tails_of_a_relation_and_direction(films: SparqlGraph) -> None:
    """One candidate per relation and direction, with every tail."""
    ranking = await ranked(films, Exact({}), Beam(KONG))
    assert sorted(names(ranking)) == [">directed by", ">release year", ">starring"]
    starring = next(c for c in ranking.candidates if "starring" in c.relation.relation.value)
    assert [ranking.labels[tail] for tail in starring.tails] == ["Jack Black", "Naomi Watts"]


async def test_pairs_hold_one_edge_each(films: SparqlGraph) -> None:
    """In the papers' form a candidate is one (relation, entity) pair."""
    ranking = await ranked(films, Exact({}), Beam(KONG), form="pairs")
    assert len(ranking.candidates) == 4
    assert all(len(candidate.edges) == 1 for candidate in ranking.candidates)


async def test_a_pair_scores_relation_plus_entity(films: SparqlGraph) -> None:
    """S0((r, e)) = cos(K, r) + cos(K, e)."""
    worth = {"starring": 0.5, "Naomi Watts": 0.3, "Jack Black": 0.1}
    ranking = await ranked(films, Exact(worth), Beam(KONG), form="pairs")
    assert ranking.candidates[0].score == pytest.approx(0.8)
    assert ranking.candidates[1].score == pytest.approx(0.6)


async def test_a_group_scores_relation_plus_its_best_tail(films: SparqlGraph) -> None:
    """A group's entity term is that of its best shown tail."""
    worth = {"starring": 0.5, "Naomi Watts": 0.3, "Jack Black": 0.1, "directed by": 0.7}
    ranking = await ranked(films, Exact(worth), Beam(KONG))
    assert names(ranking)[:2] == [">starring", ">directed by"]
    assert [candidate.score for candidate in ranking.candidates[:2]] == pytest.approx([0.8, 0.7])


async def test_lookahead_adds_alpha_times_the_best_next_edge(films: SparqlGraph) -> None:
    """S = S0 + alpha * max S0 one hop on, both terms of the maximum from one real edge (Eq. 2)."""
    worth = {"directed by": 0.35, "release year": 0.52, "starring": 0.1, "place of birth": 0.2, "Fran Walsh": 0.4}
    ranking = await ranked(films, Exact(worth), Beam(KONG), limit=2, ahead=True, alpha=0.5)
    # the best edge after Peter Jackson is (spouse 0.0, Fran Walsh 0.4), not birth 0.2 plus Walsh 0.4
    assert names(ranking)[0] == ">directed by"
    assert ranking.candidates[0].score == pytest.approx(0.35 + 0.5 * 0.4)


async def test_without_alpha_nothing_is_fetched_ahead(films: SparqlGraph, meter: Meter) -> None:
    """Alpha = 0 is the ablation "no lookahead", and costs no request."""
    await ranked(films, Exact({}), Beam(KONG), limit=1, ahead=True, alpha=0.0)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_lookahead_is_prefetch(films: SparqlGraph, meter: Meter) -> None:
    """The next hop asks nothing more for the tails that the lookahead has fetched."""
    around, search = Surroundings(films), Search()
    rag = PathRag(around, Exact({"directed by": 1.0}), lambda _names: "", search)
    await around.fetch([KONG])
    best = (await rag.rank([Beam(KONG)], [[KONG]], 1, lookahead=True)).candidates[0]
    before = meter.usage().by_kind["neighbours"]
    beam = Beam(KONG).extend(best)
    nodes = frontier([beam], search.frontier, around)
    await around.fetch(nodes[0])
    assert nodes == [[JACKSON]]
    assert meter.usage().by_kind["neighbours"] == before == 4


async def test_a_next_hop_that_fits_one_batch_is_fetched_beside_the_labels(films: SparqlGraph, meter: Meter) -> None:
    """Whoever is chosen, its edges are there then: two requests that the next step would have waited for."""
    await ranked(films, Exact({}), Beam(KONG), limit=10, ahead=True)
    assert meter.usage().by_kind["neighbours"] == 4


async def test_where_all_candidates_are_offered_a_larger_next_hop_is_not_fetched(
    films: SparqlGraph, meter: Meter
) -> None:
    """The lookahead decides who enters the top n; where all enter there is nothing to decide."""
    await ranked(films, Exact({}), Beam(KONG), limit=10, ahead=True, frontier=2)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_the_last_hop_fetches_nothing_ahead(films: SparqlGraph, meter: Meter) -> None:
    """There is no next step that would ask for it."""
    await ranked(films, Exact({}), Beam(KONG), limit=10, ahead=False)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_steps_never_lead_back(films: SparqlGraph) -> None:
    """From a film over its director to the director's films: the film itself is not among them."""
    first = (await ranked(films, Exact({"directed by": 1.0}), Beam(KONG))).candidates[0]
    ranking = await ranked(films, Exact({}), Beam(KONG).extend(first))
    back = next(c for c in ranking.candidates if c.relation == first.relation.inverse)
    assert [tail.text for tail in back.tails] == ["<http://x/rings>"]


async def test_the_best_over_all_beams_are_kept(films: SparqlGraph) -> None:
    """Candidates of several beams compete for the same places; each knows its beam."""
    walsh = Iri("http://x/walsh")
    ranking = await ranked(films, Exact({"spouse": 0.9}), Beam(KONG), Beam(walsh), limit=2)
    assert [candidate.beam for candidate in ranking.candidates] == [1, 0, 0, 0]
    assert ranking.complete


async def test_an_incoming_group_that_says_nothing_new_is_left_out(films: SparqlGraph) -> None:
    """Both say that they are spouses: one candidate is enough."""
    ranking = await ranked(films, Exact({}), Beam(Iri("http://x/walsh")))
    assert names(ranking) == [">spouse"]


async def test_the_topics_labels_come_with_the_first_batch(films: SparqlGraph, meter: Meter) -> None:
    """K is made when they are known; relations, topics and tails cost one request together."""
    seen: set[str] = set()

    def query(known: Mapping[Term, str]) -> str:
        seen.add(known[KONG])
        return ""

    around = Surroundings(films)
    await around.fetch([KONG])
    rag = PathRag(around, Exact({}), query, Search())
    await rag.rank([Beam(KONG)], [[KONG]], 5, lookahead=False)
    assert seen == {"King Kong"}
    assert meter.usage().by_kind["labels"] == 1


async def test_each_distinct_text_is_scored_once(films: SparqlGraph) -> None:
    """A relation that several beams offer is not embedded again."""
    exact = Exact({})
    await ranked(films, exact, Beam(KONG), Beam(Iri("http://x/rings")), limit=None)
    assert len(exact.asked) == len(set(exact.asked))


async def test_it_ranks_by_shared_words_with_a_real_similarity(films: SparqlGraph, hashing: LazySimilarity) -> None:
    """A whole run with an embedder that needs no weights."""
    around = Surroundings(films)
    await around.fetch([KONG])
    rag = PathRag(around, hashing, lambda _names: "release year", Search())
    assert names(await rag.rank([Beam(KONG)], [[KONG]], 1, lookahead=False))[0] == ">release year"
    assert hashing.embedded > 0


def test_freebase_relations_are_ranked_by_their_whole_name() -> None:
    """Where the label only repeats the end of the IRI, domain and type count too; Wikidata's labels stay."""
    born, wikidata = Iri("http://rdf.freebase.com/ns/people.person.place_of_birth"), Iri("http://w/P19")
    labels: dict[Term, str] = {born: "place of birth", wikidata: "place of birth"}
    assert relation_text(DirectedRelation(born, "out"), labels) == "people person place of birth"
    assert relation_text(DirectedRelation(wikidata, "out"), labels) == "place of birth"


def test_a_collapsed_relation_is_named_by_both_legs() -> None:
    """A mediator's two predicates make one name; without labels, the local names do."""
    relation = DirectedRelation(Iri("http://x/spouse_s"), "out", Iri("http://x/from"))
    assert relation_name(relation, {}) == "spouse s from"


async def test_unknown_surroundings_have_no_steps(make_graph: Callable[..., SparqlGraph]) -> None:
    """What was not fetched is not walked: no edge comes from anywhere but an endpoint."""
    around = Surroundings(make_graph(":a r:to :b ."))
    found: list[Candidate] = expand(around, "groups", 0, Beam(Iri("http://x/a")), [Iri("http://x/a")])
    assert found == []
