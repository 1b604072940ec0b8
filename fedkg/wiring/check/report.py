"""What a check finds: findings with their grades, the report of them all, and its verdict."""

import datetime as dt
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from fedkg.core.answer import PathEdge
from fedkg.core.question import Match
from fedkg.core.terms import Iri
from fedkg.errors import EndpointError, EndpointTimeoutError, QueryRejectedError, RefusedError, UnreachableError

__all__ = ["EndpointReport", "Finding", "Grade", "Proposal", "failure", "listed", "quoted", "verdict"]

ESSENTIAL = {"reachable", "neighbourhood"}
REFUSALS = {401, 403, 429}
"""Statuses by which an operator refuses a client; others tell of a server that cannot."""

Proposal = dict[str, str | int | float | list[str]]
"""Keys of a profile, dotted, with the values that a finding recommends."""


class Grade(StrEnum):
    """How good a finding is, or an endpoint as a whole."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at: what was seen, in a sentence, and for what is not good what to do.

    `profile` has what a profile should say, by dotted keys: `limits.rows`.
    """

    name: str
    grade: Grade
    summary: str = msgspec.field(name="said")
    advice: str = ""
    profile: Proposal = {}


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

    @property
    def proposal(self) -> Proposal:
        """What all findings together recommend for the profile."""
        return {key: value for finding in self.findings for key, value in finding.profile.items()}


def verdict(findings: Sequence[Finding]) -> tuple[Grade, str]:
    """The grade of the endpoint, and the sentence that says so."""
    bad = [finding for finding in findings if finding.grade is not Grade.OK]
    fatal = [finding for finding in bad if finding.grade is Grade.FAILED and finding.name in ESSENTIAL]
    if not any(finding.name == "neighbourhood" for finding in findings):
        fatal = fatal or bad[-1:]
    if fatal:
        return Grade.FAILED, f"not usable: {fatal[0].summary}"
    if bad:
        return Grade.WARNING, f"usable, but look at: {', '.join(finding.name for finding in bad)}"
    return Grade.OK, "ready"


def failure(name: str, error: EndpointError, cause: EndpointError | None, *, engine: str, contact: str) -> Finding:
    """The endpoint's error as a finding, with the instant until which it wants to be left alone.

    `cause` is what the check met before the endpoint was left alone: that is what is wrong, and not the pause.
    """
    shown = cause if cause and _is_pause(error) else error
    until = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=error.wait)
    when = f"; not before {until:%Y-%m-%d %H:%M} UTC" if error.wait else ""
    return Finding(name, Grade.FAILED, f"{shown.message}{when}", _advice(shown, engine, contact))


def _is_pause(error: EndpointError) -> bool:
    """Whether nothing was asked, since the endpoint is left alone for a while."""
    return isinstance(error, RefusedError) and not error.status


def _advice(error: EndpointError, engine: str, contact: str) -> str:
    """What helps after that error, and nothing that cannot; errors of a class of their own have their own hint."""
    if type(error) is EndpointTimeoutError:
        return "raise [limits] timeout in its profile, if it is known to be slow"
    if type(error) is UnreachableError:
        return "check the URL and the network, and whether the server is running"
    if _is_pause(error):
        return "wait until then; `fedkg endpoints forget SPEC` asks again at once, for when the reason is gone"
    if type(error) is RefusedError:
        named = ", and set a contact (FEDKG_CONTACT)" if error.status in REFUSALS and not contact else ""
        return f"wait until then{named}; `fedkg endpoints forget SPEC` asks again at once"
    if isinstance(error, QueryRejectedError) and error.hint == QueryRejectedError.default_hint:
        return _dialect(engine)
    return error.hint


def _dialect(engine: str) -> str:
    """Which other way of asking there is where a query is rejected."""
    if engine == "plain":
        return "the server does not understand this query, and there is no simpler form of it"
    return 'try engine = "plain", detects = false in its profile: its queries are simpler'


def quoted(predicates: Sequence[str]) -> str:
    """As they are written into TOML; none of them holds a quotation mark, since they have been asked for."""
    return ", ".join(f'"{predicate}"' for predicate in predicates)


def listed(predicates: Sequence[str]) -> str:
    """Their local names; where two have the same one, whole IRIs."""
    names = [Iri(predicate).local_name for predicate in predicates]
    return ", ".join(
        name if names.count(name) == 1 else f"<{predicate}>" for name, predicate in zip(names, predicates, strict=True)
    )
