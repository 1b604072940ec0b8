"""What the typed calls make of replies, from good ones to hostile ones."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.common.tokens import estimate
from fedkg.config.settings import Budget
from fedkg.core.choice import Choice, Conclusion, Decision, PromptCandidate, Verdict
from fedkg.core.question import Plan
from fedkg.errors import BudgetError, ModelContextError, ModelReplyError, PromptError
from fedkg.llm.base import Capability, Completion, Constraint, Request
from fedkg.llm.ledger import Ledger, by_call
from fedkg.reasoner import calls
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.calls import call_kinds
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.context_fit import REPAIR
from fedkg.reasoner.prompts.library import PromptLibrary, load, names
from fedkg.testing import ScriptedModel
from tests.support.prompted_calls import (
    OFFERS,
    PLAN,
    beam,
    choose,
    conclude,
    judged,
    scripted,
)


def test_it_is_a_reasoning_model_for_which_offers_cost() -> None:
    """PromptedModel fits the protocol, is named like its chat model, takes every kind and not every offer."""
    model: ReasoningModel = scripted()[0]
    assert model.name == "scripted"
    assert model.exhaustive is False
    assert model.abstains == frozenset()


class Recording(ScriptedModel):
    """A scripted model that keeps the requests themselves."""

    def __init__(self, replies: list[str]) -> None:
        super().__init__(replies)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return await super().complete(request)


@pytest.mark.parametrize("temperature", [0.0, 0.3])
async def test_a_temperature_goes_with_each_request(temperature: float) -> None:
    """Without one the request is what it always was, so that kept replies are found."""
    model = Recording(['{"picks": [9]}', '{"picks": [1]}'])
    await PromptedModel(model, temperature=temperature).ask(BeamCall("Q?", PLAN, None, OFFERS, 2))
    assert [request.temperature for request in model.requests] == [temperature, temperature]
    assert ("temperature" in msgspec.to_builtins(model.requests[0])) == bool(temperature)


def weighed(shares: dict[int, float]) -> Recording:
    """A model held to texts that gives each its share."""
    return Recording([json.dumps({"picks": list(shares), "scores": list(shares.values())})])


async def test_the_likeliest_numbers_are_picked() -> None:
    """The texts are the offered numbers where the reply has its first pick; those without a share come last."""
    model = weighed({3: 0.6, 2: 0.3})
    picks = await PromptedModel(model, choices="likelihood").ask(BeamCall("Q?", PLAN, None, OFFERS[:3], 2))
    assert [pick.number for pick in picks] == [3, 2]
    [request] = model.requests
    assert request.constraint == Constraint(("1", "2", "3"), 3, '{"picks": [', "]}")


@pytest.mark.parametrize(
    ("shares", "decision"),
    [
        ({1: 0.1, 2: 0.1, 3: 0.2, 4: 0.5, 5: 0.05}, Decision((2, 1), decides=False)),
        ({1: 0.1, 2: 0.1, 3: 0.5, 4: 0.2, 5: 0.05}, Decision((2,), decides=True, confidence=0.5)),
    ],
)
async def test_the_likeliest_path_decides_where_that_is_likelier(shares: dict[int, float], decision: Decision) -> None:
    """Each path has two texts, that it decides and that it does not; together they are the path's share."""
    model = PromptedModel(weighed(shares), choices="likelihood")
    assert await model.ask(ChooseCall("Q?", PLAN, OFFERS[:3], 2)) == decision


async def test_a_score_is_what_is_expected_of_a_relation() -> None:
    """How likely it is that a relation is listed first does not count; one that has no share has no score."""
    shares = {1: 1e-9, 5: 1e-9, 8: 0.8, 9: 0.2}
    scores = await PromptedModel(weighed(shares), choices="likelihood").ask(
        ScoreRelationsCall("Q?", PLAN, None, OFFERS[:3])
    )
    assert scores == pytest.approx((0.5, 0.54, 0.0))


