"""What an examined server cannot do is named, with what helps."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from fedkg.session import Session
from fedkg.wiring.check.report import Grade
from tests.support.served import ServedGraph as Endpoint
from tests.wiring.check.conftest import FOAF, PEOPLE, RDFS, Examine, Serve, findings, people


class Weak(Endpoint):
    """A server that fails over some queries; `spoiled` is its reply then, None for a closed connection."""

    def __init__(self, triples: str, is_hard: Callable[[str], object], spoiled: web.Response | None = None) -> None:
        super().__init__(triples)
        self._is_hard = is_hard
        self._spoiled = spoiled

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post())["query"])
        self.asked.append(query)
        if not self._is_hard(query):
            return await self.reply(query)
        if self._spoiled is None:
            assert request.transport
            request.transport.close()
            return web.Response()
        return web.Response(status=self._spoiled.status, text=self._spoiled.text)


def entities_in(query: str) -> int:
    """How many entities a query for neighbours starts from."""
    return len(set(re.findall(r"<http://ex.org/\d+>", query))) if "?p ?o ?c ?m" in query else 0


@pytest.mark.parametrize("status", [0, 504])
async def test_a_batch_that_is_too_much(serve: Serve, examine: Examine, status: int) -> None:
    """A server that dies of the usual number of entities, or gives up: how many it can take is what is advised."""
    spoiled = web.Response(status=status, text="upstream timed out") if status else None
    endpoint = Weak(people(), lambda query: entities_in(query) > 5, spoiled)
    report = await examine(await serve(endpoint))
    batch = findings(report)["batch"]
    assert (batch.grade, batch.advice) == (Grade.WARNING, "in its profile: [limits] batch = 3")
    assert batch.summary.startswith("12 entities at once are too much: ")
    assert report.verdict == "usable, but look at: batch"
    assert report.proposal["limits.batch"] == 3


@pytest.mark.parametrize(
    ("form", "needed", "advised"),
    [
        ("FILTER", r"FILTER\(\?p (NOT )?IN", "plain"),
        ("VALUES with two language tags", r'VALUES \?l \{ "[^}]*"@en "[^}]*"@de \}', "plain"),
        ("UNION", r"SELECT \?x0 \?x1", "plain"),
    ],
)
async def test_what_the_server_cannot_do(serve: Serve, examine: Examine, form: str, needed: str, advised: str) -> None:
    """Each form of query is tried by itself and named where it fails, with the engine's own words."""
    text = web.Response(status=500, text="attempt to compare literals with differing languages")
    endpoint = Weak(
        people(), lambda query: "LIMIT" in query and "?o ?c" not in query and re.search(needed, query), text
    )
    queries = findings(await examine(await serve(endpoint)))["queries"]
    assert queries.summary.startswith(f"{form} does not work: ")
    assert "differing languages" in queries.summary
    assert queries.advice == f'in its profile: engine = "{advised}", detects = false'


async def test_forms_that_are_ignored(serve: Serve, examine: Examine) -> None:
    """A server that does not reject what it cannot do returns the wrong rows."""

    class Careless(Endpoint):
        async def reply(self, query: str) -> web.StreamResponse:
            return await super().reply(re.sub(r"FILTER\(\?p IN \([^)]*\)\)", "", query))

    queries = findings(await examine(await serve(Careless(people()))))["queries"]
    assert queries.summary == "FILTER does not work: a condition leaves out nothing"


async def test_the_cause_is_told_and_not_the_pause(serve: Serve, examine: Examine) -> None:
    """A server that falls silent is left alone; what is reported after that is its silence, without a contact."""

    class Silent(Endpoint):
        async def reply(self, query: str) -> web.StreamResponse:
            if "VALUES" in query:
                await asyncio.Event().wait()
            return await super().reply(query)

    report = await examine(await serve(Silent(people())), seconds=0.3)
    failed = [finding for finding in report.findings if finding.grade is Grade.FAILED]
    assert failed
    for finding in failed:
        assert "no whole reply within" in finding.summary
        assert "contact" not in finding.advice


@pytest.mark.parametrize(("contact", "named"), [("", True), ("me@example.org", False)])
@pytest.mark.parametrize("status", [429, 503])
async def test_a_contact_is_advised_where_it_can_help(
    serve: Serve, tmp_path: Path, contact: str, named: bool, status: int
) -> None:
    """An operator who refuses may want to know who asks; an overloaded server does not care."""

    async def refuse(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text="no", headers={"Retry-After": "3600"})

    async with Session(await serve(refuse), cache_dir=str(tmp_path), contact=contact, embedder="bm25") as session:
        [report] = await session.check()
    assert ("FEDKG_CONTACT" in report.findings[-1].advice) is (named and status == 429)


async def test_generic_is_not_advised_for_generic(serve: Serve, tmp_path: Path) -> None:
    """A query that is rejected under the generic profile is not helped by the generic profile."""
    endpoint = Weak(people(), lambda query: RDFS in query, web.Response(status=400, text="syntax error at 'label'"))
    async with Session(await serve(endpoint), cache_dir=str(tmp_path), embedder="bm25") as session:
        [report] = await session.check()
    advice = findings(report)["labels"].advice
    assert 'engine = "plain"' in advice
    assert "`generic`" not in advice


async def test_predicates_of_one_local_name(serve: Serve, tmp_path: Path) -> None:
    """Two predicates that are both called name are told apart by their IRIs."""
    async with Session(await serve(Endpoint(people())), cache_dir=str(tmp_path), embedder="bm25") as session:
        [report] = await session.check()
    summary = findings(report)["labels"].summary
    assert "<http://schema.org/name>" in summary
    assert f"<{FOAF}>" in summary
    assert ", name," not in summary


@pytest.mark.parametrize(("skip", "grade"), [("http://ex.org/likes", Grade.OK), ("http://ex.org/knows", Grade.WARNING)])
async def test_what_the_profile_hides(serve: Serve, examine: Examine, skip: str, grade: Grade) -> None:
    """How many edges `skip` leaves out, and of which predicate; a warning where these are the most."""
    likes = "".join(f"<http://ex.org/{n}> <http://ex.org/likes> <http://ex.org/{n}x> .\n" for n in PEOPLE)
    report = await examine(await serve(Endpoint(people() + likes)), skip=f'{RDFS}", "{skip}')
    hidden = findings(report)["hidden"]
    assert hidden.grade is grade
    assert skip.rpartition("/")[2] in hidden.summary
