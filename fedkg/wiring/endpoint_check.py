"""The check of an endpoint: a dozen small requests, what they show finding by finding, and what to do about it.

Each finding is looked for by itself, so one that is bad does not hide the others; who is gone, or wants to be left
alone, is not asked any further. Nothing that is asked here comes from the cache or goes into it.
"""

import dataclasses
import datetime as dt
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum

import msgspec

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Profile
from fedkg.config.settings import masked
from fedkg.core.answer import PathEdge
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Edge, Iri, Literal, Term
from fedkg.errors import EndpointError, EndpointTimeoutError, InputError, RefusedError, TruncatedError, UnreachableError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.labels import Ranked, best_label
from fedkg.sparql import build
from fedkg.transport.offline import OfflineClient
from fedkg.wiring.endpoints import ConnectedEndpoint

__all__ = ["EndpointCheck", "EndpointReport", "Finding", "Grade"]

TIMES = 3
# labels that are read of each label predicate: enough to find some in a language that is wanted
SAMPLE = 20
ENTITIES = 5
# edges of each direction that a report shows
SHOWN = 5
# seconds of one small request from which on a walk of some hops tries a person's patience
SLOW = 2.0
# the share of nodes with a label below which proofs and prompts are hard to read
FEW = 0.5
# after these it is not asked any further, whatever was answered before
GONE = (UnreachableError, RefusedError)
ADVICE = {
    UnreachableError: "check the URL and the network, and whether the server is running",
    RefusedError: "wait until then, and set a contact (FEDKG_CONTACT); "
    "`fedkg endpoints forget SPEC` asks again at once",
    EndpointTimeoutError: "raise [limits] timeout in its profile, if it is known to be slow",
}
ESSENTIAL = {"reachable", "neighbourhood"}
GENERIC = "generic"
# how the acceptance test tells of a cap: the header of Virtuoso, and the profile's own known_cap
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
    """How good a finding is, or an endpoint as a whole."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at: what was seen, in a sentence, and for what is not good what to do."""

    name: str
    grade: Grade
    summary: str = msgspec.field(name="said")
    advice: str = ""


class EndpointReport(msgspec.Struct, frozen=True):
    """What is found of one endpoint.

    `verdict` is a sentence that begins with "ready" (its grade is ok), "usable, but" (warning) or "not usable"
    (failed). `latency` is the median of some small requests in seconds (None where none was answered), `labelled` some
    entity with its label, `sample` some of the edges of an entity. `requests` and `seconds` are what all of it took.
    """

    endpoint: str
    profile: str
    grade: Grade
    verdict: str
    findings: tuple[Finding, ...]
    latency: float | None
    labelled: Match | None
    sample: tuple[PathEdge, ...]
    requests: int
    seconds: float


