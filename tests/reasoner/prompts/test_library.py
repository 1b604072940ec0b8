"""Templates load from their folders, the user's own before the bundled ones, and render what they are given."""

import json
from pathlib import Path
from typing import Any

import pytest

from fedkg.config.resources import folder
from fedkg.config.settings import SearchSettings
from fedkg.errors import PromptError
from fedkg.reasoner.prompts.library import PromptLibrary, forms_of, load, names, variants, vendors
from fedkg.reasoner.prompts.template import SHARED, PromptTemplate
from tests.support.prompt_folders import EXAMPLES, SCHEMA, SHOWING, write


def test_an_own_file_takes_the_place_of_the_bundled_one(tmp_path: Path) -> None:
    """Whoever edits one file needs no copy of the others; the other calls stay."""
    own_folder = str(tmp_path)
    (tmp_path / "beam").mkdir()
    (tmp_path / "beam" / "user.j2").write_text("Mine: {{ question }}")
    bundled, mine = load("beam"), load("beam", own_folder)
    assert mine.render(question="Where was A born?")[1] == "Mine: Where was A born?"
    assert "Mine: In which city" in mine.system
    assert (mine.instructions, mine.schema, mine.meta) == (bundled.instructions, bundled.schema, bundled.meta)
    assert mine.digest != bundled.digest
    assert {path.parent for path in mine.files} == {
        tmp_path / "beam",
        folder("prompts") / "beam",
        folder("prompts") / SHARED,
    }
    assert load("choose", own_folder).version == load("choose").version


def test_an_own_file_is_used_under_its_name_only(tmp_path: Path) -> None:
    """The plain file of the user's does not replace the bundled wording for one kind, and the other way round."""
    call, kind = next((call, kinds[0]) for call in names() if (kinds := variants(call)))
    [special] = [path.name for path in load(call, kind=kind).files if path.name.startswith("system.")]
    (tmp_path / call).mkdir()
    (tmp_path / call / "system.j2").write_text("plain")
    assert load(call, str(tmp_path)).instructions == "plain"
    assert load(call, str(tmp_path), kind=kind).instructions == load(call, kind=kind).instructions
    (tmp_path / call / special).write_text("special")
    assert load(call, str(tmp_path), kind=kind).instructions == "special"


def test_an_own_shared_part_is_used_by_the_bundled_calls(tmp_path: Path) -> None:
    """What several templates include can be replaced for all of them at once, and changes their digests."""
    (tmp_path / SHARED).mkdir()
    (tmp_path / SHARED / "paths.j2").write_text("Read carefully.")
    mine = load("beam", str(tmp_path))
    assert "Read carefully." in mine.system
    assert "A → r → B" in load("beam").system
    assert "A → r → B" not in mine.system
    assert mine.digest != load("beam").digest
    assert load("plan", str(tmp_path)).digest == load("plan").digest


def test_kind_and_vendor_may_have_their_own_wording(tmp_path: Path) -> None:
    """The file that fits both is used first, then that for the kind, then that for the vendor, then the plain one."""
    folder = str(
        write(
            tmp_path,
            system__claim_j2="K",
            system__openai_j2="V",
            system__claim__openai_j2="KV",
            user__anthropic_j2="special",
            schema__claim_json=json.dumps({**SCHEMA, "title": "claim"}),
        )
    )
    assert load("beam", folder).instructions == "S"
    assert load("beam", folder, "openai").instructions == "V"
    assert load("beam", folder, "openai", "count").instructions == "V"
    assert load("beam", folder, "anthropic", "claim").render() == ("K", "special")
    assert load("beam", folder, "openai", "claim").instructions == "KV"
    assert load("beam", folder, "other", "claim").schema == {**SCHEMA, "title": "claim"}
    assert load("beam", folder, "other", "count").schema == SCHEMA
    made = [
        load("beam", folder, vendor, kind) for vendor in ("openai", "anthropic", "other") for kind in ("claim", None)
    ]
    assert len({template.digest for template in made}) == 6
    assert variants("beam", folder) == ["claim"]
    assert vendors("beam", folder) == ["anthropic", "openai"]


