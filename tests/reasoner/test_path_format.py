"""The words in which models write paths: the bundled ones, and a folder's own, such as those of published weights."""

from pathlib import Path
from typing import Any

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.errors import PromptError
from fedkg.reasoner import path_format
from fedkg.reasoner.path_format import PathForm, read
from fedkg.reasoner.prompts.library import PromptLibrary

PUBLISHED = """
prompt = '''
Generate reasoning paths.

{examples}# Question:
{question}
# Topic entities:
{topics}
'''
example = ""
start = "# Reasoning Path:\\n<PATH>"
end = "</PATH>"
answer = "\\n# Answer:\\n"
forward = " -> {relation} -> "
backward = " -> {relation} -> "
relations = "typed"
between = ","
"""
PATH = PromptCandidate(
    1, "Kong → directed by → Jackson ← spouse ← Walsh", start="Kong", typed=("film.film.directed_by", "")
)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder of prompts with the form of a model that was trained elsewhere."""
    (tmp_path / "reasoning-paths").mkdir()
    (tmp_path / "reasoning-paths" / "form.toml").write_text(PUBLISHED, encoding="utf-8")
    return tmp_path


def test_the_bundled_words_are_those_that_files_are_trained_with() -> None:
    """Question and topics in their places, a path between its marks with its answer behind, a plan alone."""
    asked = path_format.prompt("gcr", "Who?\nAnd why?", ["Kong", "Rings"])
    assert asked == (
        "Write a path of the knowledge graph that leads from a topic entity to an answer of the question.\n\n"
        "# Question:\nWho? And why?\n# Topic entities:\nKong, Rings\n"
    )
    assert path_format.path("A → r → B", "B") == "# Reasoning path:\n<PATH> A → r → B </PATH>\n# Answer:\nB"
    assert path_format.plan("→ r → → s →") == "# Plan:\n<PATH> → r → → s → </PATH>"
    assert read("reasoning-paths").written(PATH) == PATH.text


def test_a_folder_has_words_and_marks_of_its_own(published: Path) -> None:
    """GCR's Figures 7 and 8: relations by their IRIs as far as these tell, and marks without blanks."""
    form = PromptLibrary(str(published)).form("reasoning-paths")
    assert form.written(PATH) == "Kong -> film.film.directed_by -> Jackson -> spouse -> Walsh"
    assert form.marked("A -> r -> B") == "# Reasoning Path:\n<PATH>A -> r -> B</PATH>"
    assert form.asked("Who?", ["Kong", "Rings"]).endswith("# Topic entities:\nKong,Rings\n")
    assert path_format.prompt("gcr", "Who?", ["Kong"], str(published)).startswith("Generate reasoning paths.")
    assert read("relation-paths", str(published)) == read("relation-paths")


def test_examples_stand_before_the_question() -> None:
    """As many as are wanted, and as there are (GCR, Figure 10); a question that names a place is no place."""
    form = read("reasoning-paths")
    assert form.asked("Who is {topics}?", ["Kong"], 0).count("# Question:") == 1
    assert "Who is {topics}?" in form.asked("Who is {topics}?", ["Kong"])
    shown = form.asked("Who?", ["Kong"], 2)
    assert shown.count("# Question:") == 3
    assert shown.index("Example 2\n") < shown.index("Who?")
    assert form.asked("Who?", ["Kong"], 20).count("<PATH> ") == len(form.examples) == 3


def test_a_reply_of_nothing_but_beginnings_has_no_path() -> None:
    """It is looked through once: a model that repeats itself costs no minutes."""
    form = read("reasoning-paths")
    assert form.paths("<PATH> " * 100_000) == []
    assert form.paths("</PATH> <PATH> a <PATH> b </PATH> c </PATH> <PATH> d") == ["a <PATH> b"]


def test_written_paths_are_found_between_their_marks() -> None:
    """Whatever stands around them; on one line each."""
    form = read("reasoning-paths")
    text = f"{form.marked('A → r → B')}\n# Answer:\nB\n\nand <PATH>\nC → s\n → D</PATH> <PATH> E"
    assert form.paths(text) == ["A → r → B", "C → s → D"]
    assert form.paths("A → r → B") == []


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("A → r → B", ["r"]),
        ("A → r → B ← s t ← C", ["r", "s t"]),
        ("A", None),
        ("A → r →", None),
        ("→ r → B", None),
        ("", None),
    ],
)
def test_the_relations_of_a_written_path(text: str, relations: list[str] | None) -> None:
    """None where it does not go from an entity over relations to another one."""
    assert read("reasoning-paths").relations_of(text) == relations


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("→ author →", ["→ author →"]),
        ("→ author → → place of death → ← r ←", ["→ author →", "→ place of death →", "← r ←"]),
        ("→ author → and then", []),
        ("author", []),
        ("", []),
    ],
)
def test_the_steps_of_a_written_plan(text: str, steps: list[str]) -> None:
    """One relation after the other, and nothing else."""
    assert read("relation-paths").steps_of(text) == steps


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{question}", "", "no place for {question}"),
        (" -> {relation} -> ", " -> ", "no place for {relation}"),
        ('end = "</PATH>"', 'end = " "', "may not be empty"),
        ("between", "betwixt", "betwixt"),
    ],
)
def test_a_form_that_no_model_could_be_asked_with_is_refused(published: Path, old: str, new: str, message: str) -> None:
    """When the folder is opened, before anything is asked; the message names the file."""
    (published / "reasoning-paths" / "form.toml").write_text(PUBLISHED.replace(old, new), encoding="utf-8")
    with pytest.raises(PromptError, match=message) as caught:
        PromptLibrary(str(published))
    assert "form.toml" in str(caught.value)


def test_a_form_of_a_call_that_nobody_writes_is_refused(tmp_path: Path) -> None:
    """It would silently not be used."""
    (tmp_path / "answer").mkdir()
    (tmp_path / "answer" / "form.toml").write_text(PUBLISHED, encoding="utf-8")
    with pytest.raises(PromptError, match=r"no file of a prompt is called so"):
        PromptLibrary(str(tmp_path))


def test_every_bundled_form_is_whole() -> None:
    """Both are read, and their examples are paths of their own form."""
    forms: dict[str, Any] = {call: read(call) for call in ("reasoning-paths", "relation-paths")}
    assert all(isinstance(form, PathForm) and form.examples for form in forms.values())
    assert all(forms["reasoning-paths"].relations_of(each.path) for each in forms["reasoning-paths"].examples)
