"""Very many questions at once: all end well, in turns, and each with its own counts and time."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

import fedkg.session
from fedkg.core.answer import Answer
from fedkg.session import Session
from tests.support.pets import PETS, ask_about_pets, session_of


def owners(number: int) -> str:
    """A graph of so many people with a pet each."""
    return "".join(
        PETS.replace("x/ann", f"x/owner{each}")
        .replace('"Ann"', f'"Owner {each}"')
        .replace("x/rex", f"x/pet{each}")
        .replace('"Rex"', f'"Pet {each}"')
        for each in range(number)
    )


async def ask_all(session: Session, number: int) -> Sequence[Answer]:
    """One question about each of them, all at once."""
    questions = (session.ask("Which pet has the owner?", [f"http://x/owner{each}"]) for each in range(number))
    return await asyncio.gather(*questions)


@pytest.mark.parametrize("number", [20, pytest.param(500, marks=pytest.mark.exhaustive)])
async def test_all_end_well(pets: Path, number: int) -> None:
    """Each of very many questions has its own answer, its own requests, and no gap, warning or spent budget."""
    pets.write_text(owners(number), encoding="utf-8")
    async with session_of(pets, cache=False) as session:
        answers = await ask_all(session, number)
        asked = session.meter.usage().requests
    assert [answer.answers[0].value for answer in answers] == [f"Pet {each}" for each in range(number)]
    assert sum(answer.usage.requests for answer in answers) <= asked
    assert not any(answer.gaps or answer.warnings or answer.usage.spent for answer in answers)


async def test_some_at_a_time(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many are on their way at once; the time of the others begins with their turn."""
    monkeypatch.setattr(fedkg.session, "AT_ONCE", 2)
    pets.write_text(owners(6), encoding="utf-8")
    under_way, most = set[int](), 0

    async def ask(session: Session, number: int) -> None:
        def on_event(_: object) -> None:
            nonlocal most
            under_way.add(number)
            most = max(most, len(under_way))

        await session.ask("Which pet has the owner?", [f"http://x/owner{number}"], on_event)
        under_way.discard(number)

    async with session_of(pets) as session:
        await asyncio.gather(*(ask(session, number) for number in range(6)))
    assert most == 2


async def test_who_waits_for_a_turn_may_give_up(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is cancelled before its turn takes none."""
    monkeypatch.setattr(fedkg.session, "AT_ONCE", 1)
    async with session_of(pets) as session:
        asked = [asyncio.create_task(ask_about_pets(session)) for _ in range(3)]
        await asyncio.sleep(0)
        asked[1].cancel()
        results = await asyncio.gather(*asked, return_exceptions=True)
    assert results[0] == results[2] == ["Rex"]
    assert isinstance(results[1], asyncio.CancelledError)
