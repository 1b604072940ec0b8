"""Every wrong answer has one fault, by rule."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, QuestionRecord, StageCount
from fedkg.bench.scoring.error_classes import FAULTS, fault, faults
from fedkg.bench.scoring.scores import score
from fedkg.core.caveat import CaveatKind
from fedkg.core.usage import Usage

GOLD = (Gold("A", "http://x/a"), Gold("B", "http://x/b"))
A, B, WRONG = (GivenAnswer(f"http://x/{name}", name.upper(), True, 1.0, 1) for name in "abw")
WALKED = QuestionRecord(
    id="1",
    question="q",
    kind="entities",
    status="not_found",
    gold=GOLD,
    topics=("http://x/t",),
    gold_topics=("http://x/t",),
)


def record(**fields: object) -> QuestionRecord:
    """A question whose topic was found, with other fields."""
    return msgspec.structs.replace(WALKED, **fields)


def way(*stages: str) -> tuple[StageCount, ...]:
    """Stages like `1 offered` and, where a gold step came through, `1 offered +`."""
    parts = [stage.split() for stage in stages]
    return tuple(
        StageCount(int(depth), stage, 2, gold=bool(rest))  # type: ignore[arg-type]
        for depth, stage, *rest in parts
    )


def test_what_is_exactly_right_has_no_fault() -> None:
    """All right answers and no other."""
    assert fault(record(answers=(A, B))) is None


@pytest.mark.parametrize(
    ("answers", "expected"), [((A, B, WRONG), "overfull"), ((A, WRONG), "overfull"), ((A,), "incomplete")]
)
def test_what_is_right_in_part(answers: tuple[GivenAnswer, ...], expected: str) -> None:
    """A wrong answer weighs more than one that is missing."""
    assert fault(record(answers=answers, usage=Usage(spent="calls"))) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "error", "error": "KeyError: 'x'"}, "error"),
        ({"status": "failed"}, "error"),
        ({"status": "error", "error": "TopicError: no entity is called so"}, "linking"),
        ({"topics": ("http://x/other",)}, "linking"),
        ({"topics": ("http://x/other", "http://x/t")}, "retrieval"),
        ({"topics": ("http://x/other",), "gold_topics": ("",)}, "retrieval"),
        ({"status": "abstained"}, "abstained"),
        ({"usage": Usage(spent="run money")}, "budget"),
        ({"topics": (), "answers": (GivenAnswer("nobody knows"),)}, "answer"),
        ({"topics": ()}, "answer"),
    ],
)
def test_how_a_question_ended(fields: dict[str, object], expected: str) -> None:
    """Before its way is looked at; who asks a model alone has linked nothing, and that is no fault."""
    assert fault(record(**fields)) == expected


@pytest.mark.parametrize(
    ("stages", "gold_steps", "expected"),
    [
        (["1 offered", "1 chosen", "1 kept", "1 shown"], 1, "retrieval"),
        (["1 offered +", "1 chosen", "1 kept", "1 shown"], 1, "choice"),
        (["1 offered +", "1 chosen +", "1 kept", "1 shown"], 1, "verification"),
        (["1 offered +", "1 chosen +", "1 kept +", "1 finished", "1 shown"], 1, "verification"),
        (["1 offered +", "1 chosen +", "1 kept +", "1 finished +", "1 shown +"], 1, "answer"),
        (["1 offered +", "1 chosen +", "1 kept +", "2 offered", "2 chosen"], 2, "retrieval"),
        (["1 offered +", "1 chosen +", "1 kept +", "2 offered", "2 chosen"], 1, "verification"),
        (["1 offered +", "1 chosen +", "1 kept +", "1 finished", "1 shown"], 2, "verification"),
        (["1 offered +", "1 chosen +", "2 offered", "2 chosen"], 2, "retrieval"),
        (["1 offered +", "2 offered"], 2, "choice"),
        (["1 offered +", "1 chosen", "2 offered +", "2 chosen"], 2, "choice"),
        (["1 offered", "2 offered +", "2 chosen +", "2 kept", "1 shown"], 0, "verification"),
        (["1 offered +", "1 chosen", "1 chosen +", "1 kept +"], 1, "answer"),
        (["1 offered +"], 2, "choice"),
        (["1 offered +", "1 chosen +", "1 kept +", "2 offered +", "2 chosen", "1 shown +"], 2, "choice"),
        (["1 offered +", "1 chosen +", "1 kept +", "1 finished +", "1 shown +"], 2, "verification"),
        (["1 offered +", "1 chosen +", "1 kept +", "1 shown +"], 2, "retrieval"),
        (["1 offered", "2 shown +"], 2, "answer"),
        (["1 shown +"], 2, "retrieval"),
        (["3 shown"], 3, "retrieval"),
        ([], 2, "retrieval"),
    ],
)
def test_where_the_way_was_lost(stages: list[str], gold_steps: int, expected: str) -> None:
    """At what follows on the last stage that a gold step came through, in the order of a walk."""
    lost = record(passed=way(*stages), gold_steps=gold_steps, answers=(WRONG,))
    assert fault(lost) == expected
    assert fault(msgspec.structs.replace(lost, passed=lost.passed[::-1])) == expected


def test_a_verdict_without_known_evidence_is_misjudged() -> None:
    """No set names the evidence of these claims: paths were shown, and judged wrongly, or not at all."""
    wrong = record(
        kind="claim", gold=(Gold("yes"),), answers=(GivenAnswer("no", depth=1),), passed=way("1 offered", "1 shown")
    )
    assert fault(wrong) == "misjudged"
    assert fault(msgspec.structs.replace(wrong, answers=())) == "undecided"
    assert fault(msgspec.structs.replace(wrong, passed=way("1 offered"), answers=())) == "retrieval"


@pytest.mark.parametrize(
    ("facts", "answers", "expected"),
    [
        ({"offered": 1, "chosen": 1, "shown": 1}, ("no",), "retrieval"),
        ({"offered": 2, "chosen": 1, "shown": 1}, ("no",), "choice"),
        ({"offered": 2, "chosen": 2, "shown": 1}, ("no",), "verification"),
        ({"offered": 2, "chosen": 2, "shown": 2}, ("no",), "misjudged"),
        ({"offered": 2, "chosen": 2, "shown": 2}, (), "undecided"),
        ({}, (), "retrieval"),
    ],
)
def test_where_the_evidence_of_a_verdict_was_lost(
    facts: dict[str, int], answers: tuple[str, ...], expected: str
) -> None:
    """Both facts are needed: the first stage that one of them did not come through has the blame."""
    given_answers = tuple(GivenAnswer(text) for text in answers)
    lost = record(kind="yesno", gold=(Gold("yes"),), gold_facts=2, passed_facts=facts, answers=given_answers)
    assert fault(msgspec.structs.replace(lost, passed=way("1 offered", "1 shown"))) == expected


def test_an_answer_where_there_is_none_is_unfounded() -> None:
    """Unless it has a caveat."""
    answered = record(gold=(), answers=(GivenAnswer("x", "x"),), unanswerable="fact")
    assert fault(answered) == "unfounded"
    assert fault(msgspec.structs.replace(answered, caveats=(CaveatKind.GUESS,))) is None


def test_faults_are_counted_in_one_order() -> None:
    """Right answers are none of them."""
    records = [record(answers=(A,)), record(answers=(A, B)), record(status="failed"), record(status="failed")]
    counts = faults(records, map(score, records))
    assert list(counts.items()) == [("error", 2), ("incomplete", 1)]


@given(
    st.builds(
        record,
        status=st.sampled_from(["answered", "none", "not_found", "failed", "abstained", "error"]),
        kind=st.sampled_from(["entities", "count", "yesno"]),
        answers=st.lists(st.sampled_from([A, B, WRONG, GivenAnswer("A")]), max_size=3).map(tuple),
        topics=st.sampled_from([(), ("http://x/t",), ("http://x/o",)]),
        gold_steps=st.integers(0, 3),
        passed=st.lists(
            st.builds(
                StageCount,
                st.integers(1, 3),
                st.sampled_from(["offered", "chosen", "kept", "finished", "shown"]),
                st.integers(0, 2),
                st.booleans(),
            )
        ).map(tuple),
    )
)
def test_every_wrong_answer_has_exactly_one_fault(question: QuestionRecord) -> None:
    """None where all is right, and only there; half right answers are told from wrong ones."""
    error_class, made = fault(question), score(question)
    assert (error_class is None) == (made.exact == 1.0)
    assert error_class is None or error_class in FAULTS
    assert (error_class in {"overfull", "incomplete"}) == (made.exact < made.hit)
