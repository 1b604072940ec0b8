"""Path-RAG on a small real graph, with a similarity in which shared words count."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from fedkg.config.settings import Form, SearchSettings
from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal, Term, relation_name, relation_text
from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import IDLE, ExploredGraph, frontier
from fedkg.retrieval import registry
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import expand
from fedkg.retrieval.path_rag import EXAMPLES
from fedkg.retrieval.surroundings import MOST_RELATIONS, NEAR, relations_within, surroundings

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
        self.queries: set[str] = set()

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The worth of each text, 0 where nothing was told."""
        self.queries.add(query)
        self.asked += texts
        return np.array([self.worth.get(text, 0.0) for text in texts], dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """The same for every query."""
        return np.array([await self.scores(query, texts) for query in queries], dtype=np.float32)


async def ranked(
    graph: SparqlGraph,
    similarity: object,
    *paths: PartialPath,
    limit: int | None = None,
    ahead: bool = False,
    **settings: object,
) -> Ranking:
    """The ranking of the next steps of some paths."""
    explored, search = ExploredGraph(graph), SearchSettings(**settings)  # type: ignore[arg-type]  # keyword by keyword
    nodes = frontier(paths, search.frontier, explored)
    await explored.fetch(node for expanded in nodes for node in expanded)
    context = RetrievalContext(explored, similarity, lambda _names: "who is the director", search)  # type: ignore[arg-type]  # Exact is one
    return await rank(context, paths, nodes, limit, lookahead=ahead)


async def rank(
    context: RetrievalContext,
    paths: Sequence[PartialPath],
    nodes: Sequence[Sequence[Term]],
    limit: int | None,
    *,
    lookahead: bool,
    retriever: str | None = None,
    form: Form | None = None,
) -> Ranking:
    """The ranking by the retriever of that name and in that form, or those of the settings."""
    expanded = tuple(map(tuple, nodes))
    request = RankingRequest(tuple(paths), expanded, form or context.search.form, limit, lookahead)
    return await registry.find(retriever or context.search.retriever).rank(request, context)


def names(ranking: Ranking) -> list[str]:
    """The relations offered, in order, with an arrow for the direction."""
    arrow = {"out": ">", "in": "<"}
    return [arrow[c.relation.direction] + relation_name(c.relation, ranking.labels) for c in ranking.candidates]


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


async def test_each_distinct_text_is_scored_once(films: SparqlGraph) -> None:
    """A relation that several beams offer is not embedded again."""
    exact = Exact({})
    await ranked(films, exact, PartialPath(KONG), PartialPath(Iri("http://x/rings")), limit=None)
    assert len(exact.asked) == len(set(exact.asked))


async def test_it_ranks_by_shared_words_with_a_real_similarity(films: SparqlGraph, hashing: LazySimilarity) -> None:
    """A whole run with an embedder that needs no weights."""
    around = ExploredGraph(films)
    await around.fetch([KONG])
    context = RetrievalContext(around, hashing, lambda _names: "release year", SearchSettings())
    assert names(await rank(context, [PartialPath(KONG)], [[KONG]], 1, lookahead=False))[0] == ">release year"
    assert hashing.embedded > 0


@pytest.mark.parametrize(
    ("retriever", "worth", "texts"),
    [
        (
            "vanilla",
            {"directed by Peter Jackson": 0.9, "Peter Jackson": -1.0},
            {"directed by Peter Jackson", "starring Naomi Watts", "starring Jack Black", "release year 2005"},
        ),
        (
            "kaping",
            {"(King Kong, directed by, Peter Jackson)": 0.9, "directed by": -1.0},
            {
                "(King Kong, directed by, Peter Jackson)",
                "(King Kong, starring, Naomi Watts)",
                "(King Kong, starring, Jack Black)",
                "(King Kong, release year, 2005)",
            },
        ),
    ],
)
@pytest.mark.parametrize("named", ["setting", "argument"])
async def test_other_retrievers_rank_by_one_text(
    films: SparqlGraph, retriever: str, worth: dict[str, float], texts: set[str], named: str
) -> None:
    """Relation and entity, or the verbalised triple; the settings name the retriever, or whoever asks does."""
    exact = Exact(worth)
    around, search = (
        ExploredGraph(films),
        SearchSettings(form="pairs", retriever=retriever if named == "setting" else "path-rag"),
    )
    await around.fetch([KONG])
    context = RetrievalContext(
        around, exact, lambda _names: pytest.fail("K is not asked for"), search, "who directed it"
    )
    ranking = await rank(
        context, [PartialPath(KONG)], [[KONG]], 1, lookahead=True, retriever=None if named == "setting" else retriever
    )
    assert (set(exact.asked), exact.queries) == (texts, {"who directed it"})
    assert names(ranking)[0] == ">directed by"
    assert ranking.candidates[0].score == pytest.approx(0.9)


@pytest.mark.parametrize("retriever", ["vanilla", "kaping"])
async def test_other_retrievers_look_no_further(films: SparqlGraph, meter: Meter, retriever: str) -> None:
    """Nothing is fetched ahead, whatever alpha is."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=1, ahead=True, alpha=0.3, retriever=retriever)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_a_group_counts_as_its_best_text(films: SparqlGraph) -> None:
    """One good triple is enough, as one good tail is for Path-RAG."""
    exact = Exact({"(King Kong, starring, Naomi Watts)": 0.7, "(King Kong, release year, 2005)": 0.6})
    ranking = await ranked(films, exact, PartialPath(KONG), retriever="kaping")
    assert names(ranking)[:2] == [">starring", ">release year"]
    assert ranking.candidates[0].score == pytest.approx(0.7)


async def test_triples_are_verbalised_as_the_graph_says_them(films: SparqlGraph) -> None:
    """Subject first, whichever way they are walked; the label of a node on the way is there at the second hop, too."""
    around = ExploredGraph(films)
    await around.fetch([KONG, JACKSON])
    relation = DirectedRelation(Iri("http://x/r/directed_by"), "out")
    beam = PartialPath(KONG).extend(Step(0, relation, tuple(around.along(KONG, relation))))
    exact = Exact({})
    context = RetrievalContext(around, exact, lambda _names: "", SearchSettings(retriever="kaping"), "?")
    await rank(context, [beam], [[JACKSON]], None, lookahead=False)
    assert set(exact.asked) == {
        "(The Two Towers, directed by, Peter Jackson)",
        "(Peter Jackson, spouse, Fran Walsh)",
        "(Peter Jackson, place of birth, Pukerua Bay)",
    }


async def test_the_form_may_be_asked_for(films: SparqlGraph) -> None:
    """A method of triples gets pairs, whatever the settings say."""
    around = ExploredGraph(films)
    await around.fetch([KONG])
    context = RetrievalContext(around, Exact({}), lambda _names: "", SearchSettings(form="groups"))
    ranking = await rank(context, [PartialPath(KONG)], [[KONG]], None, lookahead=False, form="pairs")
    assert [len(candidate.edges) for candidate in ranking.candidates] == [1] * 4


async def relations(graph: SparqlGraph, depth: int, worth: dict[str, float], **search: int) -> list[str]:
    """The relations within some steps of King Kong, in order, with an arrow for the direction."""
    context = RetrievalContext(ExploredGraph(graph), Exact(worth), lambda _names: "", SearchSettings(**search))  # type: ignore[arg-type]  # ints
    directed = await relations_within([KONG], depth, context)
    return [{"out": ">", "in": "<"}[relation.direction] + relation.relation.local_name for relation in directed]


async def test_relations_within_reach_are_ranked(films: SparqlGraph) -> None:
    """One step reaches three, two steps all that the director has, and the way back; the most similar come first."""
    assert set(await relations(films, 1, {})) == {">directed by", ">starring", ">year"}
    worth = {"place of birth": 0.9, "starring": 0.8}
    ranking = await relations(films, 2, worth)
    assert (ranking[0], set(ranking[1:3])) == (">born in", {">starring", "<starring"})
    assert set(ranking) == {
        ">directed by",
        "<directed by",
        ">starring",
        "<starring",
        ">year",
        ">spouse",
        "<spouse",
        ">born in",
    }


async def test_a_small_frontier_follows_every_relation(make_graph: Callable[..., SparqlGraph]) -> None:
    """Of two relations that lead on each is gone once before one of them is gone twice."""
    graph = make_graph(":kong r:cast :x, :y, :z ; r:maker :m . :m r:spouse :w .", name="fan")
    assert ">spouse" in await relations(graph, 2, {}, frontier=2)


async def test_no_node_takes_the_place_of_another_twice(make_graph: Callable[..., SparqlGraph], meter: Meter) -> None:
    """Two names point back at each node: a frontier of one goes on all the same, and ends where nothing is new."""
    graph = make_graph(":kong r:a :b . :b r:a :kong ; r:b :c . :c r:a :b ; r:c :d .", name="chain")
    assert ">c" in await relations(graph, 50, {}, frontier=1)
    assert meter.usage().by_kind["neighbours"] == 2 * 4


async def test_a_plan_has_a_bounded_number_of_relations(make_graph: Callable[..., SparqlGraph]) -> None:
    """The best of many, without those that the question has nothing of."""
    hub = make_graph("".join(f":kong r:r{n} :n{n} .\n" for n in range(MOST_RELATIONS + 20)), name="hub")
    ranking = await relations(hub, 1, {f"r{MOST_RELATIONS + 10}": 1.0})
    assert (len(ranking), ranking[0]) == (MOST_RELATIONS, f">r{MOST_RELATIONS + 10}")


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
    around = ExploredGraph(make_graph(":a r:to :b ."))
    steps: list[Step] = expand(around, "groups", 0, PartialPath(Iri("http://x/a")), [Iri("http://x/a")])
    assert steps == []


async def test_the_surroundings_of_an_entity_are_the_relations_most_like_the_keywords(
    make_graph: Callable[..., SparqlGraph], hashing: LazySimilarity, meter: Meter
) -> None:
    """A few of each path's end, without the way back; edges and labels cost one batch each, however many paths."""
    details = " ; ".join(f"r:detail{number} :x{number}" for number in range(8))
    facts = f'{details} ; r:award :oscar . r:award rdfs:label "award won"@en . :oscar rdfs:label "Oscar"@en .'
    graph = make_graph(f':kong r:by :a, :b . :a {facts} :b r:award "1994" .')
    a, b, by = Iri("http://x/a"), Iri("http://x/b"), Iri("http://x/r/by")
    steps = [Step(0, DirectedRelation(by, "out"), (Edge(KONG, by, end, "out", "test"),)) for end in (a, b)]
    context = RetrievalContext(ExploredGraph(graph), hashing, lambda _names: "award won", SearchSettings())
    near, labels = await surroundings([PartialPath(KONG).extend(step) for step in steps], context)
    assert [near[number][0].relation.relation.local_name for number in (0, 1)] == ["award", "award"]
    assert [len(near[number]) for number in (0, 1)] == [NEAR, 1]
    assert labels[Iri("http://x/oscar")] == "Oscar"
    assert meter.usage().by_kind == {"neighbours": 2, "labels": 2}


async def test_nothing_is_around_a_literal(films: SparqlGraph) -> None:
    """It costs no request for its edges, and is in no list."""
    step = Step(0, DirectedRelation(KONG, "out"), (Edge(KONG, KONG, Literal("2005"), "out", "test"),))
    context = RetrievalContext(ExploredGraph(films), Exact({}), lambda _names: "", SearchSettings())
    near, _ = await surroundings([PartialPath(KONG).extend(step)], context)
    assert near == {}


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


async def test_for_the_model_relations_are_put_in_order_without_a_look_ahead(films: SparqlGraph, meter: Meter) -> None:
    """By S0, until it has scored them; the next hop is not fetched for that."""
    ranking = await ranked(films, Exact({"starring": 0.5}), PartialPath(KONG), limit=1, ahead=True, retriever="tog")
    assert names(ranking)[0] == ">starring"
    assert meter.usage().by_kind["neighbours"] == 2
