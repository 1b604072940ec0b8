"""Budgets of questions and of runs, in sessions over an embedded graph with a scripted model."""

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from fedkg.core.answer import Answer, Status, decode_answer
from fedkg.core.events import Planned
from fedkg.errors import SettingsError
from fedkg.llm.base import Capability, Completion, Request
from fedkg.llm.prices import PRICES
from fedkg.session import Session
from fedkg.testing import ScriptedModel
from tests.support.priced_kingdom import KINGDOM, QUESTION, PricedModel, play, price_table


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A kingdom in Turtle."""
    path = tmp_path / "kingdom.ttl"
    path.write_text(KINGDOM)
    return path


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A folder with the prices of the model."""
    return price_table(tmp_path / "models")


def session_of(graph: Path, chat: Any, **options: Any) -> Session:
    """A session that keeps nothing and needs no weights."""
    return Session(graph, chat=chat, embedder="bm25", cache=False, show_all=0, **options)


async def answers_of(session: Session, times: int) -> list[Answer]:
    """The question, so many times."""
    async with session:
        return [await session.ask(QUESTION) for _ in range(times)]


async def test_the_document_has_the_ledger(graph: Path, prices: Path) -> None:
    """Each call with its template, tokens and price; the usage is their sum; all of it survives the document."""
    [answer] = await answers_of(session_of(graph, PricedModel(play), models_dir=str(prices)), 1)
    assert [value.value for value in answer.answers] == ["Strelsau"]
    assert [line.call for line in answer.ledger] == ["plan", "choose", "answer"]
    assert all(line.template and line.model == PricedModel.name for line in answer.ledger)
    assert all(line.price == pytest.approx(0.01) for line in answer.ledger)
    usage = answer.usage
    assert (usage.model_calls, usage.tokens_in, usage.tokens_out, usage.cached) == (3, 1800, 1200, 300)
    assert usage.price == pytest.approx(0.03)
    assert decode_answer(answer.to_json()) == answer


async def test_documents_without_ledger_are_read(graph: Path) -> None:
    """Those of before have no ledger, no cached tokens and no price."""
    [answer] = await answers_of(session_of(graph, ScriptedModel(play)), 1)
    document = json.loads(answer.to_json())
    del document["ledger"]
    for new in ("cached", "price"):
        del document["usage"][new]
    old = decode_answer(json.dumps(document).encode())
    assert (old.ledger, old.usage.cached, old.usage.price) == ((), 0, None)


async def test_without_a_model_everything_is_free(graph: Path) -> None:
    """The local model calls nobody, so its price is known: nothing. A budget in money holds."""
    [answer] = await answers_of(session_of(graph, None, model="local", **{"budget.money": 0.01}), 1)
    assert (answer.status, answer.usage.price, answer.usage.spent, answer.ledger) == (Status.ANSWERED, 0.0, "", ())


@pytest.mark.parametrize(
    ("budget", "spent", "asked"),
    [
        ({"budget.calls": 2}, "calls", 2),
        ({"budget.tokens": 1_500}, "tokens", 2),
        ({"budget.money": 0.005}, "money", 1),
        ({"budget.calls": 3, "budget.tokens": 9_999, "budget.money": 1.0}, "", 3),
        ({"run.calls": 2}, "run calls", 2),
        ({"run.tokens": 1_500}, "run tokens", 2),
        ({"run.money": 0.005}, "run money", 1),
        ({"run.seconds": 1e-6}, "run seconds", 0),
        ({"run.seconds": 1e-6, "budget.seconds": 60}, "run seconds", 0),
        ({"run.seconds": 60, "budget.seconds": 1e-6}, "seconds", 0),
    ],
)
async def test_a_spent_budget_ends_the_question_cleanly(
    graph: Path, prices: Path, budget: dict[str, Any], spent: str, asked: int
) -> None:
    """With a document that names the budget, a warning, and no call beyond it."""
    chat = PricedModel(play)
    [answer] = await answers_of(session_of(graph, chat, models_dir=str(prices), **budget), 1)
    assert (answer.usage.spent, len(chat.asked), len(answer.ledger)) == (spent, asked, asked)
    assert bool(answer.warnings) == bool(spent)
    assert answer.status == (Status.NOT_FOUND if spent else Status.ANSWERED)


