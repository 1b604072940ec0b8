import contextlib
import json
import secrets
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.cache.disk import DiskStore
from tests.support.extras import needs

Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def filled(cli: Cli, graph: Path) -> None:
    """A cache with the neighbourhood of one entity."""
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 0


def entries(cli: Cli) -> dict[str, int]:
    """What the cache holds."""
    counts: dict[str, int] = json.loads(cli("cache", "stats", "--json").stdout)["entries"]
    return counts


def test_stats(cli: Cli, home: Path) -> None:
    """The folder, its size and the entries of each kind are shown."""
    result = cli("cache", "stats")
    first, *rest = result.stdout.splitlines()
    assert first.startswith(f"{home / 'cache'}: ")
    assert dict(line.split() for line in rest)["neighbours"] == "2"
    assert entries(cli)["neighbours"] == 2


def test_stats_tell_the_limit_and_what_went(cli: Cli, tmp_path: Path, home: Path) -> None:
    """The size that is allowed is shown, and how many entries of which kind have gone for want of room."""
    assert "MB of 4,096 MB" in cli("cache", "stats").stdout
    assert "gone" not in cli("cache", "stats").stdout
    (tmp_path / "small.toml").write_text("cache_size = 1")
    store = DiskStore(home / "cache", 1 << 20)
    store.put_many("labels", {str(number): secrets.token_bytes(20_000) for number in range(80)})
    store.close()
    shown = json.loads(cli("cache", "stats", "--json", "--settings", "small.toml").stdout)
    assert (shown["limit"], shown["bytes"] <= 1 << 20) == (1 << 20, True)
    assert shown["evicted"]["labels"] + shown["entries"]["labels"] == 80 + 5
    assert f"{shown['evicted']['labels']} labels" in cli("cache", "stats").stdout.splitlines()[-1]


def test_stats_of_another_folder(cli: Cli, tmp_path: Path) -> None:
    """--cache-dir looks elsewhere."""
    shown = json.loads(cli("cache", "stats", "--json", "--cache-dir", tmp_path / "new").stdout)
    assert (shown["folder"], shown["entries"]) == (str(tmp_path / "new"), {})


def test_runs(cli: Cli, graph: Path) -> None:
    """Each command that touched the cache is listed with what it was asked, the latest last."""
    assert cli("ask", "What is the capital of Ruritania?", "-e", graph).exit_code == 0
    runs = json.loads(cli("cache", "runs", "--json").stdout)
    asked = [["neighbours http://ex.org/rudolf"], ["What is the capital of Ruritania?"]]
    assert [run["asked"] for run in runs] == asked
    assert all(run["entries"] > 0 for run in runs)
    lines = cli("cache", "runs").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [run["id"] for run in runs]
    assert lines[1].endswith("What is the capital of Ruritania?")