async def test_other_calls_are_replied_to_as_ever() -> None:
    """What is no choice among numbers, or takes words, is generated; so is everything without the switch."""
    model = Recording(['{"adequate": true}'])
    assert await PromptedModel(model, choices="likelihood").ask(AdequacyCall("Q?", PLAN, OFFERS))
    judging = msgspec.structs.replace(PLAN, kind="yesno")
    assert ChooseCall("Q?", judging, OFFERS, 2).likely(3) is None
    assert [request.constraint for request in model.requests] == [None]


async def test_shares_that_are_none_are_refused() -> None:
    """A model that replies with something else instead is a typed failure, and in the ledger."""
    model = PromptedModel(Recording(['{"picks": [1]}']), choices="likelihood")
    with pytest.raises(ModelReplyError):
        await model.ask(BeamCall("Q?", PLAN, None, OFFERS, 2))
    assert [call.error for call in model.ledger.calls] == ["ModelReplyError"]


async def verify(verdicts: list[Any]) -> list[tuple[bool, bool]]:
    """What `deductive` makes of a reply with these verdicts on the first two paths."""
    reply = {"verdicts": verdicts}
    read = await scripted(reply, reply)[0].ask(DeductiveCall("Q?", PLAN, OFFERS[:2]))
    return [(verdict.follows, verdict.finishes) for verdict in read]


@pytest.mark.parametrize("yes", [True, "yes", "Yes", "YES", "true", "True"])
@pytest.mark.parametrize("no", [False, "no", "No", "false", "False"])
async def test_verdicts_may_be_words_of_any_case(yes: Any, no: Any) -> None:
    """Booleans are also read from the words for them, whatever their case."""
    read = await verify(judged((1, yes, no), (2, yes, yes), key="path"))
    assert read == [(True, False), (True, True)]
    assert (await choose({"picks": [1], "decides": yes, "more": no})).decides


@pytest.mark.parametrize("verdict", [1, 0, None, "maybe", "y", [], {}, "yes, because"])
async def test_an_unclear_verdict_drops_its_entry(verdict: Any) -> None:
    """What is neither yes nor no is not taken for one of them; the other entries stay."""
    assert await verify(judged((1, True, verdict), (2, True, True), key="path")) == [(False, False), (True, True)]


@pytest.mark.parametrize("number", [0, -1, 5, 1.5, "one", "1.", True, None, [1], 10**400, float("inf"), float("nan")])
async def test_a_number_that_was_not_offered_is_dropped(number: Any) -> None:
    """0, negative and large numbers, words and fractions pick nothing; the other entries stay."""
    assert await beam([number, 2]) == (2,)
    assert (await choose({"picks": [{"offer": number, "ends": []}, 2]})).picks == (2,)


async def test_whole_floats_and_digits_are_numbers() -> None:
    """2.0 and "3" mean what they say."""
    assert await beam([2.0, "3", 2, 1]) == (2, 3, 1)


async def test_duplicates_keep_their_first_place_and_verdict() -> None:
    """A number that is listed twice counts once, as it was listed first."""
    assert await beam([3, 1, 3]) == (3, 1)
    assert await verify(judged((1, True, False), (1, True, True), (2, True, True), key="path")) == [
        (True, False),
        (True, True),
    ]


async def test_beam_keeps_at_most_width() -> None:
    """More picks than allowed are cut from the end, and none is a valid choice."""
    assert await beam([4, 3, 2, 1], width=2) == (4, 3)
    assert await beam([]) == ()
    assert (await choose({"picks": []})).picks == ()


@pytest.mark.parametrize("picks", [[0], [7, "x"], [{"offer": 17, "ends": []}], [None]])
async def test_a_list_of_which_nothing_is_valid_is_malformed(picks: list[Any]) -> None:
    """Choices that are all invalid are not taken for "none of these"."""
    with pytest.raises(ModelReplyError):
        await choose({"picks": picks, "decides": True, "more": False})
    with pytest.raises(ModelReplyError):
        await beam(picks)


