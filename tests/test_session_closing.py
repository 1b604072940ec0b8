"""Closing: at once, whatever is under way in whichever thread, and nothing is left behind."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from fedkg.embed.base import Matrix
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import InputError, SessionClosedError
from fedkg.testing import HashingEmbedder
from fedkg.transport import embedded
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.wiring.endpoints import ConnectedEndpoint
from tests.support.pets import ask_about_pets, session_of


def test_a_closed_session_says_so(pets: Path) -> None:
    """Closing twice is fine; asking afterwards is an InputError, not one of the event loop."""
    session = session_of(pets)
    assert session.run(ask_about_pets(session)) == ["Rex"]
    session.close()
    session.close()
    with pytest.raises(InputError, match="session is closed"):
        session.run(ask_about_pets(session))
    with pytest.raises(InputError, match="session is closed"):
        asyncio.run(ask_about_pets(session))


async def test_closing_inside_a_loop_frees_what_needs_none(pets: Path) -> None:
    """The cache's file is closed at once, connections with `aclose`."""
    session = session_of(pets)
    await ask_about_pets(session)
    with pytest.raises(InputError, match="running already") as caught:
        session.close()
    assert "aclose" in caught.value.hint
    with pytest.raises(InputError, match="session is closed"):
        await session.graph()
    await session.aclose()


STALLED = 60.0
"""Seconds that the endpoint below would take; whoever waits for it, or for a retry, takes more than a third of it."""


async def stalled(_: web.Request) -> web.Response:
    """An endpoint that never replies in time."""
    await asyncio.sleep(STALLED)
    return web.Response()


@pytest.fixture
def stalling() -> Iterator[str]:
    """The URL of an endpoint that never replies, served by a thread of its own."""
    started, stop = threading.Event(), asyncio.Event()
    urls: list[str] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/sparql", stalled)
        async with TestServer(app) as server:
            urls.append(str(server.make_url("/sparql")))
            loops.append(asyncio.get_running_loop())
            started.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    started.wait(20)
    yield urls[0]
    loops[0].call_soon_threadsafe(stop.set)
    thread.join()


async def test_closing_ends_what_is_under_way(stalling: str) -> None:
    """Questions and searches of the same loop end with an error that says so, at once."""
    session = session_of(stalling)
    under_way = [asyncio.create_task(work) for work in (ask_about_pets(session), session.search("Ann"))]
    await asyncio.sleep(0.2)
    started = time.monotonic()
    await session.aclose()
    results = await asyncio.gather(*under_way, return_exceptions=True)
    assert [type(result) for result in results] == [SessionClosedError] * 2
    assert time.monotonic() - started < STALLED / 3


async def test_a_question_that_is_looked_at_in_steps_ends_too(pets: Path) -> None:
    """Closed between two events, the walk does not go on."""
    session = session_of(pets)
    events = session.events("Which pet has Ann?", ["Ann"])
    await anext(events)
    await session.aclose()
    with pytest.raises(SessionClosedError, match="session is closed"):
        await anext(events)


def test_closing_from_another_thread_ends_what_is_under_way(stalling: str) -> None:
    """`run` raises at once in the thread that asks, and `close` has not waited for the endpoint."""
    session = session_of(stalling)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            session.run(ask_about_pets(session))
        except InputError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    started = time.monotonic()
    session.close()
    thread.join(STALLED / 3)
    assert time.monotonic() - started < STALLED / 3
    assert [type(error) for error in errors] == [SessionClosedError]


def test_two_threads_with_loops_of_their_own_use_one_session(pets: Path) -> None:
    """Each asks in its own event loop, at the same time; both get their answers, and one graph is opened."""
    session = session_of(pets, cache=False)

    async def several(_: int) -> list[list[str]]:
        return [await ask_about_pets(session) for _ in range(3)]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: asyncio.run(several(number)), range(4)))
    session.close()
    assert answers == [[["Rex"]] * 3] * 4


def test_several_threads_run_on_one_session(pets: Path) -> None:
    """`run` may be called from as many threads as one likes, also after those before have ended."""
    with session_of(pets) as session:
        for _ in range(2):
            with ThreadPoolExecutor(4) as pool:
                answers = list(pool.map(lambda _: session.run(ask_about_pets(session)), range(8)))
            assert answers == [["Rex"]] * 8
        usage = session.usage()
    assert usage.requests == sum(usage.by_kind.values()) > 0


