"""The model that knows the way: it takes what leads on, says where nothing does, and errs as often as it is told to."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import pytest

from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.question import Match, Mention, Plan
from fedkg.core.terms import Direction, Iri
from fedkg.errors import QuestionError
from fedkg.llm.base import Completion, Request
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import GoldChain, GoldChat, GoldCheck, GoldReasoner

Step = tuple[str, Direction]
Reply = dict[str, Any]
Ask = Callable[[GoldReasoner], Awaitable[object]]

QUESTION = "What was her job?"
FATHER: Step = ("father", "out")
MOTHER: Step = ("mother", "out")
CHILD: Step = ("child of", "in")
JOB: Step = ("job", "out")
GOLD = GoldChain((FATHER, CHILD, JOB), ("miner",), id="1")
PLAN = Plan(("job",))


def candidate(number: int, steps: Sequence[Step], *tails: str, text: str = "of no use") -> PromptCandidate:
    """A path or step as a model is shown it; nobody reads the text."""
    relations, directions = tuple(name for name, _ in steps), tuple(way for _, way in steps)
    return PromptCandidate(number, text, relations, tails, directions=directions)


PATHS = [
    candidate(1, [FATHER], "Bob"),
    candidate(2, [MOTHER], "Eve"),
    candidate(3, [FATHER, CHILD, JOB], "miner"),
]


async def replied(ask: Ask, gold: GoldChain = GOLD, rate: float = 0.0, seed: str = "") -> tuple[object, Reply]:
    """What the call gives, and the reply that came from the chat."""
    replies: list[Reply] = []

    def heard(_request: Request, completion: Completion) -> None:
        replies.append(json.loads(completion.text))

    model = GoldReasoner({QUESTION: gold}, rate, seed, PromptedModel(GoldChat(heard)))
    outcome = await ask(model)
    assert len(replies) == 1, "the reply is usable at once"
    return outcome, replies[0]


def beam(width: int, *candidates: PromptCandidate) -> Ask:
    """A call for unverified steps."""
    return lambda model: model.ask(BeamCall(QUESTION, PLAN, None, candidates, width))


@pytest.mark.parametrize(
    ("ask", "outcome", "reply"),
    [
        (beam(4, *PATHS), (Choice(1), Choice(3)), {"picks": [1, 3]}),
        (beam(1, *PATHS), (Choice(1),), {"picks": [1]}),
        (beam(4, candidate(1, [MOTHER], "Eve")), (), {"picks": []}),
        (lambda model: model.ask(ReasoningPathsCall(QUESTION, PLAN, PATHS, 4)), (Choice(3),), {"picks": [3]}),
        (
            lambda model: model.ask(ChooseCall(QUESTION, PLAN, PATHS, 4)),
            Decision((3,), decides=True),
            {"picks": [{"offer": 3, "ends": []}], "decides": True, "more": False},
        ),
        (
            lambda model: model.ask(ChooseCall(QUESTION, PLAN, PATHS[:2], 4)),
            Decision((1,), decides=False),
            {"picks": [{"offer": 1, "ends": []}], "decides": False, "more": False},
        ),
        (
            lambda model: model.ask(ChooseCall(QUESTION, PLAN, PATHS[:2], 4, PATHS[2:])),
            Decision((3,), decides=True),
            {"picks": [{"offer": 3, "ends": []}], "decides": True, "more": False},
        ),
        (
            lambda model: model.ask(AnswerCall(QUESTION, PLAN, PATHS)),
            Conclusion((3,)),
            {"paths": [{"path": 3, "ends": []}]},
        ),
        (
            lambda model: model.ask(WeightedAnswerCall(QUESTION, PLAN, PATHS)),
            Conclusion((3,)),
            {"paths": [{"path": 3, "ends": []}]},
        ),
        (
            lambda model: model.ask(InductiveCall(QUESTION, PLAN, PATHS, ["miner"] * 3)),
            Conclusion((3,)),
            {"paths": [{"path": 3, "ends": []}]},
        ),
        (lambda model: model.ask(AdequacyCall(QUESTION, PLAN, PATHS)), True, {"adequate": True}),
        (lambda model: model.ask(AdequacyCall(QUESTION, PLAN, PATHS[:1])), False, {"adequate": False}),
        (
            lambda model: model.ask(
                LinkCall(QUESTION, [Mention("Ann", tuple(Match(Iri("http://x/a"), "Ann", 1) for _ in "ab"))])
            ),
            {"Ann": 1},
            {"links": [{"mention": 1, "candidate": 1}]},
        ),
        (
            lambda model: model.ask(
                RelationPathsCall(
                    QUESTION, PLAN, [candidate(n, [step]) for n, step in enumerate((JOB, FATHER, CHILD), 1)], 3, 4
                )
            ),
            (RelationPath((2, 3, 1)),),
            {"plans": [{"relations": [2, 3, 1], "weight": 1.0}]},
        ),
        (
            lambda model: model.ask(
                RelationPathsCall(QUESTION, PLAN, [candidate(1, [FATHER]), candidate(2, [JOB])], 3, 4)
            ),
            (),
            {"plans": []},
        ),
        (
            lambda model: model.ask(
                ScoreRelationsCall(
                    QUESTION, PLAN, PATHS[0], [candidate(1, [FATHER, CHILD]), candidate(2, [FATHER, JOB])]
                )
            ),
            (1.0, 0.0),
            {"scores": [{"relation": 1, "score": 1.0}, {"relation": 2, "score": 0.0}]},
        ),
        (
            lambda model: model.ask(
                ScoreEntitiesCall(QUESTION, PLAN, [candidate(1, [FATHER], "Bob"), candidate(2, [JOB], "nurse")])
            ),
            (1.0, 0.0),
            {"scores": [{"entity": 1, "score": 1.0}, {"entity": 2, "score": 0.0}]},
        ),
        (
            lambda model: model.ask(ModelOnlyCall(QUESTION, "entities")),
            ModelOnlyAnswer(("miner",)),
            {"reasoning": "", "answers": ["miner"]},
        ),
        (
            lambda model: model.ask(ModelOnlyCall(QUESTION, "entities", style="cot")),
            ModelOnlyAnswer(("miner",)),
            {
                "reasoning": "by father to what it leads to; then by child of to what it leads to; "
                "then by job to what it leads to",
                "answers": ["miner"],
            },
        ),
    ],
)
async def test_it_takes_what_the_gold_chain_begins_with(ask: Ask, outcome: object, reply: Reply) -> None:
    """Candidates on the way for steps, those that have arrived for answers, and nothing where nothing leads on."""
    assert await replied(ask) == (outcome, reply)


async def test_it_verifies_what_follows_and_what_is_deducible() -> None:
    """A path on the way follows, one that has arrived is the answer, another is neither."""
    verdicts, reply = await replied(lambda model: model.ask(DeductiveCall(QUESTION, PLAN, PATHS)))
    assert reply["verdicts"] == [
        {"path": 1, "follows": True, "deducible": False},
        {"path": 2, "follows": False, "deducible": False},
        {"path": 3, "follows": True, "deducible": True},
    ]
    assert verdicts == (
        Verdict(1, follows=True, finishes=False),
        Verdict(2, follows=False, finishes=False),
        Verdict(3, follows=True, finishes=True),
    )
    model = GoldReasoner({QUESTION: GOLD})
    assert [await model.ask(DeducibleCall(QUESTION, PLAN, path)) for path in PATHS] == [0.0, 0.0, 1.0]


async def test_of_two_ends_of_the_chain_it_takes_the_one_that_shows_an_answer() -> None:
    """Where none shows one, it cannot tell them apart."""
    sister: Step = ("sister", "out")
    ends = beam(2, candidate(1, [sister], "Joe (end: 1999)", "Tim"), candidate(2, [sister], "Ann"))
    assert (await replied(ends, GoldChain((sister,), ("Joe",))))[1] == {"picks": [1]}
    assert (await replied(ends, GoldChain((sister,), ("Kim",))))[1] == {"picks": [1, 2]}


async def test_it_never_reads_the_text() -> None:
    """What the prompt says in arrows does not count, and a direction that is not the chain's leads elsewhere."""
    shown = candidate(1, [("father", "in")], "Bob", text="Ann → father → Bob")
    assert (await replied(beam(4, shown)))[1] == {"picks": []}