async def test_a_run_s_budget_is_shared_by_its_questions(graph: Path, prices: Path) -> None:
    """Seven calls are two answers and a third question that comes to its plan; a fourth one asks the model nothing."""
    chat = PricedModel(play)
    session = session_of(graph, chat, models_dir=str(prices), **{"run.calls": 7})
    answers = await answers_of(session, 4)
    assert [answer.usage.spent for answer in answers] == ["", "", "run calls", "run calls"]
    assert [len(answer.ledger) for answer in answers] == [3, 3, 1, 0]
    assert [answer.status for answer in answers[:2]] == [Status.ANSWERED] * 2
    assert (session.spent, len(chat.asked)) == ("calls", 7)
    usage = session.usage()
    assert (usage.model_calls, usage.tokens_in) == (7, 4_200)
    assert usage.price == pytest.approx(0.07)
    assert usage.requests == sum(answer.usage.requests for answer in answers)


async def test_a_question_s_budget_is_its_own(graph: Path) -> None:
    """What the first question spent is not missing to the second."""
    answers = await answers_of(session_of(graph, ScriptedModel(play), **{"budget.calls": 3}), 2)
    assert [answer.usage.model_calls for answer in answers] == [3, 3]
    assert [answer.usage.spent for answer in answers] == ["", ""]


@pytest.mark.parametrize("budget", ["budget.money", "run.money"])
def test_money_without_a_price_is_refused_before_anything_is_asked(graph: Path, budget: str) -> None:
    """The error says where a price can be written; other budgets need none."""
    chat = ScriptedModel(play, Capability())
    with pytest.raises(SettingsError, match="the price of scripted is not known") as caught:
        session_of(graph, chat, **{budget: 1.0})
    assert PRICES in caught.value.hint
    assert (caught.value.exit_code, chat.asked) == (2, [])
    session_of(graph, chat, **{"budget.tokens": 1})


async def test_unknown_prices_are_none(graph: Path) -> None:
    """Of the calls, of the question and of the session: never 0."""
    session = session_of(graph, ScriptedModel(play))
    [answer] = await answers_of(session, 1)
    assert {line.price for line in answer.ledger} == {None}
    assert (answer.usage.price, session.usage().price) == (None, None)


class Slow(PricedModel):
    """A priced model that lets others go first, and that never comes back from a call named in `stuck`."""

    stuck = ""
    waits: asyncio.Event

    async def complete(self, request: Request) -> Completion:
        """As played, a turn later."""
        await asyncio.sleep(0)
        while request.call == self.stuck:
            self.waits.set()
            await asyncio.Event().wait()
        return await super().complete(request)

    def wait_at(self, call: str) -> asyncio.Event:
        """Set when that call waits."""
        self.stuck, self.waits = call, asyncio.Event()
        return self.waits


async def test_questions_at_once_have_ledgers_of_their_own(graph: Path, prices: Path) -> None:
    """Each document has its own calls and their cost, whatever goes on beside it; the session has all of them."""
    async with session_of(graph, Slow(play), models_dir=str(prices)) as session:
        answers = await asyncio.gather(*(session.ask(QUESTION, kind=kind) for kind in ("entities", "count", None)))
        total = session.usage()
    for answer in answers:
        assert [line.call for line in answer.ledger] == ["plan", "choose", "answer"]
        assert answer.usage.model_calls == 3
        assert answer.usage.price == pytest.approx(sum(line.price or 0 for line in answer.ledger))
    assert [answer.answers[0].value for answer in answers] == ["Strelsau", "1", "Strelsau"]
    assert total.model_calls == 9
    assert total.price == pytest.approx(0.09)


async def test_a_cancelled_question_leaves_the_session_as_it_was(graph: Path, prices: Path) -> None:
    """Its calls were made, and the run's budget knows; the next question has a ledger and a budget of its own."""
    chat = Slow(play)
    waits = chat.wait_at("choose")
    async with session_of(graph, chat, models_dir=str(prices), **{"budget.calls": 3, "run.calls": 5}) as session:
        first = asyncio.create_task(session.ask(QUESTION))
        await waits.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        chat.stuck = ""
        answer = await session.ask(QUESTION)
        assert (answer.status, answer.usage.model_calls, answer.usage.spent) == (Status.ANSWERED, 3, "")
        assert (session.usage().model_calls, session.spent) == (5, "calls")
        last = await session.ask(QUESTION)
    assert (last.usage.spent, last.usage.model_calls, last.status) == ("run calls", 0, Status.NOT_FOUND)


async def test_whoever_stops_watching_ends_the_walk(graph: Path) -> None:
    """A closed iterator makes no further calls, and the session can be asked again."""
    chat = ScriptedModel(play)
    async with session_of(graph, chat) as session:
        async with contextlib.aclosing(session.events(QUESTION)) as events:
            assert isinstance(await anext(events), Planned)
        asked = len(chat.asked)
        assert asked == 1
        assert (await session.ask(QUESTION)).status is Status.ANSWERED
        assert len(chat.asked) == asked + 3