def test_names_that_are_no_text(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Bytes on the command line that are no UTF-8 are noted by their escapes, in questions and in a pack's name."""
    assert cli("search", "\udcff", "-e", graph).exit_code == 1
    cli("cache", "export", "one.pack")
    (tmp_path / "one.pack").rename(tmp_path / "\udcff.pack")
    assert cli("cache", "import", "\udcff.pack").exit_code == 0
    asked = [run["asked"][0] for run in json.loads(cli("cache", "runs", "--json").stdout)]
    assert asked[1:] == ["search \\udcff", "import \\udcff.pack"]


def test_a_run_that_is_too_large_says_so(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed, and cannot be exported."""
    monkeypatch.setattr("fedkg.cache.journal.MOST_TOUCHED", 1)
    assert cli("neighbours", "http://ex.org/flavia", "-e", graph).exit_code == 0
    assert "too many entries  neighbours" in cli("cache", "runs").stdout.splitlines()[-1]
    result = cli("cache", "export", "one.pack")
    assert (result.exit_code, "touched more than 1 entries" in result.stderr) == (2, True)


def test_a_pack_answers_elsewhere(cli: Cli, tmp_path: Path, served: Callable[..., Any]) -> None:
    """Export, import, and the same document offline, with the server gone; what is not in the pack is an error."""
    server, there = served(), ("--cache-dir", tmp_path / "there")
    question = ("ask", "What is the capital of Ruritania?", "-e", server.url, "--json")
    assert cli(*question).exit_code == 0
    warm = json.loads(cli(*question).stdout)
    assert cli("cache", "export", "one.pack").stdout.endswith("entries written to one.pack.\n")
    requests = server.asked
    assert "entries imported from one.pack" in cli("cache", "import", "one.pack", *there).stdout
    offline = json.loads(cli(*question, "--mode", "offline", *there).stdout)
    assert offline | {"usage": {}} == warm | {"usage": {}}
    other = cli("ask", "Who is the spouse of Rudolf V?", "-e", server.url, "--mode", "offline", *there)
    assert (other.exit_code, other.stdout, server.asked) == (2, "", requests)
    assert "is not asked in offline mode" in other.stderr
    assert "asked: SELECT" in other.stderr
    assert "hint: run it once without --mode offline, or import a pack" in other.stderr


def test_an_imported_pack_is_a_run(cli: Cli, tmp_path: Path) -> None:
    """It can be exported again, to the same bytes; so can runs by name, several as one pack."""
    cli("cache", "export", "one.pack")
    there = ("--cache-dir", tmp_path / "there")
    cli("cache", "import", "one.pack", *there)
    [run] = json.loads(cli("cache", "runs", "--json", *there).stdout)
    assert run["asked"] == ["import one.pack"]
    cli("cache", "export", "two.pack", "--run", run["id"], "--run", run["id"], *there)
    assert (tmp_path / "two.pack").read_bytes() == (tmp_path / "one.pack").read_bytes()


def test_what_cannot_be_exported_or_imported(cli: Cli, tmp_path: Path) -> None:
    """An unknown run, no run at all, a file that is no pack, one too large: bad input, and nothing is written."""
    assert cli("cache", "export", "x.pack", "--run", "yesterday").exit_code == 2
    empty = cli("cache", "export", "x.pack", "--cache-dir", tmp_path / "new")
    assert (empty.exit_code, "there is no run" in empty.stderr) == (2, True)
    assert not (tmp_path / "x.pack").exists()
    cli("cache", "export", "one.pack")
    (tmp_path / "bad.pack").write_bytes((tmp_path / "one.pack").read_bytes()[:-40])
    bad = cli("cache", "import", "bad.pack", "--cache-dir", tmp_path / "new")
    assert (bad.exit_code, "no whole pack" in bad.stderr) == (2, True)
    assert entries_of(cli, tmp_path / "new") == {}


def entries_of(cli: Cli, folder: Path) -> dict[str, int]:
    """What another cache holds."""
    counts: dict[str, int] = json.loads(cli("cache", "stats", "--json", "--cache-dir", folder).stdout)["entries"]
    return counts


def test_the_mode_may_come_from_the_environment(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FEDKG_MODE sets it, and one that is none is bad input; a refresh asks again what is kept."""
    monkeypatch.setenv("FEDKG_MODE", "sometimes")
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 2
    monkeypatch.setenv("FEDKG_MODE", "offline")
    refused = cli("neighbours", "http://ex.org/rudolf", "-e", graph, "--refresh")
    assert (refused.exit_code, "nothing can be refreshed" in refused.stderr) == (2, True)
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 0


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
    """A file in the place of the folder fails the commands of the cache."""
    (tmp_path / "file").write_text("")
    result = cli("cache", "stats", "--cache-dir", tmp_path / "file")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "hint: set cache_dir" in result.stderr


@needs("embeddings", "onnxruntime")
def test_label_files_count_and_go_too(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that a walk has written down and the index of a search count, and are deleted with the rest."""
    monkeypatch.setenv("FEDKG_EMBEDDER", "minilm")
    before = json.loads(cli("cache", "stats", "--json").stdout)
    assert cli("ask", "What is the capital of New Zealand?", "-e", "sample").exit_code == 0
    [shown] = (home / "cache" / "labels").iterdir()
    asked = json.loads(cli("cache", "stats", "--json").stdout)
    assert not {"label indexes", "shown labels"} & before["entries"].keys()
    assert (asked["entries"]["shown labels"], "label indexes" in asked["entries"]) == (1, False)
    assert asked["bytes"] >= before["bytes"] + shown.stat().st_size
    assert cli("search", "town", "--meaning", "-e", "sample").exit_code == 0
    [index] = (home / "cache" / "labels").glob("*.labels.*.log")
    after = json.loads(cli("cache", "stats", "--json").stdout)
    assert (after["entries"]["label indexes"], after["entries"]["shown labels"]) == (1, 1)
    assert after["bytes"] >= asked["bytes"] + index.stat().st_size
    assert "  label indexes  1\n  shown labels   1\n" in cli("cache", "stats").stdout
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


@needs("redis", "redis")
def test_a_shared_cache(cli: Cli, graph: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command works on the server, which it names without a password; the local folder is left alone."""
    local = entries(cli)
    monkeypatch.setenv("FEDKG_CACHE_URL", f"{redis_url}?password=")
    assert cli("cache", "clear", "--yes").exit_code == 0
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 0
    shown = json.loads(cli("cache", "stats", "--json").stdout)
    assert (shown["server"], shown["limit"], shown["entries"]["neighbours"]) == (redis_url, None, 2)
    assert cli("cache", "stats").stdout.startswith(f"{redis_url}: 0.0 MB\n")
    assert "neighbours http://ex.org/rudolf" in cli("cache", "runs").stdout
    assert cli("cache", "export", "one.pack").exit_code == 0
    asked = cli("cache", "clear", stdin="y")
    assert f"Delete all that is kept in {redis_url}, the shared cache, for all machines?" in asked.stderr
    assert entries(cli) == {}
    assert cli("cache", "import", "one.pack").exit_code == 0
    assert entries(cli)["neighbours"] == 2
    monkeypatch.delenv("FEDKG_CACHE_URL")
    assert entries(cli) == local


@needs("redis", "redis")
def test_a_shared_cache_that_is_gone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, without the password, and nothing is deleted elsewhere."""
    monkeypatch.setenv("FEDKG_CACHE_URL", "redis://:secret@127.0.0.1:1/0")
    for command in (["stats"], ["runs"], ["clear", "--yes"], ["export", "x.pack"], ["import", "x.pack"]):
        result = cli("cache", *command)
        assert (result.exit_code, "the shared cache cannot be used" in result.stderr) == (3, True)
        assert "secret" not in result.stderr


def test_labels_behind_a_link_are_not_the_cache_s(cli: Cli, home: Path, tmp_path: Path) -> None:
    """Neither counted nor deleted; a link among the labels is passed over."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.labels").write_text("private")
    (home / "cache" / "labels").symlink_to(outside)
    assert "label indexes" not in entries(cli)
    assert cli("cache", "clear", "--yes").exit_code == 0
    (home / "cache" / "labels").unlink()
    (home / "cache" / "labels").mkdir()
    (home / "cache" / "labels" / "x.labels").symlink_to(tmp_path / "nothing")
    assert cli("cache", "stats").exit_code == 0
    assert cli("cache", "clear", "--yes").exit_code == 0
    assert (outside / "mine.labels").read_text() == "private"


@pytest.mark.parametrize("kind", ["link", "setting", pytest.param("bomb", marks=pytest.mark.exhaustive)])
def test_a_cache_of_a_stranger_costs_no_answer(cli: Cli, graph: Path, home: Path, tmp_path: Path, kind: str) -> None:
    """The question is answered as ever, with a sentence where the cache is refused or starts anew; no traceback."""
    store = home / "cache" / "store"
    if kind == "link":
        store.rename(tmp_path / "elsewhere")
        store.symlink_to(tmp_path / "elsewhere")
    else:
        with contextlib.closing(sqlite3.connect(store / "cache.db")) as file, file:
            if kind == "setting":
                file.execute("INSERT INTO Settings VALUES ('get', 0)")
            else:
                file.execute("UPDATE Cache SET value = ?", [zlib.compress(bytes(80 << 20))])
    result = cli("ask", "What is the capital of Ruritania?", "-e", graph)
    assert result.exit_code == 0
    assert "Traceback" not in result.stderr
    told = {"link": "is a link, and no folder of its own", "setting": "was not made by fedkg", "bomb": ""}
    assert told[kind] in result.stderr
    assert cli("cache", "stats").exit_code == (3 if kind == "link" else 0)
