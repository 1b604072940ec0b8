"""The HTTP interface, asked in process."""

import hashlib
import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.core.events import Event, Warned
from fedkg.errors import TopicError
from fedkg.serve.clients import Client, digest
from fedkg.transport import embedded
from tests.serve.conftest import MakeDesk, asked

QUESTION = {"question": "Which pet has Ann?", "topics": ["Ann"]}
TOKEN = "a token of some length"


async def test_a_question_is_answered(desk: MakeDesk) -> None:
    """The document, which verifies at the same server."""
    async with asked(desk()) as client:
        reply = await client.post("/ask", json=QUESTION)
        assert reply.status_code == 200
        assert [value["value"] for value in reply.json()["answers"]] == ["Rex"]
        headers = {"content-type": "application/json"}
        checked = await client.post("/verify", content=reply.content, headers=headers)
        assert (checked.json()["holds"], checked.json()["gone"]) == (1, 0)


async def test_the_queries_of_a_proof_are_those_of_its_verification(desk: MakeDesk, pets: Path) -> None:
    """Each names its endpoint; the graph itself, asked so, has every edge."""
    async with asked(desk()) as client:
        reply = await client.post("/ask", json=QUESTION)
        headers = {"content-type": "application/json"}
        [query] = (await client.post("/sparql", content=reply.content, headers=headers)).json()
    assert (query["endpoint"], query["edges"]) == (reply.json()["paths"][0]["edges"][0]["endpoint"], 1)
    rows = (await embedded.load(pets).send(query["query"])).body
    assert b'"value":"0"' in rows.replace(b" ", b"")


async def test_a_walk_is_a_stream_of_events(desk: MakeDesk) -> None:
    """Each called by its kind, the answer last, and where it is kept after it."""
    async with asked(desk(keep=True)) as client:
        reply = await client.post("/ask", json=QUESTION, headers={"accept": "text/event-stream"})
        assert reply.headers["content-type"].startswith("text/event-stream")
        kinds = [line.split()[1] for line in reply.text.splitlines() if line.startswith("event:")]
        assert kinds[:2] == ["Planned", "Linked"]
        assert kinds[-2:] == ["Answered", "Kept"]
        assert "Reached" not in kinds
        address = reply.text.rpartition('"address":"')[2].partition('"')[0]
        assert (await client.get(address)).json()["question"] == QUESTION["question"]


async def test_an_error_in_the_midst_of_a_walk_is_counted(desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once; the stream has the problem as its last event."""
    made = desk()

    async def broken(*_: Any) -> AsyncGenerator[Event, None]:
        yield Warned("one")
        raise TopicError("no Ann")

    monkeypatch.setattr(made, "events", broken)
    async with asked(made) as client:
        reply = await client.post("/ask", json=QUESTION, headers={"accept": "text/event-stream"})
    assert "event: Problem" in reply.text
    assert 'fedkg_problems_total{error="TopicError"} 1.0' in made.metrics.text().decode()


async def test_queries_wait_for_their_turn_too(desk: MakeDesk) -> None:
    """A busy server refuses them as it does everything else."""
    made = desk(at_once=1, waiting=0)
    async with asked(made) as client:
        document = (await client.post("/ask", json=QUESTION)).content
        async with made.gate.turn():
            headers = {"content-type": "application/json"}
            assert (await client.post("/sparql", content=document, headers=headers)).status_code == 429


async def test_a_walk_that_cannot_begin_is_an_error_and_no_stream(desk: MakeDesk) -> None:
    """With the status of its kind."""
    async with asked(desk()) as client:
        reply = await client.post(
            "/ask", json={"question": "Which pet has Bob?", "topics": ["Bob"]}, headers={"accept": "text/event-stream"}
        )
    assert (reply.status_code, reply.json()["error"]) == (404, "TopicError")


async def test_kept_answers_have_addresses(desk: MakeDesk) -> None:
    """The reply names the address; there is nothing at others, and no header where nothing is kept."""
    async with asked(desk(keep=True)) as client:
        reply = await client.post("/ask", json=QUESTION)
        kept = await client.get(reply.headers["location"])
        assert kept.content == reply.content
        assert (await client.get("/answers/" + "x" * 22)).status_code == 404
    async with asked(desk()) as client:
        assert "location" not in (await client.post("/ask", json=QUESTION)).headers
        assert (await client.get(reply.headers["location"])).status_code == 404


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    desk: MakeDesk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without an address; the log says why."""
    made = desk(keep=True)
    async with asked(made) as client:
        (tmp_path / "answers").rmdir()
        reply = await client.post("/ask", json=QUESTION)
    assert (reply.status_code, "location" in reply.headers) == (200, False)
    assert "cannot be kept" in caplog.text


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({}, "question"),
        ({"question": ""}, "length"),
        ({"question": "x" * 4_001}, "length"),
        ({"question": "Who?", "model": "openai:gpt"}, "unknown field `model`"),
        ({"question": "Who?", "topics": ["x"] * 21}, "length"),
        ({"question": "Who?", "kind": "riddle"}, "riddle"),
        ([], "object"),
    ],
)
async def test_a_malformed_question_is_a_400(desk: MakeDesk, body: Any, hint: str) -> None:
    """The reply names the fault; models, endpoints and settings of the caller's own are none of the server's."""
    async with asked(desk()) as client:
        reply = await client.post("/ask", json=body)
    assert reply.status_code == 400
    assert hint in reply.text


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b'{"a":' * 50_000, 400), (b"\xff", 400), (b'{"question":"\\ud800?"}', 400), (b" " * 5_000_000, 413)],
    ids=["cut", "deep", "no UTF-8", "half a character", "long"],
)
async def test_hostile_bodies(desk: MakeDesk, content: bytes, status: int) -> None:
    """Whatever comes, the reply is a problem and the server goes on."""
    async with asked(desk()) as client:
        reply = await client.post("/ask", content=content, headers={"content-type": "application/json"})
        assert (reply.status_code, set(reply.json()) >= {"status", "error", "message"}) == (status, True)
        assert (await client.post("/ask", json=QUESTION)).status_code == 200


