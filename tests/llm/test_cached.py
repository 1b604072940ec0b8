"""Replies are paid for once; what failed is asked again; what nobody can have kept is a miss."""

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.entries import Entry
from fedkg.cache.journal import Journal, RecordingStore
from fedkg.cache.memory import MemoryStore
from fedkg.core.choice import Choice, PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import ModelError, ModelRefusedError, ModelReplyError
from fedkg.llm.base import Capability, Completion, Message, Request, Token
from fedkg.llm.cached import NAMESPACE, CachedModel
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

ASK = Request("choose", (Message("system", "Reply in JSON."), Message("user", "Which?")), {"type": "object"}, "1 ab")
COST = Completion('{"n": 1}', 100, 5, 90, 3, 1)


class Priced:
    """A model that gives completions, or raises errors, in their turn."""

    def __init__(
        self, *replies: Completion | ModelError, capability: Capability | None = None, name: str = "priced"
    ) -> None:
        self.name = name
        self.capability = capability or Capability()
        self.left = list(replies)
        self.closed = 0

    async def complete(self, request: Request) -> Completion:
        reply = self.left.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def store() -> MemoryStore:
    """A store without any reply."""
    return MemoryStore()


def keys(store: MemoryStore) -> list[str]:
    """The keys of the kept replies."""
    return [key for namespace, key in store._values if namespace == NAMESPACE]


async def test_each_sample_is_kept_for_itself(store: MemoryStore) -> None:
    """Asked twice, the samples differ from each other and from the usual reply, and are what they were."""
    kept = CachedModel(Priced(*(Completion(f'{{"n": {n}}}') for n in range(3))), store)
    samples = [msgspec.structs.replace(ASK, sample=number) for number in range(3)]
    first = [(await kept.complete(request)).text for request in samples]
    assert first == ['{"n": 0}', '{"n": 1}', '{"n": 2}']
    assert [(await kept.complete(request)).text for request in samples] == first


def test_what_was_kept_before_there_were_samples_is_found(store: MemoryStore) -> None:
    """The key of a usual request says nothing of samples: packs that were made before replay."""
    asked = json.dumps(
        [
            {
                "call": "choose",
                "messages": [
                    {"role": "system", "content": "Reply in JSON."},
                    {"role": "user", "content": "Which?"},
                ],
                "schema": {"type": "object"},
                "template": "1 ab",
            },
            "instruction",
            True,
            2_048,
        ]
    )
    key = f"priced {hashlib.sha256(asked.encode()).hexdigest()}"
    store.put_many(NAMESPACE, {key: msgspec.json.encode(COST)}, 1.0)
    reply = asyncio.run(CachedModel(Priced(), store).complete(ASK))
    assert (reply.text, reply.replayed) == (COST.text, True)


async def test_the_tokens_of_a_reply_are_kept_with_it(store: MemoryStore) -> None:
    """A verdict by log-probabilities replays without the model."""
    spelled = (Token("yes", {"yes": -0.25, "no": -1.5}),)
    reply = Completion("yes", 10, 1, spelled=spelled)
    request = msgspec.structs.replace(ASK, alternatives=5)
    assert await CachedModel(Priced(reply), store).complete(request) == reply
    again = await CachedModel(Priced(), store).complete(request)
    assert (again.spelled, again.replayed) == (spelled, True)


async def test_a_reply_is_paid_for_once(store: MemoryStore) -> None:
    """The second time it is the same, with the tokens that it cost at first, and marked; nobody was asked."""
    model = Priced(COST)
    kept = CachedModel(model, store)
    assert await kept.complete(ASK) == COST
    again = await CachedModel(model, store).complete(ASK)
    assert again == msgspec.structs.replace(COST, replayed=True)
    await kept.close()
    assert model.closed == 1


@pytest.mark.parametrize(
    "change",
    [
        {"call": "beam"},
        {"messages": (Message("system", "Reply in JSON."), Message("user", "Which one?"))},
        {"messages": (Message("user", "Reply in JSON."), Message("user", "Which?"))},
        {"messages": (*ASK.messages, Message("user", ""))},
        {"schema": {"type": "array"}},
        {"template": "1 cd"},
        {"alternatives": 5},
    ],
)
async def test_another_request_is_another_reply(store: MemoryStore, change: dict[str, Any]) -> None:
    """Each part of the request counts."""
    kept = CachedModel(Priced(COST, other := Completion("{}")), store)
    await kept.complete(ASK)
    assert await kept.complete(msgspec.structs.replace(ASK, **change)) == other


async def test_the_order_of_a_schema_counts(store: MemoryStore) -> None:
    """Models write the parts of a reply in the schema's order, and think in that order."""
    kept = CachedModel(Priced(COST, other := Completion("{}")), store)
    await kept.complete(msgspec.structs.replace(ASK, schema={"a": 1, "b": 2}))
    assert await kept.complete(msgspec.structs.replace(ASK, schema={"b": 2, "a": 1})) == other


@pytest.mark.parametrize(
    ("capability", "asked"),
    [
        (Capability(structured="native"), 1),
        (Capability(system=False), 1),
        (Capability(output=99), 1),
        (Capability(context=99, prompt_cache="markers", cache_from=9), 0),
    ],
)
async def test_parameters_that_change_a_reply_count(store: MemoryStore, capability: Capability, asked: int) -> None:
    """How structure, system text and length are asked for; not what changes nothing of the reply."""
    await CachedModel(Priced(COST), store).complete(ASK)
    model = Priced(COST, capability=capability)
    await CachedModel(model, store).complete(ASK)
    assert len(model.left) == 1 - asked


