"""What an answer admits: in the document, in its text, and in old documents that admit nothing."""

import json

import pytest

from fedkg.core.answer import Answer, AnswerValue, Status, decode_answer
from fedkg.core.caveat import Caveat, CaveatKind

VALUE = AnswerValue("Rex", "http://x/rex", grounded=True)
PARTIAL = Caveat(CaveatKind.PARTIAL, "http://x/ann (out), from kennel")


def answered(*caveats: Caveat) -> Answer:
    """An answer with these caveats."""
    return Answer("Who?", "entities", Status.ANSWERED, (VALUE,), caveats=caveats)


def test_caveats_are_part_of_the_document() -> None:
    """Kind and subject are written by name, and read back as they were."""
    answer = answered(PARTIAL)
    assert json.loads(answer.to_json())["caveats"] == [{"kind": "partial", "about": PARTIAL.about}]
    assert decode_answer(answer.to_json()) == answer


def test_a_document_from_before_has_none() -> None:
    """Documents that were written before there were caveats are read as ever."""
    old = json.loads(answered().to_json())
    del old["caveats"]
    assert decode_answer(json.dumps(old).encode()) == answered()


@pytest.mark.parametrize("kind", CaveatKind)
def test_each_kind_is_a_sentence_beside_the_answer(kind: CaveatKind) -> None:
    """The line after the answers says what is admitted and what it is about, in text and in HTML."""
    answer = answered(Caveat(kind, "the \x1b[31mthing"))
    line = answer.text().splitlines()[1]
    assert line.startswith("caveat: ")
    assert line.endswith(": the thing")
    assert kind.value not in {"loosely_linked", "dropped_topic"} or kind.value not in line
    assert line in answer._repr_html_()


def test_without_an_answer_they_follow_the_status() -> None:
    """Where there is no answer to stand beside, caveats stand with how the question ended."""
    lines = Answer("Who?", "entities", Status.NOT_FOUND, caveats=(PARTIAL,)).text().splitlines()
    assert lines[0].startswith("No answer was found")
    assert lines[1].startswith("caveat: data are missing on the way")
