"""What replies become: the bundled examples without loss, and what depends on the kind of question."""

import json
from collections.abc import Callable, Sequence
from typing import Any, get_args

import msgspec
import pytest

from fedkg.core.choice import Choice, Conclusion, PromptCandidate
from fedkg.core.conversation import KnownEntity
from fedkg.core.question import Kind, Match, Mention, Plan
from fedkg.core.terms import Iri
from fedkg.errors import ModelReplyError
from fedkg.reasoner.base import Call
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompts.library import FORMS, load, names
from fedkg.reasoner.prompts.template import values

KINDS: tuple[Kind, ...] = get_args(Kind)
OPTIONS = ("Metformin", "Febuxostat")
ASKED = "Which drug lowers uric acid, metformin or  Febuxostat?"
PATHS = tuple(PromptCandidate(number, f"A → r → B{number}", (), (f"B{number}",)) for number in (1, 2, 3))
PLAN = Plan(("k",))
PLANNED: dict[str, Any] = {
    "keywords": ["treats"],
    "planning_steps": ["drug → treats → gout"],
    "declarative_statement": "*placeholder* lowers uric acid.",
    "kind": "choice",
    "mentions": ["Febuxostat"],
    "options": ["Metformin", "Febuxostat"],
}


def mentions(shown: dict[str, Any]) -> list[Mention]:
    """The mentions that an example shows."""
    iri = Iri("http://x/a")
    return [
        Mention(each["text"], tuple(Match(iri, m["label"], 1.0) for m in each["matches"])) for each in shown["mentions"]
    ]


def concluded(conclusion: Conclusion, kind: Kind) -> dict[str, Any]:
    """The reply that says this conclusion."""
    if kind in ("yesno", "claim"):
        return {"verdict": conclusion.verdict, "paths": list(conclusion.paths), "bridge": conclusion.bridge}
    if kind == "choice":
        return {"option": conclusion.option, "paths": list(conclusion.paths), "bridge": conclusion.bridge}
    cited = [
        {"path": path, "ends": list(conclusion.tails.get(path, ())), "check": path in conclusion.checks}
        for path in conclusion.paths
    ]
    return {"paths": cited, "unproven": conclusion.unproven}


def induced(conclusion: Conclusion, kind: Kind) -> dict[str, Any]:
    """The reply of a call that checks nothing."""
    if kind in ("yesno", "claim", "choice"):
        return concluded(conclusion, kind)
    return {"paths": [{"path": path, "ends": list(conclusion.tails.get(path, ()))} for path in conclusion.paths]}


def answered(reply: Any, kind: Kind, paths: Sequence[PromptCandidate], options: Sequence[str] = ()) -> Conclusion:
    """What the reply to `answer` says of these paths."""
    plan = Plan(("k",), kind=kind, options=tuple(options))
    conclusion = AnswerCall("q", plan, paths).parse(reply, len(paths))
    assert InductiveCall("q", plan, paths, [""] * len(paths)).parse(reply, len(paths)) == conclusion
    assert WeightedAnswerCall("q", plan, paths).parse(reply, len(paths)) == conclusion
    return conclusion


