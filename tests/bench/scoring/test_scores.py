"""Scores are pure functions of a record."""

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, QuestionRecord, StageCount
from fedkg.bench.scoring.scores import CACHED, COST, LENIENT, STRICT, Score, covered, mean, score
from fedkg.core.caveat import CaveatKind
from fedkg.core.question import Kind
from fedkg.core.usage import Usage

GOLD = (Gold("A", "a"), Gold("B", "b"))
NAMES = st.sampled_from(["Graz", "the graz.", "Wien", "GRAZ", "Wiener Neustadt", "1999", "", "no"])
ANSWERS = st.builds(
    GivenAnswer,
    key=st.sampled_from(["http://x/1", "http://x/2", "Graz", "Wien", "1999", "?"]),
    label=NAMES,
    grounded=st.booleans(),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    depth=st.integers(0, 3),
    confirmed=st.none() | st.booleans(),
)
GOLDS = st.builds(Gold, NAMES, st.sampled_from(["", "http://x/1", "http://x/2"]))


def record(
    answers: tuple[GivenAnswer, ...] = (), gold: tuple[Gold, ...] = GOLD, kind: Kind = "entities", **more: object
) -> QuestionRecord:
    """The record of a question."""
    made = QuestionRecord(
        id="1", question="q", kind=kind, status="answered" if answers else "not_found", gold=gold, answers=answers
    )
    return msgspec.structs.replace(made, **more)


RECORDS = st.builds(
    record,
    st.lists(ANSWERS, max_size=5).map(tuple),
    st.lists(GOLDS, max_size=4).map(tuple),
    st.sampled_from(["entities", "literal", "count", "yesno", "choice"]),
    hops=st.integers(0, 3),
    gold_steps=st.integers(0, 3),
    passed=st.lists(
        st.builds(StageCount, st.integers(1, 3), st.sampled_from(["offered", "shown"]), st.just(1), st.booleans())
    ).map(tuple),
)


def walked(*iris: str, scores: tuple[float, ...] = ()) -> tuple[GivenAnswer, ...]:
    """Answers of the graph, each at the end of a path."""
    ranks = scores or (1.0,) * len(iris)
    return tuple(GivenAnswer(iri, iri, True, rank, 1) for iri, rank in zip(iris, ranks, strict=True))


def leading(result: Score) -> tuple[float, float, float]:
    """The three strict scores that lead every table."""
    return result.hits_at_1, result.hit, result.f1


@pytest.mark.parametrize(
    ("iris", "expected"),
    [
        (("a", "b"), (1.0, 1.0, 1.0)),
        (("a",), (1.0, 1.0, 2 / 3)),
        (("a", "x"), (0.5, 1.0, 0.5)),
        (("x",), (0.0, 0.0, 0.0)),
        ((), (0.0, 0.0, 0.0)),
    ],
)
def test_sets_are_scored_by_their_members(iris: tuple[str, ...], expected: tuple[float, ...]) -> None:
    """Right, partly right, wrong and empty answer sets."""
    result = score(record(walked(*iris)))
    assert leading(result) == expected
    assert result.exact == (expected[2] == 1.0)


def test_precision_and_recall_are_told_apart() -> None:
    """One wrong answer too many, and one right answer too few."""
    over, under = score(record(walked("a", "b", "x"))), score(record(walked("a")))
    assert (over.precision, over.recall, over.exact) == (2 / 3, 1.0, 0.0)
    assert (under.precision, under.recall, under.exact) == (1.0, 0.5, 0.0)


def test_hits_at_1_looks_at_the_best_ranked_only() -> None:
    """A wrong answer that ranks below does not count, one of the same rank counts half."""
    assert score(record(walked("a", "x", scores=(0.9, 0.1)))).hits_at_1 == 1.0
    assert leading(score(record(walked("x", "a", scores=(0.9, 0.1))))) == (0.0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("answers", "more", "expected"),
    [
        ((), {}, (1.0, 1.0, None)),
        (("a",), {}, (0.0, 0.0, 0.0)),
        (("a",), {"caveats": (CaveatKind.GUESS,)}, (1.0, 1.0, None)),
        ((), {"status": "error", "error": "TopicError: no entity is called so"}, (1.0, 1.0, None)),
        ((), {"status": "error", "error": "TransportError: no reply"}, (0.0, 0.0, None)),
    ],
)
def test_an_unanswerable_question_is_right_where_it_is_refused_or_marked(
    answers: tuple[str, ...], more: dict[str, object], expected: tuple[float, float, float | None]
) -> None:
    """All strict and lenient scores say so; an outage is no refusal."""
    asked = record(walked(*answers), gold=(), unanswerable="fact")
    result = score(msgspec.structs.replace(asked, **more))
    assert (result.accuracy, result.refused, result.unmarked) == expected
    assert {getattr(result, name) for name in (*STRICT, *LENIENT)} == {expected[0]}
    assert (result.answerable, result.coverage) == (None, None)