class Stuck(HashingEmbedder):
    """An embedder that takes until it is released, as one that loads its weights may."""

    begun, released = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors, late."""
        self.begun.set()
        assert self.released.wait(60), "closing has waited for the embedder"
        return super().embed(texts)


async def test_closing_waits_for_no_embedder(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a thread has begun to embed cannot be stopped, and is not waited for."""
    monkeypatch.setattr("fedkg.wiring.adapters.HashingEmbedder", Stuck)
    session = session_of(pets, embedder="hashing")
    question = asyncio.create_task(ask_about_pets(session))
    assert await asyncio.to_thread(Stuck.begun.wait, 60)
    try:
        async with asyncio.timeout(30):
            await session.aclose()
            with pytest.raises(SessionClosedError):
                await question
    finally:
        Stuck.released.set()


@contextmanager
def no_collection() -> Iterator[None]:
    """Nothing is collected inside: what is gone there was held by no cycle."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def transports(members: Sequence[ConnectedEndpoint]) -> list[Transport]:
    """What the members are asked through."""
    return [
        replica.transport
        for member in members
        if isinstance(member.select, EndpointClient)
        for replica in member.select._replicas
    ]


@pytest.mark.parametrize("several", [False, True], ids=["one", "federated"])
async def test_no_cycle_keeps_a_graph_alive(pets: Path, several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After closing the graph, its transports and the question's run are gone at once, though the session is there."""
    runs: list[weakref.ref[QuestionRun]] = []
    made = QuestionRun.__post_init__

    def noted(run: QuestionRun) -> None:
        runs.append(weakref.ref(run))
        made(run)

    monkeypatch.setattr(QuestionRun, "__post_init__", noted)
    with no_collection():
        session = session_of(pets, "sample") if several else session_of(pets)
        assert await ask_about_pets(session) == ["Rex"]
        assert [run() for run in runs] == [None]
        graph = await session.graph()
        members = session._services.members
        watched: list[weakref.ref[Any]] = [weakref.ref(graph), *(weakref.ref(member.graph) for member in members)]
        watched += [weakref.ref(member.select) for member in members]
        watched += [weakref.ref(transport) for transport in transports(members)]
        del graph, members
        await session.aclose()
        assert [ref() for ref in watched] == [None] * len(watched)


def test_no_cycle_keeps_a_graph_alive_after_close(pets: Path) -> None:
    """The same for callers that are not asynchronous."""
    with no_collection():
        session = session_of(pets)
        session.run(ask_about_pets(session))
        watched = [weakref.ref(member.graph) for member in session._services.members]
        session.close()
        assert [ref() for ref in watched] == [None]


async def test_no_cycle_keeps_a_transport_to_the_web_alive(pets: Path) -> None:
    """Nor the connections to an endpoint."""
    transport = embedded.load(pets)

    async def answer(request: web.Request) -> web.Response:
        reply = await transport.send(str((await request.post())["query"]))
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app = web.Application()
    app.router.add_post("/sparql", answer)
    async with TestServer(app) as server:
        with no_collection():
            session = session_of(str(server.make_url("/sparql")))
            assert await ask_about_pets(session) == ["Rex"]
            members = session._services.members
            watched: list[weakref.ref[Any]] = [weakref.ref(member.graph) for member in members]
            watched += [weakref.ref(transport) for transport in transports(members)]
            del members
            await session.aclose()
            assert [ref() for ref in watched] == [None, None]


async def test_a_session_is_gone_when_nobody_has_it(pets: Path) -> None:
    """It is part of no cycle itself."""
    with no_collection():
        session = session_of(pets)
        await ask_about_pets(session)
        await session.aclose()
        gone = weakref.ref(session)
        del session
        assert gone() is None


async def test_closing_waits_for_nothing_else(pets: Path) -> None:
    """After a question with vectors, whose labels are kept, no task is left that it could have waited for."""
    async with session_of(pets, embedder="hashing") as session:
        await ask_about_pets(session)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await session.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("part", ["store", "similarity", "host_registry", "transcript"])
async def test_nothing_is_opened_after_closing(pets: Path, tmp_path: Path, part: str) -> None:
    """Nobody would close it again."""
    folder, transcript = tmp_path / "own", tmp_path / "calls.jsonl"
    session = session_of(pets, cache_dir=str(folder), transcript=transcript)
    await session.aclose()
    with pytest.raises(SessionClosedError, match="session is closed"):
        getattr(session, part)
    with pytest.raises(SessionClosedError, match="session is closed"):
        await session.forget()
    assert not folder.exists()
    assert not transcript.exists()


async def test_what_was_open_may_be_looked_at_after_closing(pets: Path) -> None:
    """It is the same object, freed."""
    session = session_of(pets)
    store, transcript = session.store, session.transcript
    await session.aclose()
    assert (session.store, session.transcript) == (store, transcript)