async def test_looking_around(desk: MakeDesk) -> None:
    """Entities and edges, with bounds on how many."""
    async with asked(desk()) as client:
        found = await client.get("/search", params={"text": "Ann"})
        assert [match["label"] for match in found.json()] == ["Ann"]
        near = await client.get("/neighbours", params={"entity": "Ann", "direction": "out"})
        assert [edge["object"] for edge in near.json()["edges"]] == ["<http://x/rex>"]
        for bad in ("text=Ann&limit=101", "text=", ""):
            assert (await client.get(f"/search?{bad}")).status_code == 400
        assert (await client.get("/neighbours", params={"entity": "Ann", "direction": "up"})).status_code == 400


async def test_what_is_served_is_told(desk: MakeDesk) -> None:
    """Methods, endpoints, model; health and counters."""
    async with asked(desk()) as client:
        offer = (await client.get("/methods")).json()
        assert (offer["model"], [endpoint["name"] for endpoint in offer["endpoints"]]) == ("local", ["pets.nt"])
        assert (await client.get("/health")).json() == {"status": "ok", "under_way": 0, "waiting": 0}
        assert "fedkg_under_way 0.0" in (await client.get("/metrics")).text


async def test_a_server_that_is_busy_says_when_to_come_back(desk: MakeDesk) -> None:
    """429, with Retry-After in whole seconds; 503 where it is about to end."""
    made = desk(at_once=1, waiting=0)
    async with asked(made) as client:
        async with made.gate.turn():
            reply = await client.post("/ask", json=QUESTION)
            assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
        made.gate.closed = True
        reply = await client.post("/ask", json=QUESTION)
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "2")
        assert (await client.get("/health")).json()["status"] == "draining"


async def test_tokens(desk: MakeDesk) -> None:
    """Without one, or with a wrong one, nothing but the health is told; with it any host name will do."""
    made = desk(clients={"alice": Client(digest(TOKEN))})
    async with asked(made) as client:
        wrong = ("", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {hashlib.sha256(TOKEN.encode()).hexdigest()}")
        for header in wrong:
            for path in ("/methods", "/metrics", "/search?text=Ann", "/answers/" + "x" * 22):
                reply = await client.get(path, headers={"authorization": header})
                assert (reply.status_code, reply.json()["error"]) == (401, "NotAuthorized")
        assert (await client.get("/health")).status_code == 200
        headers = {"authorization": f"Bearer {TOKEN}", "host": "fedkg.example"}
        assert (await client.post("/ask", json=QUESTION, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:8080"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"host": "localhost:8080", "sec-fetch-site": "same-origin"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "127.0.0.2:8080"}, 200),
        ({"host": "192.0.2.1:8080"}, 403),
    ],
    ids=[
        "another name",
        "a name like ours",
        "another site",
        "a sister site",
        "no JSON",
        "own page",
        "IPv6",
        "another loopback address",
        "an address of others",
    ],
)
async def test_without_tokens_other_sites_pages_cannot_ask(
    desk: MakeDesk, headers: dict[str, str], status: int
) -> None:
    """A browser on this machine sends what any page tells it to, under any name that leads here."""
    async with asked(desk()) as client:
        content = b'{"question": "Which pet has Ann?", "topics": ["Ann"]}'
        sent = {"content-type": "application/json", **headers}
        assert (await client.post("/ask", content=content, headers=sent)).status_code == status


async def test_a_fault_of_our_own_tells_nothing(
    desk: MakeDesk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A 500 without details; they are in the log."""
    made = desk()
    monkeypatch.setattr(made, "health", lambda: 1 / 0)
    with caplog.at_level(logging.ERROR):
        async with asked(made) as client:
            reply = await client.get("/health")
    assert (reply.status_code, "ZeroDivision" in reply.text) == (500, False)
    assert "ZeroDivision" in caplog.text
