"""docs/methods.md: every method has its page, answers as shown, and costs what is told."""

import re
from typing import Any

import pytest

from fedkg.config.settings import Settings
from fedkg.engine.estimate import Asked, estimate
from fedkg.methods.registry import METHODS
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.testing import ScriptedModel
from tests.support.documents import check_shown, programs, read, rows, run, sections, transcripts

PARTS = ["Paper", "What differs", "Cost", "When to use it", "Models"]
"""What the page of a method consists of."""
WAYS = read("methods")


def test_every_method_has_a_page() -> None:
    """In the order of the table, each with the same parts; its links and its row are there."""
    pages = sections(WAYS)
    assert [name for name in pages if name in METHODS] == list(METHODS)
    assert list(rows(pages["Choose a method"])) == list(METHODS)
    links = re.findall(r"\[([\w-]+)\]\(#([\w-]+)\)", WAYS.partition("\n## ")[0])
    assert [anchor for name, anchor in links if name == anchor and name in METHODS] == list(METHODS)
    for name, method in METHODS.items():
        parts = re.findall(r"(?m)^\*\*(.*?)\.\*\*", pages[name])
        assert [part for part in parts if part != "Switches"] == PARTS
        assert all(word in pages[name] for word in re.findall(r"[A-Z]\w+ et al|FiDeLiS|section \d[.\d]*", method.paper))
        assert ("A language model." in pages[name]) == method.prompts


async def test_what_a_typical_question_costs_is_told() -> None:
    """Per method: its calls and requests as the estimate has them, its tokens within a tenth."""
    documented = rows(sections(WAYS)["What a question costs"])
    assert list(documented) == list(METHODS)
    asked = Asked("Who is the spouse of the director of King Kong?", named=True)
    for method, (calls, sent, requests) in documented.items():
        cost = (await estimate(asked, Settings(method=method), ScriptedModel([]), PromptLibrary())).typical
        assert (int(calls), int(requests)) == (cost.calls, cost.requests)
        assert int(sent.replace(",", "")) == pytest.approx(cost.tokens_in, rel=0.1)


def test_the_table_of_methods_says_whom_they_ask() -> None:
    """The graph, and a language model or any."""
    documented = rows(sections(WAYS)["Choose a method"])
    for name, method in METHODS.items():
        assert documented[name][1:] == ["yes" if method.graph else "no", "no" if method.prompts else "yes"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("heading", [name for name, text in sections(WAYS).items() if transcripts(text)])
def test_the_methods_answer_as_shown(heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page; the method that the document adds is added as told."""
    program, _ = programs(WAYS)[0]
    names: dict[str, Any] = {}
    exec(program, names)
    [entry] = re.findall(r'"([\w-]+)": first_hop\.METHOD', WAYS)
    monkeypatch.setitem(METHODS, entry, names["METHOD"])
    for command, shown in transcripts(sections(WAYS)[heading]):
        code, output = run(command)
        assert code == (2 if "error:" in output else 0), output
        check_shown(shown, output)
