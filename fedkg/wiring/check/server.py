"""Findings of the server: whether it replies, how fast, in which format, by which engine, and where it cuts."""

import re
import statistics
from collections.abc import Sequence

from fedkg.config.settings import masked
from fedkg.core.terms import Iri, Term
from fedkg.errors import TruncatedError
from fedkg.sparql import build
from fedkg.wiring.check.report import Finding, Grade, Proposal
from fedkg.wiring.check.subject import GENERIC, Subject

__all__ = ["engine", "latency", "limits", "media", "reachable", "speed"]

TIMES = 3
ENTITIES = 5
SLOW = 2.0
"""Seconds of one small request from which on a walk of some hops tries a person's patience."""
CAP = re.compile(r"maxrows: (\d+)|\bat most \((\d+)\)")
"""How the acceptance test tells of a cap: by the header of Virtuoso, and the profile's own known_cap."""


async def reachable(subject: Subject) -> Finding:
    """Whether it replies with any triple."""
    if await _subjects(subject):
        return Finding("reachable", Grade.OK, "it answers")
    return Finding(
        "reachable",
        Grade.FAILED,
        "it answers, but its default graph is empty",
        "are the data in named graphs? The server has to show them as one default graph",
    )


async def latency(subject: Subject) -> Finding:
    """How long small requests take."""
    while len(subject.times) < TIMES:
        await _subjects(subject)
    return speed(subject.times)


def speed(times: Sequence[float]) -> Finding:
    """What the latency means for a walk, which waits for two or three requests at each hop."""
    median = statistics.median(times)
    summary = f"{median * 1000:.0f} ms for a small request, the median of {len(times)}"
    if median < SLOW:
        return Finding("latency", Grade.OK, summary)
    return Finding("latency", Grade.WARNING, summary, "raise --timeout, and [limits] timeout in its profile")


async def media(subject: Subject) -> Finding:
    """The format of results."""
    summary = f"results come as {subject.media}"
    return Finding(
        "format", Grade.OK, summary if "json" in subject.media else f"{summary}, which is read as well as JSON"
    )


async def engine(subject: Subject) -> Finding:
    """Which engine answers: those that the replies have shown until now, beside the one of the profile."""
    engines, declared = subject.select.engines, subject.profile.engine
    summary = ", ".join(f"{engine} at {masked(url)}" if url else engine for url, engine in engines.items())
    if not subject.profile.detects:
        return Finding("engine", Grade.OK, f"{declared}, because its profile says so, whatever it answers like")
    if set(engines.values()) == {GENERIC}:
        return Finding("engine", Grade.OK, "not told by its replies; it is asked in a way that all engines understand")
    other = next(iter(engines.values()))
    if declared == GENERIC or declared in engines.values():
        return Finding("engine", Grade.OK, summary, profile={"engine": other})
    advice = f'in its profile: engine = "{other}"; or detects = false, if that is wrong'
    return Finding("engine", Grade.WARNING, f"{summary}, but its profile says {declared}", advice, {"engine": other})


async def limits(subject: Subject) -> Finding:
    """As many rows as a walk may ask for; where fewer come, whether there is anything after them."""
    wanted = subject.profile.limits.rows + 1
    try:
        rows = len((await subject.ask(build.subjects(wanted))).rows)
    except TruncatedError as error:
        cap = next((int(number) for match in CAP.finditer(error.message) for number in match.groups() if number), 0)
        return _capped(cap, Grade.WARNING, error.message)
    if rows > wanted:
        summary = f"{rows} rows come when {wanted} are asked for: it does not keep to a LIMIT"
        return Finding("limits", Grade.WARNING, summary, "lower [limits] batch and concurrency in its profile")
    if rows == wanted:
        return Finding("limits", Grade.OK, f"{rows} rows come when as many are asked for")
    if (await subject.ask(build.subjects(1, rows))).rows:
        return _capped(rows, Grade.FAILED, f"it cuts at {rows} rows silently; {wanted} were asked for")
    return Finding("limits", Grade.OK, f"the whole graph has {rows} triples, fewer than the {wanted} rows asked for")


def _capped(cap: int, grade: Grade, summary: str) -> Finding:
    """Rows + 1 are asked for, and stay below the cap: only then an overflow shows whose rows they are."""
    proposal: Proposal = {"limits.rows": max(1, cap - 2), "limits.known_cap": cap} if cap else {}
    values = f"rows = {max(1, cap - 2)}, known_cap = {cap}" if cap else "rows, below what the reply says"
    return Finding("limits", grade, summary, f"in its profile: [limits] {values}", proposal)


async def _subjects(subject: Subject) -> list[Term]:
    """Some subjects of the graph; how long that took is kept."""
    reply, seconds = await subject.timed(build.subjects(ENTITIES))
    subject.times.append(seconds)
    subject.media = reply.format
    terms = [term for row in reply.rows if (term := row.get("s"))]
    subject.entities = list(dict.fromkeys(term for term in terms if isinstance(term, Iri) and term.queryable))
    return terms
