import html
import io
import re
from typing import Any

import msgspec
import pytest
from rich.console import Console

from fedkg.cli import show
from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.rendering import SENTENCES
from fedkg.core.terms import Iri
from fedkg.core.usage import Gap, ModelCall, Usage

ADA, GRACE, KNOWS = Iri("http://ex.org/ada"), Iri("http://ex.org/grace"), Iri("http://ex.org/knows")
LABELS = {ADA.text: "Ada", GRACE.text: "Grace", KNOWS.text: "knows"}
EDGE = PathEdge(ADA, KNOWS, GRACE, "out", "g.ttl", "", labels=LABELS)


def printed(answer: Answer, *, everything: bool = False) -> str:
    """What a person sees of an answer, colours included."""
    out = Console(file=io.StringIO(), width=50, markup=False, emoji=False, highlight=False, soft_wrap=True)
    show.answer(out, answer, everything=everything)
    text = out.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert isinstance(text, str)
    return text


def test_a_text_is_what_is_printed() -> None:
    """`Answer.text` has the lines of the command line without its colours; a notebook shows them too, escaped."""
    values = (AnswerValue("Grace <b>", GRACE.value, "Grace", GRACE, True, (0,)),)
    gap = Gap("wikidata", "http://a (out)", "no whole reply within 60 s")
    ending: dict[str, Any] = {"gaps": (gap,), "usage": Usage(requests=2), "warnings": ("cut", "cut")}
    answer = Answer("q", "entities", Status.ANSWERED, values, (Path(0.5, (EDGE,)),), **ending)
    assert answer.text().splitlines() == printed(answer).splitlines()
    page = html.unescape(re.sub(r"<[^>]*>", "\n", re.sub("</?span[^>]*>", "", answer._repr_html_())))
    assert {line.strip() for line in answer.text().splitlines() if "→" not in line} <= {
        line.strip() for line in page.splitlines()
    }


def test_a_long_text_is_cut_unless_asked_for() -> None:
    """As on a screen; how to have the rest is said in Python's words."""
    values, paths = (AnswerValue("Grace", grounded=True, paths=(0,)),) * 60, (Path(0.5, (EDGE,)),) * 25
    answer = Answer("q", "entities", Status.ANSWERED, values, paths)
    assert "… and 10 more answers; text(everything=True) shows all of them" in answer.text()
    whole = answer.text(everything=True)
    assert (whole.count("Grace  (") + whole.count("Grace\n"), whole.count("proof ")) == (60, 25)


def test_answer_that_was_found() -> None:
    """Answers, proofs, status, gaps, warnings and usage, in this order."""
    values = (AnswerValue("Grace", GRACE.value, "Grace", GRACE, True, (0,)), AnswerValue("yes"))
    gap = Gap("wikidata", "http://a (out)", "no whole reply within 60 s")
    spent = Usage(model_calls=1, tokens_in=9, tokens_out=8, price=0.5)
    usage = msgspec.structs.replace(spent, requests=1, round_trips=1, bytes=2345, cache_hits=2)
    answer = Answer(
        "q", "entities", Status.ANSWERED, values, (Path(0.5, (EDGE,)),), (gap,), usage, ("there may be more",)
    )
    cost = "1 request in 1 round trip, 2.3 kB, 2 cache hits, 0 labels embedded, 1 model call, 9 + 8 tokens, $0.5000"
    assert printed(answer).splitlines() == [
        "Grace  <http://ex.org/grace>",
        "yes  (not grounded in the graph)",
        "",
        "proof 1 (score 0.50)",
        "  Ada → knows → Grace  [g.ttl]",
        "",
        "Answered.",
        "gap: wikidata: http://a (out): no whole reply within 60 s",
        "warning: there may be more",
        f"{cost}, 0.0 s",
    ]


def test_a_judgement_says_what_it_is() -> None:
    """An option is shown with its number; no verdict passes for something that stands in the graph."""
    paths = (Path(0.5, (EDGE,)),)
    option = AnswerValue("New  York", label="2", paths=(0,))
    choice = Answer("q", "choice", Status.ANSWERED, (option,), paths)
    verdict = Answer("q", "claim", Status.ANSWERED, (AnswerValue("no", paths=(0,)),), paths)
    assert printed(choice).splitlines()[0] == "2. New York  (judged from these paths, not grounded in the graph)"
    assert printed(verdict).splitlines()[0] == "no  (judged from these paths, not grounded in the graph)"


def test_what_was_remembered_rests_on_no_paths() -> None:
    """A verdict without any is not said to be judged from them."""
    verdict = Answer("q", "yesno", Status.ANSWERED, (AnswerValue("no"),))
    assert printed(verdict).splitlines()[0] == "no  (not grounded in the graph)"


def test_a_warning_that_is_said_again_is_printed_once() -> None:
    """One line with how often it was said, in the order in which warnings came first; the document keeps all."""
    answer = Answer("q", "entities", Status.NOT_FOUND, warnings=("cut", "slow", "cut"))
    assert [line for line in printed(answer).splitlines() if "warning" in line] == [
        "warning: cut (2 times)",
        "warning: slow",
    ]


def test_paths_without_an_answer_prove_nothing() -> None:
    """What was walked until a budget ended the search is headed as a path."""
    answer = Answer("q", "entities", Status.NOT_FOUND, paths=(Path(0.5, (EDGE,)),))
    assert "path 1 (score 0.50)" in printed(answer)
    assert "proof" not in printed(answer)


def test_the_ledger_is_not_cut_to_the_width_of_a_terminal() -> None:
    """Versions of wordings are there to be copied."""
    version = "12-" + "0123456789abcdef" * 4
    answer = Answer("q", "entities", Status.NONE, ledger=(ModelCall("score-relations", version, "m"),))
    assert version in printed(answer, everything=True)


def test_the_ledger_is_shown_on_request() -> None:
    """One line for each call and template, in their order, whatever a template's name holds."""
    plan = ModelCall("plan", "1-ab\x1b[31m", "m", 10, 5, 4, 3, 1.25, price=0.5)
    lines = (plan, ModelCall("choose", "2-cd", "m", 1, 1), plan)
    answer = Answer("q", "entities", Status.NONE, ledger=lines)
    assert "choose" not in printed(answer)
    head, *rows = [line.split() for line in printed(answer, everything=True).splitlines()[-3:]]
    assert head == ["call", "template", "calls", "in", "cached", "out", "reasoning", "s", "price"]
    assert rows == [
        ["plan", "1-ab", "2", "20", "8", "10", "6", "2.5", "$1.0000"],
        ["choose", "2-cd", "1", "1", "0", "1", "0", "0.0", "price", "unknown"],
    ]


def test_long_answers_are_cut_unless_asked_for() -> None:
    """Fifty answers and twenty proofs are enough for a screen; the rest is counted, or shown on request."""
    values, paths = (AnswerValue("Grace", grounded=True, paths=(0,)),) * 60, (Path(0.5, (EDGE,)),) * 25
    answer = Answer("q", "entities", Status.ANSWERED, values, paths)
    short, long = printed(answer), printed(answer, everything=True)
    assert "… and 10 more answers; -v shows all of them" in short
    assert "… and 5 more paths" in short
    assert (short.count("proof "), long.count("proof ")) == (20, 25)
    assert "more answers" not in long


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ANSWERED])
def test_each_way_to_have_no_answer_has_its_sentence(status: Status) -> None:
    """None, not found, failed and abstained are told apart."""
    lines = printed(Answer("q", "entities", status)).splitlines()
    assert lines[0] == SENTENCES[status]
    assert len(set(SENTENCES.values())) == len(Status)
