"""What the rows of each format stand for."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data.formats import FORMATS, MisfitError
from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.core.question import Kind

CASE = {"question": "Which one?", "options": {"A": "this", "B": "that  one"}, "answer": "B"}
CLAIM = {"id": "S1", "query": "Is it?", "answer": True, "KG Entities": {" Horsens  Fjord": " Q190235"}}
COMMON = {
    "answerKey": "B",
    "id": "1afa",
    "question": {
        "question_concept": "river",
        "choices": [{"label": "A", "text": "bed"}, {"label": "B", "text": "valley"}],
        "stem": "Where does it run?",
    },
}
QALD = {
    "id": "7",
    "question": [{"language": "de", "string": "Wer?"}, {"language": "en", "string": "Who?"}],
    "answers": [{"head": {}, "results": {"bindings": [{"x": {"type": "uri", "value": "http://x/a"}}]}}],
}
PATH = [["http://x/a", "http://x/r", "http://x/b"], ["http://x/b", "http://x/r", "http://x/c"]]


def read(loader: str, row: Any, kind: Kind | None = None) -> BenchmarkQuestion:
    """The question of a row."""
    return FORMATS[loader].read(json.dumps(row).encode(), kind)


def plain(**fields: Any) -> BenchmarkQuestion:
    """The question of a row of our own format."""
    return read("jsonl", {"question": "who?", "answers": ["b"], **fields})


def test_a_question_needs_its_text_and_its_answers_only() -> None:
    """All else is left open."""
    assert plain() == BenchmarkQuestion("", "who?", answers=(Gold("b"),))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("http://x/a", Gold(iri="http://x/a")),
        ("urn:isbn:12", Gold(iri="urn:isbn:12")),
        ("see http://x/a", Gold("see http://x/a")),
        ("1999", Gold("1999")),
        (8, Gold("8")),
        (2.5, Gold("2.5")),
        ({"iri": "http://x/a", "label": None}, Gold(iri="http://x/a")),
        ({"iri": "http://x/a", "label": "a"}, Gold("a", "http://x/a")),
        ({"label": "a"}, Gold("a")),
        ({"value": "+100"}, Gold("+100")),
    ],
)
def test_gold_answers_are_texts_iris_or_entities(answer: Any, gold: Gold) -> None:
    """Given twice, one counts."""
    assert plain(answers=[answer, answer]).answers == (gold,)


def test_topics_and_the_gold_path() -> None:
    """Topics under both names; the path says how many hops it has."""
    question = plain(id=3, topic_entities=[{"iri": "http://x/a", "label": "a"}], topics=["b"], gold_path=PATH)
    assert (question.id, question.topic_entities, question.hops) == ("3", (Gold("a", "http://x/a"), Gold("b")), 2)
    assert question.gold_path[1] == ("http://x/b", "http://x/r", "http://x/c")
    assert plain(hops=4).hops == 4


@pytest.mark.parametrize(("answer", "verdict"), [(True, "yes"), ({"value": False}, "no")])
def test_truth_values_make_a_verdict(answer: Any, verdict: str) -> None:
    """A question with a truth value for an answer is one of yes or no."""
    question = plain(answers=[answer])
    assert (question.kind, question.answers) == ("yesno", (Gold(verdict),))


@pytest.mark.parametrize("answer", ["True", "YES", True])
def test_verdicts_of_claims(answer: Any) -> None:
    """However they are written."""
    question = plain(answers=[answer], kind="claim")
    assert (question.kind, question.answers) == ("claim", (Gold("yes"),))


@pytest.mark.parametrize("options", [["this", "that  one"], {"A": "this", "B": "that  one"}])
@pytest.mark.parametrize("answer", ["that one", "that  one"])
def test_options_make_a_choice(options: Any, answer: str) -> None:
    """Gold is the option's text as it is shown."""
    question = plain(options=options, answers=[answer])
    assert (question.kind, question.options, question.answers) == ("choice", ("this", "that one"), (Gold("that one"),))
    assert plain(options={"A": "this", "B": "that"}, answers=["A"]).answers == (Gold("this"),)


@pytest.mark.parametrize(
    "fields",
    [
        {"question": " \n"},
        {"question": "x" * 5000},
        {"answers": []},
        {"answers": [{}]},
        {"answers": [""]},
        {"answers": ["maybe"], "kind": "yesno"},
        {"answers": ["c"], "options": ["a", "b"]},
        {"options": ["b"]},
        {"options": ["b", "c"], "kind": "claim"},
        {"topics": [{"iri": "no iri"}]},
        {"answers": [{"iri": "http://x/a b"}]},
    ],
)
def test_what_cannot_be_asked_or_scored_is_refused(fields: dict[str, Any]) -> None:
    """Before anybody is asked."""
    with pytest.raises(MisfitError):
        plain(**fields)


