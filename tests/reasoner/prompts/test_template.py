"""What a template makes of its files and values, and what it must not do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedkg.common.tokens import estimate
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import PromptError
from fedkg.reasoner.prompts.library import load
from fedkg.reasoner.prompts.template import SHARED, PromptTemplate, values
from tests.support.prompt_folders import EXAMPLES, SCHEMA, SHOWING, write


def test_examples_look_like_the_task(tmp_path: Path) -> None:
    """An example is what user.j2 makes of its values, with its reply: those of the kind, else those for all kinds."""
    folder = str(write(tmp_path, user_j2=SHOWING, examples_toml=EXAMPLES))
    first = '<question>First?</question>\n{"n": 1}'
    second = '<question>How many ‹b›?</question>\n1. A → r → B 0\n2. A → s → C 3\ngo count\n{"n": 2}'
    assert load("beam", folder, kind="count").system == f"S\n\nExamples\n\n{second}"
    for kind in (None, "claim"):
        template = load("beam", folder, kind=kind)
        assert template.system == f"S\n\nExamples\n\n{first}"
        assert [example.reply for example in template.examples] == ['{"n": 1}']
    assert replace(load("beam", folder), examples=()).system == "S"


def test_a_template_without_examples_says_nothing_of_any(tmp_path: Path) -> None:
    """Where there are none, for this kind or at all, the system text is the instructions."""
    assert load("beam", str(write(tmp_path))).system == "S"
    only = EXAMPLES.replace("[[examples]]\nreply", '[[examples]]\nkinds = ["yesno"]\nreply')
    assert load("beam", str(write(tmp_path, examples_toml=only)), kind="claim").system == "S"


def test_values_are_made_as_a_call_makes_them() -> None:
    """Texts become numbered offers, a table becomes the plan; everything else stays as it is."""
    shown = {"offers": ["a", {"text": "b", "tails": ["c"]}], "kept": [], "plan": {"options": ["x"]}, "width": 2}
    assert values({"path": "a"}) == values({"path": {"number": 1, "text": "a"}}) == {"path": PromptCandidate(1, "a")}
    assert values({"path": None}) == {"path": None}
    assert values(shown) == {
        "offers": [PromptCandidate(1, "a"), PromptCandidate(2, "b", (), ("c",))],
        "kept": [],
        "plan": Plan((), options=("x",)),
        "width": 2,
    }


@pytest.mark.parametrize(
    "shown",
    [
        {"plan": 3},
        {"plan": {"kind": "riddle"}},
        {"plan": {"statment": "A is *placeholder*."}},
        {"offers": 1},
        {"paths": [{"tails": 1}]},
        {"paths": [{"text": "A", "tail": ["B"]}]},
        {"path": 3},
    ],
)
def test_values_that_do_not_fit_are_an_error(shown: dict[str, Any]) -> None:
    """A plan that is none, offers that are none, and what neither has raise PromptError."""
    with pytest.raises(PromptError, match="no values of a prompt"):
        values(shown)


def test_what_is_the_same_in_every_call_is_counted_once() -> None:
    """The tokens of a template are those of its system text and its schema."""
    template = load("beam")
    assert template.tokens == estimate(template.system) + estimate(json.dumps(template.schema))


@pytest.mark.parametrize("file", ["system_j2", "user_j2", "schema_json", "meta_toml", "examples_toml"])
def test_the_digest_covers_every_file(tmp_path: Path, file: str) -> None:
    """A change in any file of the folder changes the digest; the same files give the same digest."""
    before = load("beam", str(write(tmp_path / "a"))).digest
    assert load("beam", str(write(tmp_path / "b"))).digest == before
    changed = {
        "schema_json": json.dumps({**SCHEMA, "title": "new"}),
        "meta_toml": 'version = "7"\nreturns = "s"',
        "examples_toml": "# none yet",
    }
    assert load("beam", str(write(tmp_path / "c", **{file: changed.get(file, "new")}))).digest != before


def test_the_digest_covers_what_is_included(tmp_path: Path) -> None:
    """A change in a shared part, also in one that another part includes, changes the digest.

    Other parts do not count.
    """

    def digest(place: str, **shared: str) -> PromptTemplate:
        folder = write(tmp_path / place, system_j2='{% include "a.j2" %}')
        (folder / SHARED).mkdir()
        for name, text in {"a": '{% include "b.j2" %}', "b": "B", "paths": "C", **shared}.items():
            (folder / SHARED / f"{name}.j2").write_text(text)
        return load("beam", str(folder))

    usual = digest("1")
    assert usual.system == "B"
    assert digest("2").digest == usual.digest == digest("3", paths="D").digest
    assert digest("4", b="E").system == "E"
    assert len({usual.digest, digest("5", b="E").digest, digest("6", a="{# no b.j2 #}A").digest}) == 3


def test_expressions_print_one_line_even_without_the_filter(tmp_path: Path) -> None:
    """A template that forgets `line` still cannot print a newline or a delimiter; numbers are printed as they are."""
    template = load("beam", str(write(tmp_path, user_j2="{{ question }}|{{ n }}|{{ question | line(5) }}")))
    assert template.render(question="a\n<b> c d", n=12)[1] == "a ‹b› c d|12|a ‹b…"


def test_a_missing_value_names_the_file(tmp_path: Path) -> None:
    """A template that asks for a value it is not given raises PromptError with file, line and variable."""
    template = load("beam", str(write(tmp_path, user_j2="one\n{{ question }}")))
    with pytest.raises(PromptError, match=r"beam/user\.j2:2: 'question' is undefined"):
        template.render(other=1)


def test_a_mistake_in_a_shared_part_is_named_there(tmp_path: Path) -> None:
    """Not the template that includes it, but the part itself and its line; so also where an example shows it."""
    folder = write(tmp_path, user_j2="{% include 'a.j2' %}")
    (folder / SHARED).mkdir()
    (folder / SHARED / "a.j2").write_text("one\n\n{{ qestion }}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:3: 'qestion' is undefined$"):
        load("beam", str(folder)).render(question="Q?")
    write(folder, user_j2="{% include 'a.j2' %}", examples_toml=EXAMPLES)
    with pytest.raises(PromptError, match=r"a\.j2:3: 'qestion' is undefined, given .* in .*beam/examples\.toml with"):
        load("beam", str(folder))


def test_a_system_text_cannot_ask_for_values(tmp_path: Path) -> None:
    """What changes with the question has no place in the stable part."""
    with pytest.raises(PromptError, match=r"system\.j2:1: 'question' is undefined") as caught:
        load("beam", str(write(tmp_path, system_j2="Answer {{ question }}")))
    assert "user.j2" in caught.value.hint


@pytest.mark.parametrize(
    "source",
    [
        "{{ question.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ plan.append(1) }}",
        "{{ 1 / 0 }}",
        "{{ question | int + 'a' }}",
        "{{ range(1000000000) | list }}",
        "{{ question() }}",
    ],
)
def test_templates_run_in_a_sandbox(tmp_path: Path, source: str) -> None:
    """A template that reaches for Python's inside.

    Changes its values or fails raises PromptError that names the file.
    """
    template = load("beam", str(write(tmp_path, user_j2=source)))
    with pytest.raises(PromptError, match=r"user\.j2"):
        template.render(question="Q", plan=[1])


@pytest.mark.parametrize(
    "source",
    [
        "{% include 'user.j2' %}",
        "{% include question %}",
        "{% include '../beam/meta.toml' %}",
        "{% import '/etc/hostname' as x %}",
        "{% extends ['nowhere.j2', 'left_out.j2'] %}",
        "{% include 'nowhere.j2' ignore missing %}",
    ],
)
def test_templates_include_shared_parts_only(tmp_path: Path, source: str) -> None:
    """What is not in the shared folder, or is named by a value, cannot be included.

    It is said when the template is read.
    """
    with pytest.raises(PromptError, match=r"user\.j2: it can only include, by name, what lies in 'shared'"):
        load("beam", str(write(tmp_path, user_j2=source)))
