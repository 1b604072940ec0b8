"""Questions answered by hand: the list is sound, a run becomes a pack, and the pack replays with nobody there."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, get_args

import msgspec
import pyoxigraph
import pytest

from eval.quality import desk, operator_draw
from eval.quality.desk import Asked, Where
from eval.support.operator_templates import Operator
from fedkg.core.answer import Answer, AnswerValue, Status
from tests.support.extras import needs

ROOT = Path(__file__).resolve().parents[2]
PACKS = sorted((ROOT / "cache").glob("*.fedkg"))
PREFIXES = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
"""
PETS = """
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/ann> <http://x/has_pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
"""
PLAN = {
    "keywords": ["pet"],
    "planning_steps": ["Ann → has pet → animal"],
    "declarative_statement": "*placeholder* is the pet of Ann.",
    "kind": "entities",
    "mentions": ["Ann"],
}
PICK = {"picks": [{"offer": 1, "ends": []}], "decides": True, "more": False}
ANSWER = {"paths": [{"path": 1, "ends": []}], "verdict": ""}
Served = Callable[..., AbstractContextManager[str]]


@pytest.fixture
def by_hand() -> Iterator[tuple[str, list[Any]]]:
    """A server of the OpenAI wire whose replies are given in turn: its base URL and what is left of the replies."""
    replies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            choice = {"message": {"role": "assistant", "content": json.dumps(replies.pop(0))}, "finish_reason": "stop"}
            data = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", replies
        server.shutdown()
        thread.join()


@needs("openai", "openai")
async def test_a_run_and_its_pack(tmp_path: Path, oxigraph: Served, by_hand: tuple[str, list[Any]]) -> None:
    """What was answered once is answered alike from the pack, with neither endpoint nor model there."""
    url, replies = by_hand
    replies += [ANSWER]
    (tmp_path / "pets.nt").write_text(PETS)
    where, there = (Where("m", url, str(tmp_path / name)) for name in ("here", "there"))
    with oxigraph([tmp_path / "pets.nt"]) as endpoint:
        asked = [Asked("pets-1", "pets", f"generic@{endpoint}", "Which pet does Ann have?", ("Rex",))]
        outcomes = await desk.ask(asked, where)
    assert replies == []
    assert [(outcome.verdict, outcome.answers, outcome.grounded, outcome.calls) for outcome in outcomes] == [
        ("right", ("Rex",), 1, 1)
    ]
    assert await desk.ask(asked, where, offline=True), "what the pack is made of"
    assert desk.packed(where, 1, tmp_path / "pets.fedkg") > 0
    assert _said(await desk.replay(tmp_path / "pets.fedkg", asked, there)) == _said(outcomes)


async def test_a_reply_that_nobody_wrote(tmp_path: Path) -> None:
    """What is not in the folder is no answer offline, and the other questions go on."""
    where = Where("m", "http://127.0.0.1:9/v1", str(tmp_path))
    asked = [
        Asked(name, "pets", "generic@http://127.0.0.1:9/query", "Which pet does Ann have?", ("Rex",)) for name in "ab"
    ]
    outcomes = await desk.ask(asked, where, offline=True)
    assert [outcome.verdict.partition(":")[0] for outcome in outcomes] == ["error", "error"]


def test_a_port_that_is_taken_is_refused(tmp_path: Path, oxigraph: Served) -> None:
    """Whoever listens there already is not taken for the graph: its answers would be kept as the graph's."""
    (tmp_path / "pets.nt").write_text(PETS)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OSError, match="in use"), oxigraph([tmp_path / "pets.nt"], port=other.getsockname()[1]):
            pass


def test_the_list_is_sound() -> None:
    """Every question is there once, of a known graph, with a file or with its own text, gold answers and query."""
    listed = desk.read(ROOT / "eval" / "desk.toml")
    assert len({question.id for question in listed.questions}) == len(listed.questions) == 20
    assert {question.graph for question in listed.questions} == set(listed.graphs)
    assert all(
        question.file or (question.question and question.gold and question.sparql) for question in listed.questions
    )


def test_the_questions_of_the_sets(data: Path) -> None:
    """Yes/no and claims with their verdict, choices with four options of which one is right."""
    asked = desk.questions(desk.read(ROOT / "eval" / "desk.toml"), data)
    judged = [question for question in asked if question.set == "CR-LT"]
    assert sorted(question.gold for question in judged) == [("no",)] * 5 + [("yes",)] * 5
    choices = [question for question in asked if question.set == "MedQA"]
    assert [len(question.options) for question in choices] == [4] * 5
    assert all(question.kind == "choice" and question.gold[0] in question.options for question in choices)


