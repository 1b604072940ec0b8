"""Where the figures of a run come from."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from fedkg.bench.data.definitions import Definition, Only
from fedkg.bench.run import provenance
from fedkg.bench.run.provenance import deviating, header
from fedkg.config.settings import Settings

DEFINITION = Definition(
    title="mine", questions="q.jsonl", depth=1, graph="g.nt", only=Only("known.json", ("ids",)), name="mine"
)


def folder(place: Path) -> Path:
    """The benchmark's files."""
    place.mkdir()
    for name in DEFINITION.files:
        (place / name).write_text(name)
    return place


def settings(data: Path, **changes: object) -> Settings:
    """The settings of a run over the benchmark's graph."""
    made = Settings(endpoints=(f"generic@{data / 'g.nt'}",), contact="me@example.org")
    return msgspec.structs.replace(made, **changes)


def test_the_header_is_the_same_wherever_the_files_lie(tmp_path: Path) -> None:
    """Run twice, or on another machine: a run can be gone on with, and no folder is told."""
    here, there = folder(tmp_path / "here"), folder(tmp_path / "there")
    first = header(settings(here), DEFINITION, here, 5, 1)
    assert first == header(settings(here), DEFINITION, here, 5, 1) == header(settings(there), DEFINITION, there, 5, 1)
    assert (first.benchmark, first.method, first.model, first.limit, first.seed) == ("mine", "fidelis", "local", 5, 1)
    text = msgspec.json.encode(first).decode()
    assert str(tmp_path) not in text
    assert "example.org" not in text
    assert str(provenance.ROOT) not in text


def test_each_file_that_was_read_is_told_by_its_checksum(tmp_path: Path) -> None:
    """Questions, list of ids, graph, and the definition; of another graph than the benchmark's own as well."""
    data = folder(tmp_path / "data")
    checksums = header(settings(data), DEFINITION, data, None, 0).data
    assert set(checksums) == {"definition", *DEFINITION.files}
    assert checksums["g.nt"] == hashlib.sha256(b"g.nt").hexdigest()
    (tmp_path / "own.nt").write_text("mine")
    with_own_graph = settings(data, endpoints=(str(tmp_path / "own.nt"), "http://127.0.0.1:1/sparql"))
    assert set(header(with_own_graph, DEFINITION, data, None, 0).data) == {
        "definition",
        "q.jsonl",
        "known.json",
        "own.nt",
    }


def test_whatever_changes_an_answer_changes_the_header(tmp_path: Path) -> None:
    """So that no run is gone on with as another."""
    data = folder(tmp_path / "data")
    original = header(settings(data), DEFINITION, data, None, 0)
    claims = msgspec.structs.replace(DEFINITION, kind="claim")
    assert header(settings(data), claims, data, None, 0) != original
    assert header(settings(data, method="tog"), DEFINITION, data, None, 0) != original
    (data / "g.nt").write_text("another")
    assert header(settings(data), DEFINITION, data, None, 0) != original


def test_a_key_that_a_definition_lacks_does_not_change_it(tmp_path: Path) -> None:
    """A run of a benchmark without `conditions` goes on with a file from before there was that key."""
    data = folder(tmp_path / "data")
    shown = msgspec.to_builtins(DEFINITION)
    del shown["conditions"], shown["kinds"]
    digest = hashlib.sha256(msgspec.json.encode(shown)).hexdigest()
    assert header(settings(data), DEFINITION, data, None, 0).data["definition"] == digest
    told = msgspec.structs.replace(DEFINITION, conditions=DEFINITION.only)
    assert header(settings(data), told, data, None, 0).data["definition"] != digest


def test_deviating_files_are_named(tmp_path: Path) -> None:
    """Those that are others than the definition's; one that was not read is none of them."""
    data = folder(tmp_path / "data")
    given = header(settings(data), DEFINITION, data, None, 0)
    known = {"q.jsonl": given.data["q.jsonl"], "g.nt": "0" * 64, "unread.nt": "1" * 64}
    assert deviating(given, msgspec.structs.replace(DEFINITION, sha256=known)) == ("g.nt",)
    assert deviating(given, DEFINITION) == ()


def test_wordings_and_packages(tmp_path: Path) -> None:
    """Every call's wording where a model is asked, of each kind.

    The packages that are installed, none for development.
    """
    data = folder(tmp_path / "data")
    local = header(settings(data), DEFINITION, data, None, 0)
    asked = header(settings(data, model="openai:m@http://user:secret@127.0.0.1/v1"), DEFINITION, data, None, 0)
    assert local.templates == {}
    assert {"plan", "answer", "answer.yesno"} <= set(asked.templates)
    assert "follow-up" not in asked.templates
    assert all("-" in version for version in asked.templates.values())
    assert {"python", "numpy", "msgspec", "pyoxigraph"} <= set(asked.packages)
    assert not {"pytest", "ruff", "mypy"} & set(asked.packages)
    assert "secret" not in json.dumps([asked.model, asked.settings])


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout of one commit."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    place = tmp_path / "checkout"
    (place / "fedkg").mkdir(parents=True)
    (place / "pyproject.toml").write_text("")
    (place / "fedkg" / "a.py").write_text("")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


def test_the_commit_and_what_was_changed_since(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that lie in the checkout are no change of it; a hook's variables lead nowhere else."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, check=True, capture_output=True, text=True)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert provenance._commit(checkout) == (head.stdout.strip(), False)
    (checkout / "results.jsonl").write_text("{}")
    assert provenance._commit(checkout)[1] is False
    (checkout / "fedkg" / "new.py").write_text("")
    assert provenance._commit(checkout)[1] is True


def test_without_a_checkout_there_is_no_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installed package, where another project may be around it; nor without git."""
    assert provenance._commit(checkout / "fedkg") == ("", False)
    monkeypatch.setenv("PATH", "")
    assert provenance._commit(checkout) == ("", False)
