import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from fedkg.cli.main import COMMANDS, main

Cli = Callable[..., Result]
Start = Callable[..., "subprocess.Popen[str]"]
HEAVY = "aiohttp pyoxigraph numpy usearch bm25s diskcache jinja2 rich msgspec torch fedkg.session".split()


def test_help_is_cheap() -> None:
    """The help page loads no heavy package and no command: that is what keeps it fast."""
    code = (
        "import sys\nfrom fedkg.cli.main import main\n"
        "try: main(['--help'], prog_name='fedkg')\nexcept SystemExit: pass\n"
        "print('loaded', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    page, _, loaded = done.stdout.rpartition("loaded ")
    assert page.startswith("Usage: fedkg")
    assert set(loaded.split()) & {*HEAVY, *(place.partition(":")[0] for place, _ in COMMANDS.values())} == set()


def test_help_documents_exit_codes(cli: Cli) -> None:
    """Each code that a script may meet stands on the help page, and every command."""
    page = cli("--help").stdout
    for part in ("0 answered", "1 no answer", "2 bad input", "3 an endpoint", "4 the budget", "130", *COMMANDS):
        assert part in page


@pytest.mark.parametrize("name", list(COMMANDS))
def test_commands_are_where_the_table_says(name: str, cli: Cli) -> None:
    """Each command is found under its name and has a help page."""
    context = click.Context(main)
    command = main.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert cli(name, "--help").exit_code == 0


def test_version_and_module() -> None:
    """`python -m fedkg --version` is the command."""
    done = subprocess.run([sys.executable, "-m", "fedkg", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("fedkg, version ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Usage: fedkg"),
        (("aks",), "No such command 'aks'"),
        (("ask",), "no question is given"),
        (("ask", "x", "--depth", "two"), "'two' is not a valid integer"),
        (("ask", "x", "--form", "triples"), "'triples' is not one of"),
        (("neighbours", "x", "--direction", "up"), "'up' is not one of"),
        (("ask", "x", "--profiles", "nowhere"), "Directory 'nowhere' does not exist"),
    ],
)
def test_usage_errors(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """A command line that does not fit ends with 2, a sentence on stderr and nothing on stdout."""
    result = cli(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def write(path: Path, data: str | bytes) -> Path:
    """The file with that content."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("g.ttl", "@prefix ex: <http://ex.org/> .\nex:a ex:b .\n", "line 2"),
    ("g.nt", "<http://a/b> <http://a/c> <http://a/d> .\noops\n", "line 2"),
    ("g.nt.gz", b"no gzip", "not a whole gzip file"),
    ("g.ttl", "", "no triple"),
]


@pytest.mark.parametrize(("name", "data", "message"), BAD_FILES)
def test_unusable_graph_files(cli: Cli, tmp_path: Path, name: str, data: str | bytes, message: str) -> None:
    """An RDF file that cannot be read is named, with the line where that is known."""
    path = write(tmp_path / name, data)
    result = cli("ask", "Who is Ada?", "-e", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {path}" in result.stderr
    assert message in result.stderr
    assert "hint: " in result.stderr


def test_graph_file_that_is_missing_or_a_folder(cli: Cli, tmp_path: Path) -> None:
    """So is one that does not exist, and a folder without one."""
    (tmp_path / "folder.ttl").mkdir()
    for name, message in (("missing.ttl", "No such file"), ("folder.ttl", "there is no RDF file in this folder")):
        result = cli("ask", "Who is Ada?", "-e", tmp_path / name)
        assert result.exit_code == 2
        assert f"{tmp_path / name}: " in result.stderr
        assert message in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('titel = "x"', "titel"),
        ('urls = "http://a/b"', "$.urls"),
        ("[limits]\nbatch = 0", "$.limits.batch"),
        ("title = ", "Invalid value"),
        ('urls = ["http://a/b c"]', "urls: not an http URL"),
    ],
)
def test_malformed_profiles(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    """A profile that does not fit is named with its key, by the commands that read it; the list has the others."""
    file = write(tmp_path / "mine.toml", text)
    for command in (("ask", "x", "-e", "mine"), ("endpoints", "show", "mine"), ("endpoints", "list")):
        result = cli(*command, "--profiles", tmp_path)
        assert (result.exit_code, "sample" in result.stdout) == (2, "list" in command), command
        assert f"error: {file}: " in result.stderr
        assert message in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [("modle = 'x'", "modle"), ("[search]\ndepth = 0", "search.depth in"), ("model", "Expected '='")],
)
def test_malformed_settings(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    """A settings file that does not fit is named with its key."""
    file = write(tmp_path / "settings.toml", text)
    result = cli("ask", "x", "-e", "sample", "--settings", file)
    assert result.exit_code == 2
    assert str(file) in result.stderr
    assert message in result.stderr
    assert "hint: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("ask", "Who?", "-e", "wikidate"), "'wikidate' is no profile, URL or RDF file", "`fedkg endpoints list`"),
        (("ask", "Who?"), "no endpoint is given", "-e"),
        (("ask", "Who?", "-e", "http://"), "not a URL", "https://host/sparql"),
        (("ask", "Who?", "-e", "wikidata"), "operator of wikidata", "FEDKG_CONTACT"),
        (("ask", "Who?", "-e", "x.docx/"), "unknown file name extension", ".nt, .ttl, .rdf"),
        (("endpoints", "show", "wikidate"), "no endpoint profile is called 'wikidate'", "`fedkg endpoints list`"),
        (("prompts", "show", "plann"), "no prompt is called 'plann'", "known: "),
        (("ask", "", "-e", "sample"), "the question is empty", "one question"),
        (("ask", " \n", "-e", "sample"), "the question is empty", "one question"),
        (("ask", "Who is \udcff?", "-e", "sample"), "bytes that are no UTF-8", "one question"),
        (("ask", "why " * 25_000, "-e", "sample"), "the question has 99,999 characters", "one question"),
        (("search", " ", "-e", "sample"), "no text to search for", "Marie Curie"),
        (("ask", "Who?", "--topic", "http://a/b c", "-e", "sample"), "not an IRI: 'http://a/b c'", "full IRI"),
        (("neighbours", 'http://a/"b', "-e", "sample"), "not an IRI", "full IRI"),
        (("ask", "Who?", "--topic", "Marie Cury", "-e", "sample"), "is called 'Marie Cury'", "labels: Marie Curie <h"),
        (("ask", "Who is the king of Zembla?", "-e", "sample"), "Zembla", "hint: "),
        (("ask", "Who?", "-e", "sample", "--model", "gpt"), "no model is called 'gpt'", "openai:MODEL"),
        (("ask", "Who?", "-e", "sample", "--model", "anthropic:m"), "ANTHROPIC_API_KEY", "export ANTHROPIC_API_KEY="),
        (("ask", "Who?", "-e", "sample", "--model", "openai:m"), "OPENAI_API_KEY", "export OPENAI_API_KEY="),
        (("ask", "Who is Ada?", "-e", "sample", "--embedder", "elmo"), "no embedder is called 'elmo'", "embedders: "),
        (("ask", "Who?", "-e", "sample", "--depth", "0"), "--depth must be 1 or more", "docs/settings.md"),
        (("ask", "Which?", "-e", "sample", "--option", "one"), "1 option is no choice", "2 to 20 different options"),
        (
            ("ask", "Which?", "-e", "sample", "--option", "a", "--option", " "),
            "an option is empty",
            "different options",
        ),
        (("ask", "Which?", "-e", "sample", "--option", "a", "--option", "A"), "is given twice", "different options"),
        (
            ("ask", "?", "-e", "sample", "--kind", "count", "--option", "a"),
            "of the kind count has no options",
            "choice",
        ),
        (("ask", "Who?", "-e", "sample", "--settings", "gone.toml"), "gone.toml: No such file", ""),
    ],
)
def test_bad_input(cli: Cli, arguments: tuple[str, ...], message: str, hint: str) -> None:
    """Input that cannot be used ends with 2: a sentence and a hint on stderr, nothing on stdout, no traceback."""
    result = cli(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    error, last = result.stderr.splitlines()[0], result.stderr.splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error
    assert hint in last
    assert "Traceback" not in result.stderr


def test_hostile_text_in_errors(cli: Cli) -> None:
    """What an error quotes cannot steer the terminal."""
    result = cli("ask", "Who?", "-e", "\x1b[2J\x9b31mwikidata\u202e")
    assert result.exit_code == 2
    assert not any(char in result.stderr for char in "\x1b\x9b\u202e")


def test_broken_pipe_is_quiet(start: Start) -> None:
    """A reader that goes away ends the command silently."""
    reader, writer = os.pipe()
    running = start("endpoints", "list", stdout=writer)
    os.close(writer)
    os.close(reader)
    assert running.communicate(timeout=60)[1] == ""
    assert running.returncode == 141


def test_interrupt_keeps_what_was_fetched(start: Start, cli: Cli, served: Callable[..., Any]) -> None:
    """Ctrl-C ends with 130 and a line; the finished hop is in the cache, and the next run does not ask for it again."""
    endpoint = served(hold=6)
    command = ("ask", "What is the capital of Ruritania?", "--topic", "http://ex.org/ruritania", "-e", endpoint.url)
    running = start(*command)
    assert endpoint.reached.wait(60)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err.splitlines() == [
        "interrupted",
        "what was fetched until now stays cached; the same command goes on from there",
    ]
    kept = json.loads(cli("cache", "stats", "--json").stdout)["entries"]
    assert kept["neighbours"] >= 2
    endpoint.release.set()
    usage = json.loads(cli(*command, "--json").stdout)["usage"]
    assert usage["cache_hits"] >= kept["neighbours"]


MOMENTS, ALL_MOMENTS = 2, 50


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes without coverage, which takes a lock at each call: a signal then leaves it taken for ever."""
    for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("unmeasured")
def test_interrupts_at_random_moments(
    start: Start, cli: Cli, served: Callable[..., Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whenever Ctrl-C comes (50 moments with --all): no traceback, 130 or the signal itself, and a cache that works."""
    endpoint, moments = served(), random.Random(7)
    cache = tmp_path / "cache"
    for _ in range(ALL_MOMENTS if request.config.getoption("--all") else MOMENTS):
        shutil.rmtree(cache, ignore_errors=True)
        running = start("ask", "What is the capital of Ruritania?", "-e", endpoint.url, "--embedder", "bm25")
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(moments.uniform(0.5, 3.0))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert "Traceback" not in err
        assert running.returncode in {0, 130, -signal.SIGINT}
        assert running.returncode != 130 or err.startswith("interrupted\n")
        assert running.returncode or out.startswith("Strelsau")
        assert cli("cache", "stats").exit_code == 0
        assert not (cache / "store.damaged").exists()


def test_letters_that_the_terminal_lacks(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """An output in ASCII shows escapes instead of ending the program."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    running = start("neighbours", "Ève Curie", "-e", "sample", "--no-cache")
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    assert "\\xc8ve Curie" in out
