import json
import shlex
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Cli = Callable[..., Result]


@pytest.fixture
def file(home: Path) -> Path:
    """The user's own settings file."""
    return home / "fedkg" / "fedkg.toml"


@pytest.fixture(autouse=True)
def _no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on what this machine serves."""
    monkeypatch.setattr("fedkg.cli.models_here.OLLAMA", "http://127.0.0.1:1")


def made(file: Path) -> dict[str, Any]:
    """What the file says."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_with_yes_it_asks_nothing(cli: Cli, file: Path) -> None:
    """The bundled graph and the model that needs no key; what is shown next works as it stands."""
    result = cli("init", "--yes")
    assert (result.exit_code, result.stderr) == (0, "")
    assert made(file) == {"endpoints": ["sample"]}
    assert "docs/settings.md has all of them" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() in result.stdout
    commands = [line.strip() for line in result.stdout.partition("Next:\n")[2].splitlines()]
    assert [command.split()[1] for command in commands] == ["ask", "chat", "endpoints"]
    answer = cli(*shlex.split(commands[0])[1:])
    assert answer.stdout.startswith("Irène Joliot-Curie")


def test_what_options_say_is_not_asked(cli: Cli, file: Path, graph: Path) -> None:
    """A file of RDF is named by its whole path: settings hold in every folder."""
    options = ("--model", "openai:m@http://127.0.0.1:8000/v1", "--embedder", "bm25", "--contact", "me@example.org")
    assert cli("init", "--yes", "-e", "kingdom.ttl", "-e", "generic@kingdom.ttl", *options).exit_code == 0
    assert made(file) == {
        "endpoints": [str(graph), f"generic@{graph}"],
        "model": "openai:m@http://127.0.0.1:8000/v1",
        "embedder": "bm25",
        "contact": "me@example.org",
    }


def test_what_does_not_fit_is_asked_again(cli: Cli, file: Path, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question takes what is typed, or its proposal; a vendor whose key is set is offered."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-in-a-file-0123456789")
    typed = "gone.ttl|nonsense|kingdom.ttl, wikidata|9|2|gpt-5-mini|hashing|oops|me@ex.org|here|"
    result = cli("init", stdin=typed.replace("|", "\n"))
    assert result.exit_code == 0
    for fault in ("gone.ttl: there is no such file", "'nonsense' is no profile", "there is no 9", "'oops' is no mail"):
        assert fault in result.stderr
    assert "wikidata wants one" in result.stdout
    assert made(file) == {
        "endpoints": [str(graph), "wikidata"],
        "model": "openai:gpt-5-mini",
        "embedder": "hashing",
        "contact": "me@ex.org",
        "cache_dir": "here",
    }
    assert "sk-never" not in file.read_text() + result.output


def test_an_endpoint_that_no_profile_describes_gets_one(cli: Cli, file: Path, served: Callable[..., Any]) -> None:
    """It is examined, and asked by that profile from then on; one that is dead stays its URL."""
    result = cli("init", "--yes", "-e", served().url)
    assert result.exit_code == 0, result.stderr
    [name] = made(file)["endpoints"]
    folder = Path(made(file)["profiles_dir"])
    assert (name, (folder / f"{name}.toml").is_file()) == ("127-0-0-1", True)
    assert json.loads(cli("endpoints", "show", name, "--json").stdout)["name"] == name


def test_an_endpoint_that_is_dead_stays_its_url(cli: Cli, file: Path, dead: str) -> None:
    """It may be there tomorrow."""
    result = cli("init", "--yes", "-e", dead)
    assert result.exit_code == 0
    assert made(file) == {"endpoints": [dead]}


def test_a_file_is_not_written_over_unasked(cli: Cli, file: Path) -> None:
    """Neither with --yes, nor without consent."""
    cli("init", "--yes")
    file.write_text("# mine\n")
    for arguments, stdin in ((("init", "--yes"), None), (("init",), "n\n"), (("init",), "\n")):
        result = cli(*arguments, stdin=stdin)
        assert (result.exit_code, "stays as it is" in result.stderr) == (2, True)
        assert file.read_text() == "# mine\n"
    assert cli("init", stdin="y\n" + "\n" * 5).exit_code == 0
    assert made(file) == {"endpoints": ["sample"]}


@pytest.mark.parametrize(
    "options",
    [
        ("-e", "https://me:pa55@host/sparql"),
        ("-e", "https://host/sparql?api_key=pa55"),
        ("-e", "https://host/sparql?auth=pa55"),
        ("--model", "openai:m@http://me:pa55@host/v1"),
        ("--model", "openai:sk-pa55pa55pa55pa55pa55"),
        ("--embedder", "openai:x@https://me:pa55@host/v1"),
        ("--cache-dir", "redis://:pa55@host"),
        ("--contact", "https://me:pa55@host/"),
    ],
)
def test_no_secret_enters_the_file(cli: Cli, file: Path, options: tuple[str, str]) -> None:
    """What holds a password or key is refused, and not printed."""
    result = cli("init", "--yes", *options)
    assert result.exit_code == 2
    assert "a password or a key" in result.stderr
    assert "pa55" not in result.output
    assert not file.exists()


def test_another_file_can_be_named(cli: Cli, tmp_path: Path, file: Path) -> None:
    """What is typed next names it, too."""
    result = cli("init", "--yes", "--settings", "new/my.toml")
    assert made(tmp_path / "new" / "my.toml") == {"endpoints": ["sample"]}
    assert "fedkg chat --settings new/my.toml" in result.stdout
    assert not file.exists()
    assert cli("init", "--yes", "--settings", "/dev/null/x.toml").exit_code == 2