def planned(reply: Any, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
    """What the reply to `plan` says of the question."""
    return PlanCall(question, kind, options).parse(reply, 0)


def conclusion(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    return concluded(answered(reply, kind, shown["paths"], shown["plan"].options), kind)


def induction(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    return induced(answered(reply, kind, shown["paths"], shown["plan"].options), kind)


def verdicts(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    verdicts_read = DeductiveCall("q", PLAN, shown["paths"]).parse(reply, len(shown["paths"]))
    return {
        "verdicts": [
            {"path": verdict.number, "follows": verdict.follows, "deducible": verdict.finishes}
            for verdict in verdicts_read
        ]
    }


def plan(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood, nothing being given but the question and its options."""
    made = planned(reply, f"{shown['question']} {' '.join(shown['options'])}")
    renamed = {"steps": "planning_steps", "statement": "declarative_statement"}
    told = msgspec.json.decode(msgspec.json.encode(made))
    return {renamed.get(key, key): value for key, value in told.items()}


def links(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    texts = [each.text for each in mentions(shown)]
    linked = LinkCall("q", mentions(shown)).parse(reply, len(texts))
    return {"links": [{"mention": texts.index(text) + 1, "candidate": number} for text, number in linked.items()]}


def scores(key: str, call: Callable[[Sequence[PromptCandidate]], Call[tuple[float, ...]]]) -> Callable[..., Any]:
    """The reply as it was understood; offers that it leaves out score nothing."""

    def read(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
        scores = call(shown["offers"]).parse(reply, len(shown["offers"]))
        return {"scores": [{key: number, "score": score} for number, score in enumerate(scores, 1) if score]}

    return read


def chains(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    call = RelationPathsCall("q", PLAN, shown["relations"], shown["depth"], shown["most"])
    plans = call.parse(reply, len(shown["relations"]))
    assert not any(chain.fault for chain in plans)
    return {"plans": [{"relations": list(chain.relations), "weight": chain.weight} for chain in plans]}


def recalled(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood; what it was reasoned with is not read."""
    answer = ModelOnlyCall("q", kind, shown["plan"].options).parse(reply, 0)
    if kind == "choice":
        return {"reasoning": "", "option": answer.option}
    content = {"verdict": answer.verdict} if kind in ("yesno", "claim") else {"answers": list(answer.values)}
    return {"reasoning": "", **content}


def chosen(call: Call[tuple[Choice, ...]], reply: Any, shown: int) -> list[int]:
    """The numbers that the reply was understood to choose."""
    return [choice.number for choice in call.parse(reply, shown)]


def reference(reply: Any, shown: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The reply as it was understood."""
    known = [KnownEntity(Iri("http://x/known"), entity["label"], "topic", 1) for entity in shown["entities"]]
    read = FollowUpCall(shown["question"], shown["questions"], known).parse(reply, 0)
    words = list(read.words or ())
    return {"alone": read.alone, "question": read.question, "entities": list(read.entities), "words": words}


READ: dict[str, Callable[[Any, dict[str, Any], Kind], dict[str, Any]]] = {
    "adequacy": lambda reply, shown, kind: {"adequate": AdequacyCall("q", PLAN, PATHS).parse(reply, 3)},
    "deducible": lambda reply, shown, kind: {"deducible": bool(DeducibleCall("q", PLAN, PATHS[0]).parse(reply, 0))},
    "answer": conclusion,
    "beam": lambda reply, shown, kind: {
        "picks": chosen(BeamCall("q", PLAN, None, shown["offers"], shown["width"]), reply, len(shown["offers"]))
    },
    "deductive": verdicts,
    "follow-up": reference,
    "inductive": induction,
    "link": links,
    "model-only": recalled,
    "plan": plan,
    "reasoning-paths": lambda reply, shown, kind: {
        "picks": chosen(ReasoningPathsCall("q", PLAN, shown["paths"], shown["width"]), reply, len(shown["paths"]))
    },
    "relation-paths": chains,
    "weighted-answer": conclusion,
    "score-entities": scores("entity", lambda candidates: ScoreEntitiesCall("q", PLAN, candidates)),
    "score-relations": scores("relation", lambda candidates: ScoreRelationsCall("q", PLAN, None, candidates)),
}


@pytest.mark.parametrize("forms", [(), FORMS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", names())
def test_the_examples_are_read_without_loss(call: str, kind: Kind, forms: tuple[str, ...]) -> None:
    """What a prompt shows as a good reply is one: the record made of it says all that the reply said."""
    template = load(call, kind=kind, forms=forms)
    for example in template.examples:
        reply = json.loads(example.reply)
        assert READ[call](reply, values(example.shown), kind) == reply


def test_what_is_given_overrides_what_the_model_makes_of_the_question() -> None:
    """Kind and options are those of whoever asks; entities may be named by the options alone."""
    reply = {**PLANNED, "kind": "poem", "options": ["Aspirin"]}
    made = planned(reply, "Which drug lowers uric acid?", "choice", OPTIONS)
    assert (made.kind, made.options, made.mentions) == ("choice", OPTIONS, ("Febuxostat",))
    assert planned({**PLANNED, "kind": "choice"}, ASKED, "entities").options == ()


def test_options_are_copied_from_the_question() -> None:
    """An option that the question does not list would be the model's own answer; a choice of one is none."""
    made = planned({**PLANNED, "options": ["metformin", "Aspirin", 7, "febuxostat", "metformin"]}, ASKED)
    assert (made.kind, made.options) == ("choice", ("metformin", "febuxostat"))
    for listed in ([], ["Metformin", "Aspirin"]):
        with pytest.raises(ModelReplyError, match="its options are not two or more"):
            planned({**PLANNED, "options": listed}, ASKED)


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_yes_or_no_has_no_placeholder(kind: Kind) -> None:
    """One of the options takes the place of the answer like any entity; a claim has nothing to be filled in."""
    reply = {**PLANNED, "declarative_statement": "Febuxostat lowers uric acid."}
    if kind in ("yesno", "claim"):
        assert planned(reply, ASKED, kind, ()).statement == "Febuxostat lowers uric acid."
    else:
        with pytest.raises(ModelReplyError, match="placeholder"):
            planned(reply, ASKED, kind, OPTIONS)


@pytest.mark.parametrize("option", [0, None, ""])
def test_no_option_is_no_answer(option: Any) -> None:
    """0 says that the paths do not decide it, and so does whatever a model writes for nothing."""
    assert answered({"option": option, "paths": [1]}, "choice", PATHS, OPTIONS) == Conclusion()


def test_an_option_needs_evidence() -> None:
    """The number of an option counts with the paths that it rests on, each once, and not without."""
    reply = {"option": 2, "paths": [3, 1, 9, 3]}
    assert answered(reply, "choice", PATHS, OPTIONS) == Conclusion((3, 1), option=2)
    unfounded = answered({"option": 2, "paths": []}, "choice", PATHS, OPTIONS)
    assert unfounded == Conclusion(note=unfounded.note)
    assert "says option 2, but names no path" in unfounded.note


@pytest.mark.parametrize("option", [3, -1, 1.5, "B", "Febuxostat", True, [2]])
def test_an_option_that_was_not_given_is_malformed(option: Any) -> None:
    """It is sent back, not guessed at."""
    with pytest.raises(ModelReplyError):
        answered({"option": option, "paths": [1]}, "choice", PATHS, OPTIONS)


def test_evidence_that_was_not_offered_is_malformed() -> None:
    """A verdict on paths that nobody walked is sent back."""
    with pytest.raises(ModelReplyError):
        answered({"verdict": "yes", "paths": [7]}, "yesno", PATHS)


def test_evidence_may_be_written_as_for_other_questions() -> None:
    """An entry with a path is that path: what else it says is not read."""
    reply = {"verdict": "no", "paths": [{"path": 2, "ends": [1]}]}
    assert answered(reply, "claim", PATHS) == Conclusion((2,), verdict="no")


def test_a_plan_of_another_kind_has_no_options() -> None:
    """What the model lists as options of a question that is no choice is left out."""
    assert planned({**PLANNED, "kind": "entities"}, ASKED).options == ()
    assert isinstance(planned(PLANNED, ASKED), Plan)
