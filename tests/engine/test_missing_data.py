"""What is missing on the way of a search is admitted, what is missing elsewhere is not; over HTTP, by real engines."""

import contextlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fedkg.core.answer import Answer, Status
from fedkg.core.caveat import CaveatKind
from fedkg.llm.base import Message
from fedkg.session import Session
from fedkg.testing import ScriptedModel
from tests.support.served import ServedGraph, loopback

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
NAMES = {
    "ann": "Ann",
    "rex": "Rex",
    "bob": "Bob",
    "kim": "Kim",
    "york": "York",
    "r/pet": "pet",
    "r/sister": "sister",
    "r/lives": "lives in",
}
NAMED = "".join(f'<http://x/{name}> {LABEL} "{label}"@en .\n' for name, label in NAMES.items())
PET = "Which pet does Ann have?"
FACTS = """\
<http://x/ann> <http://x/r/pet> <http://x/rex> .
<http://x/ann> <http://x/r/sister> <http://x/kim> .
<http://x/kim> <http://x/r/lives> <http://x/york> .
<http://x/kim> <http://x/r/pet> <http://x/bob> .
"""
OPTIONS: dict[str, Any] = {
    "model": "local",
    "embedder": "bm25",
    "cache": False,
    "guess_below": 0.0,
    "refuse_below": 0.0,
}


class Broken(ServedGraph):
    """It fails over queries that ask for the edges, or for the labels, of one of some entities, batch or not."""

    def __init__(self, triples: str, *entities: str, labels: bool = False, names: bool = False) -> None:
        super().__init__(triples)
        self._entities = [f"<http://x/{name}>" for name in entities]
        self._labels = labels
        self._names = names

    async def reply(self, query: str) -> web.StreamResponse:
        """The engine's result, or status 400."""
        label = LABEL in query and "?p" not in query
        broken = any(entity in query for entity in self._entities)
        if (broken and label == self._labels) or (self._names and label and '"Ann"' in query):
            raise web.HTTPBadRequest(text="the disk with these facts is gone")
        return await super().reply(query)


def play(messages: Sequence[Message], call: str) -> str:
    """A model that picks the pet, and is done."""
    offer = re.search(r"(?m)^(\d+)\. .*pet( →|:)", messages[-1].content)
    picks = [{"offer": int(offer[1]) if offer else 1, "ends": []}]
    plan = {
        "keywords": ["pet"],
        "planning_steps": ["find the pet"],
        "declarative_statement": "Ann has the pet *placeholder*.",
        "kind": "entities",
        "mentions": ["Ann"],
    }
    ends = {"paths": [{"path": 1, "ends": []}], "verdict": ""}
    return json.dumps({"plan": plan, "choose": {"picks": picks, "decides": True}, "answer": ends}[call])


def play_two(messages: Sequence[Message], call: str) -> str:
    """The same model, for which the question has a second name."""
    return play(messages, call).replace('["Ann"]', '["Ann", "Kimberley"]')


async def asked(
    *graphs: ServedGraph, question: str = PET, topic: str = "http://x/ann", depth: int = 1, **objects: Any
) -> Answer:
    """The answer to a question that endpoints on loopback are asked."""
    async with contextlib.AsyncExitStack() as servers:
        urls = [await servers.enter_async_context(loopback(graph)) for graph in graphs]
        async with Session(*urls, **(OPTIONS | {"search.depth": depth} | objects)) as session:
            return await session.ask(question, [topic])


def partial(answer: Answer) -> list[str]:
    """What the answer admits to be missing, without the endpoint's address."""
    return [caveat.about.partition(", from ")[0] for caveat in answer.caveats if caveat.kind is CaveatKind.PARTIAL]


async def test_nothing_is_missing() -> None:
    """A whole search admits nothing."""
    answer = await asked(ServedGraph(NAMED + FACTS), depth=2)
    assert (answer.status, [value.value for value in answer.answers]) == (Status.ANSWERED, ["Rex"])
    assert (answer.caveats, answer.gaps) == ((), ())


async def test_an_entity_on_the_way_failed() -> None:
    """The sister's edges cannot be had: what else there is answers, and the document says that it may be another."""
    answer = await asked(Broken(NAMED + FACTS, "kim"), question="Which pet does the sister of Ann have?", depth=2)
    assert answer.status is Status.ANSWERED
    assert partial(answer) == ["http://x/kim (out), http://x/kim (in)"]
    assert answer.text().splitlines()[len(answer.answers)].startswith("caveat: data are missing on the way")


async def test_an_entity_that_was_only_looked_at_ahead_failed() -> None:
    """The lookahead fails over an entity that the model did not go on from: a gap, and no caveat."""
    options: dict[str, Any] = {"search.show_all": 0}
    answer = await asked(Broken(NAMED + FACTS, "kim"), depth=2, chat=ScriptedModel(play), **options)
    assert [value.value for value in answer.answers] == ["Rex"]
    assert [gap.asked for gap in answer.gaps] == ["http://x/kim (out), http://x/kim (in)"]
    assert partial(answer) == []