def test_unmarked_answers_are_those_without_a_caveat() -> None:
    """A marked answer is judged among the answerable ones alone."""
    plain, marked = (score(record(walked("a"), caveats=caveats)) for caveats in ((), (CaveatKind.GUESS,)))
    assert (plain.answerable, plain.unmarked, plain.refused) == (1.0, 1.0, None)
    assert (marked.answerable, marked.unmarked, marked.refused) == (1.0, None, None)


def test_an_error_is_wrong() -> None:
    """Questions that raised are in the denominator of all scores; their cost counts where it is on record."""
    result = score(record(status="error", usage=Usage()))
    assert [getattr(result, name) for name in (*STRICT, *LENIENT)] == [0.0] * 10
    assert [getattr(result, name) for name in (*COST, *CACHED)] == [None] * 8
    assert score(record(status="error", usage=Usage(requests=2, price=0.0))).requests == 2


def test_literals_are_compared_by_value() -> None:
    """A year has no IRI, whether it comes from the graph or from memory."""
    for grounded in (True, False):
        assert score(record((GivenAnswer("1999", grounded=grounded),), (Gold("1999"),), "literal")).exact == 1.0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("the graz.",), (1.0, 1.0, 2 / 3)),
        (("WIEN", "Graz"), (1.0, 1.0, 1.0)),
        (("x", "Graz"), (0.0, 1.0, 0.5)),
        (("Graz", "x"), (1.0, 1.0, 0.5)),
        (("Graz Wien",), (0.0, 0.0, 0.0)),
    ],
)
def test_what_is_remembered_is_compared_by_name(texts: tuple[str, ...], expected: tuple[float, ...]) -> None:
    """It has no IRI and no path: the first text ranks first, and is right where a right answer is called so."""
    gold = (Gold("Graz", "http://x/1"), Gold("Wien", "http://x/2"))
    assert leading(score(record(tuple(map(GivenAnswer, texts)), gold))) == expected


def test_what_the_graph_says_is_not_compared_by_name() -> None:
    """Another entity, or a literal, that happens to be called so is not the answer; leniently it is."""
    for value in (GivenAnswer("http://x/9", "A", grounded=True), GivenAnswer("A", grounded=True)):
        result = score(record((value,), (Gold("A", "http://x/1"),)))
        assert leading(result) == (0.0, 0.0, 0.0)
        assert (result.lenient_hit, result.contained_hit, result.contained_f1) == (1.0, 1.0, 1.0)


def test_gold_without_an_iri_is_compared_by_label() -> None:
    """WebQSP and CWQ name their answers only: two entities of that name are one answer."""
    answers = (GivenAnswer("http://x/1", "Graz", True, 1.0, 2), GivenAnswer("http://x/2", "GRAZ", True, 1.0, 2))
    assert score(record(answers, (Gold("Graz"),))).exact == 1.0
    assert score(record(answers[:1], (Gold("Wien"),))).hit == 0.0


def test_a_verdict_is_right_or_wrong() -> None:
    """Who says both yes and no has not judged; of other kinds accuracy is that of the first rank."""
    yes, no = GivenAnswer("yes"), GivenAnswer("no")
    for kind in ("yesno", "claim"):
        assert [score(record(values, (Gold("yes"),), kind)).accuracy for values in ((yes,), (no,), (yes, no))] == [
            1.0,
            0.0,
            0.0,
        ]
    assert score(record((GivenAnswer("Cell B"),), (Gold("Cell B"),), "choice")).accuracy == 1.0
    assert score(record(walked("a", "x"))).accuracy == 0.5