async def test_deductive_gives_a_verdict_on_every_path() -> None:
    """Verdicts come in the order of the paths; a path that the reply leaves out has failed both."""
    reply = {"verdicts": judged((2, True, True), (1, True, False), (3, False, True), key="path")}
    verdicts = await scripted(reply)[0].ask(DeductiveCall("Q?", PLAN, OFFERS))
    assert verdicts == (
        Verdict(1, True, False),
        Verdict(2, True, True),
        Verdict(3, False, False),
        Verdict(4, False, False),
    )


async def test_deductive_without_any_verdict_is_malformed() -> None:
    """An empty list does not fail all paths; it is asked again."""
    model, chat = scripted({"verdicts": []}, {"verdicts": judged((1, True, True), key="path")})
    assert (await model.ask(DeductiveCall("Q?", PLAN, OFFERS[:1])))[0].finishes
    assert len(chat.asked) == 2


async def test_answer_maps_paths_to_their_ends() -> None:
    """Paths come best first; an empty list of ends stands for all of them and has no entry."""
    conclusion = await conclude({"paths": [{"path": 4, "ends": [2, 1, 2]}, {"path": 2, "ends": []}], "verdict": ""})
    assert conclusion == Conclusion((4, 2), {4: (2, 1)})


async def test_ends_that_do_not_exist_never_become_all_ends() -> None:
    """A path of which only unknown ends are named is dropped; if no path remains the reply is malformed."""
    reply = {"paths": [{"path": 1, "ends": [2]}, {"path": 2, "ends": [1, 3]}]}
    assert await conclude(reply) == Conclusion((2,), {2: (1,)})
    with pytest.raises(ModelReplyError, match="ends"):
        await conclude({"paths": [{"path": 1, "ends": [2]}]})


async def test_no_path_means_that_the_evidence_does_not_answer() -> None:
    """An empty reply is an empty Conclusion.

    The verdict of a model without evidence is not believed, which is told.
    """
    assert await conclude({"paths": [], "verdict": ""}) == Conclusion()
    for kind in ("yesno", "claim"):
        unfounded = await conclude({"paths": [], "verdict": "no"}, kind)
        assert unfounded == Conclusion(note=unfounded.note)
        assert "says 'no', but names no path" in unfounded.note
        assert await conclude({"paths": [], "verdict": ""}, kind) == Conclusion()
        assert await conclude({"paths": [{"path": 1, "ends": []}], "verdict": ""}, kind) == Conclusion()


@pytest.mark.parametrize(
    ("verdict", "read"), [("yes", "yes"), ("No", "no"), (True, "yes"), (False, "no"), ("TRUE", "yes")]
)
async def test_verdicts_of_yes_no_questions(verdict: Any, read: str) -> None:
    """Yes and no are read however they are written, and only for questions that want them."""
    reply = {"paths": [{"path": 1, "ends": []}], "verdict": verdict}
    assert (await conclude(reply, "yesno")).verdict == read
    assert (await conclude(reply, "entities")).verdict == ""


async def test_an_unclear_verdict_is_malformed() -> None:
    """A verdict that is none of the three is not guessed at."""
    with pytest.raises(ModelReplyError, match="verdict"):
        await conclude({"paths": [{"path": 1, "ends": []}], "verdict": "probably"}, "claim")


async def test_nothing_is_asked_about_nothing() -> None:
    """Without offers or paths no call is made."""
    model, chat = scripted()
    assert await model.ask(ChooseCall("Q?", PLAN, (), 4)) == Decision()
    assert await model.ask(BeamCall("Q?", PLAN, None, (), 4)) == ()
    assert await model.ask(DeductiveCall("Q?", PLAN, ())) == ()
    assert await model.ask(AnswerCall("Q?", PLAN, ())) == Conclusion()
    assert chat.asked == []


