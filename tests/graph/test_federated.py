"""Several real graphs in process as one: side by side, each edge with who said it, and nobody stopped by a failure."""

import asyncio
import json
from collections.abc import Callable

import msgspec
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.dialects import Query
from fedkg.config.profiles import Limits, Profile
from fedkg.core.gaps import noted
from fedkg.core.meter import Meter
from fedkg.core.path import Neighbourhood, PartialPath, Step
from fedkg.core.terms import Direction, Edge, Iri, Literal, Term
from fedkg.core.usage import Gap
from fedkg.errors import EndpointError, UnreachableError
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.federated import FederatedGraph
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.transport.client import EndpointClient
from tests.support.federation import TABLE, MakeMember
from tests.support.virtual_time import virtual_time

MakeGraph = Callable[..., SparqlGraph]
A, B, C = (Iri(f"http://x/{name}") for name in "abc")
P = Iri("http://x/r/p")


class Down:
    """A Select of an endpoint that cannot be reached."""

    async def select(self, query: Query, kind: str = "") -> Rows:
        """Nothing. Raises UnreachableError always."""
        raise UnreachableError("no connection", endpoint="down")


@pytest.fixture
def down() -> SparqlGraph:
    """An endpoint that cannot be reached."""
    return SparqlGraph(EndpointSource("down", "down", Profile("down", limits=Limits()), Down(), MemoryStore()))


@pytest.fixture
def pair(make_graph: MakeGraph) -> FederatedGraph:
    """Two graphs that share an entity."""
    left = make_graph(':a r:p :b ; rdfs:label "Ada"@en . :b rdfs:label "Bob"@en .', name="left")
    right = make_graph(':a r:p :c, :b . :c rdfs:label "Cid"@en . :d rdfs:label "Ada"@en .', name="right")
    return FederatedGraph([left, right])


async def test_neighbourhoods_stand_side_by_side(pair: FederatedGraph) -> None:
    """One record per entity and member; each edge says who said it, also where both say the same."""
    neighbourhoods = await pair.neighbours([A, B], "out")
    assert [(near.endpoint, near.entity, len(near.edges)) for near in neighbourhoods] == [
        ("left", A, 1),
        ("left", B, 0),
        ("right", A, 2),
        ("right", B, 0),
    ]
    assert [edge.endpoint for near in neighbourhoods for edge in near.edges] == ["left", "right", "right"]
    assert pair.name == "left + right"


async def test_the_first_label_that_says_something_wins(pair: FederatedGraph) -> None:
    """A local name is no label where another member has one."""
    terms: list[Term] = [A, B, C, P, Literal("x")]
    assert list((await pair.labels(terms)).values()) == ["Ada", "Bob", "Cid", "p", "x"]
    assert await FederatedGraph(pair.members[::-1]).labels(terms) == await pair.labels(terms)


async def test_search_and_suggestions_are_merged(pair: FederatedGraph) -> None:
    """Each entity once, the best first, of equal ones the shortest IRI whoever says it; no more than the limit."""
    matches = await pair.search(["Ada", "Cid", "nobody"])
    assert await FederatedGraph(pair.members[::-1]).search(["Ada", "Cid", "nobody"]) == matches
    assert [match.iri.local_name for match in matches["Ada"]] == ["a", "d"]
    assert [match.iri.local_name for match in matches["Cid"]] == ["c"]
    assert matches["nobody"] == []
    assert len((await pair.search(["Ada"], 1))["Ada"]) == 1
    assert {match.label for match in await pair.nearest("Adda")} == {"Ada"}


async def test_each_member_vouches_for_its_own_edges(pair: FederatedGraph) -> None:
    """An edge holds where the member that said it still says it, not where another one does."""
    edges = [Edge(A, P, B, "out", "left"), Edge(A, P, C, "out", "left"), Edge(A, P, C, "out", "right")]
    assert await pair.holds([*edges, Edge(A, P, B, "out", "stranger")]) == [True, False, True, False]


