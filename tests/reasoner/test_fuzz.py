"""Replies near each call's schema and far from it.

A call ends in what was offered or in ModelReplyError, a walk in an answer.

`make fuzz` tries 10,000 replies, a test run 240, and 480 with `--all`.
"""

import asyncio
import json
import math
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.common.one_line import line
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.conversation import KnownEntity
from fedkg.core.operation import Operation
from fedkg.core.question import Kind, Match, Mention, Plan
from fedkg.core.terms import DirectedRelation, Iri
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.errors import ModelReplyError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.choose_sets import ChooseSetsCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.operate import OperateCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.testing import HashingEmbedder, ScriptedModel

REPLIES = int(os.environ.get("FUZZ", "240" if settings.get_current_profile_name() == "local" else "480"))
"""How many replies are made up, all calls together."""
OFFERS = tuple(
    PromptCandidate(n, f"A → r{n} → B{n}", (f"r{n}",), tuple(f"B{i}" for i in range(n))) for n in range(1, 5)
)
NUMBERS = {1, 2, 3, 4}
WORDINGS = PromptLibrary()
RELATIONS = (DirectedRelation(Iri("http://x/r"), "out"), DirectedRelation(Iri("http://x/s"), "in"))
WIDTH, DEPTH = 2, 3
QUESTION = "Which of the films King Kong and It was made by Peter Jackson?"
OPTIONS = ("King Kong", "It")
KINDS: tuple[Kind, ...] = ("entities", "literal", "count", "yesno", "claim", "choice")
MENTIONS = tuple(
    Mention(text, (Match(Iri("http://x/1"), text, 1.0, "a film"), Match(Iri("http://x/2"), text, 1.0, "a book")))
    for text in OPTIONS
)


class Wire(ScriptedModel):
    """A scripted model that, like a real wire, sends nothing that is no UTF-8 text."""

    async def complete(self, request: Any) -> Any:
        """The next reply."""
        assert all(message.content.encode("utf-8").strip() for message in request.messages)
        return await super().complete(request)


# ---- what comes back from each call holds ----


def picked(picks: tuple[Choice, ...]) -> bool:
    """Offered steps, each once, at most as many as asked for."""
    numbers = [pick.number for pick in picks]
    return len(set(numbers)) == len(numbers) <= WIDTH and set(numbers) <= NUMBERS


def decided(decision: Decision) -> bool:
    """Offered paths, each once, and ends; a verdict and an option stand on a path, and decide."""
    picks = decision.picks
    known = len(set(picks)) == len(picks) and set(picks) <= NUMBERS and (decision.decides or len(picks) <= WIDTH)
    ends = all(some and set(some) <= set(range(number + 1)) for number, some in decision.ends.items())
    judged = decision.option in range(len(OPTIONS) + 1) and (
        bool(picks and decision.decides) or not (decision.verdict or decision.option or decision.ends)
    )
    checks = set(decision.checks) <= set(picks) and decision.unproven == line(decision.unproven)
    return known and ends and judged and checks and type(decision.more) is bool


def verified(verdicts: tuple[Verdict, ...]) -> bool:
    """A verdict on each path, in order."""
    return [verdict.number for verdict in verdicts] == sorted(NUMBERS)


def scored(scores: tuple[float, ...]) -> bool:
    """A score from 0 to 1 for each offer."""
    return len(scores) == len(OFFERS) and all(type(score) is float and 0 <= score <= 1 for score in scores)


def weighted(plans: tuple[RelationPath, ...]) -> bool:
    """Chains of offered relations, each once, not too long, the heaviest first."""
    chains, weights = [plan.relations for plan in plans], [plan.weight for plan in plans]
    told = all(0 < len(chain) <= DEPTH and set(chain) <= NUMBERS for chain in chains)
    return (
        told
        and len(set(chains)) == len(chains) <= WIDTH
        and weights == sorted(weights, reverse=True)
        and all(map(math.isfinite, weights))
    )


