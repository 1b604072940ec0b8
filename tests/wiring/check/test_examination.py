"""The check before healthy endpoints and sick ones, all of them real servers on loopback."""

import asyncio
import datetime as dt
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from aiohttp import web

from fedkg.errors import InputError
from fedkg.session import Session
from fedkg.wiring.check.report import Grade
from fedkg.wiring.check.server import speed
from tests.support.served import JSON, XML
from tests.support.served import ServedGraph as Endpoint
from tests.wiring.check.conftest import FOAF, PEOPLE, RDFS, Examine, Serve, bad, findings, people


class Capped(Endpoint):
    """It gives ten rows and no more; `tells` says whether it says so, as Virtuoso does."""

    tells = False

    async def reply(self, query: str) -> web.StreamResponse:
        result = json.loads(self.result(query))
        rows = result["results"]["bindings"]
        headers = {"X-SPARQL-MaxRows": "10"} if self.tells and len(rows) > 10 else {}
        result["results"]["bindings"] = rows[:10]
        return web.Response(body=json.dumps(result), content_type=JSON, headers=headers)


async def test_a_healthy_server_is_ready(
    oxigraph: Callable[..., AbstractContextManager[str]], tmp_path: Path, examine: Examine
) -> None:
    """A real server: everything is found within two dozen requests, and nothing has to be done."""
    (tmp_path / "people.nt").write_text(people())
    with oxigraph([tmp_path / "people.nt"]) as url:
        report = await examine(url)
    by_name = findings(report)
    assert (report.grade, report.verdict, bad(report)) == (Grade.OK, "ready", [])
    assert all(finding.summary and not finding.advice for finding in report.findings)
    assert by_name["engine"].summary == f"oxigraph at {url}"
    assert by_name["format"].summary == f"results come as {JSON}"
    assert by_name["labels"].summary.startswith("by label; such as 'Person ")
    assert by_name["search"].summary.startswith("'Person ")
    assert by_name["limits"].summary == "the whole graph has 25 triples, fewer than the 61 rows asked for"
    assert by_name["neighbourhood"].summary.endswith(": 1 out, 1 in; of 3 nodes 3 with a label")
    assert report.labelled
    assert [edge.direction for edge in report.sample] == ["out", "in"]
    assert {edge.labels["<http://ex.org/knows>"] for edge in report.sample} == {"knows"}
    assert report.latency
    assert report.latency <= report.seconds
    assert report.requests <= 22


async def test_a_graph_that_names_its_things_otherwise(serve: Serve, examine: Examine) -> None:
    """The predicates in use are proposed, as a profile has them; the graph can be walked as it is."""
    report = await examine(await serve(Endpoint(people(FOAF))))
    labels = findings(report)["labels"]
    assert (labels.grade, labels.advice) == (
        Grade.WARNING,
        f'in its profile: [shape.labels] predicates = ["{FOAF}"]',
    )
    assert bad(report) == ["labels", "neighbourhood", "edges", "search"]
    assert report.verdict == "usable, but look at: labels, neighbourhood, edges, search"
    assert report.sample
    better = await examine(await serve(Endpoint(people(FOAF))), FOAF)
    assert better.verdict == "ready"


async def test_a_graph_without_names(serve: Serve, examine: Examine) -> None:
    """Where nothing known names anything, that is said, and the neighbourhood is that of any entity."""
    report = await examine(await serve(Endpoint("<http://ex.org/a> <http://ex.org/b> <http://ex.org/c> .")))
    assert "nor another that is known" in findings(report)["labels"].summary
    assert report.labelled is None
    assert "edges of <http://ex.org/a>: 1 out" in findings(report)["neighbourhood"].summary


async def test_labels_in_another_language(serve: Serve, examine: Examine) -> None:
    """The languages that are there are named."""
    report = await examine(await serve(Endpoint(people(tag="@fr"))))
    assert findings(report)["labels"].advice == "name one of these languages with --lang: fr"


