"""GCR constrained by tokens, from question to document: a tiny model of transformers writes the paths; refusals."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fedkg.config.settings import Settings, public
from fedkg.core.answer import Answer
from fedkg.core.choice import Choice, PromptCandidate, RelationPath
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Plan
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.errors import FedkgError, MethodError, ModelNameError, ModelReplyError
from fedkg.llm import hf
from fedkg.llm.base import Capability, Completion, Message, Request
from fedkg.reasoner import path_format
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.prompted import CONSTRAINT_LIMITS, PromptedModel, constraint_levels
from fedkg.session import Session
from fedkg.testing import ScriptedModel
from fedkg.training.examples import TrainingExample
from tests.support.extras import needs

QUESTION = "Who is the spouse of the director of King Kong?"
PLAN = Plan(("spouse",), ("director", "spouse"), "The spouse is *placeholder*.", "entities", ("King Kong",))
NATIVE, PLAIN = Capability(structured="native", context=100_000), Capability(context=100_000)


def scholar(messages: Sequence[Message], call: str) -> str:
    """A model that plans, and answers with the path over director and spouse."""
    plan = {"keywords": ["spouse"], "planning_steps": ["director", "spouse"], "mentions": ["King Kong"]}
    if call == "plan":
        statement = {"declarative_statement": "The spouse is *placeholder*.", "kind": "entities", "options": []}
        return json.dumps(plan | statement)
    lines = re.findall(r"(?m)^(\d+)\. (.*)$", messages[-1].content)
    right = [int(number) for number, text in lines if "→ director →" in text and "→ spouse →" in text]
    return json.dumps({"paths": [{"path": number, "ends": []} for number in right]})


def session(path_model: Path | None = None, chat: ScriptedModel | None = None, **options: Any) -> Session:
    """The sample graph, asked by GCR."""
    made: dict[str, Any] = {"method": "gcr", "embedder": "bm25", "search.depth": 2} | options
    if path_model:
        made["path_model"] = f"hf:{path_model}"
    return Session("sample", chat=chat, **made)


async def asked(question: str, **wired: Any) -> Answer:
    """The answer to one question."""
    async with session(**wired) as opened:
        return await opened.ask(question)


async def test_a_path_model_writes_and_another_model_answers(tiny: Path) -> None:
    """Paths that the graph has, through the token door; each call is in the ledger with whom it was asked of."""
    answer = await asked(QUESTION, path_model=tiny, chat=ScriptedModel(scholar, PLAIN))
    assert answer.measures["door"] == "token"
    assert [(call.call, call.model) for call in answer.ledger] == [
        ("plan", "scripted"),
        ("reasoning-paths", hf.named(tiny)),
        ("inductive", "scripted"),
    ]
    written = answer.ledger[1]
    assert written.tokens_in > 0
    assert written.tokens_out > 0
    assert answer.settings["path_model"] == "hf:tiny"


@pytest.mark.parametrize("door", [None, "index"])
async def test_paths_are_written_beside_local(tiny: Path, door: str | None) -> None:
    """No vendor is needed: the model in the folder writes, `local` answers; another door leaves it nothing to do."""
    options: dict[str, Any] = {"search.door": door}
    async with session(path_model=tiny, model="local", **options) as opened:
        answer = await opened.ask(QUESTION)
        assert all(checked.holds for checked in await opened.verify(answer))
    assert answer.measures["door"] == (door or "token")
    assert [call.model for call in answer.ledger if call.call == "reasoning-paths"] == (
        [] if door else [hf.named(tiny)]
    )


async def test_the_same_question_has_the_same_document(tiny: Path) -> None:
    """Nothing is drawn by chance, and a trie that was kept is the one that was made."""
    both = [await asked(QUESTION, path_model=tiny, chat=ScriptedModel(scholar, PLAIN)) for _ in range(2)]
    first, second = ([path.edges for path in answer.paths] for answer in both)
    assert first == second
    assert both[0].answers == both[1].answers


async def test_every_path_that_is_answered_from_was_offered(tiny: Path) -> None:
    """The model that answers sees the paths that were decoded, ten at most, and all of them exist."""
    seen: list[str] = []

    def all_of_them(messages: Sequence[Message], call: str) -> str:
        if call == "plan":
            return scholar(messages, call)
        seen.extend(text for _, text in re.findall(r"(?m)^(\d+)\. (.*)$", messages[-1].content))
        return json.dumps({"paths": [{"path": number + 1, "ends": []} for number in range(len(seen))]})

    async with session(path_model=tiny, chat=ScriptedModel(all_of_them, PLAIN)) as opened:
        answer = await opened.ask(QUESTION)
        holds = await opened.verify(answer)
    assert 0 < len(seen) <= 10
    assert answer.paths
    assert all(checked.holds for checked in holds)


async def test_a_model_that_has_learned_nothing_ends_no_walk(tiny: Path) -> None:
    """Alone, its plan and its answer are nonsense: the walk goes on by content words, and says so."""
    answer = await asked(QUESTION, model=f"hf:{tiny}")
    assert answer.measures["door"] == "token"
    assert not answer.answers
    assert any("planned by content words" in warning for warning in answer.warnings)
    assert {call.error for call in answer.ledger if call.call == "plan"} == {"ModelReplyError"}
    assert [call.error for call in answer.ledger if call.call == "reasoning-paths"] == [""]
    assert {call.price for call in answer.ledger} == {0.0}


async def test_two_topics_share_a_trie(tiny: Path) -> None:
    """Paths from both are written by one call."""
    async with session(path_model=tiny, chat=ScriptedModel(scholar, PLAIN)) as opened:
        answer = await opened.ask("Do they share a director?", ["King Kong", "The Hobbit: An Unexpected Journey"])
    assert answer.measures["door"] == "token"
    assert [call.call for call in answer.ledger].count("reasoning-paths") == 1


async def test_the_published_score_is_a_switch(tiny: Path) -> None:
    """The trie's own normalisation and the mean over the vocabulary are two requests, and both hold to the trie."""
    chat = ScriptedModel(scholar, PLAIN)
    both = [
        await asked(QUESTION, path_model=tiny, chat=chat, **{"search.path_score": score, "replies": True})
        for score in ("trie", "vocabulary")
    ]
    assert [answer.measures["door"] for answer in both] == ["token", "token"]
    tokens = [call.tokens_out for answer in both for call in answer.ledger if call.call == "reasoning-paths"]
    assert 0 < tokens[0] < tokens[1]