def test_questions_with_topics(data: Path) -> None:
    """The questions of CWQ and WebQSP start at the topics that their sets give, and ask for entities."""
    listed = desk.read(ROOT / "eval" / "desk_conditions.toml")
    asked = desk.questions(listed, data)
    assert len({question.id for question in asked}) == len(asked) == 10
    assert all(question.kind == "entities" and question.topics and question.gold for question in asked)
    assert all(topic.startswith("http://rdf.freebase.com/ns/m.") for question in asked for topic in question.topics)


@pytest.mark.exhaustive
def test_our_own_gold_answers_are_what_the_graph_says(data: Path) -> None:
    """The query of each own question gives its gold answers."""
    listed = desk.read(ROOT / "eval" / "desk.toml")
    store = pyoxigraph.Store()
    text = gzip.decompress((data / listed.graphs["codex-m"].file).read_bytes())
    store.bulk_load(text, format=pyoxigraph.RdfFormat.N_TRIPLES)
    for question in listed.questions:
        if question.sparql:
            rows = store.query(f"{PREFIXES} SELECT DISTINCT ?gold WHERE {{ {question.sparql} }}")
            assert sorted(row["gold"].value for row in rows) == sorted(question.gold), question.id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [(("Rex",), "right"), (("rex",), "right"), (("Rex", "Tom"), "wrong"), (("Tom",), "wrong"), ((), "abstained")],
)
def test_right_is_all_and_nothing_else(values: tuple[str, ...], verdict: str) -> None:
    """A question with one wrong answer among the right ones is wrong; without any it is none."""
    asked = Asked("1", "pets", "e", "Which pet does Ann have?", ("Rex",))
    answer = Answer(asked.question, "entities", Status.ANSWERED, tuple(AnswerValue(value) for value in values))
    assert desk.outcome(asked, answer).verdict == verdict


def test_a_day_is_a_day() -> None:
    """A date with the time of midnight is that day."""
    asked = Asked("1", "pets", "e", "When was Ann born?", ("1929-07-28",))
    answer = Answer(asked.question, "literal", Status.ANSWERED, (AnswerValue("1929-07-28T00:00:00Z"),))
    assert desk.outcome(asked, answer).verdict == "right"


@pytest.mark.parametrize("pack", PACKS, ids=[pack.name for pack in PACKS])
async def test_the_pack_replays(pack: Path, tmp_path: Path) -> None:
    """Each pack of the project gives the answers that its result file shows, offline and from nothing else."""
    figures = json.loads((ROOT / "eval" / "results" / f"{pack.stem}.json").read_text())["figures"]
    shown = msgspec.convert(figures["questions"], list[desk.Outcome])
    model, _, url = figures["model"].removeprefix("openai:").partition("@")
    outcomes = await desk.replay(pack, [outcome.asked for outcome in shown], Where(model, url, str(tmp_path)))
    assert _said(outcomes) == _said(shown)


def test_the_questions_for_operators_are_drawn(data: Path) -> None:
    """The list is what the draw gives: all operators, over both graphs, and some that have no answer."""
    text = (ROOT / "eval" / "desk_operators.toml").read_text(encoding="utf-8")
    assert text == "\n".join(operator_draw.listed())
    asked = desk.questions(desk.read(ROOT / "eval" / "desk_operators.toml"), data)
    assert {question.operator for question in asked} == set(get_args(Operator))
    assert sum(not question.gold for question in asked) == 5
    assert all(question.kind is None and not question.topics for question in asked)


def test_what_an_operator_costs_is_counted_from_the_outcomes() -> None:
    """The figures by operator are those of the outcomes beside them, which `test_the_pack_replays` asks again."""
    figures = json.loads((ROOT / "eval" / "results" / "desk_operators.json").read_text())["figures"]
    assert desk.operators(msgspec.convert(figures["questions"], list[desk.Outcome])) == figures["operators"]
    assert figures["operators"]["all"]["calls"] <= 2.7
    assert figures["operators"]["all"]["tokens"] <= 1_900


def _said(outcomes: list[desk.Outcome]) -> list[tuple[object, ...]]:
    """What is the same whenever it is asked: all but what it cost to fetch."""
    return [(outcome.asked.id, outcome.verdict, outcome.answers, outcome.calls, outcome.tokens) for outcome in outcomes]
