"""What clients ask of a desk, within its limits."""

import asyncio
import contextlib
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.core.answer import Status
from fedkg.core.events import Answered, Planned
from fedkg.errors import (
    DocumentError,
    EndpointTimeoutError,
    GraphFileError,
    MethodError,
    OverLimitError,
    ProfileError,
    SessionClosedError,
    TopicError,
)
from fedkg.serve import desk as desks
from fedkg.serve.clients import ANYONE, Client
from fedkg.serve.records import AskRequest
from tests.serve.conftest import MakeDesk, Stalled
from tests.support.priced_kingdom import KINGDOM, PricedModel, play, price_table
from tests.support.priced_kingdom import QUESTION as CAPITAL

QUESTION = AskRequest("Which pet has Ann?", ("Ann",))


async def test_a_question_is_answered_and_booked(desk: MakeDesk) -> None:
    """The answer is the session's; the metrics and the client's book have its cost."""
    made = desk(clients={"alice": Client("0" * 64, seconds=100.0)})
    async with made.session:
        answer = await made.answer(QUESTION, "alice")
        assert [value.value for value in answer.answers] == ["Rex"]
        assert 'status="answered"} 1.0' in made.metrics.text().decode()
        assert booked(made, "alice") > 0


def booked(made: desks.Desk, client: str) -> float:
    """The seconds of its share of today that the client has taken."""
    return 100.0 - (made.clients.seconds_left(client) or 0.0)


async def test_a_question_ends_with_its_clients_money(desk: MakeDesk, tmp_path: Path) -> None:
    """Once what it costs is the client's share no further call is made; the error says until when."""
    (tmp_path / "kingdom.ttl").write_text(KINGDOM)
    chat = PricedModel(play)
    clients = {"alice": Client("0" * 64, money=0.015)}
    models = str(price_table(tmp_path / "models"))
    made = desk(tmp_path / "kingdom.ttl", chat=chat, clients=clients, models_dir=models, show_all=0)
    async with made.session:
        with pytest.raises(OverLimitError, match=r"alice has spent its 0\.015 dollars of today") as caught:
            await made.answer(AskRequest(CAPITAL), "alice")
        assert len(chat.asked) == 2
        assert caught.value.wait > 0
        with pytest.raises(OverLimitError):
            await made.search("Ruritania", 5, "alice")


async def test_a_question_ends_with_its_clients_time(desk: MakeDesk, pets: Path) -> None:
    """In the midst of a request, which is given up."""
    stalled = Stalled(pets)
    made = desk(transport=stalled, clients={"alice": Client("0" * 64, seconds=0.01)})
    async with made.session:
        with pytest.raises(OverLimitError, match="seconds of today"):
            await made.answer(QUESTION, "alice")
        assert stalled.given_up.is_set()


async def test_the_walk_is_told_as_it_happens(desk: MakeDesk) -> None:
    """The events of the session, from the plan to the answer."""
    made = desk()
    async with made.session:
        events = [event async for event in made.events(QUESTION, ANYONE)]
    assert isinstance(events[0], Planned)
    assert isinstance(events[-1], Answered)


async def test_only_offered_methods_are_asked(desk: MakeDesk) -> None:
    """One that fedkg has and the server was not started with is no method of this server."""
    made = desk(offered=("kaping",))
    async with made.session:
        answer = await made.answer(msgspec.structs.replace(QUESTION, method="kaping"), ANYONE)
        assert (answer.method, answer.settings["method"]) == ("kaping", "kaping")
        with pytest.raises(MethodError, match="no method of this server") as caught:
            await made.answer(msgspec.structs.replace(QUESTION, method="gcr"), ANYONE)
        assert "fidelis, kaping" in caught.value.hint
        assert [method.name for method in (await made.offer()).methods] == ["fidelis", "kaping"]


def test_a_method_that_cannot_be_served_is_said_at_the_start(desk: MakeDesk) -> None:
    """`local` is no language model, which cot needs."""
    with pytest.raises(MethodError, match="needs a language model"):
        desk(offered=("cot",))


