"""Which engine answers: real ones, and the others by what they are known to write."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.dialects import DIALECTS, Engine
from fedkg.sparql.detect import PROBE, detect
from fedkg.sparql.reply import EndpointReply
from fedkg.transport import embedded
from fedkg.transport.http import HttpTransport

JSON, PLAIN = "application/sparql-results+json", "text/plain"
GOOD = b'{"head":{"vars":["s"]},"results":{"bindings":[]}}'
QLEVER = {"query": PROBE, "status": "ERROR", "resultsize": 0, "time": {}, "exception": "Invalid", "metadata": {}}
STACK = b"SPARQL-QUERY: queryStr=SELECT\njava.util.concurrent.ExecutionException: x\n\tat com.bigdata.rdf.sail.webapp\n"
VIRTUOSO_XML = b'<sparql><head/>\n <results distinct="false" ordered="true">\n </results></sparql>'
SPARQLJS = (
    b"Parse error on line 1:\n...CT ?s WHERE { ?s ?p }\n-----------------------^\nExpecting 'IRIREF', 'VAR', got '}'"
)
TRAQULA = b"""\
Parse error on line 1
SELECT ?s WHERE { ?s ?p }
------------------------^
Expecting: expecting at least one iteration which starts with one of these possible Token sequences::
  <[Var1] ,[Var2] ,[IriRef]>