async def test_a_failing_member_stops_nobody(pair: FederatedGraph, down: SparqlGraph) -> None:
    """Its gaps are marked; edges, labels, search and suggestions of the others come all the same."""
    graph = FederatedGraph([down, *pair.members])
    around = ExploredGraph(graph)
    await around.fetch([A])
    assert {edge.endpoint for edge in around.edges(A)} == {"left", "right"}
    (gap,) = around.gaps(set())
    assert (gap.endpoint, gap.reason) == ("down", "no connection")
    assert not around.complete(A, "out")
    assert (await graph.labels([A]))[A] == "Ada"
    missed: dict[Gap, None] = {}
    with noted(missed):
        assert len((await graph.search(["Ada", "nobody"]))["Ada"]) == 2
        assert await graph.links([A, B]) == []
    assert [(gap.endpoint, gap.asked) for gap in missed] == [
        ("down", "the search for 2 names"),
        ("down", "whether 2 answers are copies of others"),
    ]
    assert await graph.nearest("Adda")


async def test_what_nobody_can_say_is_an_error(down: SparqlGraph, pair: FederatedGraph) -> None:
    """Where a failing member might have known the name, search fails.

    An edge of a failing member is not called false.
    """
    for members, text in (([down, down], "Ada"), ([down, *pair.members], "nobody"), ([*pair.members, down], "nobody")):
        with pytest.raises(EndpointError, match="no connection"):
            await FederatedGraph(members).search([text])
    with pytest.raises(EndpointError, match="no connection"):
        await FederatedGraph([down, *pair.members]).holds([Edge(A, P, B, "out", "down")])
    federation = FederatedGraph([down, *pair.members])
    assert await federation.holds([Edge(A, P, B, "out", "left")]) == [True], "who is not asked cannot fail"