async def test_a_malformed_reply_is_sent_back_once_with_the_error() -> None:
    """The second request repeats the task, shows the reply and says what was wrong with it."""
    model, chat = scripted("I pick the second.", {"picks": [2]})
    assert await model.ask(BeamCall("Q?", PLAN, None, OFFERS, 4)) == (Choice(2),)
    first, second = (messages for messages, _ in chat.asked)
    assert list(second[:2]) == list(first[:2])
    assert [message.role for message in second] == ["system", "user", "assistant", "user"]
    assert second[2].content == "I pick the second."
    assert "no complete JSON object" in second[3].content


async def test_two_malformed_replies_are_an_error() -> None:
    """After one repair the call fails with ModelReplyError that names call and fault."""
    model, chat = scripted("?", "", {"picks": []})
    with pytest.raises(ModelReplyError, match="scripted: two unusable replies to `choose`") as caught:
        await model.ask(ChooseCall("Q?", PLAN, OFFERS, 4))
    assert caught.value.asked == "choose"
    assert len(chat.asked) == 2


@pytest.mark.parametrize("reply", ["", "   \n", "x" * 300_000])
async def test_the_repair_shows_a_bounded_reply_that_is_never_empty(reply: str) -> None:
    """Vendors refuse empty turns, and a reply without end must not come back in full."""
    model, chat = scripted(reply, {"picks": []})
    assert await model.ask(ChooseCall("Q?", PLAN, OFFERS, 4)) == Decision(decides=False)
    assert 0 < len(chat.asked[1][0][2].content) <= 500


@pytest.mark.parametrize("reply", ['[{"path": 1, "ends": []}, ' * 99, "1,2," * 999, "去世" * 999, "не знаю, " * 999])
async def test_the_repair_has_its_room(reply: str) -> None:
    """Reply and error together keep to the tokens that every prompt leaves for them, also in JSON and other scripts."""
    model, chat = scripted(reply, {"picks": []})
    await model.ask(ChooseCall("Q?", PLAN, OFFERS, 4))
    assert sum(estimate(message.content) for message in chat.asked[1][0][2:]) <= REPAIR


async def test_the_ledger_names_calls_and_template_versions() -> None:
    """Each call is entered under its name and its template's version, the repair as a call of its own."""
    ledger = Ledger()
    model = PromptedModel(ScriptedModel(["?", '{"picks": []}']), ledger)
    await model.ask(ChooseCall("Q?", PLAN, OFFERS, 4))
    [((call, version), spend)] = by_call(ledger.calls).items()
    assert call == "choose"
    assert version == load("choose", kind="entities").version
    assert spend.calls == 2
    assert spend.tokens_in > 100


async def test_the_ledger_tells_which_replies_were_of_no_use() -> None:
    """Of calls that run side by side each has its own line; what an unusable reply cost stays on it."""
    ledger, gates = Ledger(), {name: asyncio.Event() for name in ("beam", "choose")}

    class Gated(ScriptedModel):
        async def complete(self, request: Request) -> Completion:
            await gates[request.call].wait()
            return await super().complete(request)

    chat = Gated(lambda messages, call: "prose" if call == "beam" and len(messages) == 2 else '{"picks": []}')
    model = PromptedModel(chat, ledger)
    both = asyncio.gather(
        model.ask(BeamCall("Q?", PLAN, None, OFFERS, 4)), model.ask(ChooseCall("Q?", PLAN, OFFERS, 4))
    )
    await asyncio.sleep(0)
    for name in ("choose", "beam"):  # the second call is back before the first one
        gates[name].set()
        await asyncio.sleep(0)
    assert tuple(await both) == ((), Decision(decides=False))
    assert [(line.call, line.error) for line in ledger.calls] == [
        ("beam", "ModelReplyError"),
        ("choose", ""),
        ("beam", ""),
    ]
    assert ledger.calls[0].tokens_in > 0
    assert ledger.total.tokens == sum(line.tokens_in + line.tokens_out for line in ledger.calls)