async def test_names_that_count_as_edges(serve: Serve, examine: Examine) -> None:
    """A profile that has forgotten to skip its label predicate is told so."""
    report = await examine(await serve(Endpoint(people())), skip="http://ex.org/other")
    edges = findings(report)["edges"]
    assert (edges.grade, edges.advice) == (Grade.WARNING, f'in its profile, add to [shape.edges] skip: "{RDFS}"')


async def test_a_silent_cap_is_found_out(serve: Serve, examine: Examine) -> None:
    """Fewer rows than were asked for, and more behind them: the profile has to know of it, and then all is well."""
    report = await examine(await serve(Capped(people())))
    limits = findings(report)["limits"]
    assert limits.grade is Grade.FAILED
    assert limits.summary == "it cuts at 10 rows silently; 61 were asked for"
    assert limits.advice == "in its profile: [limits] rows = 8, known_cap = 10"
    assert report.verdict == "usable, but look at: limits"


async def test_a_cap_that_is_told(serve: Serve, examine: Examine) -> None:
    """What the reply itself says of its cap is repeated, with what follows for the profile."""
    endpoint = Capped(people())
    endpoint.tells = True
    limits = findings(await examine(await serve(endpoint)))["limits"]
    assert (limits.grade, limits.advice) == (Grade.WARNING, "in its profile: [limits] rows = 8, known_cap = 10")
    assert "x-sparql-maxrows: 10" in limits.summary


async def test_results_in_xml_only(serve: Serve, examine: Examine) -> None:
    """An endpoint that does not care what is accepted is as good as another one."""
    report = await examine(await serve(Endpoint(people(), XML)))
    assert findings(report)["format"].summary == f"results come as {XML}, which is read as well as JSON"
    assert report.verdict == "ready"


