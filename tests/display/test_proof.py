import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.terms import Direction, Iri, Literal

ADA, BOB, CAT, KNOWS = (Iri(f"http://ex.org/{name}") for name in ("ada", "bob", "cat", "knows"))
HOSTILE = "</text></svg><script>alert(1)</script>\x1b[31m\u202e"


def edge(start: Iri, end: Iri | Literal, direction: Direction = "out", label: str = "") -> PathEdge:
    """A step of a path from `start` to `end`, whichever way the graph states it."""
    names = {start.text: start.local_name.title(), end.text: label or "End", KNOWS.text: "knows"}
    subject, target = (start, end) if direction == "out" else (end, start)
    assert isinstance(subject, Iri)
    return PathEdge(subject, KNOWS, target, direction, "g.ttl", "", labels=names)


def answer(*paths: Path, label: str = "Cat") -> Answer:
    """An answer that the first path proves."""
    value = AnswerValue(label, CAT.value, label, CAT, True, (0,))
    caveats = (Caveat(CaveatKind.GUESS, "0.4"),)
    return Answer("q", "entities", Status.ANSWERED, (value,), paths, caveats=caveats)


def texts(page: str, tag: str) -> list[str]:
    """The texts of the elements of that kind in the drawing."""
    [svg] = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def test_an_answer_has_its_proof_as_a_drawing() -> None:
    """Nodes that paths share are drawn once, statements with their endpoint where the mouse rests."""
    first = Path(0.9, (edge(ADA, BOB, label="Bob"), edge(BOB, CAT, label="Cat")))
    second = Path(0.8, (edge(ADA, CAT, "in", label="Cat"),))
    page = answer(first, second)._repr_html_()
    assert sorted(texts(page, "text")) == ["Ada", "Bob", "Cat", "knows", "knows", "knows"]
    assert "Cat → knows → Ada [g.ttl]" in texts(page, "title")


def test_what_an_answer_admits_is_in_plain_sight() -> None:
    """Answers, caveats and the ending stand outside of what is folded; all of the text is there."""
    shown = answer(Path(0.9, (edge(ADA, CAT, label="Cat"),)))
    page = shown._repr_html_()
    folded = re.search(r"<details>.*</details>", page, re.DOTALL)
    assert folded
    assert "Ada → knows → Cat" in unescape(re.sub(r"<[^>]*>", "", folded[0]))
    plain = unescape(re.sub(r"<[^>]*>", "", page.replace(folded[0], "")))
    for line in ("Cat  <http://ex.org/cat>", "caveat: the answer is a guess", "Answered."):
        assert line in plain


def test_labels_cannot_get_out_of_a_page() -> None:
    """Neither into the drawing nor into the text; no script, no link, and nothing from elsewhere."""
    page = answer(Path(0.9, (edge(ADA, CAT, label=HOSTILE),)), label=HOSTILE)._repr_html_()
    assert "<script" not in page
    assert not re.search(r"<[^>]*(?:href|src|on\w+)=", page)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert len(re.findall("</svg>", page)) == 1


@pytest.mark.parametrize("status", list(Status))
def test_an_answer_without_a_proof_is_shown_too(status: Status) -> None:
    """The sentence that says how it ended, and no drawing."""
    page = Answer("q", "entities", status)._repr_html_()
    assert "svg" not in page
    assert unescape(re.sub(r"<[^>]*>", "", page)) == Answer("q", "entities", status).text()


def test_of_many_paths_the_first_are_drawn() -> None:
    """A page with a thousand of them is of no use; how many there are is told."""
    paths = [Path(0.5, (edge(ADA, Literal(f"value {number}")),)) for number in range(100)]
    page = answer(*paths)._repr_html_()
    assert len(texts(page, "rect")) == 21
    assert "100 paths as text" in page
    assert "and 80 more paths" in page


def test_a_walk_that_turns_back_can_be_drawn() -> None:
    """To a node in the same column or an earlier one; so can edges that do not connect."""
    path = Path(0.5, (edge(ADA, BOB), edge(BOB, ADA, "in"), edge(CAT, Literal("x"))))
    page = path._repr_html_()
    assert len(texts(page, "rect")) == 4
    assert "path (score 0.50)" in page
