"""Who is asked for what: by declared authorities, else by what a probe says."""

from fedkg.core.meter import Meter
from fedkg.core.terms import Iri
from fedkg.graph.source_selection import FederationMember
from tests.support.federation import TABLE, MakeMember

A, B, Y1 = Iri("http://x/a"), Iri("http://x/b"), Iri("http://y/1")


async def test_at_home_edges_come_at_once(member: MakeMember, meters: dict[str, Meter]) -> None:
    """Two requests bring edges and links of all entities; there is no probe."""
    endpoint = FederationMember(member(":a r:p :b ; owl:sameAs y:1 .", "one", "http://x/"), TABLE)
    heard = await endpoint.hear([A, B])
    assert [link.end for link in heard[A].links] == [Y1]
    assert {way: len(near.edges) for way, near in heard[B].near.items()} == {"out": 0, "in": 1}
    assert all(presence.known and not presence.failed for presence in heard.values())
    assert meters["one"].usage().by_kind == {"neighbours": 2}


async def test_among_strangers_a_probe_tells_the_links(member: MakeMember, meters: dict[str, Meter]) -> None:
    """A member asks for the edges of its own entities later, when it is known which copies belong to the same batch."""
    endpoint = FederationMember(member(":a r:p :b ; owl:sameAs y:1 . y:1 r:p y:2 .", "one", "http://x/"), TABLE)
    heard = await endpoint.hear([A, Y1])
    assert {entity: presence.known for entity, presence in heard.items()} == {A: True, Y1: False}
    assert [[link.end for link in heard[entity].links] for entity in (A, Y1)] == [[Y1], [A]]
    assert not heard[A].near
    assert meters["one"].usage().by_kind == {"probe": 1}


async def test_who_declares_nothing_is_probed(member: MakeMember) -> None:
    """It knows what stands in a triple of its own, links aside."""
    endpoint = FederationMember(member(":a r:p :b . :c owl:sameAs y:1 .", "one"), TABLE)
    heard = await endpoint.hear([A, B, Iri("http://x/c"), Y1, Iri("http://x/d")])
    assert [presence.known for presence in heard.values()] == [True, True, False, False, False]
    assert [len(presence.links) for presence in heard.values()] == [0, 0, 1, 1, 0]


async def test_copies_are_chosen(member: MakeMember, meters: dict[str, Meter]) -> None:
    """By authority; else all of a few, and of many those that are known."""
    declared = FederationMember(member("", "declared", "http://y/"), TABLE)
    open_ = FederationMember(member("y:1 r:p y:2 .", "open"), TABLE)
    copies = [A, Y1, B]
    assert await declared.choose(copies, 50) == [Y1]
    assert await open_.choose(copies, 50) == copies
    assert meters["open"].usage().requests == 0
    assert await open_.choose(copies, 2) == [Y1]
