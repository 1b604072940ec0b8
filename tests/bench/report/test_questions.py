"""The questions of a run as a reader sees them."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import msgspec
import pytest

from fedkg.bench.data.questions import Gold
from fedkg.bench.report import questions
from fedkg.bench.report.page import Element
from fedkg.bench.run.record import GivenAnswer
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.variants import Variants
from fedkg.core.usage import Usage

Make = Callable[..., BenchmarkResult]


def shown(result: BenchmarkResult) -> Element:
    """The questions of a result."""
    return questions.browsable(Variants([result]).runs[0])


def summaries(section: Element) -> list[str]:
    """The heads of the classes."""
    return [str(summary.text) for summary in section.findall("./details/summary")]


def text(section: Element) -> str:
    """All that is to be read."""
    return " ".join("".join(section.itertext()).split())


def test_questions_are_listed_by_what_is_wrong_with_them(made: Make) -> None:
    """Each class with its number, what is right last."""
    assert summaries(shown(made("a", "x", "", "ax", "a"))) == ["retrieval: 2", "overfull: 1", "right: 2"]


def test_a_question_shows_its_answers_and_the_proof(made: Make) -> None:
    """The path as it was walked, and below it each triple with who said it, and whether again."""
    shown_text = text(shown(made("a")))
    assert "0 who? right" in shown_text
    assert "A (http://x/a), confirmed" in shown_text
    assert "Path 1: T → likes → A" in shown_text
    assert "‹http://x/t› ‹http://x/likes› ‹http://x/a› said by x; confirmed" in shown_text


def test_a_step_against_its_edge_is_shown_as_both(made: Make) -> None:
    """The path as it was walked, the triple as the graph has it."""
    result = made("a")
    record = result.records[0]
    back = msgspec.structs.replace(record.paths[0][0], direction="in", confirmed=None)
    shown_text = text(shown(BenchmarkResult(result.header, (msgspec.structs.replace(record, paths=((back,),)),))))
    assert "T ← likes ← A" in shown_text
    assert "‹http://x/a› ‹http://x/likes› ‹http://x/t› said by x; not asked again" in shown_text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"error": "KeyError: 'x'", "status": "error"}, "Error: KeyError: 'x'"),
        ({"warnings": ("a guess",)}, "Warning: a guess"),
        ({"answers": (GivenAnswer("Paris"),)}, "Paris, not grounded"),
        ({"gold": (Gold("only a name"),)}, "Gold: only a name"),
        (
            {"usage": Usage(model_calls=3, tokens_in=9, replayed_calls=2, replayed_tokens=6)},
            "Cost: 1 model calls, 3 tokens",
        ),
        ({"usage": Usage(cache_hits=7)}, "From the cache, at no cost: 0 model calls, 0 tokens, 7 neighbourhoods"),
        ({"answers": tuple(GivenAnswer(f"v{number}") for number in range(25))}, "… and 5 more"),
    ],
)
def test_what_else_is_known_is_told(made: Make, change: dict[str, object], expected: str) -> None:
    """Errors, warnings, answers from memory, gold without an IRI; of many answers the first."""
    result = made("")
    assert expected in text(
        shown(BenchmarkResult(result.header, (msgspec.structs.replace(result.records[0], **change),)))
    )


def test_of_many_questions_the_first_are_listed(made: Make) -> None:
    """A page of a benchmark of ten thousand could not be opened."""
    section = shown(made(*["x"] * (questions.MOST + 7)))
    assert "… and 7 more, in the result file" in text(section)
    assert len(section.findall("./details/details")) == questions.MOST


def test_a_hostile_label_breaks_nothing(made: Make) -> None:
    """It is a text in an element of its own."""
    result = made("a")
    bad = GivenAnswer("http://x/a", "</bdi><script>alert(1)</script>\u202e", True, 1.0, 1, True)
    page = ET.tostring(
        shown(BenchmarkResult(result.header, (msgspec.structs.replace(result.records[0], answers=(bad,)),)))
    )
    assert b"<script" not in page
    assert "\u202e" not in page.decode()