@pytest.mark.parametrize(
    ("text", "gold", "lenient", "contained"),
    [
        ("Graz", "Graz, Austria", 1.0, 0.0),
        ("the city of Graz", "Graz", 1.0, 1.0),
        ("new york", "New  York City", 1.0, 0.0),
        ("Wien", "Graz", 0.0, 0.0),
        ("", "Graz", 0.0, 0.0),
        ("Graz", "", 0.0, 0.0),
    ],
)
def test_lenient_scores_look_for_one_text_in_another(text: str, gold: str, lenient: float, contained: float) -> None:
    """Either way round as in Think-on-Graph, the gold name in the answers as in RoG; nothing is no part of anything."""
    result = score(record((GivenAnswer("http://x/9", text, True, 1.0, 1),), (Gold(gold, "http://x/1"),)))
    assert (result.hit, result.lenient_hit, result.contained_hit) == (0.0, lenient, contained)


def test_gold_names_are_looked_for_in_all_answers_together() -> None:
    """One answer of two right names out of three has more of them than answers: precision ends at 1."""
    result = score(record((GivenAnswer("Graz and Wien"),), (Gold("Graz"), Gold("Wien"), Gold("Linz"))))
    assert result.contained_f1 == pytest.approx(2 * (2 / 3) / (1 + 2 / 3))


def test_coverage_is_the_share_of_gold_steps_that_were_offered() -> None:
    """FiDeLiS's CR; several pages of one depth are one offer, and a depth that was not reached has offered nothing."""
    passed = (
        StageCount(1, "offered", 3),
        StageCount(1, "offered", 3, gold=True),
        StageCount(2, "offered", 3),
        StageCount(2, "shown", 1, gold=True),
    )
    traced = record(gold_steps=3, passed=passed)
    assert covered(traced) == {1: True, 2: False, 3: False}
    assert score(traced).coverage == 1 / 3


def test_coverage_without_a_gold_path_is_that_of_the_answers() -> None:
    """A verdict is no node that could be offered, and who offers nothing has no coverage."""
    offered = (StageCount(1, "offered", 3), StageCount(2, "offered", 3, gold=True))
    assert score(record(passed=offered)).coverage == 1.0
    assert score(record(passed=offered[:1])).coverage == 0.0
    assert score(record(passed=offered, kind="yesno")).coverage is None
    assert score(record(passed=(StageCount(1, "shown", 3, gold=True),))).coverage is None


def test_the_way_is_scored_where_there_is_one() -> None:
    """Validity of edges, faithful right answers, grounded answers, and the depth of paths."""
    answers = (
        GivenAnswer("a", "A", True, 1.0, 2, True),
        GivenAnswer("b", "B", False, 1.0, 3, False),
        GivenAnswer("x", "X"),
    )
    result = score(record(answers, hops=2, edges=5, valid=2))
    assert (result.path_validity, result.faithful, result.depth, result.gold_depth) == (0.4, 0.5, 2.5, 2.0)
    assert result.grounded == pytest.approx(1 / 3)
    nothing = score(record())
    assert {nothing.path_validity, nothing.faithful, nothing.grounded, nothing.depth, nothing.gold_depth} == {None}


def test_what_was_not_confirmed_by_anybody_is_neither_faithful_nor_not() -> None:
    """Offline no endpoint is asked; an answer from memory has nothing to ask for."""
    assert score(record((GivenAnswer("a", "A", True, 1.0, 2),), edges=2)).faithful is None
    assert score(record((GivenAnswer("A"),))).faithful == 0.0
    assert score(record((GivenAnswer("x", "X", True, 1.0, 1, True),))).faithful is None


def test_common_knowledge_is_not_faithful_by_edges_alone() -> None:
    """A right answer that rests on confirmed paths and on a bridge counts in one of the two figures."""
    given = (GivenAnswer("a", "A", True, 1.0, 2, True),)
    bridged = score(record(given, caveats=(CaveatKind.CUT, CaveatKind.BRIDGE)))
    assert (bridged.faithful, bridged.faithful_bridged) == (0.0, 1.0)
    other = score(record(given, caveats=(CaveatKind.CUT,)))
    assert (other.faithful, other.faithful_bridged) == (1.0, 1.0)
    wrong = score(record((GivenAnswer("x", "X", True, 1.0, 1, True),), caveats=(CaveatKind.BRIDGE,)))
    assert (wrong.faithful, wrong.faithful_bridged) == (None, None)