async def test_kept_replies_need_no_model(tiny: Path, tmp_path: Path) -> None:
    """What was decoded once is replayed offline: from a folder elsewhere, and by the ledger's name if there is none."""
    place = tmp_path / tiny.name
    place.symlink_to(tiny)
    first = await asked(QUESTION, path_model=place, chat=ScriptedModel(scholar, PLAIN), replies=True)
    place.unlink()
    named = next(call.model for call in first.ledger if call.call == "reasoning-paths")
    for writer in (tiny, Path(named.removeprefix("hf:"))):
        again = await asked(QUESTION, path_model=writer, chat=ScriptedModel(scholar, PLAIN), mode="offline")
        assert again.measures == first.measures
        assert {call.replayed for call in again.ledger} == {True}
    assert [path.edges for path in again.paths] == [path.edges for path in first.paths]


@pytest.mark.parametrize(
    ("capability", "writer", "offered"),
    [
        (PLAIN, None, ("index",)),
        (NATIVE, None, ("schema", "index")),
        (PLAIN, ScriptedModel([]), ("token", "index")),
        (NATIVE, ScriptedModel([]), ("token", "schema", "index")),
    ],
)
def test_what_can_hold_a_model_to_paths(
    capability: Capability, writer: ScriptedModel | None, offered: tuple[str, ...]
) -> None:
    """The closest comes first, and is the one that is taken where none is wanted."""
    chat = ScriptedModel([], capability)
    assert constraint_levels(chat, writer) == offered
    assert PromptedModel(chat, writer=writer).constraint_level == offered[0]
    assert PromptedModel(chat, writer=writer, constraint_level="index").constraint_limit == 0