class EndpointCheck:
    """Examines one endpoint; `known` are the profiles whose shape the graph may turn out to have.

    Raises InputError in offline mode.
    """

    def __init__(self, member: ConnectedEndpoint, languages: Sequence[str], known: Sequence[Profile] = ()) -> None:
        if isinstance(member.select, OfflineClient):
            raise InputError("offline mode sends nothing", hint="leave out --mode offline to examine an endpoint")
        self._select = member.select
        self._name = member.graph.name
        self._profile = member.graph.profile
        self._languages = languages
        self._known = [profile for profile in known if profile.shape.marker]
        self._graph = SparqlGraph(dataclasses.replace(member.graph.source, store=MemoryStore()), languages)
        self._times: list[float] = []
        self._format = ""
        self._entities: list[Iri] = []
        self._named: list[Match] = []
        self._edges: list[Edge] = []
        self._sample: tuple[PathEdge, ...] = ()

    async def report(self) -> EndpointReport:
        """Everything that there is to find."""
        before, started = self._select.meter.usage(), time.monotonic()
        findings = await self._findings()
        requests, seconds = self._select.meter.since(before).requests, time.monotonic() - started
        latency = statistics.median(self._times) if self._times else None
        labelled = self._named[0] if self._named else None
        names, verdict = (self._name, self._profile.name), _verdict(findings)
        return EndpointReport(*names, *verdict, findings, latency, labelled, self._sample, requests, seconds)

    async def _findings(self) -> tuple[Finding, ...]:
        looks: dict[str, Callable[[], Awaitable[Finding]]] = {
            "reachable": self._reachable,
            "latency": self._latency,
            "format": self._media,
            "engine": self._engine,
            "shape": self._shape,
            "labels": self._labels,
            "search": self._search,
            "look-up": self._words,
            "neighbourhood": self._neighbourhood,
            "edges": self._plumbing,
            "limits": self._limits,
        }
        findings: list[Finding] = []
        for name, look in looks.items():
            try:
                findings.append(await look())
            except EndpointError as error:
                findings.append(_failed(name, error))
                if isinstance(error, GONE) or not self._times:
                    break
        return tuple(findings)

    # ---- the endpoint ----

    async def _reachable(self) -> Finding:
        if await self._timed():
            return Finding("reachable", Grade.OK, "it answers")
        return Finding(
            "reachable",
            Grade.FAILED,
            "it answers, but its default graph is empty",
            "are the data in named graphs? The server has to show them as one default graph",
        )

    async def _latency(self) -> Finding:
        while len(self._times) < TIMES:
            await self._timed()
        return _speed(self._times)

    async def _timed(self) -> list[Term]:
        """Some subjects of the graph; how long that took is kept."""
        started = time.monotonic()
        reply = await self._select.select(build.subjects(ENTITIES), "check")
        self._times.append(time.monotonic() - started)
        self._format = reply.format
        subjects = [term for row in reply.rows if (term := row.get("s"))]
        self._entities = list(dict.fromkeys(term for term in subjects if isinstance(term, Iri) and term.queryable))
        return subjects

    async def _media(self) -> Finding:
        summary = f"results come as {self._format}"
        return Finding(
            "format", Grade.OK, summary if "json" in self._format else f"{summary}, which is read as well as JSON"
        )

    async def _engine(self) -> Finding:
        """Who answers: the engines that the replies have shown until now, beside the one of the profile."""
        engines, declared = self._select.engines, self._profile.engine
        summary = ", ".join(f"{engine} at {masked(url)}" if url else engine for url, engine in engines.items())
        if not self._profile.detects:
            return Finding("engine", Grade.OK, f"{declared}, because its profile says so, whatever it answers like")
        if set(engines.values()) == {GENERIC}:
            return Finding(
                "engine", Grade.OK, "not told by its replies; it is asked in a way that all engines understand"
            )
        if declared == GENERIC or declared in engines.values():
            return Finding("engine", Grade.OK, summary)
        other = next(iter(engines.values()))
        advice = f'in its profile: engine = "{other}"; or detects = false, if that is wrong'
        return Finding("engine", Grade.WARNING, f"{summary}, but its profile says {declared}", advice)

    # ---- the graph ----

    async def _shape(self) -> Finding:
        """Which of the known shapes the graph has, told by the predicates that give them away."""
        same = [profile.name for profile in self._known if profile.shape.marker == self._profile.shape.marker]
        if same or self._profile.name != GENERIC:
            return Finding("shape", Grade.OK, f"as the profile {(same or [self._profile.name])[0]} says")
        markers = await self._used([profile.shape.marker for profile in self._known])
        like = [profile.name for profile in self._known if profile.shape.marker in markers]
        if not like:
            return Finding("shape", Grade.OK, "that of no bundled profile; the generic one is used")
        advice = f"name it {like[0]}@URL, or put like = '{like[0]}' into its profile"
        return Finding("shape", Grade.WARNING, f"the graph looks like that of {', '.join(like)}", advice)

    async def _used(self, predicates: Sequence[str]) -> list[str]:
        """Those of the predicates that the graph has."""
        rows = (await self._select.select(build.used([Iri(predicate) for predicate in predicates]), "check")).rows
        bound = {name for row in rows for name in row}
        return [predicate for number, predicate in enumerate(predicates) if f"x{number}" in bound]

    async def _labels(self) -> Finding:
        predicates = self._profile.shape.labels.predicates
        rows = (await self._select.select(build.scan_labels(self._profile.shape.labels, SAMPLE), "check")).rows
        bound = {name for row in rows for name in row}
        none = [predicate for number, predicate in enumerate(predicates) if f"l{number}" not in bound]
        if len(none) == len(predicates):
            return await self._unlabelled()
        self._named = _named(rows, self._languages)
        summary = f"by {_brief([predicate for predicate in predicates if predicate not in none])}"
        summary += f"; none by {_brief(none)}" if none else ""
        if self._named:
            return Finding("labels", Grade.OK, f"{summary}; such as {self._named[0].label!r}")
        spoken = sorted({term.language for row in rows for term in row.values() if isinstance(term, Literal)})
        advice = f"name one of these languages with --lang: {', '.join(spoken)}"
        return Finding("labels", Grade.WARNING, f"{summary}; but none of those seen is in a wanted language", advice)

    async def _unlabelled(self) -> Finding:
        others = [name for name in LABEL_PREDICATES if name not in self._profile.shape.labels.predicates]
        summary = "no label predicate of the profile is in use"
        if predicates := await self._used(others):
            advice = f"in its profile: [shape.labels] predicates = [{_quoted(predicates)}]"
            return Finding("labels", Grade.WARNING, summary, advice)
        advice = "find the predicate that names things, and put it into its profile: [shape.labels] predicates"
        return Finding("labels", Grade.WARNING, f"{summary}, nor another that is known", advice)

    async def _search(self) -> Finding:
        """Several labels at once, since an entity may be a relation, which a search leaves out."""
        if not self._named:
            return Finding("search", Grade.WARNING, "not tried: there is no label to search for", "use --topic IRI")
        matches = await self._graph.search([match.label for match in self._named])
        again = [match for match in self._named if match.iri in {other.iri for other in matches[match.label]}]
        if not again:
            summary = f"{self._named[0].label!r} is not found again by its own label"
            return Finding("search", Grade.WARNING, summary, "name topics by IRI: --topic IRI")
        self._named = again + [match for match in self._named if match not in again]
        return Finding("search", Grade.OK, f"{again[0].label!r} is found again by its label")

    async def _words(self) -> Finding:
        """Whether entities are found by words too; that they are not is common and no fault."""
        labels = [match.label for match in self._named[:1]]
        matches = await self._graph.lookup(labels)
        if any(matches[label] for label in labels):
            return Finding("look-up", Grade.OK, f"{labels[0]!r} is found by its words as well")
        return Finding("look-up", Grade.OK, "none by words: topics have to be named by their label, or by an alias")

    async def _neighbourhood(self) -> Finding:
        """The edges of whichever of some entities has the most, both ways."""
        entities = [match.iri for match in self._named] or self._entities
        if not entities:
            summary = "no entity with an IRI was seen"
            return Finding("neighbourhood", Grade.FAILED, summary, "a graph of blank nodes alone cannot be walked")
        out = max(await self._graph.neighbours(entities[:ENTITIES], "out"), key=lambda near: len(near.edges))
        into = (await self._graph.neighbours([out.entity], "in"))[0]
        self._edges = [*out.edges, *into.edges]
        names = await self._graph.labels(dict.fromkeys(term for edge in self._edges for term in edge.terms))
        shown = (*out.edges[:SHOWN], *into.edges[:SHOWN])
        self._sample = tuple(PathEdge.of(edge, names) for edge in shown)
        return self._walkable(out, into)

    def _walkable(self, out: Neighbourhood, into: Neighbourhood) -> Finding:
        if why := out.failed or into.failed:
            return Finding("neighbourhood", Grade.FAILED, why, "lower [limits] batch, or raise timeout, in its profile")
        nodes = {term for edge in self._edges for term in (edge.subject, edge.object) if isinstance(term, Iri)}
        named = len(nodes & self._graph.named.keys())
        summary = f"edges of <{out.entity.value}>: {len(out.edges)} out, {len(into.edges)} in"
        summary += f"; of {len(nodes)} nodes {named} with a label"
        summary += "".join(f"; {near.cut}" for near in (out, into) if near.cut)
        if not self._edges:
            advice = "does its profile skip too much? See [shape.edges]"
            return Finding("neighbourhood", Grade.WARNING, "none of some entities has an edge", advice)
        if named >= FEW * len(nodes):
            return Finding("neighbourhood", Grade.OK, summary)
        return Finding("neighbourhood", Grade.WARNING, summary, "are there other label predicates? See [shape.labels]")

    async def _plumbing(self) -> Finding:
        """What the edges seen are like: names that count as edges are the commonest fault of a new profile."""
        through = sum(edge.through is not None for edge in self._edges)
        qualified = sum(bool(edge.qualifiers) for edge in self._edges)
        summary = f"{through} of {len(self._edges)} seen lead through a mediator, {qualified} carry qualifiers"
        labels = self._profile.shape.labels
        naming = {*labels.predicates, *labels.aliases, labels.description}
        names = sorted(naming & {edge.relation.value for edge in self._edges})
        if not names:
            return Finding("edges", Grade.OK, summary)
        advice = f"in its profile, add to [shape.edges] skip: {_quoted(names)}"
        return Finding("edges", Grade.WARNING, f"{summary}; names count as edges ({_brief(names)})", advice)

    # ---- the limits ----

    async def _limits(self) -> Finding:
        """As many rows as a walk may ask for; where fewer come, whether there is anything after them."""
        wanted = self._profile.limits.rows + 1
        try:
            rows = len((await self._select.select(build.subjects(wanted), "check")).rows)
        except TruncatedError as error:
            cap = next((int(number) for match in CAP.finditer(error.message) for number in match.groups() if number), 0)
            return self._capped(cap, Grade.WARNING, error.message)
        if rows > wanted:
            summary = f"{rows} rows come when {wanted} are asked for: it does not keep to a LIMIT"
            return Finding("limits", Grade.WARNING, summary, "lower [limits] batch and concurrency in its profile")
        if rows == wanted:
            return Finding("limits", Grade.OK, f"{rows} rows come when as many are asked for")
        if (await self._select.select(build.subjects(1, rows), "check")).rows:
            return self._capped(rows, Grade.FAILED, f"it cuts at {rows} rows silently; {wanted} were asked for")
        return Finding(
            "limits", Grade.OK, f"the whole graph has {rows} triples, fewer than the {wanted} rows asked for"
        )

    def _capped(self, cap: int, grade: Grade, summary: str) -> Finding:
        """Rows + 1 are asked for, and stay below the cap: only then an overflow shows whose rows they are."""
        values = f"rows = {max(1, cap - 2)}, known_cap = {cap}" if cap else "rows, below what the reply says"
        return Finding("limits", grade, summary, f"in its profile: [limits] {values}")


