"""A small real language model behind every call and every method: SmolLM2-135M on llama.cpp, and in process.

It reasons badly, repeats itself and runs on. So nothing is asserted of what it answers, only of what becomes of it.
"""

import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Budget
from fedkg.core.question import Match, Mention, Plan
from fedkg.core.terms import Iri
from fedkg.errors import BudgetError, ModelContextError, ModelReplyError
from fedkg.llm import capability
from fedkg.llm.base import Capability, Constraint, Message, Request
from fedkg.llm.exchange import Exchange
from fedkg.llm.hf import HfModel
from fedkg.llm.openai import OpenAIModel
from fedkg.methods.registry import METHODS
from fedkg.reasoner.calls import call_kinds
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.library import PromptLibrary, names
from fedkg.reasoner.sketch import WalkSketch
from fedkg.session import Session
from tests.support.extras import needs

pytestmark = [pytest.mark.lm, pytest.mark.timeout(600), needs("openai", "openai")]

QUESTION = "Who directed King Kong?"
PLAN = Plan(("director",), ("King Kong → director",), "*placeholder* directed King Kong.", "entities", ("King Kong",))
KONG = Match(Iri("http://x/kong"), "King Kong", 1.0, "film of 2005", type="film")
WALK = WalkSketch(
    question=QUESTION,
    kind=None,
    options=(),
    plan=PLAN,
    mentions=(Mention("King Kong", (KONG, KONG)),),
    topic="King Kong",
    leg=" → director → Peter Jackson",
    relation="→ director →",
    ends=("Peter Jackson",),
    width=2,
    kept=2,
    hops=2,
    offered=3,
    offered_each=3,
    scored=3,
    planned=3,
    verified=2,
    judged=2,
    counts_before=False,
)
GRAPH = """
@prefix : <http://x/> . @prefix r: <http://x/r/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts .
:jackson rdfs:label "Peter Jackson"@en . :watts rdfs:label "Naomi Watts"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en .
"""
MOST = 80
"""Tokens of a reply."""
ASKED = (Message("user", "Name the capital of France as JSON."),)
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.fixture(scope="session")
def terse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of prompts with one line of instructions: most of the time the model reads."""
    folder = tmp_path_factory.mktemp("prompts")
    for name in names():
        (folder / name).mkdir()
        (folder / name / "examples.toml").write_text("examples = []\n", encoding="utf-8")
        (folder / name / "system.j2").write_text("Reply with one JSON object.\n", encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="session")
def brief(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of records by which the model's replies are short: it writes on until it is stopped."""
    folder = tmp_path_factory.mktemp("models")
    record = f'[[model]]\nnames = ["openai:smollm2@*"]\noutput = {MOST}\n'
    (folder / capability.FILE).write_text(record, encoding="utf-8")
    return str(folder)


@pytest.fixture
async def served(smollm2_url: str, brief: str) -> AsyncIterator[OpenAIModel]:
    """The model on its server; its replies are short."""
    model = OpenAIModel.connect("smollm2", smollm2_url, {}, partial(capability.find, user_folder=brief))
    yield model
    await model.close()


@pytest.fixture(scope="module")
def in_process() -> Iterator[dict[str, HfModel]]:
    """Where the model that was loaded once is kept for the next test."""
    models: dict[str, HfModel] = {}
    yield models
    models.clear()


@pytest.fixture
def folder(smollm2_folder: Path, in_process: dict[str, HfModel]) -> HfModel:
    """The model in this process; its replies are short."""
    store = MemoryStore()
    can = Capability(context=2_048, output=16, logprobs=True, grammar=True)
    return in_process.setdefault("model", HfModel(smollm2_folder, can, lambda: store))


@pytest.mark.parametrize("name", sorted(call_kinds()))
async def test_every_call_of_the_served_model_ends_in_a_reply_or_a_typed_failure(
    name: str, served: OpenAIModel, terse: str
) -> None:
    """Every reply that came whole fits its schema, since a grammar holds it; what it cost is in the ledger."""
    ended: list[Exchange] = []
    reasoner = PromptedModel(served, prompts=PromptLibrary(terse), observer=ended.append)
    try:
        result = await reasoner.ask(call_kinds()[name].typical(WALK))
    except ModelReplyError as error:
        result = error
    [exchange] = ended
    assert (exchange.error or exchange.result) is result or exchange.result == result
    for attempt in exchange.attempts:
        if attempt.reply:
            jsonschema.validate(json.loads(attempt.reply.text), attempt.request.schema)
            assert attempt.reply.tokens_out <= attempt.request.most
    assert all(call.tokens_in and call.tokens_out for call in reasoner.ledger.calls)