@pytest.mark.parametrize(("door", "capability"), [("token", NATIVE), ("token", PLAIN), ("schema", PLAIN)])
async def test_a_door_that_the_model_does_not_offer_is_refused(door: str, capability: Capability) -> None:
    """Before anything is asked, with the doors that there are and what would open the one that is wanted."""
    chat = ScriptedModel(scholar, capability)
    wanted: dict[str, Any] = {"search.door": door}
    async with session(chat=chat, **wanted) as opened:
        with pytest.raises(MethodError, match=f"cannot be held to paths by the door {door}") as caught:
            await opened.ask(QUESTION)
        assert opened.usage().requests == 0
    assert chat.asked == []
    assert "--path-model hf:FOLDER" in caught.value.hint
    assert "scripted offers: " in caught.value.hint


@pytest.mark.parametrize("door", ["schema", "index"])
async def test_a_wider_door_can_be_demanded(tiny: Path, door: str) -> None:
    """Where a model could be held by its tokens, it is held as the settings say."""

    def picks(messages: Sequence[Message], call: str) -> str:
        return '{"picks": [1]}' if call in {"choose", "reasoning-paths"} else scholar(messages, call)

    chat = ScriptedModel(picks, NATIVE)
    answer = await asked(QUESTION, path_model=tiny, chat=chat, **{"search.door": door})
    assert answer.measures["door"] == door
    assert {call.model for call in answer.ledger} == {"scripted"}


