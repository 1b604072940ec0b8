"""The profile that a check recommends, as TOML text that a person can read and change."""

import json
from collections.abc import Sequence

from fedkg.config import profiles
from fedkg.config.settings import masked
from fedkg.wiring.check.report import EndpointReport, Grade, Proposal

__all__ = ["proposed"]

BASE = "generic"
WIDE = 120


def proposed(url: str, name: str, report: EndpointReport) -> str:
    """The text of a profile of that name for the endpoint at `url`; what stays to be looked at stands in comments.

    Raises ProfileError where the URL is none that a profile may hold.
    """
    proposal: Proposal = {"like": BASE, **report.proposal}
    if proposal["like"] != BASE:
        # a known shape brings its own labels and edges
        proposal = {key: value for key, value in proposal.items() if not key.startswith("shape.")}
    lines = [*_comments(report), f"title = {json.dumps(name)}", f"urls = {json.dumps([url])}"]
    text = "\n".join([*lines, *_tables(proposal)]) + "\n"
    profiles.parse(text, name, name)
    return text


def _comments(report: EndpointReport) -> list[str]:
    """What the check found that a person should look at."""
    bad = (finding for finding in report.findings if finding.grade is not Grade.OK and not finding.profile)
    return [
        f"# {_one_line(masked(report.endpoint))}: {_one_line(report.verdict)}",
        *(f"# {finding.name}: {_one_line(f'{finding.summary}; {finding.advice}')}" for finding in bad),
    ]


def _tables(proposal: Proposal) -> list[str]:
    """The keys by table, those of no table first, each as TOML."""
    tables: dict[str, list[str]] = {"": []}
    for key, value in proposal.items():
        table, _, last = key.rpartition(".")
        tables.setdefault(table, []).append(f"{last} = {_toml(value)}")
    first = tables.pop("")
    return [*first, *(line for table, lines in tables.items() for line in ("", f"[{table}]", *lines))]


def _toml(value: str | float | Sequence[str]) -> str:
    """A value as TOML writes it, which for these is as JSON does; a long list has a line for each."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= WIDE or not isinstance(value, list):
        return text
    return "\n".join(["[", *(f"  {json.dumps(part, ensure_ascii=False)}," for part in value), "]"])


def _one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:300]