async def test_its_plan_tells_the_ranking_nothing_new() -> None:
    """The keywords are the question's own words; it is as long as the chain."""
    _, reply = await replied(lambda model: model.ask(PlanCall(QUESTION)))
    assert reply["keywords"] == ["What", "was", "her", "job?"]
    assert [step.split()[3] for step in reply["planning_steps"]] == ["father", "child", "job"]


async def test_errors_come_as_often_as_told_and_again_with_the_same_seed() -> None:
    """Of single choices and of verdicts about the share is wrong that was asked for, another by another seed only."""
    ask = beam(1, *PATHS[:2])
    choices = [(await replied(ask, rate=0.3, seed=str(seed)))[1] for seed in range(300)]
    assert choices == [(await replied(ask, rate=0.3, seed=str(seed)))[1] for seed in range(300)]
    assert 60 < sum(reply == {"picks": [2]} for reply in choices) < 120

    def judge(model: GoldReasoner) -> Awaitable[object]:
        return model.ask(DeductiveCall(QUESTION, PLAN, PATHS[:1]))

    verdicts = [(await replied(judge, rate=0.3, seed=str(seed)))[1] for seed in range(300)]
    views = Counter(json.dumps(reply["verdicts"]) for reply in verdicts)
    assert len(views) == 3
    assert 180 < max(views.values()) < 240