def concluded(conclusion: Conclusion) -> bool:
    """Offered paths and ends; no verdict and no option without a path."""
    ends = all(some and set(some) <= set(range(1, number + 1)) for number, some in conclusion.tails.items())
    judged = conclusion.option in range(len(OPTIONS) + 1) and (
        bool(conclusion.paths) or not (conclusion.verdict or conclusion.option)
    )
    checks = set(conclusion.checks) <= set(conclusion.paths) and conclusion.unproven == line(conclusion.unproven)
    return ends and judged and checks and set(conclusion.tails) <= set(conclusion.paths) <= NUMBERS


def remembered(answer: ModelOnlyAnswer) -> bool:
    """A bounded number of safe lines, or an option that was offered."""
    safe = all(value and value == line(value) for value in answer.values)
    return safe and len(answer.values) <= 50 and answer.option in range(len(OPTIONS) + 1)


def linked(meant: dict[str, int]) -> bool:
    """Candidates that the mentions have."""
    return meant.keys() <= set(OPTIONS) and set(meant.values()) <= {0, 1, 2}


def planned(plan: Plan) -> bool:
    """Bounded safe lines; what it names and offers stands in the question."""
    safe = all(text == line(text) for text in (*plan.keywords, *plan.steps))
    asked = all(text.casefold() in QUESTION.casefold() for text in (*plan.mentions, *plan.options))
    return safe and asked and 0 < len(plan.keywords) <= 30 and plan.kind in KINDS and len(plan.statement) <= 4_000


KNOWN = tuple(KnownEntity(Iri(f"http://x/{name}"), name, "topic", 1) for name in "ab")


def referring(reference: Any) -> bool:
    """A reference to nothing, or to some of what was shown."""
    first, last = reference.words or (1, 1)
    words = 1 <= first <= last <= len(QUESTION.split())
    shown = set(reference.entities) <= {1, 2} and reference.question in {0, 1} and words
    return bool(shown and (reference.alone or reference.entities or reference.words))


def computed(operation: Operation) -> bool:
    """Sets and relations are among those offered, and values stand in the question."""
    sets = {number for group in operation.sets for number in group} <= {offer.number for offer in OFFERS}
    relations = {operation.by, *(each.by for each in operation.filters)} <= {None, *RELATIONS}
    return sets and relations and all(words in QUESTION for each in operation.filters for words in each.values)


class Call(NamedTuple):
    """A call of a model with a plan, and whether what it returns is what a call may return."""

    ask: Callable[[PromptedModel, Plan], Awaitable[Any]]
    holds: Callable[[Any], bool]


CALLS = {
    "plan": Call(lambda model, plan: model.ask(PlanCall(QUESTION)), planned),
    "link": Call(lambda model, plan: model.ask(LinkCall(QUESTION, MENTIONS)), linked),
    "beam": Call(lambda model, plan: model.ask(BeamCall(QUESTION, plan, None, OFFERS, WIDTH)), picked),
    "deductive": Call(lambda model, plan: model.ask(DeductiveCall(QUESTION, plan, OFFERS)), verified),
    "choose": Call(lambda model, plan: model.ask(ChooseCall(QUESTION, plan, OFFERS, WIDTH)), decided),
    "choose-sets": Call(lambda model, plan: model.ask(ChooseSetsCall(QUESTION, plan, OFFERS, WIDTH)), decided),
    "adequacy": Call(
        lambda model, plan: model.ask(AdequacyCall(QUESTION, plan, OFFERS)), lambda reply: type(reply) is bool
    ),
    "operate": Call(lambda model, plan: model.ask(OperateCall(QUESTION, plan, OFFERS, OFFERS, RELATIONS)), computed),
    "score-relations": Call(lambda model, plan: model.ask(ScoreRelationsCall(QUESTION, plan, None, OFFERS)), scored),
    "score-entities": Call(lambda model, plan: model.ask(ScoreEntitiesCall(QUESTION, plan, OFFERS)), scored),
    "relation-paths": Call(
        lambda model, plan: model.ask(RelationPathsCall(QUESTION, plan, OFFERS, DEPTH, WIDTH)), weighted
    ),
    "reasoning-paths": Call(lambda model, plan: model.ask(ReasoningPathsCall(QUESTION, plan, OFFERS, WIDTH)), picked),
    "answer": Call(lambda model, plan: model.ask(AnswerCall(QUESTION, plan, OFFERS)), concluded),
    "weighted-answer": Call(lambda model, plan: model.ask(WeightedAnswerCall(QUESTION, plan, OFFERS)), concluded),
    "inductive": Call(lambda model, plan: model.ask(InductiveCall(QUESTION, plan, OFFERS, "abcd")), concluded),
    "model-only": Call(lambda model, plan: model.ask(ModelOnlyCall(QUESTION, plan.kind, plan.options)), remembered),
    "follow-up": Call(lambda model, plan: model.ask(FollowUpCall(QUESTION, (QUESTION,), KNOWN)), referring),
}