async def test_a_mistake_of_our_own_is_not_swallowed(pair: FederatedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an endpoint's failure is borne."""

    async def wrong(texts: object, limit: int = 10) -> None:
        """Raises."""
        raise ZeroDivisionError

    monkeypatch.setattr(pair.members[0], "search", wrong)
    with pytest.raises(ZeroDivisionError):
        await pair.search(["Ada"])


async def test_members_are_asked_at_the_same_time() -> None:
    """A slow member costs its own time only: all are asked before any has answered."""
    waiting: list[str] = []
    all_there = asyncio.Event()

    class Slow:
        """A graph that answers when both have been asked."""

        def __init__(self, name: str) -> None:
            self.name = name

        async def holds(self, edges: object) -> list[bool]:
            """True, in the end."""
            waiting.append(self.name)
            if len(waiting) == 2:
                all_there.set()
            await asyncio.wait_for(all_there.wait(), 5)
            return [True]

        async def close(self) -> None:
            """Notes it."""
            waiting.append(f"{self.name} closed")

    members: list[SparqlGraph] = [Slow("one"), Slow("two")]  # type: ignore[list-item]  # only what is asked here
    graph = FederatedGraph(members)
    assert await graph.holds([Edge(A, P, B, "out", name) for name in ("one", "two")]) == [True, True]
    await graph.close()
    assert waiting[2:] == ["one closed", "two closed"]


RESULTS = "application/sparql-results+json"
LINKED = "wd:Q1 owl:sameAs y:1 ."
Q1, Y1 = Iri("http://www.wikidata.org/entity/Q1"), Iri("http://y/1")
BOTH: tuple[Direction, ...] = ("out", "in")


def says(neighbourhoods: list[Neighbourhood]) -> set[tuple[str, str, str, str, bool]]:
    """The edges in short: subject, relation, object, who said it, whether over a link."""
    return {
        (edge.subject.text, edge.relation.local_name, edge.object.text, edge.endpoint, edge.same is not None)
        for near in neighbourhoods
        for edge in near.edges
    }


@pytest.mark.parametrize(
    ("link", "where", "declared"),
    [
        (":a owl:sameAs y:1 .", "near", True),
        (":a owl:sameAs y:1 .", "near", False),
        ("y:1 owl:sameAs :a .", "near", True),
        ("y:1 owl:sameAs :a .", "near", False),
        (":a owl:sameAs y:1 .", "far", True),
        (":a owl:sameAs y:1 .", "far", False),
        ("y:1 skos:exactMatch :a .", "far", True),
        ("y:1 skos:exactMatch :a .", "far", False),
        (':a r:id "ID:1" .', "near", True),
        (':a r:id "ID:1" .', "near", False),
        # whoever declares authorities tells no identifiers of other things
        (':a r:id "ID:1" .', "far", False),
    ],
)
async def test_copies_are_joined_from_both_sides(member: MakeMember, link: str, where: str, *, declared: bool) -> None:
    """Whoever says the link, in whichever direction, in whatever form: each copy has the other's edges."""
    near, far = (link if where == name else "" for name in ("near", "far"))
    first = member(f":a r:p :b . {near}", "near", *(["http://x/"] if declared else []))
    second = member(f"y:1 r:q y:2 . {far}", "far", *(["http://y/"] if declared else []))
    graph = FederatedGraph([first, second], TABLE)
    local, other = ("<http://x/a>", "p", "<http://x/b>", "near"), ("<http://y/1>", "q", "<http://y/2>", "far")
    assert says(await graph.neighbours([A], "out")) == {(*local, False), (*other, True)}
    assert says(await graph.neighbours([Y1], "out")) == {(*local, True), (*other, False)}
    assert says(await graph.neighbours([Iri("http://y/2")], "in")) == {(*other, False)}


async def test_a_walk_over_a_link_shows_it(member: MakeMember) -> None:
    """The path's first edge is the link with its own endpoint.

    Every edge can be asked for again where it was said.
    """
    graph = FederatedGraph([member(':a r:id "ID:1" .', "near"), member("y:1 r:q y:2 .", "far")], TABLE)
    (edge,) = [edge for near in await graph.neighbours([A], "out") for edge in near.edges]
    step = Step(0, edge.walked, (edge,))
    walk = PartialPath(A).extend(step).walks(edge.end)
    assert [(part.start, part.end, part.endpoint) for part in walk] == [(A, Y1, "near"), (Y1, edge.end, "far")]
    assert walk[0].object == Literal("ID:1")
    assert await graph.holds(walk) == [True, True]
    forged = msgspec.structs.replace(walk[0], identifies=Iri("http://y/other"))
    assert await graph.holds([forged]) == [False]


async def test_links_are_one_deep(member: MakeMember) -> None:
    """A copy's copy is not joined."""
    chain = member(":a owl:sameAs :b . :b owl:sameAs :c . :b r:p :d . :c r:p :e .", "chain")
    graph = FederatedGraph([chain, member(":x r:p :y .", "other")], TABLE)
    assert {edge[2] for edge in says(await graph.neighbours([A], "out"))} == {"<http://x/d>"}


async def test_joins_are_no_steps(member: MakeMember) -> None:
    """Neither links nor identifiers are offered, nor what leads from one copy to the other; what is no link stays."""
    first = member(':a owl:sameAs y:1 ; r:id "ID:1", "other" ; r:p y:1, :b .', "one")
    graph = FederatedGraph([first, member("y:1 r:knows :a, y:2 .", "two")], TABLE)
    edges = says([near for way in BOTH for near in await graph.neighbours([A], way)])
    assert {(edge[1], edge[2]) for edge in edges} == {("p", "<http://x/b>"), ("knows", "<http://y/2>")}


async def test_a_hop_is_two_requests_and_a_probe(member: MakeMember, meters: dict[str, Meter]) -> None:
    """Whatever is met: no more than one probe and two neighbour requests each; none when all is known."""
    links = " ".join(f":{n} owl:sameAs y:{n} . :{n} r:p :b ." for n in range(20))
    store = MemoryStore()
    graph = FederatedGraph([member(links, "one", store=store), member("y:1 r:p y:9 .", "two", store=store)], TABLE)
    around = ExploredGraph(graph)
    frontier = [Iri(f"http://x/{n}") for n in range(20)]
    await around.fetch(frontier)
    assert {name: meter.usage().by_kind for name, meter in meters.items()} == {
        name: {"neighbours": 2, "probe": 1} for name in ("one", "two")
    }
    await ExploredGraph(graph).fetch(frontier)
    assert [meter.usage().requests for meter in meters.values()] == [3, 3]
    assert {edge.object.text for edge in around.edges(frontier[1])} == {"<http://x/b>", "<http://y/9>"}


async def test_many_copies_are_probed_before_they_are_asked_for(member: MakeMember, meters: dict[str, Meter]) -> None:
    """More copies than fit into a batch: one grouped probe tells which are known, and only these are asked for."""
    links = " ".join(f":{n} owl:sameAs y:{n}, y:{n}a, y:{n}b ." for n in range(30))
    graph = FederatedGraph([member(links, "one"), member("y:1 r:p y:2 . y:1b r:p y:3 .", "two")], TABLE)
    around = ExploredGraph(graph)
    await around.fetch(Iri(f"http://x/{n}") for n in range(30))
    assert meters["two"].usage().by_kind == {"neighbours": 2, "probe": 2}
    assert "neighbours" not in meters["one"].usage().by_kind, "it says nothing but links"
    assert {edge.object.text for edge in around.edges(Iri("http://x/1"))} == {"<http://y/2>", "<http://y/3>"}


async def test_two_graphs_of_wikidata_need_no_probe(member: MakeMember, meters: dict[str, Meter]) -> None:
    """Main and scholarly: articles here, authors there.

    Relations named and told apart by the one that has the catalogue.
    """
    catalogue = """
        wd:P50 wikibase:directClaim wdt:P50 ; rdfs:label "author"@en ; wikibase:propertyType wikibase:WikibaseItem .
        wd:P698 wikibase:directClaim wdt:P698 ; rdfs:label "PubMed ID"@en ; wikibase:propertyType wikibase:ExternalId .
    """
    home = "http://www.wikidata.org/"
    main = member(f'wd:Q1 rdfs:label "Ada"@en ; wdt:P19 wd:Q3 . {catalogue}', "main", home, profile="wikidata")
    article = 'wd:Q2 rdfs:label "On engines"@en ; wdt:P50 wd:Q1 ; wdt:P698 "123" .'
    scholarly = member(article, "scholarly", home, profile="wikidata")
    graph = FederatedGraph([main, scholarly], TABLE)
    around = ExploredGraph(graph)
    await around.fetch([Q1])
    assert {(edge.relation.local_name, edge.endpoint) for edge in around.edges(Q1)} == {
        ("P19", "main"),
        ("P50", "scholarly"),
    }
    await around.fetch([Iri("http://www.wikidata.org/entity/Q2")])
    assert [edge.relation.local_name for edge in around.edges(Iri("http://www.wikidata.org/entity/Q2"))] == ["P50"]
    assert (await graph.labels([Iri("http://www.wikidata.org/prop/direct/P50")])).popitem()[1] == "author"
    for meter in meters.values():
        assert meter.usage().by_kind["neighbours"] == 4
        assert "probe" not in meter.usage().by_kind


async def test_who_declares_other_things_is_not_asked(member: MakeMember, meters: dict[str, Meter]) -> None:
    """A stranger's edges and labels are nobody's business but those who claim it, or who claim nothing."""
    first = member(":a r:p :b .", "one", "http://x/")
    second = member('y:1 rdfs:label "Y"@en . :a r:q :c ; rdfs:label "stray"@en .', "two", "http://y/")
    graph = FederatedGraph([first, second], TABLE)
    assert {edge[3] for edge in says(await graph.neighbours([A], "out"))} == {"one"}
    assert (await graph.labels([A]))[A] == "a"
    assert meters["two"].usage().by_kind == {"probe": 1}, "it may have a copy"


async def test_a_copys_label_serves(member: MakeMember) -> None:
    """An entity that nobody names is called what its copy is called, once the copy is known."""
    graph = FederatedGraph(
        [member(":a owl:sameAs y:1 .", "one"), member('y:1 rdfs:label "Ada"@en ; r:p y:2 .', "two")], TABLE
    )
    assert (await graph.labels([A]))[A] == "a"
    await graph.neighbours([A], "out")
    assert (await graph.labels([A, Y1])) == {A: "Ada", Y1: "Ada"}


async def test_known_copies_are_one_match(member: MakeMember) -> None:
    """A search names an entity once, under the IRI of the first member, as far as copies are known."""
    first = member(':a owl:sameAs y:1 ; rdfs:label "Ada"@en .', "one")
    graph = FederatedGraph([first, member('y:1 rdfs:label "Ada"@en ; r:p y:2 .', "two")], TABLE)
    assert [match.iri for match in (await graph.search(["Ada"]))["Ada"]] == [A, Y1]
    await graph.neighbours([A], "out")
    assert [match.iri for match in (await graph.search(["Ada"]))["Ada"]] == [A]


async def test_a_probe_that_fails_is_a_gap(
    member: MakeMember, member_faults: dict[str, Callable[[str], EndpointReply | None]]
) -> None:
    """What a member could not be asked is not taken for a "no", and is asked again."""
    graph = FederatedGraph([member(":a r:p :b .", "one"), member(":a r:q :c .", "two")], TABLE)
    member_faults["two"] = lambda _: EndpointReply(500, {}, b"down")
    around = ExploredGraph(graph)
    await around.fetch([A])
    assert {gap.endpoint for gap in around.gaps(set())} == {"two"}
    assert not around.complete(A, "out")
    assert {edge.endpoint for edge in around.edges(A)} == {"one"}
    del member_faults["two"]
    assert {edge[3] for edge in says(await graph.neighbours([A], "out"))} == {"one", "two"}


async def test_a_copy_that_cannot_be_had_is_a_gap(
    member: MakeMember, member_faults: dict[str, Callable[[str], EndpointReply | None]]
) -> None:
    """The entity's own record says that its copy's edges are missing."""
    first, second = (
        member(f"{LINKED} wd:Q1 r:p wd:Q2 .", "one", "http://www.wikidata.org/"),
        member("y:1 r:q y:2 .", "two"),
    )
    member_faults["two"] = lambda query: EndpointReply(500, {}, b"down") if "?c ?m ?w" in query else None
    neighbourhoods = await FederatedGraph([first, second], TABLE).neighbours([Q1], "out")
    assert [(near.entity, near.endpoint, bool(near.edges), near.complete) for near in neighbourhoods] == [
        (Q1, "one", True, True),
        (Q1, "two", False, False),
    ]
    assert "500" in neighbourhoods[1].failed or "down" in neighbourhoods[1].failed


async def test_a_link_whose_other_direction_fails_is_missed(
    member: MakeMember, member_faults: dict[str, Callable[[str], EndpointReply | None]]
) -> None:
    """Where one direction of an entity's own edges fails, links may be missing: nothing of it is complete."""
    first = member(":a owl:sameAs y:1 . :b r:p :a .", "one", "http://x/")
    second = member("y:3 r:p y:1 .", "two", "http://y/")
    member_faults["one"] = lambda query: EndpointReply(500, {}, b"down") if "<http://x/a> ?p ?o" in query else None
    around = ExploredGraph(FederatedGraph([first, second], TABLE))
    await around.fetch([A])
    assert [edge.endpoint for edge in around.edges(A)] == ["one"]
    assert not around.complete(A, "in")


async def test_who_cannot_say_whom_it_knows_is_not_asked_further(
    member: MakeMember, meters: dict[str, Meter], member_faults: dict[str, Callable[[str], EndpointReply | None]]
) -> None:
    """The others are not kept waiting twice for one that fails."""
    first, second = member(":a owl:sameAs y:1 .", "one"), member("y:1 r:p y:2 .", "two")
    member_faults["two"] = lambda _: EndpointReply(500, {}, b"down")
    neighbourhoods = await FederatedGraph([first, second], TABLE).neighbours([A], "out")
    assert [bool(near.failed) for near in neighbourhoods] == [False, True]
    assert meters["two"].usage().by_kind == {"probe": 1}


async def test_a_copy_that_nobody_can_ask_for_is_none(
    member: MakeMember, member_faults: dict[str, Callable[[str], EndpointReply | None]]
) -> None:
    """A malformed link, such as real graphs have, is no gap."""
    binding = {name: {"type": "uri", "value": iri} for name, iri in (("s0", A.value), ("o0", "http://y/no iri"))}
    rows = json.dumps({"head": {"vars": list(binding)}, "results": {"bindings": [binding]}}).encode()
    member_faults["two"] = lambda query: EndpointReply(200, {"content-type": RESULTS}, rows) if "?s0" in query else None
    neighbourhoods = await FederatedGraph([member(":a r:p :b .", "one"), member("", "two")], TABLE).neighbours(
        [A], "out"
    )
    assert [(near.complete, near.links) for near in neighbourhoods] == [(True, ()), (True, ())]


async def test_only_copies_that_somebody_may_know_are_counted(member: MakeMember) -> None:
    """Links into graphs that are not asked crowd nobody out, and are no cut.

    That they are copies is known all the same.
    """
    links = " ".join(f":a owl:sameAs <http://elsewhere/{n}> ." for n in range(80))
    first = member(f":a owl:sameAs y:1 . {links} :b r:p :a .", "one", "http://x/")
    graph = FederatedGraph([first, member("y:1 r:p y:2 .", "two", "http://y/")], TABLE)
    around = ExploredGraph(graph)
    await around.fetch([A])
    assert around.complete(A, "out")
    assert {edge.end for edge in around.edges(A)} == {B, Iri("http://y/2")}
    assert {A, Y1, Iri("http://elsewhere/1")} < around.alike([A])


async def test_a_liar_costs_the_others_a_bounded_number_of_requests(
    member: MakeMember, meters: dict[str, Meter]
) -> None:
    """Whoever links everything to everything is cut short, and says so; the others are asked some probes more."""
    links = " ".join(f":{n} owl:sameAs y:{n}-{copy} ." for n in range(20) for copy in range(200))
    liar = member(links, "liar", "http://x/", limits=Limits(retries=0))
    honest = member(":1 r:p :2 .", "honest")
    around = ExploredGraph(FederatedGraph([liar, honest], TABLE))
    await around.fetch(Iri(f"http://x/{n}") for n in range(20))
    assert meters["honest"].usage().by_kind == {"probe": 1 + 10, "neighbours": 2}
    assert {gap.reason for gap in around.gaps({Iri("http://x/1")})} == {"only 50 of its 200 copies were looked at"}
    assert Iri("http://x/2") in {edge.end for edge in around.edges(Iri("http://x/1"))}


async def test_labels_of_copies_fill_one_request(member: MakeMember, meters: dict[str, Meter]) -> None:
    """Copies are asked for as far as the request for the terms themselves has room."""
    links = " ".join(f":{n} owl:sameAs {', '.join(f'y:{n}-{c}' for c in range(40))} ." for n in range(40))
    graph = FederatedGraph([member(links, "one"), member("y:1 r:p y:2 .", "two")], TABLE)
    entities = [Iri(f"http://x/{n}") for n in range(40)]
    await graph.neighbours(entities, "out")
    await graph.labels(entities)
    assert [meter.usage().by_kind["labels"] for meter in meters.values()] == [1, 1]


async def test_a_hub_of_links_is_cut_and_says_so(member: MakeMember) -> None:
    """Of very many copies some are looked at, and the record is not complete."""
    links = " ".join(f":a owl:sameAs y:{n} ." for n in range(150))
    graph = FederatedGraph([member(links, "one"), member("y:1 r:p y:2 .", "two")], TABLE)
    neighbourhoods = await graph.neighbours([A], "out")
    assert all(not near.complete and near.cut == "only 50 of its 150 copies were looked at" for near in neighbourhoods)


@virtual_time
async def test_who_never_answers_holds_nobody_up(member: MakeMember) -> None:
    """A stalling member is a gap when its patience is over; the others' edges, and those of copies, are there."""

    class Stalled:
        """A transport that never answers."""

        url = ""

        async def send(self, query: str) -> EndpointReply:
            """Nothing, ever."""
            return await asyncio.Future()

        async def close(self) -> None:
            """Nothing to free."""

    limits = Limits(retries=0, patience=0.05)
    select = EndpointClient([Stalled()], lambda _: Rows(), endpoint="stalled", limits=limits)
    stalled = SparqlGraph(
        EndpointSource("stalled", "stalled", Profile("stalled", limits=limits), select, MemoryStore())
    )
    first, second = member(":a owl:sameAs y:1 ; r:p :b .", "one"), member("y:1 r:q y:2 .", "two")
    around = ExploredGraph(FederatedGraph([stalled, first, second], TABLE))
    await around.fetch([A])
    assert {edge.endpoint for edge in around.edges(A)} == {"one", "two"}
    assert {gap.endpoint for gap in around.gaps(set())} == {"stalled"}


async def test_two_questions_share_what_is_under_way(member: MakeMember, meters: dict[str, Meter]) -> None:
    """Both directions, and a second question at the same time, cost one probe."""
    graph = FederatedGraph([member(":a r:p :b .", "one"), member(":c r:p :a .", "two")], TABLE)
    first, second = ExploredGraph(graph), ExploredGraph(graph)
    await asyncio.gather(first.fetch([A]), second.fetch([A]))
    assert first.edges(A) == second.edges(A)
    assert len(first.edges(A)) == 2
    assert [meter.usage().by_kind["probe"] for meter in meters.values()] == [1, 1]
