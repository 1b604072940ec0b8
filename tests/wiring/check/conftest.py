"""An endpoint that is examined: a graph of people on loopback, and the report about it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from fedkg.session import Session
from fedkg.wiring.check.report import EndpointReport, Finding, Grade

RDFS = "http://www.w3.org/2000/01/rdf-schema#label"
FOAF = "http://xmlns.com/foaf/0.1/name"
PEOPLE = range(12)
MINE = """
urls = ["{url}"]
[limits]
rows = 60
retries = 0
timeout = {timeout}
[shape.labels]
predicates = ["{label}"]
[shape.edges]
skip = ["{skip}"]
"""
Serve = Callable[..., Awaitable[str]]
Examine = Callable[..., Awaitable[EndpointReport]]


def people(label: str = RDFS, tag: str = "@en") -> str:
    """Twelve people with names, each of whom knows the next one, as N-Triples."""
    named = (f'<http://ex.org/{n}> <{label}> "Person {n}"{tag} .' for n in PEOPLE)
    known = (f"<http://ex.org/{n}> <http://ex.org/knows> <http://ex.org/{(n + 1) % len(PEOPLE)}> ." for n in PEOPLE)
    return "\n".join([*named, *known]) + f'\n<http://ex.org/knows> <{label}> "knows"{tag} .\n'


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Serves an endpoint; its URL. The servers stop with the test."""
    running: list[web.ServerRunner] = []

    async def start(handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> str:
        server = web.ServerRunner(web.Server(handler), shutdown_timeout=0.1)
        running.append(server)
        await server.setup()
        await web.TCPSite(server, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{server.addresses[0][1]}/sparql"

    yield start
    for server in running:
        await server.cleanup()


@pytest.fixture
def examine(tmp_path: Path) -> Examine:
    """The check's report of a URL, under a profile with few rows, no retries, and one label predicate."""

    async def check(url: str, label: str = RDFS, skip: str = "", seconds: float = 20.0) -> EndpointReport:
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / "mine.toml").write_text(
            MINE.format(url=url, label=label, skip=skip or label, timeout=seconds)
        )
        async with Session("mine", profiles_dir=str(tmp_path / "own"), embedder="bm25") as session:
            [report] = await session.check()
        return report

    return check


def findings(report: EndpointReport) -> dict[str, Finding]:
    """The findings by name."""
    return {finding.name: finding for finding in report.findings}


def bad(report: EndpointReport) -> list[str]:
    """The names of the findings that are not good."""
    return [finding.name for finding in report.findings if finding.grade is not Grade.OK]
