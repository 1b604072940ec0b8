import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def filled(cli: Cli, graph: Path) -> None:
    """A cache with the neighbourhood of one entity."""
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 0


def entries(cli: Cli) -> dict[str, int]:
    """What the cache holds."""
    found: dict[str, int] = json.loads(cli("cache", "stats", "--json").stdout)["entries"]
    return found


def test_stats(cli: Cli, home: Path) -> None:
    """The folder, its size and the entries of each kind are shown."""
    result = cli("cache", "stats")
    first, *rest = result.stdout.splitlines()
    assert first.startswith(f"{home / 'cache'}: ")
    assert dict(line.split() for line in rest)["neighbours"] == "2"
    assert entries(cli)["neighbours"] == 2


def test_stats_of_another_folder(cli: Cli, tmp_path: Path) -> None:
    """--cache-dir looks elsewhere."""
    shown = json.loads(cli("cache", "stats", "--json", "--cache-dir", tmp_path / "new").stdout)
    assert (shown["folder"], shown["entries"]) == (str(tmp_path / "new"), {})


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "left"),
    [(("--yes",), None, 0, False), ((), "y\n", 0, False), ((), "n\n", 1, True), ((), "", 1, True)],
)
def test_clear(cli: Cli, arguments: tuple[str, ...], stdin: str | None, code: int, left: bool) -> None:
    """Everything goes after a yes, and nothing without one."""
    result = cli("cache", "clear", *arguments, stdin=stdin)
    assert result.exit_code == code
    assert ("entries deleted" in result.stdout) is not left
    assert bool(entries(cli)) is left


def test_clear_also_where_no_cache_is_used(cli: Cli, tmp_path: Path) -> None:
    """Settings that switch the cache off do not protect what lies on disk."""
    (tmp_path / "off.toml").write_text("cache = false")
    assert cli("cache", "clear", "--yes", "--settings", "off.toml").exit_code == 0
    assert entries(cli) == {}


def test_folder_that_cannot_be_used(cli: Cli, tmp_path: Path) -> None:
    """A file in the cache's place is bad input."""
    (tmp_path / "file").write_text("")
    result = cli("cache", "stats", "--cache-dir", tmp_path / "file")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "hint: set cache_dir" in result.stderr


def test_label_indexes_count_and_go_too(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index of labels that a walk has written is among the entries and bytes, and is deleted with them."""
    monkeypatch.setenv("FEDKG_EMBEDDER", "minilm")
    before = json.loads(cli("cache", "stats", "--json").stdout)
    assert cli("ask", "What is the capital of New Zealand?", "-e", "sample").exit_code == 0
    [index] = (home / "cache" / "labels").glob("*.labels")
    after = json.loads(cli("cache", "stats", "--json").stdout)
    assert "label indexes" not in before["entries"]
    assert after["entries"]["label indexes"] == 1
    assert after["bytes"] >= before["bytes"] + index.stat().st_size
    assert "  label indexes  1\n" in cli("cache", "stats").stdout
    assert cli("cache", "clear", "--yes").stdout == f"{sum(after['entries'].values())} entries deleted.\n"
    assert not list((home / "cache" / "labels").iterdir())
    assert entries(cli) == {}


def test_clear_leaves_the_files_of_others(cli: Cli, home: Path) -> None:
    """The cache's folder may be one that others use too."""
    (home / "cache" / "labels").mkdir()
    notes = home / "cache" / "labels" / "notes.txt"
    notes.write_text("mine")
    assert cli("cache", "clear", "--yes").exit_code == 0
    assert notes.read_text() == "mine"