async def test_a_model_that_always_errs_never_chooses_a_right_step() -> None:
    """Each choice is one of the wrong candidates, none twice."""
    assert (await replied(beam(4, *PATHS), rate=1.0))[1] == {"picks": [2]}


async def test_where_nothing_is_shown_nothing_is_asked_and_no_error_drawn() -> None:
    """A call without candidates leaves the errors of the next ones as they are."""
    model = GoldReasoner({QUESTION: GOLD}, 0.5)
    other = GoldReasoner({QUESTION: GOLD}, 0.5)
    assert await model.ask(BeamCall(QUESTION, PLAN, None, [], 4)) == ()
    assert await model.ask(AnswerCall(QUESTION, PLAN, [])) == Conclusion()
    for _ in range(5):
        asked = [await each.ask(ChooseCall(QUESTION, PLAN, PATHS, 4)) for each in (model, other)]
        assert asked[0] == asked[1]


async def test_an_unknown_question_is_an_error_that_names_it() -> None:
    """A question is known by its text, whatever its white space."""
    model = GoldReasoner({"What  was her job?": GOLD})
    assert (await model.ask(PlanCall(QUESTION))).keywords
    with pytest.raises(QuestionError, match="no chain of the question 'Who was she"):
        await model.ask(PlanCall("Who was she?"))
    await model.close()


async def test_it_takes_the_gold_check_where_that_is_offered() -> None:
    """It waits one page for it, and takes the values that meet the condition; without it what has arrived decides."""
    gold = GoldChain((FATHER,), ("Bob",), checks=(GoldCheck(JOB, ("miner",)),))
    arrived, check = candidate(1, [FATHER], "Bob", "Tom"), candidate(2, [FATHER, JOB], "nurse", "miner")
    other = candidate(3, [FATHER, CHILD], "Ann")

    async def chosen(offers: Sequence[PromptCandidate], kept: Sequence[PromptCandidate] = ()) -> object:
        return (await replied(lambda model: model.ask(ChooseCall(QUESTION, PLAN, offers, 4, kept)), gold))[0]

    assert await chosen([arrived]) == Decision((1,), decides=False)
    assert await chosen([other, check], [arrived]) == Decision((2,), decides=True, ends={2: (2,)}, checks=(2,))
    assert await chosen([other], [arrived]) == Decision((1,), decides=True)


