"""Whom an endpoint knows: one grouped query, remembered for each entity, and never guessed."""

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Limits
from fedkg.config.settings import DAY
from fedkg.core.meter import Meter
from fedkg.core.terms import Iri, Literal
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.identity import IdentifierTemplate, Identity
from fedkg.graph.presence import NAMESPACE, EntityPresence, PresenceLookup
from fedkg.sparql.reply import EndpointReply
from tests.graph.conftest import Wire
from tests.support.federation import Fault

SAME = "http://www.w3.org/2002/07/owl#sameAs"
TABLE = Identity((SAME,), (IdentifierTemplate("http://x/r/id", "ID:$1", "http://y/$1"),))
A, B, C, D, Y1, Y2 = (Iri(f"http://{name}") for name in ("x/a", "x/b", "x/c", "x/d", "y/1", "y/2"))
TEXT = f':a r:p :b . :c <{SAME}> <http://y/2> . :d r:id "ID:1" .'


def known(graph: SparqlGraph, identity: Identity = TABLE) -> PresenceLookup:
    """What the graph's endpoint knows."""
    return PresenceLookup(graph.source, identity)


async def test_one_query_tells_who_is_known_and_who_is_whose_copy(make: Wire, asked: list[str]) -> None:
    """Subjects and objects are known, links do not make one so; links are told from both ends."""
    presence = await known(make(TEXT)).get([A, B, C, Y2, D, Y1, A])
    assert {entity: heard.known for entity, heard in presence.items()} == {
        A: True,
        B: True,
        C: False,
        Y2: False,
        D: False,
        Y1: False,
    }
    ends = {entity: [(link.end, link.direction) for link in heard.links] for entity, heard in presence.items()}
    assert ends == {A: [], B: [], C: [(Y2, "out")], Y2: [(C, "in")], D: [(Y1, "out")], Y1: [(D, "in")]}
    (identifier,) = presence[Y1].links
    assert (identifier.object, identifier.identifies, identifier.start) == (Literal("ID:1"), Y1, Y1)
    assert len(asked) == 1


async def test_what_was_heard_is_remembered(make: Wire, asked: list[str], meter: Meter) -> None:
    """Also that nothing is known; another table of identities is another question."""
    store = MemoryStore()
    graph = make(TEXT, store=store)
    first = await known(graph).get([A, C, Y1, Iri("http://x/nobody")])
    again = known(graph)
    with meter.own():
        assert await again.get(list(first)) == first
    assert meter.usage().cache_hits == len(first)
    assert len(asked) == 1
    await known(graph, Identity()).get([A])
    assert len(asked) == 2


async def test_strangers_are_forgotten_sooner(make: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven days for what is known, one for what is not."""
    store, kept = MemoryStore(), {}

    def put_many(namespace: str, values: dict[str, bytes], seconds: float) -> None:
        """Notes how long."""
        kept.update({key.split()[1]: (namespace, seconds / DAY) for key in values})

    monkeypatch.setattr(store, "put_many", put_many)
    await known(make(TEXT, store=store)).get([A, D, Iri("http://x/nobody")])
    assert kept == {"http://x/a": (NAMESPACE, 7), "http://x/d": (NAMESPACE, 7), "http://x/nobody": (NAMESPACE, 1)}


async def test_a_failure_is_no_answer(make: Wire, faults: list[Fault], asked: list[str]) -> None:
    """It says why, and is not remembered."""
    graph = make(TEXT)
    faults.append(lambda _: EndpointReply(500, {}, b"down"))
    presence = await known(graph).get([A])
    assert not presence[A].known
    assert presence[A].failed
    faults.clear()
    assert (await known(graph).get([A]))[A] == EntityPresence(known=True)


async def test_too_much_at_once_is_asked_in_parts(make: Wire, asked: list[str]) -> None:
    """A reply that is cut off counts for nobody; an entity with more links than a reply may have is a gap."""
    links = " ".join(f":a <{SAME}> <http://y/{n}> ." for n in range(9))
    graph = make(f"{links} :b <{SAME}> <http://y/9> .", limits=Limits(retries=0, rows=5))
    presence = await known(graph).get([A, B])
    assert "more than 5" in presence[A].failed
    assert [link.end for link in presence[B].links] == [Iri("http://y/9")]
    assert len(asked) == 3


async def test_what_no_query_can_carry_is_not_asked(make: Wire, asked: list[str]) -> None:
    """Such an IRI is known to nobody."""
    assert await known(make(TEXT)).get([Iri('http://x/"')]) == {Iri('http://x/"'): EntityPresence()}
    assert asked == []


async def test_a_damaged_memory_is_none(make: Wire, asked: list[str]) -> None:
    """What cannot be read is asked for again."""
    store = MemoryStore()
    graph = make(TEXT, store=store)
    await known(graph).get([A])
    spoilt = store.get_many(NAMESPACE, [f"{known(graph)._key} http://x/a"])
    store.put_many(NAMESPACE, dict.fromkeys(spoilt, b"[1"))
    assert (await known(graph).get([A]))[A].known
    assert len(asked) == 2


async def test_only_an_endpoints_failure_is_borne(make: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of our own is not called a gap."""
    graph = make(TEXT)

    async def wrong(query: object, kind: str = "") -> None:
        """Raises."""
        raise ZeroDivisionError

    monkeypatch.setattr(graph.source.select, "select", wrong)
    with pytest.raises(ZeroDivisionError):
        await known(graph).get([A])
