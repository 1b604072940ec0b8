"""The check of an endpoint: two dozen small requests, what they show finding by finding, and what to do about it.

Each finding is looked for by itself, so one that is bad does not hide the others; an endpoint that is gone, or wants to
be left alone, is not asked any further. What may be too much for a server is asked last.
"""

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

from fedkg.config.profiles import Profile
from fedkg.errors import EndpointError
from fedkg.wiring.check import abilities, graph, server
from fedkg.wiring.check.report import EndpointReport, Finding, failure, verdict
from fedkg.wiring.check.sample import GONE
from fedkg.wiring.check.subject import Subject, subject_of
from fedkg.wiring.endpoints import ConnectedEndpoint

__all__ = ["EndpointCheck"]

LOOKS: dict[str, Callable[[Subject], Awaitable[Finding]]] = {
    "reachable": server.reachable,
    "latency": server.latency,
    "format": server.media,
    "engine": server.engine,
    "shape": graph.shape,
    "labels": graph.labels,
    "neighbourhood": graph.neighbourhood,
    "edges": graph.edges,
    "hidden": graph.hidden,
    "search": graph.search,
    "look-up": graph.lookup,
    "limits": server.limits,
    "queries": abilities.queries,
    "batch": abilities.batch,
}
"""What is looked at, in this order: a finding may use what those before it have seen."""


class EndpointCheck:
    """Examines one endpoint; `known` are the profiles whose shape the graph may turn out to have.

    `contact` is what the User-Agent names. Raises InputError in offline mode.
    """

    def __init__(
        self, member: ConnectedEndpoint, languages: Sequence[str], known: Sequence[Profile] = (), contact: str = ""
    ) -> None:
        self._subject = subject_of(member, languages, known, contact)

    async def report(self) -> EndpointReport:
        """Everything that there is to find."""
        subject = self._subject
        before, started = subject.select.meter.usage(), time.monotonic()
        findings = await self._findings()
        requests, seconds = subject.select.meter.since(before).requests, time.monotonic() - started
        latency = statistics.median(subject.times) if subject.times else None
        labelled = next(iter(subject.named), None)
        names, result = (subject.name, subject.profile.name), verdict(findings)
        return EndpointReport(*names, *result, findings, latency, labelled, subject.sample, requests, seconds)

    async def _findings(self) -> tuple[Finding, ...]:
        subject = self._subject
        findings: list[Finding] = []
        for name, look in LOOKS.items():
            try:
                findings.append(await look(subject))
            except EndpointError as error:
                subject.note(error)
                engine, contact = subject.engine, subject.contact
                findings.append(failure(name, error, subject.cause, engine=engine, contact=contact))
                if isinstance(error, GONE) or not subject.times:
                    break
        return tuple(findings)