async def test_a_check_is_met_where_the_paths_of_two_topics_meet() -> None:
    """What leads from the check's own entity to the ends stands for the check: both decide at once."""
    gold = GoldChain((FATHER,), ("Bob",), checks=(GoldCheck(JOB, ("miner",)),))
    arrived, job = candidate(1, [FATHER], "Bob", "Tom"), candidate(2, [("job", "in")], "Bob", "Kim")
    miner, nurse = (msgspec.structs.replace(job, start=name) for name in ("miner", "nurse"))
    model = GoldReasoner({QUESTION: gold})
    decisions = [await model.ask(ChooseCall(QUESTION, PLAN, [arrived, other], 4)) for other in (miner, nurse)]
    assert decisions == [Decision((1, 2), decides=True), Decision((1,), decides=False)]


async def test_the_other_entity_of_a_check_is_kept_until_the_paths_meet() -> None:
    """What leads from it to the ends is on the way while the gold chain is not offered yet."""
    gold = GoldChain((FATHER,), ("Bob",), checks=(GoldCheck(JOB, ("miner",)),))
    miner = msgspec.structs.replace(candidate(1, [("job", "in")], "Bob", "Kim"), start="miner")
    asked = ChooseCall(QUESTION, PLAN, [miner, candidate(2, [CHILD], "Ann")], 4)
    assert await GoldReasoner({QUESTION: gold}).ask(asked) == Decision((1,), decides=False)


async def test_a_chain_leads_from_its_own_topic_by_its_own_relation() -> None:
    """A relation of that name from another topic is wrong, and so is one whose whole name is another."""
    gold = GoldChain((FATHER,), ("Bob",), starts=("Eve", "Eva"), typed=("people.person.father",))
    first = candidate(1, [FATHER], "Tom")
    offers = [
        msgspec.structs.replace(first, number=number, start=start, typed=(typed,))
        for number, start, typed in (
            (1, "Kim", "people.person.father"),
            (2, "Eva", "film.character.father"),
            (3, "Eva", "people.person.father"),
        )
    ]
    asked = ChooseCall(QUESTION, PLAN, offers, 4)
    assert await GoldReasoner({QUESTION: gold}).ask(asked) == Decision((3,), decides=True)


async def test_another_chain_to_the_answers_is_taken_where_the_first_is_not_offered() -> None:
    """The first one where both are."""
    gold = GoldChain((FATHER,), ("Bob",), instead=(GoldChain((JOB,), ("Bob",)),))
    both = [candidate(1, [JOB], "Bob"), candidate(2, [FATHER], "Bob")]
    for offers, picked in ((both, 2), (both[:1], 1)):
        asked = ChooseCall(QUESTION, PLAN, offers, 4)
        assert await GoldReasoner({QUESTION: gold}).ask(asked) == Decision((picked,), decides=True)


async def test_values_of_a_check_that_are_not_shown_are_left_to_the_answer_call() -> None:
    """0 stands for them; the answer call, which shows more, is told the check."""
    gold = GoldChain((FATHER,), ("Bob",), checks=(GoldCheck(JOB, ("miner",)),))
    few = msgspec.structs.replace(candidate(2, [FATHER, JOB], "nurse"), more=3)
    model = GoldReasoner({QUESTION: gold})
    decision = await model.ask(ChooseCall(QUESTION, PLAN, [few], 4, [candidate(1, [FATHER], "Bob", "Tom")]))
    assert decision == Decision((2,), decides=True, ends={2: (0,)}, checks=(2,))
    conclusion = await model.ask(AnswerCall(QUESTION, PLAN, [candidate(1, [FATHER, JOB], "nurse", "miner")]))
    assert (conclusion.paths, conclusion.tails, conclusion.checks) == ((1,), {1: (2,)}, (1,))