async def test_another_server_is_another_model(store: MemoryStore) -> None:
    """Two servers may call two models alike."""
    names = ["openai:m@http://one/v1", "openai:m@http://two/v1", "openai:m"]
    for name in names:
        assert not (await CachedModel(Priced(COST, name=name), store).complete(ASK)).replayed
    assert [key.rpartition(" ")[0] for key in keys(store)] == names


@pytest.mark.parametrize(
    "failure", [ModelRefusedError("no"), ModelReplyError("cut"), Completion(""), Completion(" \n")]
)
async def test_what_failed_is_asked_again(store: MemoryStore, failure: Any) -> None:
    """Neither refusals, nor cut replies, nor empty ones are kept."""
    kept = CachedModel(Priced(failure, COST), store)
    if isinstance(failure, Completion):
        assert await kept.complete(ASK) == failure
    else:
        with pytest.raises(type(failure)):
            await kept.complete(ASK)
    assert await kept.complete(ASK) == COST


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{}",
        b'{"text": ""}',
        b'{"text": "x", "tokens_in": -1}',
        b'{"text": "x", "tokens_in": 1e3}',
        b'{"text": "x", "tokens_out": 1' + b"0" * 400 + b"}",
        b'{"text": 1}',
        b'{"text": "\\ud800"}',
        b'{"text": "\xff"}',
        b"[" * 100_000,
    ],
)
async def test_what_nobody_can_have_kept_is_a_miss(store: MemoryStore, value: bytes) -> None:
    """A damaged or planted entry is asked for again, and replaced."""
    kept = CachedModel(Priced(COST, COST), store)
    await kept.complete(ASK)
    store.put_many(NAMESPACE, dict.fromkeys(keys(store), value))
    assert await kept.complete(ASK) == COST
    assert (await kept.complete(ASK)).replayed


@given(st.text(st.characters(), min_size=1).filter(str.strip), st.integers(0, 1 << 30))
async def test_what_is_kept_comes_back(text: str, tokens: int) -> None:
    """Any text and any count; where the text is no Unicode it is asked for again."""
    reply = Completion(text, tokens)
    kept = CachedModel(Priced(reply, reply), MemoryStore())
    await kept.complete(msgspec.structs.replace(ASK, messages=(Message("assistant", text),)))
    again = await kept.complete(msgspec.structs.replace(ASK, messages=(Message("assistant", text),)))
    assert msgspec.structs.replace(again, replayed=False) == reply
    assert again.replayed is (re.search("[\ud800-\udfff]", text) is None)


async def test_a_refresh_asks_again(store: MemoryStore) -> None:
    """What was kept before the run is hidden from it, and what it keeps itself is used, also after a hundred days."""
    await CachedModel(Priced(COST), store).complete(ASK)
    [key] = keys(store)
    store.put_entries(NAMESPACE, {key: Entry(*store.entries(NAMESPACE, [key])[key][:1], 1.0, 1e11)})
    assert (await CachedModel(Priced(), RecordingStore(store)).complete(ASK)).replayed
    refreshed = CachedModel(Priced(COST), RecordingStore(store, refresh=True))
    assert not (await refreshed.complete(ASK)).replayed
    assert (await refreshed.complete(ASK)).replayed


OFFERS = (PromptCandidate(1, "a → b → c"), PromptCandidate(2, "a → d → e"))
PLAN = Plan(("k",), statement="*placeholder* is it.", kind="entities")


def prompted(store: Any, replies: Sequence[str]) -> tuple[PromptedModel, ScriptedModel]:
    """The typed calls over a model whose replies are kept."""
    chat = ScriptedModel(replies)
    kept = CachedModel(chat, store)
    return PromptedModel(kept, forget=kept.forget), chat


async def beam(model: PromptedModel) -> tuple[Choice, ...]:
    """One call."""
    return await model.ask(BeamCall("Who?", PLAN, None, OFFERS, 2))


async def test_a_call_that_was_repaired_replays_as_it_was(store: MemoryStore) -> None:
    """The unusable reply and the one after it, both from the store, with the same result and count of calls."""
    first, chat = prompted(store, ["what?", '{"picks": [2]}'])
    picks = await beam(first)
    second, _ = prompted(store, [])
    assert await beam(second) == picks
    assert second.ledger.total.calls == first.ledger.total.calls == len(chat.asked) == 2


async def test_a_call_that_came_to_nothing_is_asked_anew(store: MemoryStore) -> None:
    """Two unusable replies are forgotten, and no part of the run: its pack can be written without them."""
    recorder = RecordingStore(store)
    model, chat = prompted(recorder, ["what?", "what?", '{"picks": [1]}'])
    with pytest.raises(ModelReplyError, match="two unusable"):
        await beam(model)
    assert keys(store) == []
    recorder.keep(["Who?"])
    assert Journal(store).all() == []
    assert [pick.number for pick in await beam(model)] == [1]
    assert len(chat.asked) == 3


async def test_a_kept_reply_that_became_unusable_is_forgotten(store: MemoryStore) -> None:
    """A stricter reading, or a pack of somebody else: the failure does not last."""
    await beam(prompted(store, ["what?", '{"picks": [1]}'])[0])
    store.put_many(NAMESPACE, {keys(store)[-1]: json.dumps({"text": "no"}).encode()})
    model, chat = prompted(store, ['{"picks": [2]}'])
    with pytest.raises(ModelReplyError, match="two unusable"):
        await beam(model)
    assert ([pick.number for pick in await beam(model)], len(chat.asked)) == ([2], 1)


async def test_how_long_a_reply_may_be_is_no_part_of_the_key(store: MemoryStore) -> None:
    """A whole reply is the same whatever its bound was: what was kept before there were bounds is still found."""
    await CachedModel(Priced(COST), store).complete(ASK)
    assert (await CachedModel(Priced(), store).complete(msgspec.structs.replace(ASK, most=50))).replayed
