"""The doctor: a dozen small requests to one endpoint, what they show finding by finding, and what to do about it.

Each finding is looked for by itself, so one that is bad does not hide the others; who is gone, or wants to be left alone,
is not asked any further. Nothing that is asked here comes from the cache or goes into it.
"""

import datetime as dt
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum

import msgspec

from fedkg.connect import Member
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.graph.base import Source
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.names import Ranked, best_label
from fedkg.profiles import Profile
from fedkg.records import Match, Neighbourhood, PathEdge
from fedkg.sparql import build
from fedkg.sparql.engines import PROBE
from fedkg.store import MemoryStore
from fedkg.terms import Edge, Iri, Literal, Term

__all__ = ["Doctor", "Finding", "Grade", "Report"]

TIMES = 3
SAMPLE = 20
"""Labels that are read of each label predicate: enough to find some in a language that is wanted."""
ENTITIES = 5
SHOWN = 6
"""Edges of each direction that a report shows."""
SLOW = 2.0
"""Seconds of one small request from which on a walk of some hops tries a person's patience."""
FEW = 0.5
GONE = (UnreachableError, RefusedError, NotSparqlError, EndpointTimeoutError)
"""After these nothing that is asked next can fare better."""
ESSENTIAL = {"reachable", "neighbourhood"}
GENERIC = "generic"
XML = "xml"
CAP = re.compile(r"maxrows: (\d+)|\bat most \((\d+)\)")

LABEL_PREDICATES = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
    "http://rdf.freebase.com/ns/type.object.name",
    "http://www.w3.org/2008/05/skos-xl#literalForm",
    "http://www.geonames.org/ontology#name",
    "http://purl.uniprot.org/core/mnemonic",
    "http://id.nlm.nih.gov/mesh/vocab#prefLabel",
)
"""What graphs name their things by; those in use are proposed where a profile's own predicates are not."""


class Grade(StrEnum):
    """How good a finding is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at: what was seen, in a sentence, and for what is not good what to do."""

    name: str
    grade: Grade
    said: str
    advice: str = ""


class Report(msgspec.Struct, frozen=True):
    """What is found of one endpoint.

    `verdict` is a sentence that begins with "ready", "usable, but" or "not usable". `latency` is the median of some small
    requests in seconds (None where none was answered), `labelled` some entity with its label, `sample` some of the edges
    of an entity. `requests` and `seconds` are what all of it took.
    """

    endpoint: str
    profile: str
    verdict: str
    usable: bool
    findings: tuple[Finding, ...]
    latency: float | None
    labelled: Match | None
    sample: tuple[PathEdge, ...]
    requests: int
    seconds: float


class Doctor:
    """Examines one endpoint; `known` are the profiles whose shape the graph may turn out to have."""

    def __init__(self, member: Member, languages: Sequence[str], known: Sequence[Profile] = ()) -> None:
        self._select = member.select
        self._name = member.graph.name
        self._profile = profile = member.graph.profile
        self._languages = tuple(languages)
        self._known = [other for other in known if other.shape.marker and profile.name == GENERIC]
        source = Source(self._name, member.graph.identity, profile, member.select, MemoryStore())
        self._graph = SparqlGraph(source, languages)
        self._times: list[float] = []
        self._format = ""
        self._entities: list[Iri] = []
        self._labelled: Match | None = None
        self._sample: tuple[PathEdge, ...] = ()

    async def report(self) -> Report:
        """Everything that there is to find."""
        before, started = self._select.meter.usage(), time.monotonic()
        findings = await self._findings()
        requests, seconds = self._select.meter.since(before).requests, time.monotonic() - started
        usable, verdict = _verdict(findings)
        latency = statistics.median(self._times) if self._times else None
        names = (self._name, self._profile.name, verdict)
        return Report(*names, usable, findings, latency, self._labelled, self._sample, requests, seconds)

    async def _findings(self) -> tuple[Finding, ...]:
        looks: dict[str, Callable[[], Awaitable[Finding]]] = {
            "reachable": self._reachable,
            "latency": self._latency,
            "format": self._media,
            "engine": self._engine,
            "labels": self._labels,
            "predicates": self._predicates,
            "search": self._search,
            "limits": self._limits,
            "neighbourhood": self._neighbourhood,
        }
        findings: list[Finding] = []
        for name, look in looks.items():
            try:
                findings.append(await look())
            except EndpointError as error:
                findings.append(_failed(name, error))
                if isinstance(error, GONE) and (isinstance(error, RefusedError | UnreachableError) or not self._times):
                    break
        return tuple(findings)

    async def _reachable(self) -> Finding:
        subjects = await self._timed()
        if not subjects:
            said = "it answers, but its default graph is empty"
            return Finding("reachable", Grade.FAILED, said, "serve the named graphs as one default graph")
        return Finding("reachable", Grade.OK, "it answers")

    async def _timed(self) -> list[Iri]:
        """Some subjects of the graph; how long it took is kept."""
        started = time.monotonic()
        reply = await self._select.select(build.subjects(ENTITIES), "check")
        self._times.append(time.monotonic() - started)
        self._format = reply.format
        self._entities = [term for row in reply.rows if isinstance(term := row.get("s"), Iri) and term.queryable]
        return self._entities