but found: '}'
"""
MARKS: list[tuple[str, Engine, int, str, bytes, dict[str, str]]] = [
    ("virtuoso, server", "virtuoso", 200, JSON, GOOD, {"server": "Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu"}),
    ("virtuoso behind a proxy", "virtuoso", 400, PLAIN, b"Virtuoso 37000 Error SP030: SPARQL compiler",
     {"server": "nginx"}),
    ("virtuoso, partial", "virtuoso", 206, JSON, GOOD, {"x-sql-state": "S1TAT"}),
    ("virtuoso, cap", "virtuoso", 200, JSON, GOOD, {"x-sparql-maxrows": "10000"}),
    ("virtuoso, its XML", "virtuoso", 200, "application/sparql-results+xml", VIRTUOSO_XML, {}),
    ("virtuoso, its JSON", "virtuoso", 200, JSON,
     b'{ "head": { "link": [], "vars": ["s"] },\n "results": { "distinct": false, "bindings": [] } }', {}),
    ("oxigraph, server", "oxigraph", 200, JSON, GOOD, {"server": "Oxigraph/0.5.13"}),
    ("oxigraph behind a proxy", "oxigraph", 400, PLAIN, b"error at 1:25: expected one of [_]", {}),
    ("oxigraph, cut", "oxigraph", 200, JSON, GOOD[:-3] + b"The SPARQL operation has been cancelled", {}),
    ("qlever, error", "qlever", 400, "application/json", json.dumps(QLEVER).encode(), {}),
    ("qlever, timeout", "qlever", 429, "application/json", json.dumps(QLEVER).encode(), {}),
    ("qlever, export", "qlever", 200, JSON, GOOD[:-3] + b"\n !!!!>># An error has occurred", {}),
    ("qlever, own media type", "qlever", 200, "application/qlever-results+json", b"{}", {}),
    ("qlever, meta", "qlever", 200, JSON, GOOD[:-1] + b',"meta":{"query-time-ms":3,"result-size-total":0}}', {}),
    ("rdflib-endpoint, error", "rdflib", 400, "application/json",
     b'{"message":"Error executing the SPARQL query on the RDFLib Graph: Expected SelectQuery, found"}', {}),
    ("comunica, its meta data", "comunica", 200, JSON, GOOD[:-1] + b',\n"metadata": { "httpRequests": 0 }}\n', {}),
    ("comunica 2 to 4, error", "comunica", 400, PLAIN, SPARQLJS, {}),
    ("comunica 5, error", "comunica", 400, PLAIN, TRAQULA, {}),
    ("comunica, its actors", "comunica", 400, PLAIN,
     b"urn:comunica:default:rdf-update-hypermedia/mediators#main mediated over all rejecting actors:", {}),
    ("blazegraph, header", "blazegraph", 200, JSON, GOOD, {"x-bigdata-max-query-millis": "60000"}),
    ("blazegraph, error", "blazegraph", 400, PLAIN, STACK, {}),
    ("blazegraph, cut", "blazegraph", 200, JSON, GOOD[:-3] + STACK, {}),
    ("blazegraph, its classes", "blazegraph", 500, PLAIN, b"Caused by: com.bigdata.rdf.sparql.ast.QuadsException", {}),
]  # fmt: skip


def reply(status: int, kind: str, body: bytes, headers: dict[str, str]) -> EndpointReply:
    """A reply as a transport gives it."""
    return EndpointReply(status, {"content-type": kind, **headers}, body)


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark[0].replace(" ", "-"))
def test_every_mark_of_an_engine_is_known(mark: tuple[str, Engine, int, str, bytes, dict[str, str]]) -> None:
    """Headers, errors and the frames of results each give an engine away."""
    _, engine, status, kind, body, headers = mark
    assert detect(reply(status, kind, body, headers)) == engine
    assert engine in DIALECTS


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (200, JSON, GOOD),
        (200, JSON, b""),
        (502, "text/html", b"<html><title>502 Proxy Error</title></html>"),
        (400, PLAIN, b"Parse error: line 1"),
        (400, PLAIN, b'Parse error: \nSELECT ?s WHERE { ?s ?p }\nEncountered " "}" "} "" at line 1, column 25.'),
        (400, PLAIN, b'MALFORMED QUERY: Encountered " "}" "} "" at line 1, column 25.\nWas expecting one of:\n'),
        (400, PLAIN, b"Parse error on line 1: unexpected '}'\nExpecting a variable"),
        (400, "application/json", b'{"exception": "x"}'),
        (400, "application/json", b'["query", "status", "exception"]'),
        (500, "application/json", b"{" * 9_000),
    ],
)
def test_most_replies_say_nothing(status: int, kind: str, body: bytes) -> None:
    """What any engine or gateway might have written tells none from another."""
    assert detect(reply(status, kind, body, {"server": "nginx/1.22"})) is None


QUOTED = [
    STACK[60:],
    b"Virtuoso 37000 Error",
    b"error at 1:2: expected",
    json.dumps(QLEVER).encode(),
    b"urn:comunica:x",
]


@given(st.sampled_from(QUOTED))
def test_data_is_no_sign_of_an_engine(text: bytes) -> None:
    """A literal may quote the error of any engine."""
    value = json.dumps(text.decode())
    body = f'{{"head":{{"vars":["s"]}},"results":{{"bindings":[{{"s":{{"type":"literal","value":{value}}}}}]}}}}'
    assert detect(reply(200, JSON, body.encode(), {})) is None


@given(
    st.binary(max_size=300), st.sampled_from([200, 400, 500]), st.sampled_from([JSON, PLAIN, "application/json", ""])
)
def test_any_reply_can_be_looked_at(body: bytes, status: int, kind: str) -> None:
    """Whatever bytes arrive, the answer is an engine or none."""
    assert detect(reply(status, kind, body, {})) in (None, *DIALECTS)


@pytest.fixture(scope="module", params=["oxigraph", "virtuoso", "comunica"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str]]:
    """Each engine that has a server here, with the URL of one."""
    file = tmp_path_factory.mktemp("one") / "one.nt"
    file.write_text("<http://x/a> <http://x/p> <http://x/b> .\n")
    serve: Callable[..., AbstractContextManager[str]] = request.getfixturevalue(request.param)
    with serve([file]) as url:
        yield request.param, url


async def test_real_servers_are_recognised_with_and_without_their_headers(
    served: tuple[Engine, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server says who it is in every reply, and in the text of its error when a proxy has removed its headers."""
    monkeypatch.setattr("urllib.request.getproxies", dict)
    engine, url = served
    transport = HttpTransport(url, timeout=20)
    good, wrong = await transport.send("SELECT ?s { ?s <http://x/p> ?o }"), await transport.send(PROBE)
    await transport.close()
    assert [detect(good), detect(wrong)] == [engine, engine]
    assert wrong.status == 400
    bare = EndpointReply(wrong.status, {"content-type": wrong.content_type}, wrong.body)
    assert detect(bare) == engine


async def test_the_engine_in_process_is_recognised(tmp_path: Path) -> None:
    """A graph from a file is served by Oxigraph, which its first reply says."""
    file = tmp_path / "one.nt"
    file.write_text("<http://x/a> <http://x/p> <http://x/b> .\n")
    here = embedded.load(file)
    assert [detect(await here.send(query)) for query in (PROBE, "ASK { ?s ?p ?o }")] == ["oxigraph", "oxigraph"]
