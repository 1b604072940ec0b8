"""Findings of what the server can do: the forms of query that a walk is made of, and a batch of the usual size."""

from collections.abc import Awaitable, Callable
from functools import partial

from fedkg.config.dialects import find
from fedkg.core.terms import BOTH, Direction, Iri, Literal
from fedkg.errors import EndpointError, RefusedError
from fedkg.sparql import build, probes
from fedkg.wiring.check.report import Finding, Grade, Proposal
from fedkg.wiring.check.sample import candidates
from fedkg.wiring.check.subject import Subject

__all__ = ["batch", "queries"]

PLAIN = "plain"
"""The dialect whose queries need least."""
SLOWEST = 10.0
"""Seconds of one batch from which on smaller ones are better: a hop waits for it."""

Probe = Callable[[Subject, Iri], Awaitable[str]]
"""Tries one form of query on an entity: what is wrong with the reply, "" for nothing."""


async def queries(subject: Subject) -> Finding:
    """Whether FILTER, VALUES with two language tags and UNION do what they should, each tried by itself."""
    tried: dict[str, Probe] = {"FILTER": _filter, "VALUES with two language tags": _values, "UNION": _union}
    entity = next(iter([*subject.chosen, *subject.entities]), None)
    if entity is None:
        return Finding("queries", Grade.OK, "not tried: no entity with an IRI was seen")
    wrong: dict[str, str] = {}
    for form, probe in tried.items():
        try:
            wrong[form] = await probe(subject, entity)
        except RefusedError:
            raise
        except EndpointError as error:
            wrong[form] = error.message
    bad = {form: why for form, why in wrong.items() if why}
    if not bad:
        return Finding("queries", Grade.OK, f"{', '.join(tried)}: understood")
    summary = "; ".join(f"{form} does not work: {why}" for form, why in bad.items())
    proposal: Proposal = {"engine": PLAIN, "detects": False} if find(PLAIN) and subject.profile.engine != PLAIN else {}
    advice = f'in its profile: engine = "{PLAIN}", detects = false' if proposal else "name topics by IRI: --topic IRI"
    return Finding("queries", Grade.WARNING, summary, advice, proposal)


async def batch(subject: Subject) -> Finding:
    """As many entities at once as a walk asks for, both ways; where that is too much, how many are not."""
    most = min(subject.profile.limits.batch, build.room(subject.profile.shape))
    entities = list(dict.fromkeys([*subject.chosen, *await candidates(subject)]))[:most]
    if not entities:
        return Finding("batch", Grade.OK, "not tried: no entity with an IRI was seen")
    parts, fits, slow = [], len(entities), False
    for way in BOTH:
        size, seconds, rows = await _largest(subject, entities, way)
        fits, slow = min(fits, size), slow or seconds > _patience(subject)
        parts.append(f"{way} {rows:,} rows in {seconds:.2f} s" if size else f"{way} not even one")
    summary = f"{fits or 1} entities at once: {', '.join(parts)}"
    if fits < len(entities):
        return _too_much(subject, len(entities), fits, summary)
    if slow:
        value = max(1, fits // 4)
        return Finding(
            "batch", Grade.WARNING, summary, f"in its profile: [limits] batch = {value}", {"limits.batch": value}
        )
    return Finding("batch", Grade.OK, summary)


def _too_much(subject: Subject, asked: int, fits: int, summary: str) -> Finding:
    why = f": {subject.cause.message}" if subject.cause else ""
    whole = f"{asked} entities at once are too much{why}; {summary}"
    if fits:
        advice = f"in its profile: [limits] batch = {fits}"
        return Finding("batch", Grade.WARNING, whole, advice, {"limits.batch": fits})
    return Finding("batch", Grade.FAILED, whole, "no batch is answered: it can hardly be walked")


async def _largest(subject: Subject, entities: list[Iri], way: Direction) -> tuple[int, float, int]:
    """How many entities at once are answered, 0 for none, with the seconds and rows of that request.

    Each try is a quarter of the one before. Raises the error of an endpoint that is left alone by now.
    """
    size = len(entities)
    while size:
        query = partial(build.neighbours, entities[:size], way, subject.profile.shape, subject.profile.limits.rows + 1)
        try:
            reply, seconds = await subject.timed(query)
            return size, seconds, len(reply.rows)
        except EndpointError as error:
            if isinstance(error, RefusedError):
                break
            size = size // 4 or (1 if size > 1 else 0)
    return 0, 0.0, 0


def _patience(subject: Subject) -> float:
    return min(SLOWEST, subject.profile.limits.timeout / 2)


async def _filter(subject: Subject, entity: Iri) -> str:
    """A condition that no triple meets leaves nothing, one that all meet leaves something."""
    none, some = probes.filtered(entity, keep=False), probes.filtered(entity, keep=True)
    if (await subject.ask(none)).rows:
        return "a condition leaves out nothing"
    return "" if (await subject.ask(some)).rows else "a condition leaves out what meets it"


async def _values(subject: Subject, _: Iri) -> str:
    """A label is found among two of different languages."""
    known = next(iter(subject.terms.items()), None)
    if known is None:
        return ""
    entity, (predicate, label) = known
    other = Literal(label.value, language="de" if label.language != "de" else "en")
    rows = (await subject.ask(probes.labelled(predicate, [label, other]))).rows
    return "" if any("e" in row for row in rows) else f"the label of <{entity.value}> is not found"


async def _union(subject: Subject, entity: Iri) -> str:
    """Both branches have their row."""
    bound = {name for row in (await subject.ask(probes.united(entity))).rows for name in row}
    return "" if {"x0", "x1"} <= bound else "a branch is missing"