async def test_the_budget_also_bounds_the_repair() -> None:
    """With one call left a malformed reply is not repaired."""
    model = PromptedModel(ScriptedModel(["?", "?"]), budget=Budget(calls=1))
    with pytest.raises(BudgetError):
        await model.ask(ChooseCall("Q?", PLAN, OFFERS, 4))


async def test_the_prompt_shows_question_plan_and_offers(
    question: str, plan: Plan, offers: tuple[PromptCandidate, ...]
) -> None:
    """What the model needs is in the user's turn: question, plan, width, path and numbered offers."""
    model, chat = scripted({"picks": []}, {"picks": []})
    await model.ask(ChooseCall(question, plan, offers, 3))
    await model.ask(BeamCall(question, plan, offers[3], offers[:2], 1))
    chosen, beamed = (messages[1].content for messages, _ in chat.asked)
    assert [name for _, name in chat.asked] == ["choose", "beam"]
    for text in (question, plan.steps[1], "At most 3 picks.", f"3. {offers[2].text}"):
        assert text in chosen
    for text in (question, plan.steps[0], "At most 1 pick.", f"Path so far: {offers[3].text}", f"2. {offers[1].text}"):
        assert text in beamed


async def test_a_first_step_says_that_nothing_was_walked() -> None:
    """Without a path the beam call says so."""
    model, chat = scripted({"picks": []})
    await model.ask(BeamCall("Q?", PLAN, None, OFFERS, 4))
    assert "nothing has been walked yet" in chat.asked[0][0][1].content


def test_own_templates_are_used_and_a_broken_one_is_found_at_once(tmp_path: Path) -> None:
    """The user's folder is read when the model is made, not in the middle of a question."""
    (tmp_path / "choose").mkdir()
    (tmp_path / "choose" / "system.j2").write_text("{% if %}")
    with pytest.raises(PromptError, match=r"system\.j2:1"):
        PromptedModel(ScriptedModel([]), prompts=PromptLibrary(str(tmp_path)))


async def test_closing_closes_the_chat_model() -> None:
    """Closing is passed on."""
    closed = []

    class Closing(ScriptedModel):
        async def close(self) -> None:
            closed.append(True)

    await PromptedModel(Closing([])).close()
    assert closed == [True]


def test_every_call_has_a_template() -> None:
    """The calls and the folders of prompts are the same; each stands in a file of its own or with its sister."""
    modules = {name: kind.__module__ for name, kind in call_kinds().items() if kind.__module__.startswith("fedkg.")}
    folder = Path(calls.__path__[0])
    assert set(names()) == set(modules)
    files = {f"{calls.__name__}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"}
    assert set(modules.values()) == files


MANY = tuple(
    PromptCandidate(number, f"A → relation {number} → {'some words ' * 20}", (), (f"end {number}",))
    for number in range(1, 101)
)


def narrow(reply: dict[str, Any], context: int) -> tuple[PromptedModel, ScriptedModel]:
    """A model of so small a context that always replies the same."""
    chat = ScriptedModel(lambda messages, name: json.dumps(reply), Capability(context=context, output=500))
    return PromptedModel(chat), chat


async def test_only_what_was_shown_can_be_picked() -> None:
    """Candidates that had no room are not shown, are counted, and do not come back, whatever the model replies."""
    model, chat = narrow({"picks": [100, 2], "decides": False, "more": False}, 3_000)
    assert (await model.ask(ChooseCall("Q?", PLAN, MANY, 4))).picks == (2,)
    [(messages, _)] = chat.asked
    shown = messages[1].content.count(" → ") // 2
    assert 2 < shown < 100
    assert f"\n{100 - shown} more, ranked lower, are not shown." in messages[1].content
    assert model.left_out == 100 - shown
    model, _ = narrow({"picks": [100]}, 3_000)
    with pytest.raises(ModelReplyError, match="offered"):
        await model.ask(BeamCall("Q?", PLAN, None, MANY, 4))