async def test_how_sure_the_served_model_is_comes_from_its_tokens(served: OpenAIModel, terse: str) -> None:
    """The probability of yes is neither 0 nor 1, as it would be if it were read off the words."""
    reasoner = PromptedModel(served, prompts=PromptLibrary(terse))
    assert 0 < await reasoner.ask(DeducibleCall.typical(WALK)) < 1


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_every_method_ends_with_a_document(
    method: str, smollm2_url: str, terse: str, brief: str, tmp_path: Path
) -> None:
    """Whatever the model replies, there is an answer's document with its status, and its budget of calls holds."""
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    model = f"openai:smollm2@{smollm2_url}"
    settings: dict[str, Any] = {"model": model, "method": method, "embedder": "bm25", "prompts_dir": terse}
    settings |= {"models_dir": brief, "search.depth": 1, "search.beam": 2, "budget.calls": 2}
    async with Session(str(file), **settings) as session:
        answer = await session.ask(QUESTION)
    # a budget that is spent is told as that, whatever the calls came to
    assert answer.usage.spent or (answer.status == "failed") == all(call.error for call in answer.ledger)
    assert len(answer.warnings) >= any(call.error for call in answer.ledger)
    assert 0 < len(answer.ledger) <= 2
    assert all(path.edges for path in answer.paths)


async def test_a_reply_is_cut_where_its_call_can_need_no_more(served: OpenAIModel) -> None:
    """It is a typed failure that says that the model runs on, with the tokens that it cost."""
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await served.complete(Request("plan", ASKED, NUMBER, most=2))
    assert caught.value.tokens_in > 0
    assert "writes on" in caught.value.hint


async def test_a_prompt_beyond_the_context_is_a_typed_failure(served: OpenAIModel) -> None:
    """What the server refuses as too long says what helps."""
    with pytest.raises(ModelContextError) as caught:
        await served.complete(Request("plan", (Message("user", "and so on " * 4_000),), NUMBER))
    assert "context" in caught.value.hint


async def test_without_a_grammar_replies_are_refused_and_not_believed(smollm2_url: str) -> None:
    """Where only the prompt asks for JSON the model writes something else, and is asked once more at most."""
    can = Capability(output=24)
    model = OpenAIModel("smollm2", "", smollm2_url, capability=can)
    ended: list[Exchange] = []
    reasoner = PromptedModel(model, prompts=PromptLibrary(), observer=ended.append)
    with pytest.raises(ModelReplyError):
        await reasoner.ask(call_kinds()["follow-up"].typical(WALK))
    await model.close()
    assert 1 <= len(ended[0].attempts) <= 2


async def test_a_spent_budget_asks_nothing_more(served: OpenAIModel) -> None:
    """One call is made; before the second nothing is sent."""
    reasoner = PromptedModel(served, budget=Budget(calls=1))
    call = call_kinds()["adequacy"].typical(WALK)
    assert await reasoner.ask(call) in (True, False)
    with pytest.raises(BudgetError):
        await reasoner.ask(call)


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted(call_kinds()))
async def test_every_call_of_the_model_in_process_ends_in_a_reply_or_a_typed_failure(
    name: str, folder: HfModel, terse: str
) -> None:
    """It is held to the schema, and its replies may be cut: what is no reply is refused, never believed."""
    reasoner = PromptedModel(folder, prompts=PromptLibrary(terse))
    try:
        await reasoner.ask(call_kinds()[name].typical(WALK))
    except (ModelReplyError, ModelContextError):
        return
    assert not reasoner.ledger.calls[-1].error


@pytest.mark.torch
@pytest.mark.parametrize("name", ["beam", "choose", "score-relations"])
async def test_the_model_in_process_chooses_by_its_likelihoods(name: str, folder: HfModel, terse: str) -> None:
    """A choice among numbers always comes to one, without a word that could be malformed."""
    reasoner = PromptedModel(folder, prompts=PromptLibrary(terse), choices="likelihood")
    assert await reasoner.ask(call_kinds()[name].typical(WALK))
    assert not any(call.error for call in reasoner.ledger.calls)


@pytest.mark.torch
async def test_the_model_in_process_reads_a_path_off_a_trie(folder: HfModel) -> None:
    """Held to three paths it writes all three, and gives each its share of the probability."""
    texts = tuple(
        f"King Kong → {step}" for step in ("director → Peter Jackson", "starring → Naomi Watts", "year → 2005")
    )
    reply = await folder.complete(
        Request("reasoning-paths", (Message("user", QUESTION),), {}, constraint=Constraint(texts, 3))
    )
    assert sorted(json.loads(reply.text)["picks"]) == [1, 2, 3]


def test_nothing_is_expected_of_an_unknown_server() -> None:
    """The model's record is that of any server at a URL."""
    assert capability.find("openai:smollm2@http://127.0.0.1:1/v1").context == 8_192