async def test_some_of_the_endpoints_can_be_asked(desk: MakeDesk, pets: Path) -> None:
    """The others are not; the document names those that were, and a name that is none is bad input."""
    made = desk(pets, "sample")
    async with made.session:
        names = [endpoint.name for endpoint in (await made.offer()).endpoints]
        assert names == ["pets.nt", "sample"]
        there = await made.answer(msgspec.structs.replace(QUESTION, endpoints=("pets.nt",)), ANYONE)
        assert (there.status, there.settings["endpoints"]) == (Status.ANSWERED, ["pets.nt"])
        with pytest.raises(TopicError):
            await made.answer(msgspec.structs.replace(QUESTION, endpoints=("sample",)), ANYONE)
        with pytest.raises(ProfileError, match="no endpoint called 'nix'"):
            await made.answer(msgspec.structs.replace(QUESTION, endpoints=("nix",)), ANYONE)


async def test_a_question_that_fails_costs_what_it_cost(desk: MakeDesk) -> None:
    """An error after requests is booked as well."""
    made = desk(clients={"alice": Client("0" * 64, seconds=100.0)})
    async with made.session:
        with pytest.raises(TopicError):
            await made.answer(AskRequest("Which pet has Bob?", ("Bob",)), "alice")
        assert booked(made, "alice") > 0


async def test_a_question_whose_client_leaves_makes_room(desk: MakeDesk, pets: Path) -> None:
    """Closing the walk ends what is asked of the endpoint, and the turn."""
    stalled = Stalled(pets)
    made = desk(transport=stalled, at_once=1, waiting=0)
    async with made.session:
        asking = asyncio.create_task(made.answer(QUESTION, ANYONE))
        await stalled.asked.wait()
        assert made.health().under_way == 1
        with pytest.raises(OverLimitError):
            await made.search("Ann", 5, ANYONE)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        assert made.health().under_way == 0
        assert stalled.given_up.is_set()
        stalled.go.set()
        assert (await made.answer(QUESTION, ANYONE)).status is Status.ANSWERED


async def test_looking_around(desk: MakeDesk) -> None:
    """Entities by name, their edges, and how many were left out."""
    made = desk()
    async with made.session:
        assert [match.label for match in await made.search("Ann", 5, ANYONE)] == ["Ann"]
        document = await made.neighbours("Ann", ("out",), 1, ANYONE)
        assert [edge.label(edge.object) for edge in document.edges] == ["Rex"]
        assert document.more == 0


async def test_looking_around_takes_no_longer_than_it_may(
    desk: MakeDesk, pets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that stalls is an error in time."""
    monkeypatch.setattr(desks, "LOOKING", 0.05)
    made = desk(transport=Stalled(pets))
    async with made.session:
        with pytest.raises(EndpointTimeoutError):
            await made.search("Ann", 5, ANYONE)


async def test_an_answer_is_verified_at_the_servers_endpoints_only(desk: MakeDesk) -> None:
    """Who wrote the document does not decide whom the server asks."""
    made = desk()
    async with made.session:
        answer = await made.answer(QUESTION, ANYONE)
        document = await made.verify(answer, ANYONE)
        assert (document.holds, document.gone, document.proven) == (1, 0, True)
        path = answer.paths[0]
        forged = msgspec.structs.replace(path.edges[0], endpoint="http://10.0.0.1/sparql")
        elsewhere = msgspec.structs.replace(answer, paths=(msgspec.structs.replace(path, edges=(forged,)),))
        with pytest.raises(ProfileError, match="does not ask"):
            await made.verify(elsewhere, ANYONE)
        with pytest.raises(DocumentError, match="version 99"):
            await made.verify(msgspec.structs.replace(answer, version=99), ANYONE)


async def test_a_client_that_leaves_in_the_midst_pays(desk: MakeDesk) -> None:
    """What was spent until then is booked; looking around is booked as well."""
    made = desk(clients={"alice": Client("0" * 64, seconds=100.0), "bob": Client("1" * 64, seconds=100.0)})
    async with made.session:
        async with contextlib.aclosing(made.events(QUESTION, "alice")) as walk:
            await anext(walk)
        assert booked(made, "alice") > 0
        await made.search("Ann", 5, "bob")
        assert booked(made, "bob") > 0


async def test_a_graph_that_cannot_be_opened_is_the_commands_error(desk: MakeDesk, tmp_path: Path) -> None:
    """Before anything listens; the session is closed."""
    (tmp_path / "bad.ttl").write_text("this is no Turtle")
    made = desk(tmp_path / "bad.ttl")
    with pytest.raises(GraphFileError):
        await made.open()
    with pytest.raises(SessionClosedError):
        await made.session.graph()
