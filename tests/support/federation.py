"""Members of a federation: small graphs in process, each with a count of what it was asked."""

from collections.abc import Callable, Mapping
from functools import partial

import pyoxigraph

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.config import profiles
from fedkg.config.profiles import Limits, Profile
from fedkg.core.meter import Meter
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.identity import IdentifierTemplate, Identity
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.client import EndpointClient
from fedkg.transport.embedded import EmbeddedTransport

__all__ = ["EXACT", "SAME", "TABLE", "Fault", "MakeMember", "members"]

PREFIXES = """
@prefix : <http://x/> .
@prefix y: <http://y/> .
@prefix r: <http://x/r/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
"""
SAME = "http://www.w3.org/2002/07/owl#sameAs"
EXACT = "http://www.w3.org/2004/02/skos/core#exactMatch"
TABLE = Identity((SAME, EXACT), (IdentifierTemplate("http://x/r/id", "ID:$1", "http://y/$1", "http://x/"),))

Fault = Callable[[str], EndpointReply | None]
MakeMember = Callable[..., SparqlGraph]


def members(meters: dict[str, Meter], faults: Mapping[str, Fault]) -> MakeMember:
    """What makes a member from Turtle text; `authorities` are what its profile declares.

    meters: gets what each member was asked, by its name. faults: what goes wrong, by the member's name: it may answer a
    query instead of the real graph.
    """

    def make(
        turtle: str,
        name: str,
        *authorities: str,
        profile: str = "generic",
        store: Store | None = None,
        identity: Identity = TABLE,
        limits: Limits | None = None,
    ) -> SparqlGraph:
        graph = pyoxigraph.Store()
        graph.load(input=(PREFIXES + turtle).encode(), format=pyoxigraph.RdfFormat.TURTLE)
        real = EmbeddedTransport(graph, name)

        def answer(query: str) -> EndpointReply:
            fault = faults.get(name)
            return (fault and fault(query)) or real._run(query)

        meter = meters.setdefault(name, Meter())
        limits = limits or Limits(retries=0)
        select = EndpointClient(
            [FakeTransport(answer)],
            partial(accept, endpoint=name),
            endpoint=name,
            limits=limits,
            meter=meter,
            detects=False,
        )
        shaped = Profile(name, authorities=authorities, limits=limits, shape=profiles.find(profile).shape)
        return SparqlGraph(
            EndpointSource(name, name, shaped, select, store or MemoryStore()), scan=True, identity=identity
        )

    return make