def _speed(times: Sequence[float]) -> Finding:
    """What the latency means for a walk, which waits for two or three requests at each hop."""
    median = statistics.median(times)
    summary = f"{median * 1000:.0f} ms for a small request, the median of {len(times)}"
    if median < SLOW:
        return Finding("latency", Grade.OK, summary)
    return Finding("latency", Grade.WARNING, summary, "raise --timeout, and [limits] timeout in its profile")


def _named(rows: Sequence[Mapping[str, Term]], languages: Sequence[str]) -> list[Match]:
    """Some entities with a label in one of the languages, the best language and predicate first."""
    best: dict[Iri, Ranked] = {}
    for row in rows:
        entity, ranked = row.get("e"), best_label(row, languages)
        # behind the languages come "mul" and no language; a label of none of these has the rank after them
        if isinstance(entity, Iri) and entity.queryable and ranked and ranked[0] < len(languages) + 2:
            best[entity] = min(best.get(entity, ranked), ranked)
    ordered = sorted(best, key=lambda entity: best[entity][:2])
    return [Match(entity, best[entity][2], 1.0) for entity in ordered[:ENTITIES]]


def _quoted(predicates: Sequence[str]) -> str:
    """As they are written into TOML; none of them holds a quotation mark, since they have been asked for."""
    return ", ".join(f'"{predicate}"' for predicate in predicates)


def _brief(predicates: Sequence[str]) -> str:
    return ", ".join(Iri(predicate).local_name for predicate in predicates)


def _failed(name: str, error: EndpointError) -> Finding:
    """The endpoint's error as a finding, with the instant until which it wants to be left alone."""
    until = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=error.wait)
    when = f"; not before {until:%Y-%m-%d %H:%M} UTC" if error.wait else ""
    advice = ADVICE.get(type(error), error.hint)
    return Finding(name, Grade.FAILED, f"{error.message}{when}", advice)


def _verdict(findings: Sequence[Finding]) -> tuple[Grade, str]:
    bad = [finding for finding in findings if finding.grade is not Grade.OK]
    fatal = [finding for finding in bad if finding.grade is Grade.FAILED and finding.name in ESSENTIAL]
    if not any(finding.name == "neighbourhood" for finding in findings):
        fatal = fatal or bad[-1:]
    if fatal:
        return Grade.FAILED, f"not usable: {fatal[0].summary}"
    if bad:
        return Grade.WARNING, f"usable, but look at: {', '.join(finding.name for finding in bad)}"
    return Grade.OK, "ready"