def test_bundled_wordings_are_read_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question needs four calls of twelve, and the bundled files are known to be sound."""
    read: list[str] = []

    def reading(call: str, *given: Any) -> PromptTemplate:
        read.append(call)
        return load(call, *given)

    monkeypatch.setattr("fedkg.reasoner.prompts.library.load", reading)
    wordings = PromptLibrary(vendor="openai")
    assert read == []
    assert wordings.get("plan").version == wordings.get("plan").version == load("plan").version
    assert read == ["plan"]


def test_the_users_own_files_lie_over_the_papers_forms(tmp_path: Path) -> None:
    """A form takes the place of the bundled file, and what is the user's own that of the form's."""
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "examples.toml").write_text("examples = []")
    search = SearchSettings(exhaustive=True, demonstrations=True)
    plan = PromptLibrary(str(tmp_path), forms=forms_of(search)).get("plan")
    assert plan.examples == ()
    assert "exhaustive list" in plan.system
    assert forms_of(search) == ("exhaustive", "demonstrations")
    assert forms_of(SearchSettings()) == ()
    assert forms_of(SearchSettings(statement="filled")) == ("filled",)


def test_wordings_are_read_once_and_all_checked_at_first(tmp_path: Path) -> None:
    """A file that cannot be used is said before anything is asked, also where it is for one kind of question only."""
    folder = write(tmp_path, examples_toml=EXAMPLES, user_j2=SHOWING)
    wordings = PromptLibrary(str(folder), "openai")
    assert wordings.get("beam", "count") is wordings.get("beam", "count")
    assert wordings.get("beam", "count") != wordings.get("beam")
    (folder / "beam" / "user.claim.j2").write_text("{% if %}")
    assert wordings.get("beam", "yesno").system == wordings.get("beam").system
    with pytest.raises(PromptError, match=r"user\.claim\.j2:1"):
        PromptLibrary(str(folder))


def test_a_broken_shared_part_is_named(tmp_path: Path) -> None:
    """Only those who include it are hindered by it."""
    folder = write(tmp_path, user_j2="{% include 'a.j2' %}")
    (folder / SHARED).mkdir()
    (folder / SHARED / "a.j2").write_text("\n{{ x | nosuchfilter }}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:2: No filter"):
        load("beam", str(folder))
    assert load("plan", str(folder)).version == load("plan").version


def test_parts_that_include_each_other_are_an_error(tmp_path: Path) -> None:
    """A circle of includes ends in PromptError."""
    folder = write(tmp_path, system_j2="{% include 'a.j2' %}")
    (folder / SHARED).mkdir()
    (folder / SHARED / "a.j2").write_text("{% include 'a.j2' %}")
    with pytest.raises(PromptError, match=r"shared/a\.j2:1: "):
        load("beam", str(folder))


@pytest.mark.parametrize(
    ("path", "message", "known"),
    [
        ("plann/user.j2", "plann: no prompt is called so", "choose, "),
        ("picking.j2", "picking.j2: it must lie in the folder of a call", ""),
        ("meta.toml", "meta.toml: it must lie in the folder of a call", ""),
        ("shared/pickin.j2", "pickin.j2: no template includes it", " picking.j2, "),
        ("shared/picking.jinja", "picking.jinja: no template includes it", " picking.j2, "),
        ("beam/system.jinja", "system.jinja: no file of a prompt is called so", "system.j2, "),
    ],
)
def test_what_would_not_be_used_is_refused(tmp_path: Path, path: str, message: str, known: str) -> None:
    """A mistaken name of a folder or file is said at once, with the names that there are."""
    write(tmp_path)
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("{{ question }}")
    with pytest.raises(PromptError, match=f"/{message}") as caught:
        PromptLibrary(str(tmp_path))
    assert known in caught.value.hint


def test_files_that_are_no_prompts_are_passed_over(tmp_path: Path) -> None:
    """Notes, an editor's copies and what a tool keeps do not disturb."""
    folder = write(tmp_path)
    before = load("beam", str(folder)).digest
    (folder / "beam" / "system.j2~").write_text("old")
    (folder / "beam" / "README.md").write_text("notes")
    (folder / "notes.md").write_text("notes")
    (folder / ".git").mkdir()
    assert load("beam", str(folder)).digest == before


@pytest.mark.parametrize(
    ("call", "vendor"), [("../plan", ""), ("", ""), ("plan", "../x"), ("Plan", ""), ("a/b", ""), ("shared", "")]
)
def test_names_cannot_leave_the_folder(call: str, vendor: str) -> None:
    """Call and vendor are plain names."""
    with pytest.raises(PromptError, match="not the name"):
        load(call, vendor=vendor)


def test_unknown_calls_and_folders_are_errors(tmp_path: Path) -> None:
    """An unknown call names the known ones; a folder that is not there is named."""
    with pytest.raises(PromptError) as caught:
        load("guess")
    assert "choose" in caught.value.hint
    with pytest.raises(PromptError, match="no such folder"):
        load("plan", str(tmp_path / "nowhere"))
    with pytest.raises(PromptError, match="no such folder"):
        PromptLibrary(str(tmp_path / "nowhere"))