async def test_a_door_that_is_too_narrow_is_gone_round(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More paths than it takes are walked from hop to hop, as without it; who wanted it is told."""
    monkeypatch.setitem(CONSTRAINT_LIMITS, "token", 1)
    wanted = {"search.door": "token"}
    answer = await asked(QUESTION, path_model=tiny, chat=ScriptedModel(scholar, PLAIN), **wanted)
    assert answer.measures["door"] == "index"
    assert any("more than the 1 that the door token takes" in warning for warning in answer.warnings)


async def test_another_method_has_no_door() -> None:
    """The setting is one of GCR, and is in nobody else's way."""
    answer = await asked(
        "Who is the director of King Kong?", model="local", method="vanilla", **{"search.door": "token"}
    )
    assert answer.method == "vanilla"


class Told(ScriptedModel):
    """A writer that keeps the requests it was sent."""

    name = "hf:told"

    async def complete(self, request: Request) -> Completion:
        """The scripted reply."""
        self.request = request
        return await super().complete(request)


OFFERS = (
    PromptCandidate(1, "King Kong → director → Peter Jackson", start="King Kong"),
    PromptCandidate(2, "King Kong → director → Peter Jackson → spouse → Fran Walsh", start="King Kong"),
    PromptCandidate(3, "Wellington ← capital ← New Zealand", start="Wellington"),
)


async def test_the_prompt_is_that_of_the_training_files() -> None:
    """What is decoded is what an example of `fedkg paths build` consists of, as far as its path goes."""
    writer = Told(['{"picks": [2, 1]}'])
    model = PromptedModel(ScriptedModel([]), writer=writer)
    assert await model.ask(ReasoningPathsCall(QUESTION, PLAN, OFFERS, 2)) == (Choice(2), Choice(1))
    constraint = writer.request.constraint
    assert constraint is not None
    topics = ["King Kong", "Wellington"]
    example = TrainingExample(
        path_format.prompt("gcr", QUESTION, topics), path_format.path(OFFERS[1].text, "Fran Walsh")
    )
    assert [message.content for message in writer.request.messages] == [example.prompt]
    assert example.completion.startswith(f"{constraint.start}{constraint.texts[1]}{constraint.end}")
    assert constraint.most == 2


async def test_hypotheses_are_decoded_behind_the_paths_and_shown(tiny: Path) -> None:
    """Eq. 9: the writer goes on behind each path; what it answers stands there instead of the ends."""
    shown: list[str] = []

    def reads(messages: Sequence[Message], call: str) -> str:
        shown.extend(re.findall(r"Hypothesis: (.*)", messages[-1].content) if call == "inductive" else ())
        return scholar(messages, call)

    answer = await asked(
        QUESTION, path_model=tiny, chat=ScriptedModel(reads, PLAIN), **{"search.hypotheses": "decoded"}
    )
    ends: list[str] = []

    def told(messages: Sequence[Message], call: str) -> str:
        ends.extend(re.findall(r"Hypothesis: (.*)", messages[-1].content) if call == "inductive" else ())
        return scholar(messages, call)

    await asked(QUESTION, path_model=tiny, chat=ScriptedModel(told, PLAIN))
    assert answer.measures["door"] == "token"
    assert len(shown) == len(ends) > 0
    assert shown != ends, "a model that has learned nothing does not name the ends"
    assert answer.measures["hypotheses that name the end of their path"] == 0


async def test_a_reply_with_hypotheses_is_read() -> None:
    """Each stands with its path; a line break, or what lacks one, is no reason to refuse the path."""
    writer = Told(['{"picks": [2, 1], "answers": ["Fran\\nWalsh"]}'])
    model = PromptedModel(ScriptedModel([]), writer=writer)
    chosen = await model.ask(ReasoningPathsCall(QUESTION, PLAN, OFFERS, 2, answers=True))
    assert chosen == (Choice(2, "Fran Walsh"), Choice(1))
    assert writer.request.constraint is not None
    assert writer.request.constraint.answer == "\n# Answer:\n"


FREELY: dict[str, Any] = {"search.decoding": "free", "search.path_examples": 2}


async def test_free_writing_is_counted_and_only_what_exists_is_a_path() -> None:
    """Figure 5 without the constraint: of four paths one is in the graph; the others are no proof of anything."""
    told: list[str] = []

    def writes(messages: Sequence[Message], call: str) -> str:
        if call != "reasoning-paths":
            return scholar(messages, call)
        told.append(messages[0].content)
        paths = (
            "King Kong → director → Peter Jackson → spouse → Fran Walsh",
            "King Kong → director → Peter Jackson → spouse → Naomi Watts",
            "King Kong → wedded → Fran Walsh",
            "Fran Walsh",
        )
        return "\n".join(f"# Reasoning path:\n<PATH> {path} </PATH>\n# Answer:\nFran Walsh" for path in paths)

    answer = await asked(QUESTION, chat=ScriptedModel(writes, NATIVE), **FREELY)
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert answer.unproven() == ()
    assert "door" not in answer.measures
    names = ("written", "in the graph")
    assert [answer.measures[f"paths {name}"] for name in names] == [4, 1]
    faults = ("format errors", "relations not in the graph", "steps not in the graph")
    assert [answer.measures[name] for name in faults] == [1, 1, 1]
    assert told[0].count("# Question:") == 3
    assert QUESTION in told[0]


async def test_a_model_that_has_learned_nothing_writes_no_path(tiny: Path) -> None:
    """Ten sequences of a beam search, all of them errors of format: nothing is found, which is not the graph's none."""
    answer = await asked(QUESTION, path_model=tiny, chat=ScriptedModel(scholar, PLAIN), **FREELY)
    assert not answer.answers
    assert answer.status.value == "not_found"
    assert (answer.measures["paths written"], answer.measures["format errors"]) == (10, 10)


async def test_without_a_model_that_writes_nothing_is_written_freely() -> None:
    """`local` is refused before anything is asked."""
    freely: dict[str, Any] = {"search.decoding": "free"}
    async with session(model="local", **freely) as opened:
        with pytest.raises(MethodError, match="needs a model that writes") as caught:
            await opened.ask(QUESTION)
    assert "--path-model" in caught.value.hint


async def test_hypotheses_that_cannot_be_decoded_are_said_to_be_the_ends() -> None:
    """A model that picks numbers goes on with nothing."""

    def picks(messages: Sequence[Message], call: str) -> str:
        return '{"picks": [1]}' if call == "reasoning-paths" else scholar(messages, call)

    answer = await asked(QUESTION, chat=ScriptedModel(picks, NATIVE), **{"search.hypotheses": "decoded"})
    assert any("hypotheses are the ends" in warning for warning in answer.warnings)


@pytest.mark.parametrize("reply", ['{"picks": [7]}', "{}", "nothing"])
async def test_numbers_of_no_path_are_refused(reply: str) -> None:
    """A writer is believed as little as any model; the ledger says what came of the call."""
    model = PromptedModel(ScriptedModel([]), writer=Told([reply]))
    with pytest.raises(ModelReplyError):
        await model.ask(ReasoningPathsCall(QUESTION, PLAN, OFFERS, 2))
    assert [call.error for call in model.ledger.calls] == ["ModelReplyError"]


RELATIONS = (
    PromptCandidate(1, "→ director →", ("director",)),
    PromptCandidate(2, "→ spouse →", ("spouse",)),
    PromptCandidate(3, "← cast ←", ("cast",)),
)


async def test_plans_are_written_in_the_words_of_their_training_files() -> None:
    """All chains of the offered relations, shorter ones first; weights are the shares of their probabilities."""
    writer = Told(['{"picks": [5, 1], "scores": [0.3, 0.1]}'])
    model = PromptedModel(ScriptedModel([]), writer=writer)
    planned = await model.ask(RelationPathsCall(QUESTION, PLAN, RELATIONS, 2, 6, topics=("King Kong",)))
    assert [chain.relations for chain in planned] == [(1, 2), (1,)]
    assert [chain.weight for chain in planned] == pytest.approx([0.75, 0.25])
    constraint = writer.request.constraint
    assert constraint is not None
    assert (len(constraint.texts), constraint.texts[4]) == (3 + 9, "→ director → → spouse →")
    assert [message.content for message in writer.request.messages] == [
        path_format.prompt("eperm", QUESTION, ["King Kong"])
    ]
    whole = f"{constraint.start}{constraint.texts[4]}{constraint.end}"
    assert whole == path_format.plan("→ director → → spouse →")


async def test_many_relations_make_no_more_chains_than_have_room() -> None:
    """Those of the best relations, of every length."""
    writer = Told(['{"picks": [1]}'])
    many = tuple(PromptCandidate(number, f"→ r{number} →") for number in range(1, 101))
    [planned] = await PromptedModel(ScriptedModel([]), writer=writer).ask(RelationPathsCall(QUESTION, PLAN, many, 3, 6))
    assert (planned.relations, planned.weight) == ((1,), 1.0)
    assert writer.request.constraint is not None
    texts = writer.request.constraint.texts
    assert (len(texts), texts[-1]) == (26 + 26**2 + 26**3, "→ r26 → → r26 → → r26 →")


@pytest.mark.parametrize("reply", ['{"picks": [13]}', '{"picks": [0]}', "{}", "nothing"])
async def test_numbers_of_no_plan_are_refused(reply: str) -> None:
    """Of three relations there are twelve chains of at most two."""
    model = PromptedModel(ScriptedModel([]), writer=Told([reply]))
    with pytest.raises(ModelReplyError):
        await model.ask(RelationPathsCall(QUESTION, PLAN, RELATIONS, 2, 6))


async def test_plans_that_are_written_freely_may_be_none() -> None:
    """Of four sequences two are plans, the likelier one heavier; RoG's errors are told apart."""
    plans = ("→ director → → spouse →", "→ wedded →", "director, spouse", "→ spouse →")
    writer = Told([json.dumps({"texts": list(map(path_format.plan, plans))})])
    model = PromptedModel(ScriptedModel([]), writer=writer)
    call = RelationPathsCall(QUESTION, PLAN, RELATIONS, 2, 4, faulty=True, freely=True)
    assert await model.ask(call) == (
        RelationPath((1, 2), 1.0),
        RelationPath((2,), 0.25),
        RelationPath((), 0.0, "relations not in the graph"),
        RelationPath((), 0.0, "format errors"),
    )
    assert (writer.request.beams, writer.request.constraint) == (4, None)


@pytest.mark.parametrize("method", ["eperm", "rog"])
async def test_a_path_model_plans_for_the_methods_that_plan(tiny: Path, method: str) -> None:
    """The call `relation-paths` is its own; the others are the model's. What it plans are relations of the graph."""

    def helps(messages: Sequence[Message], call: str) -> str:
        numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\. ", messages[-1].content)]
        if call == "score-relations":
            return json.dumps({"scores": [{"relation": number, "score": 0.5} for number in numbers]})
        if call == "score-entities":
            return json.dumps({"scores": [{"entity": number, "score": 0.5} for number in numbers]})
        return scholar(messages, call)

    answer = await asked(QUESTION, path_model=tiny, chat=ScriptedModel(helps, PLAIN), method=method)
    asked_of = {call.call: call.model for call in answer.ledger}
    assert asked_of["relation-paths"] == hf.named(tiny)
    assert {model for call, model in asked_of.items() if call != "relation-paths"} == {"scripted"}
    assert answer.measures["plans" if method == "eperm" else "paths written"]
    assert answer.unproven() == ()


def node(name: str) -> Iri:
    """The entity of that name."""
    return Iri(f"http://x/{name}")


def step(*edges: tuple[str, str, str]) -> Step:
    """A step over these edges."""
    relation = node(edges[0][1])
    made = tuple(Edge(node(start), relation, node(end), "out", "e") for start, _, end in edges)
    return Step(0, DirectedRelation(relation, "out"), made)


def test_one_walk_of_a_path_of_many_ends() -> None:
    """It goes over the nodes that lead to that end, and over no other."""
    cast = step(("kong", "star", "watts"), ("kong", "star", "black"))
    beam = PartialPath(node("kong"), (cast, step(("watts", "born", "shoreham"), ("black", "born", "santa monica"))))
    alone = beam.alone(node("santa monica"))
    assert [step.tails for step in alone.steps] == [(node("black"),), (node("santa monica"),)]
    assert alone.chain == beam.chain
    assert alone.walks(node("santa monica")) == beam.walks(node("santa monica"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "hf:"}, ModelNameError, "no model is called 'hf:'"),
        ({"model": "hf:/no/such/folder"}, ModelNameError, "holds no model"),
        ({"path_model": "openai:gpt-4o"}, ModelNameError, "cannot be held to paths"),
        ({"path_model": "hf:/no/such/folder", "model": "local"}, ModelNameError, "holds no model"),
    ],
)
@needs("hf", "transformers")
def test_models_that_cannot_be_had(options: Mapping[str, Any], error: type[FedkgError], message: str) -> None:
    """They are refused when the session is made, before anybody is asked anything."""
    with pytest.raises(error, match=message) as caught:
        Session("sample", method="gcr", **options)
    assert caught.value.exit_code == 2


def test_without_the_packages_the_extra_is_named(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked."""
    monkeypatch.setattr(hf, "PACKAGES", ("no_such_package",))
    with pytest.raises(FedkgError) as caught:
        Session("sample", model=f"hf:{tiny}")
    assert (caught.value.exit_code, caught.value.hint) == (2, "pip install 'fedkg[hf]'")


def test_a_document_shows_no_folder() -> None:
    """Of the path model only the name of its folder stays."""
    assert public(Settings(path_model="hf:/home/me/models/writer"))["path_model"] == "hf:writer"