@pytest.mark.parametrize("field", [{"answers": None}, {"kind": "riddle"}, {"hops": "two"}, {"gold_path": [["a", "b"]]}])
def test_what_has_another_form_is_refused(field: dict[str, Any]) -> None:
    """And the key is named."""
    with pytest.raises(msgspec.ValidationError, match=next(iter(field))):
        plain(**field)


def test_cr_lt_names_its_anchors() -> None:
    """By Q ids, some of which hold blanks; the definition says whether it is a claim."""
    topics = (Gold("Horsens Fjord", "http://www.wikidata.org/entity/Q190235"),)
    assert read("crlt", CLAIM) == BenchmarkQuestion("S1", "Is it?", topics, (Gold("yes"),), "yesno")
    assert read("crlt", CLAIM | {"answer": False}, "claim") == BenchmarkQuestion(
        "S1", "Is it?", topics, (Gold("no"),), "claim"
    )


@pytest.mark.parametrize("wrong", [{"answer": "Is it?"}, {"KG Entities": {"a": "P31"}}, {"query": ""}])
def test_cr_lt_with_faults(wrong: dict[str, Any]) -> None:
    """An answer that is no truth value, or an anchor that is no item."""
    with pytest.raises((MisfitError, msgspec.ValidationError)):
        read("crlt", CLAIM | wrong)


@pytest.mark.parametrize("row", [CASE, CASE | {"answer": "that  one", "answer_idx": "B"}])
def test_medqa_names_a_letter(row: dict[str, Any]) -> None:
    """In our file as in its own; gold is the option's text."""
    question = read("medqa", row)
    assert (question.kind, question.options, question.answers) == ("choice", ("this", "that one"), (Gold("that one"),))


def test_commonsenseqa() -> None:
    """The official form."""
    question = read("commonsenseqa", COMMON)
    assert question == BenchmarkQuestion(
        "1afa", "Where does it run?", (Gold("river"),), (Gold("valley"),), "choice", ("bed", "valley")
    )


@pytest.mark.parametrize(
    ("loader", "row"), [("medqa", CASE | {"answer": "E"}), ("commonsenseqa", COMMON | {"answerKey": ""})]
)
def test_a_letter_that_is_no_option(loader: str, row: dict[str, Any]) -> None:
    """As in test splits, which have no keys."""
    with pytest.raises(MisfitError, match="none of the options"):
        read(loader, row)


def test_qald_results() -> None:
    """IRIs, literals and truth values; the question in English."""
    assert read("qald", QALD) == BenchmarkQuestion("7", "Who?", answers=(Gold(iri="http://x/a"),))
    literal = {"results": {"bindings": [{"c": {"type": "literal", "value": "8"}}]}}
    assert read("qald", QALD | {"answers": [literal]}).answers == (Gold("8"),)
    assert read("qald", QALD | {"answers": [{"boolean": False}]}) == BenchmarkQuestion(
        "7", "Who?", answers=(Gold("no"),), kind="yesno"
    )


@pytest.mark.parametrize("wrong", [{"question": QALD["question"][:1]}, {"answers": [{"results": {}}]}, {"answers": []}])
def test_qald_with_faults(wrong: dict[str, Any]) -> None:
    """No English question, or no answer."""
    with pytest.raises(MisfitError):
        read("qald", QALD | wrong)


@given(st.text(max_size=40), st.text(max_size=20), st.sampled_from([None, "yesno", "choice", "count"]))
def test_any_text_is_a_question_or_refused(question: str, answer: str, kind: Kind | None) -> None:
    """A question that is read has a text, and an answer of its kind."""
    try:
        parsed = plain(question=question, answers=[answer], kind=kind)
    except (MisfitError, msgspec.MsgspecError):
        return
    assert parsed.question.split()
    assert all(gold.key for gold in parsed.answers)


def test_cr_lt_names_the_facts_that_an_answer_rests_on() -> None:
    """Its "KG Triples" are gold facts, in words."""
    question = read("crlt", CLAIM | {"KG Triples": "1- (Horsens, population, 59,449)"})
    assert question.gold_facts == (("Horsens", "population", "59,449"),)