def test_cost_is_that_of_the_usage() -> None:
    """Tokens in and out together; a price that nobody knows is none."""
    result = score(
        record(
            usage=Usage(requests=3, cache_hits=4, model_calls=2, tokens_in=10, tokens_out=5, seconds=1.5, price=0.25)
        )
    )
    assert [getattr(result, name) for name in COST] == [2, 15, 3, 1.5, 0.25]
    assert [getattr(result, name) for name in CACHED] == [4, 0, 0]
    assert score(record(usage=Usage(model_calls=2))).price is None


def test_what_the_cache_answered_is_no_cost() -> None:
    """A kept reply is counted apart, with its tokens and without its price."""
    paid = Usage(model_calls=3, tokens_in=30, tokens_out=6, price=0.75)
    kept = msgspec.structs.replace(paid, replayed_calls=2, replayed_tokens=24, replayed_price=0.5)
    result = score(record(usage=kept))
    assert (result.calls, result.tokens, result.price) == (1, 12, 0.25)
    assert (result.replayed_calls, result.replayed_tokens) == (2, 24)


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_scores_are_within_bounds_and_perfect_only_for_the_gold_set(iris: set[str], gold: set[str]) -> None:
    """F1 is 1 exactly where the sets are equal."""
    result = score(record(walked(*sorted(iris)), tuple(Gold("", iri) for iri in gold)))
    assert 0 <= result.hits_at_1 <= result.hit <= 1
    assert (result.f1 == 1.0) == (iris == gold) == (result.exact == 1.0)


@given(RECORDS)
def test_every_score_is_a_share(question: QuestionRecord) -> None:
    """Whatever a record holds; who is right strictly is so leniently."""
    made = score(question)
    shares = [getattr(made, name) for name in (*STRICT, *LENIENT, "coverage", "faithful", "grounded")]
    assert all(0 <= share <= 1 for share in shares if share is not None)
    assert made.exact <= made.hit <= min(made.lenient_hit, made.contained_hit)
    assert min(made.precision, made.recall) <= made.f1 + 1e-9
    assert made.f1 <= max(made.precision, made.recall) + 1e-9


@given(RECORDS, st.randoms())
def test_the_order_of_answers_does_not_matter_to_sets(question: QuestionRecord, chance: Random) -> None:
    """But for Hits@1 of what is remembered, where the first ranks first."""
    answers = list(question.answers)
    chance.shuffle(answers)
    first, other = score(question), score(msgspec.structs.replace(question, answers=tuple(answers)))
    for name in ("hit", "f1", "precision", "recall", "exact", "lenient_hit", "grounded", "depth"):
        assert getattr(first, name) == pytest.approx(getattr(other, name))


def test_the_mean_of_nothing_is_zero() -> None:
    """An empty benchmark divides by nothing."""
    assert (mean([]), mean([1.0, 0.5])) == (0.0, 0.75)


def test_a_verdict_cannot_be_grounded() -> None:
    """Nor can the answer of a method that asked no graph; what was walked for can."""
    verdict = GivenAnswer("yes", depth=1)
    assert score(record((verdict,), (Gold("yes"),), "yesno", edges=1)).grounded is None
    assert score(record((GivenAnswer("A"),), topics=())).grounded is None
    assert score(record((GivenAnswer("A"),), topics=("http://x/t",))).grounded == 0.0


def test_the_evidence_of_a_verdict_is_covered() -> None:
    """The share of the gold facts that were offered, where the set names any."""
    offered = (StageCount(1, "offered", 2),)
    walked = record((), (Gold("yes"),), "yesno", passed=offered, gold_facts=4, passed_facts={"offered": 3})
    assert score(walked).coverage == 0.75


def test_an_entity_of_the_gold_name_is_right() -> None:
    """By the table of the record: which entities the graph calls so, by label or alias; no other of that label is."""
    gold = (Gold("Prado", entities=("http://x/1", "http://x/2")),)
    for key, label, right in (("http://x/1", "Museo del Prado", 1.0), ("http://x/3", "Prado", 0.0)):
        assert score(record((GivenAnswer(key, label, grounded=True),), gold)).exact == right
    assert score(record((GivenAnswer("prado"),), gold)).exact == 1.0