async def test_every_call_with_a_list_keeps_to_the_context() -> None:
    """Each leaves out of its list what does not fit; scores are 0.0 for what was not shown."""
    reply = {
        "verdicts": [
            {"path": 1, "follows": True, "deducible": True},
            {"path": 100, "follows": True, "deducible": True},
        ],
        "paths": [{"path": 1, "ends": []}, {"path": 100, "ends": []}],
        "adequate": True,
        "scores": [{name: number, "score": 1.0} for number in (1, 100) for name in ("relation", "entity")],
        "plans": [{"relations": [1], "weight": 0.5}, {"relations": [100], "weight": 1.0}],
    }
    model, chat = narrow(reply, 3_000)
    assert {verdict.number for verdict in await model.ask(DeductiveCall("Q?", PLAN, MANY)) if verdict.follows} == {1}
    assert (await model.ask(AnswerCall("Q?", PLAN, MANY))).paths == (1,)
    assert (await model.ask(InductiveCall("Q?", PLAN, MANY, ["guess"] * 100))).paths == (1,)
    assert await model.ask(AdequacyCall("Q?", PLAN, MANY)) is True
    assert [chain.relations for chain in await model.ask(RelationPathsCall("Q?", PLAN, MANY, 2, 3))] == [(1,)]
    assert all("are not shown" in messages[1].content for messages, _ in chat.asked)
    assert len(chat.asked) == 5
    for name in ("relation", "entity"):
        model, _ = narrow({"scores": [{name: 1, "score": 1.0}, {name: 100, "score": 1.0}]}, 3_000)
        ask = (
            model.ask(ScoreRelationsCall("Q?", PLAN, None, MANY))
            if name == "relation"
            else model.ask(ScoreEntitiesCall("Q?", PLAN, MANY))
        )
        assert await ask == (1.0, *[0.0] * 99)


async def test_no_room_at_all_is_an_error_without_a_call() -> None:
    """A model too small for one offer is not asked."""
    model, chat = narrow({"picks": []}, 1_500)
    with pytest.raises(ModelContextError):
        await model.ask(ChooseCall("Q?" * 1_000, PLAN, MANY, 4))
    assert chat.asked == []


async def test_the_schema_of_reasoning_paths_lists_the_paths() -> None:
    """A service that holds replies to a schema cannot let the model pick a path that is not there.

    The template's own stays.
    """
    asked: list[Request] = []

    class Native(ScriptedModel):
        async def complete(self, request: Request) -> Completion:
            asked.append(request)
            return await super().complete(request)

    model = PromptedModel(Native(['{"picks": [3, 1, 3]}'], Capability(context=200_000, structured="native")))
    assert [pick.number for pick in await model.ask(ReasoningPathsCall("Q?", PLAN, OFFERS, 2))] == [3, 1]
    assert asked[0].schema["properties"]["picks"]["items"] == {"type": "integer", "enum": [1, 2, 3, 4]}
    assert "enum" not in load("reasoning-paths").schema["properties"]["picks"]["items"]
    assert (model.constraint_level, model.constraint_limit) == ("schema", 500)


async def test_nothing_holds_a_model_without_structured_replies() -> None:
    """It may be asked, and its numbers are checked as ever; and without a path nobody is."""
    model, chat = scripted({"picks": [9]}, {"picks": [2]})
    assert model.constraint_limit == 0
    assert await model.ask(ReasoningPathsCall("Q?", PLAN, OFFERS, 2)) == (Choice(2),)
    assert (await model.ask(ReasoningPathsCall("Q?", PLAN, (), 2)), len(chat.asked)) == ((), 2)