async def test_labels_on_the_way_failed() -> None:
    """Without the names of relations another one may rank first."""
    answer = await asked(Broken(NAMED + FACTS, "r/pet", labels=True))
    assert any(about.endswith((" labels", " label")) for about in partial(answer))


@pytest.mark.parametrize("order", [1, -1])
async def test_a_member_that_fails_on_the_way(order: int) -> None:
    """One of two endpoints fails over the topic: the other one answers, with the caveat; each order of them."""
    other = Broken(NAMED + "<http://x/ann> <http://x/r/pet> <http://x/bob> .", "ann")
    answer = await asked(*[ServedGraph(NAMED + FACTS), other][::order])
    assert [value.value for value in answer.answers] == ["Rex"]
    assert "http://x/ann (out), http://x/ann (in)" in partial(answer)


async def test_a_member_that_fails_elsewhere() -> None:
    """The other member fails over an entity that the search does not go through: no caveat."""
    other = Broken(NAMED, "york")
    answer = await asked(ServedGraph(NAMED + FACTS), other)
    assert ([value.value for value in answer.answers], partial(answer)) == (["Rex"], [])


async def test_a_member_that_cannot_look_the_topic_up() -> None:
    """A topic of one endpoint may have been another one with both."""
    answer = await asked(ServedGraph(NAMED + FACTS), Broken(NAMED, names=True), topic="Ann")
    assert [value.value for value in answer.answers] == ["Rex"]
    assert partial(answer) == ["the search for 1 names"]


async def test_a_look_up_by_words_that_failed(tmp_path: Path) -> None:
    """A name that nothing bears exactly may be that of an entity which the failed look-up would have returned."""

    class Wordless(ServedGraph):
        async def reply(self, query: str) -> web.StreamResponse:
            if "bif:contains" in query:
                raise web.HTTPServiceUnavailable(text="the index is being built")
            return await super().reply(query)

    (tmp_path / "slow.toml").write_text(
        'like = "generic"\nurls = ["{}"]\n[lookup]\nkind = "bif"\n[limits]\nretries = 0\n'
    )
    async with loopback(Wordless(NAMED + FACTS)) as url:
        profile = tmp_path / "slow.toml"
        profile.write_text(profile.read_text().format(url))
        async with Session("slow", profiles_dir=str(tmp_path), chat=ScriptedModel(play_two), **OPTIONS) as session:
            answer = await session.ask("Which pet does Ann have, the sister of Kimberley?")
    assert [value.value for value in answer.answers] == ["Rex"]
    assert partial(answer) == ["the look-up of 'Kimberley'"]


async def test_ends_that_were_cut(tmp_path: Path) -> None:
    """An answer whose ends were not all fetched admits that there is more."""
    (tmp_path / "few.toml").write_text('like = "generic"\nurls = ["{}"]\n[limits]\nrelation = 2\nentity = 2\n')
    facts = NAMED + "".join(f"<http://x/ann> <http://x/r/pet> <http://x/pet{number}> .\n" for number in range(9))
    async with loopback(ServedGraph(facts)) as url:
        profile = tmp_path / "few.toml"
        profile.write_text(profile.read_text().format(url))
        async with Session("few", profiles_dir=str(tmp_path), **(OPTIONS | {"search.depth": 1})) as session:
            answer = await session.ask(PET, ["http://x/ann"])
    assert answer.status is Status.ANSWERED
    assert [caveat.kind for caveat in answer.caveats] == [CaveatKind.CUT]


def play_check(messages: Sequence[Message], call: str) -> str:
    """A model that picks the pets' homes, and is done."""
    shown = messages[-1].content
    check = re.search(r"(?m)^(\d+)\. .*lives in(?: →|:) (\d+)?", shown)
    offer = check or re.search(r"(?m)^(\d+)\. .*pet( →|:)", shown)
    picks = [{"offer": int(offer[1]) if offer else 1, "ends": [], "check": bool(check)}]
    return json.dumps({"picks": picks, "decides": bool(check), "more": False, "unproven": ""})


async def test_a_check_that_cannot_be_looked_up() -> None:
    """The ends whose condition could not be checked do not answer, and that they might is admitted."""
    homes = "".join(f"<http://x/{name}> <http://x/r/lives> <http://x/york> .\n" for name in ("rex", "bob"))
    pets = "<http://x/ann> <http://x/r/pet> <http://x/bob> .\n"
    model = ScriptedModel(play_check)
    for broken, values in ((["bob"], ["Rex"]), ([], ["Bob", "Rex"])):
        graph = Broken(NAMED + FACTS + pets + homes, *broken)
        answer = await asked(graph, question="Which pet of Ann lives in York?", depth=2, chat=model, model=None)
        assert sorted(value.value for value in answer.answers) == values
        assert partial(answer) == [f"http://x/{name} (out), http://x/{name} (in)" for name in broken]