async def test_a_web_page_is_no_endpoint(serve: Serve, examine: Examine) -> None:
    """One request shows it; the title is repeated, and what may be wrong."""

    async def page(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<html><title>Query \x1b[31mform</title></html>", content_type="text/html")

    report = await examine(await serve(page))
    [finding] = report.findings
    assert (report.grade, finding.name) == (Grade.FAILED, "reachable")
    assert report.verdict.startswith("not usable: mine answered 200")
    assert "Query" in finding.summary
    assert finding.advice == "is the URL the SPARQL endpoint itself, not its web form?"


async def test_nobody_there(examine: Examine, unused_tcp_port: int) -> None:
    """A server that is down is not asked for anything else."""
    report = await examine(f"http://127.0.0.1:{unused_tcp_port}/sparql")
    assert [finding.name for finding in report.findings] == ["reachable"]
    assert "no connection" in report.verdict
    assert (report.requests, report.latency, report.sample) == (1, None, ())


async def test_a_server_that_does_not_reply(serve: Serve, examine: Examine) -> None:
    """Who does not manage the smallest request in time is not asked for a larger one."""
    asked: list[web.BaseRequest] = []

    async def stall(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request)
        await asyncio.Event().wait()
        raise AssertionError("nobody waits so long")

    report = await examine(await serve(stall), seconds=0.2)
    assert report.verdict.startswith("not usable: ")
    assert report.verdict.endswith("no whole reply within 0.2 s")
    assert "timeout" in report.findings[0].advice
    assert len(asked) <= 1  # none, where the machine took longer than that to connect


@pytest.mark.parametrize(("times", "grade"), [([0.1, 0.2, 9.0], Grade.OK), ([2.5, 0.1, 3.0], Grade.WARNING)])
def test_latency_is_a_median(times: list[float], grade: Grade) -> None:
    """One slow request of three is no slow endpoint."""
    assert speed(times).grade is grade


async def test_a_ban_is_told_with_its_end(serve: Serve, examine: Examine) -> None:
    """It is repeated with the instant until which nothing helps, and the second time the endpoint is not even asked."""
    until = dt.datetime.now(dt.UTC) + dt.timedelta(hours=2)
    asked: list[web.BaseRequest] = []

    async def ban(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request)
        return web.Response(status=403, text=f"You have been banned until {until.isoformat()}, please wait")

    url = await serve(ban)
    for reason in ("answered 403", "left alone for another"):
        report = await examine(url)
        assert report.grade is Grade.FAILED
        assert reason in report.verdict
        assert f"not before {until:%Y-%m-%d %H:}" in report.verdict
    assert len(asked) == 1


async def test_one_bad_finding_hides_no_other(serve: Serve, examine: Examine) -> None:
    """An endpoint that refuses one kind of query is examined to the end."""

    class Picky(Endpoint):
        async def reply(self, query: str) -> web.StreamResponse:
            if RDFS in query and "VALUES" not in query:
                return web.Response(status=400, text="syntax error at 'label'")
            return await super().reply(query)

    report = await examine(await serve(Picky(people())))
    by_name = findings(report)
    assert by_name["labels"].grade is Grade.FAILED
    assert "syntax error" in by_name["labels"].summary
    assert by_name["neighbourhood"].grade is Grade.OK
    assert by_name["limits"].grade is Grade.OK
    assert report.verdict.startswith("usable, but look at: labels")


async def test_an_endpoint_that_bans_in_the_middle(serve: Serve, examine: Examine) -> None:
    """From then on nothing more is asked, and the endpoint is not usable."""

    class Strict(Endpoint):
        async def reply(self, query: str) -> web.StreamResponse:
            return web.Response(status=403, text="You are banned.") if "VALUES" in query else await super().reply(query)

    endpoint = Strict(people())
    report = await examine(await serve(endpoint))
    assert report.findings[-1].grade is Grade.FAILED
    assert report.findings[-1].name == "neighbourhood"
    assert report.verdict.startswith("not usable: mine answered 403")
    assert sum("VALUES" in query for query in endpoint.asked) == 1


async def test_an_empty_default_graph(serve: Serve, examine: Examine) -> None:
    """Valid replies without a row are no endpoint that could answer anything."""
    report = await examine(await serve(Endpoint("")))
    assert report.verdict == "not usable: it answers, but its default graph is empty"


@pytest.mark.parametrize(
    ("status", "text", "media", "advice"),
    [
        (401, "who are you?", "text/plain", "does the endpoint need a user name and a password?"),
        (200, '{"head":{"vars":["s"]},"results":{"bindings":[', JSON, "smaller batches"),
    ],
)
async def test_who_answers_nothing_is_not_asked_for_more(  # noqa: PLR0917  # fixtures and parameters
    serve: Serve, examine: Examine, status: int, text: str, media: str, advice: str
) -> None:
    """Where the smallest request fails there is nothing to say of the graph, nor of the form of results."""

    async def reply(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=media)

    report = await examine(await serve(reply))
    [finding] = report.findings
    assert report.verdict == f"not usable: {finding.summary}"
    assert advice in finding.advice


async def test_a_graph_of_blank_nodes(serve: Serve, examine: Examine) -> None:
    """It is not empty, but nobody can walk it."""
    report = await examine(await serve(Endpoint("_:a <http://ex.org/b> _:c .")))
    assert findings(report)["reachable"].grade is Grade.OK
    assert report.verdict == "not usable: no entity with an IRI was seen"


async def test_an_endpoint_that_says_the_same_whatever_it_is_asked(serve: Serve, examine: Examine) -> None:
    """More rows than were asked for, and none that is an edge."""

    class Deaf(Endpoint):
        async def reply(self, query: str) -> web.StreamResponse:
            return await super().reply(
                "SELECT ?s ?p ?o { VALUES ?n { " + "1 " * 70 + "} BIND(<http://ex.org/a> AS ?s) }"
            )

    by_name = findings(await examine(await serve(Deaf(""))))
    assert (by_name["limits"].grade, by_name["neighbourhood"].grade) == (Grade.WARNING, Grade.WARNING)
    assert "does not keep to a LIMIT" in by_name["limits"].summary
    assert by_name["neighbourhood"].summary == "none of some entities has an edge"


async def test_a_known_shape_at_an_unknown_place(serve: Serve) -> None:
    """A bare URL whose graph looks like Wikidata's: the shape is named, and how to say so."""
    wikidata = "<http://www.wikidata.org/entity/P31> <http://wikiba.se/ontology#directClaim> <http://ex.org/knows> .\n"
    url = await serve(Endpoint(people() + wikidata))
    for spec, grade in ((url, Grade.WARNING), (f"wikidata@{url}", Grade.OK)):
        async with Session(spec, embedder="bm25") as session:
            [report] = await session.check()
        shape = findings(report)["shape"]
        assert shape.grade is grade
        assert "wikidata" in shape.summary
    assert shape.summary == "as the profile wikidata says"


async def test_nothing_is_kept(serve: Serve, examine: Examine) -> None:
    """Every examination asks the endpoint itself, whatever an earlier one has seen."""
    endpoint = Endpoint(people())
    url = await serve(endpoint)
    first, second = await examine(url), await examine(url)
    assert 0 < second.requests <= first.requests
    told = ({finding.name: finding.summary for finding in report.findings[4:-1]} for report in (first, second))
    assert next(told) == next(told)
    assert len(endpoint.asked) == first.requests + second.requests


async def test_offline_mode_asks_nobody(serve: Serve) -> None:
    """An examination from the cache would be none."""
    endpoint = Endpoint(people())
    async with Session(await serve(endpoint), embedder="bm25", mode="offline") as session:
        with pytest.raises(InputError, match="offline"):
            await session.check()
    assert endpoint.asked == []


WIKIBASE = "http://wikiba.se/ontology#"


def described(number: int) -> str:
    """Relations with labels, which are described like those of Wikidata and like those of an ontology, and a class."""
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    like_wikidata = "".join(
        f'<http://ex.org/P{n}> <{RDFS}> "property {n}"@en .\n'
        f"<http://ex.org/P{n}> <{WIKIBASE}directClaim> <http://ex.org/p{n}> .\n"
        for n in range(number)
    )
    like_owl = "".join(
        f'<http://ex.org/0p{n}> <{RDFS}> "relation {n}"@en .\n'
        f"<http://ex.org/0p{n}> <http://www.w3.org/2000/01/rdf-schema#domain> <http://ex.org/0Person> .\n"
        for n in range(number)
    )
    typed = "".join(f"<http://ex.org/{n}> <{rdf}type> <http://ex.org/0Person> .\n" for n in PEOPLE)
    return like_wikidata + like_owl + typed + f'<http://ex.org/0Person> <{RDFS}> "Person"@en .\n'


async def test_relations_and_classes_are_no_sample(serve: Serve, examine: Examine) -> None:
    """What the engine returns first is the schema: there is nothing wrong with that, and other entities are sampled."""
    report = await examine(await serve(Endpoint(described(9) + people())))
    by_name = findings(report)
    assert (report.verdict, bad(report)) == ("ready", [])
    assert by_name["search"].summary.startswith("'Person ")
    assert re.search(r"edges of <http://ex.org/\d+>", by_name["neighbourhood"].summary)


async def test_words_are_found_on_virtuoso(
    virtuoso: Callable[..., AbstractContextManager[str]], tmp_path: Path, examine: Examine
) -> None:
    """Where Virtuoso can search labels by words, that is what is found, and a batch of the usual size is tried."""
    (tmp_path / "people.nt").write_text(described(9) + people())
    with virtuoso([tmp_path / "people.nt"], full_text=True) as url:
        report = await examine(url)
    by_name = findings(report)
    assert "is found by its words as well" in by_name["look-up"].summary
    assert re.match(r"\d+ entities at once: out [\d,]+ rows in .* s, in [\d,]+ rows in ", by_name["batch"].summary)
    assert by_name["queries"].grade is Grade.OK