# ---- replies ----

WHOLE = [1, 2, 3, 4, 0, -1, 5, 10**9, 10**400, 2.0, 1.5, -0.0, "2", "2.0", "two", "", True, None, math.nan, math.inf]
SHARES = [0, 0.5, 1, 0.9, 1.0000001, -0.1, 1e-300, 1e308, 10**400, "0.7", "high", True, None, math.nan, -math.inf]
TEXTS = [
    "King Kong",
    "it",
    "*placeholder* was made.",
    "entities",
    "yes",
    "No",
    "",
    "\ud800",
    "a\n</graph>",
    "x" * 5_000,
]
scalars = st.sampled_from([*WHOLE, *SHARES, *TEXTS]) | st.integers() | st.floats() | st.text(max_size=20)
junk = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from([*CALLS, "path", ""]), part, max_size=4),
    max_leaves=6,
)


def mostly(fitting: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Five in six fit: a reply of many parts is to be looked at part by part, not refused for its first one."""
    return st.integers(0, 5).flatmap(lambda number: fitting if number else other)


def near(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit the schema, or nearly."""
    match schema["type"]:
        case "object":
            parts = {key: near(part) for key, part in schema["properties"].items()}
            return mostly(st.fixed_dictionaries(parts), st.fixed_dictionaries({}, optional={**parts, "else": junk}))
        case "array":
            return mostly(st.lists(mostly(near(schema["items"]), junk), max_size=5), junk)
        case "string":
            fitting = schema.get("enum", ["King Kong", "*placeholder* was made by Jackson."])
            return mostly(st.sampled_from(fitting), st.sampled_from(TEXTS) | junk)
        case "boolean":
            return mostly(st.booleans(), st.sampled_from(["yes", "FALSE", 1, None, "maybe"]))
        case "integer":
            return mostly(st.integers(1, 4), st.sampled_from(WHOLE))
    return mostly(st.floats(0, 1), st.sampled_from(SHARES))


WAYS: list[Callable[[str, int], str]] = [
    lambda text, at: text,
    lambda text, at: f"```json\n{text}\n```",
    lambda text, at: f"Of {{these}} I take\n{text}\nas asked.",
    lambda text, at: f"<think>{text}</think>{text}",
    lambda text, at: f"{text}\n{text}",
    lambda text, at: text[:at],
    lambda text, at: text[at:],
    lambda text, at: '{"a":' * 5_000 + text,
    lambda text, at: '{"picks": ' + "[" * 900 + "]" * 900 + "}",
    lambda text, at: text + "x" * 1_000_000,
    lambda text, at: "\ud800\x00\u202e" + text,
    lambda text, at: text.encode().decode("unicode_escape"),
    lambda text, at: "",
]


@cache
def replies(call: str, kind: Kind) -> st.SearchStrategy[Any]:
    """What the call may be told: mostly near its schema."""
    fitting = near(WORDINGS.get(call, kind).schema)
    return st.one_of(fitting, fitting, junk)


@st.composite
def written(draw: st.DrawFn, call: str, kind: Kind) -> str:
    """A reply to the call, in one of the ways in which models write; as it should be in half of all cases."""
    value = draw(replies(call, kind))
    text = json.dumps(value)
    if draw(st.booleans()):
        return text
    return draw(st.sampled_from(WAYS))(text, draw(st.integers(0, len(text))))


@pytest.mark.parametrize("call", CALLS)
@given(st.data())
@settings(max_examples=math.ceil(REPLIES / len(CALLS)), suppress_health_check=list(HealthCheck))
async def test_no_reply_leaves_what_was_offered(call: str, data: st.DataObject) -> None:
    """Whatever a model replies, twice, the call ends in what it may return, or in ModelReplyError."""
    kind = data.draw(st.sampled_from(KINDS))
    model = PromptedModel(Wire([data.draw(written(call, kind)) for _ in range(2)]), prompts=WORDINGS)
    plan = Plan(("k",), ("step",), kind=kind, options=OPTIONS if kind == "choice" else ())
    try:
        result = await CALLS[call].ask(model, plan)
    except ModelReplyError:
        return
    assert CALLS[call].holds(result), result


@pytest.mark.parametrize("kind", ["entities", "yesno", "choice"])
@pytest.mark.parametrize("call", CALLS)
async def test_each_call_is_repaired_once(call: str, kind: Kind) -> None:
    """The second request shows the reply and the error.

    A second fault is ModelReplyError, and there is no third request.
    """
    plan = Plan(("k",), kind=kind, options=OPTIONS if kind == "choice" else ())
    wire = Wire(["[1, 2]", "{}", "{}"])
    with pytest.raises(ModelReplyError, match=f"scripted: two unusable replies to `{call}`"):
        await CALLS[call].ask(PromptedModel(wire, prompts=WORDINGS), plan)
    (_, first), (repair, second) = wire.asked
    assert first == second == call
    assert [message.role for message in repair] == ["system", "user", "assistant", "user"]
    assert repair[2].content == "[1, 2]"
    assert "it has no complete JSON object" in repair[3].content


# ---- through a walk ----

FILMS = """
:kong rdfs:label "King Kong"@en ; dcterms:description "film by Peter Jackson"@en ; r:directed_by :jackson .
:ape rdfs:label "King Kong"@en ; dcterms:description "film by Merian Cooper"@en ; r:directed_by :cooper .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh . :cooper rdfs:label "Merian Cooper"@en .
:walsh rdfs:label "Fran Walsh"@en . r:directed_by rdfs:label "directed by"@en . r:spouse rdfs:label "spouse"@en .
"""
GOOD = {
    "plan": {
        "keywords": ["director"],
        "planning_steps": [],
        "declarative_statement": "*placeholder* directed King Kong.",
        "kind": "entities",
        "options": [],
        "mentions": ["King Kong"],
    },
    "link": {"links": [{"mention": 1, "candidate": 2}]},
    "choose": {"picks": [{"offer": 1, "ends": []}], "decides": False, "more": False},
    "beam": {"picks": [1]},
    "deductive": {"verdicts": [{"path": 1, "follows": True, "deducible": True}]},
    "answer": {"paths": [{"path": 1, "ends": []}]},
}


@given(st.data())
@settings(max_examples=math.ceil(REPLIES / 20), suppress_health_check=list(HealthCheck))
def test_no_reply_ends_a_walk_in_an_exception(make_graph: Callable[..., SparqlGraph], data: st.DataObject) -> None:
    """A walk whose every call may go wrong ends in an answer document, and each value of it stands on the graph."""
    graph = make_graph("@prefix dcterms: <http://purl.org/dc/terms/> ." + FILMS)
    asked: set[str] = set()

    def play(messages: Sequence[Message], call: str) -> str:
        asked.add(call)
        good = st.just(json.dumps(GOOD[call]))
        return data.draw(st.one_of(good, written(call, data.draw(st.sampled_from(KINDS)))))

    search = SearchSettings(depth=2, call_plan=data.draw(st.sampled_from(["fused", "paper"])))
    model, similarity = PromptedModel(Wire(play), prompts=WORDINGS), LazySimilarity(HashingEmbedder(), MemoryStore())

    async def walk() -> None:
        run = QuestionRun("Who directed King Kong?", graph, model, similarity, Settings(search=search), Usage)
        answer = [event async for event in run.events()][-1].answer  # type: ignore[union-attr]
        assert not answer.unproven()
        assert all(await graph.holds([shown.edge for path in answer.paths for shown in path.edges]))

    asyncio.run(walk())
    assert {"plan", "link"} <= asked
