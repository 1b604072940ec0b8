import os
import pty
import stat
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.cli import contact
from fedkg.config.settings import Settings
from fedkg.errors import SettingsError

Cli = Callable[..., Result]
MAIL = "ann@example.org"


@pytest.fixture
def strict(served: Callable[..., Any], tmp_path: Path) -> Any:
    """An endpoint whose profile `strict`, in the folder `own`, wants a contact."""
    endpoint = served()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "strict.toml").write_text(f'urls = ["{endpoint.url}"]\ncontact_required = true\n')
    return endpoint


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Lets a person at a terminal type these lines; returns what is left of them."""

    def type_in(*lines: str) -> list[str]:
        left = list(lines)

        class Terminal:
            def isatty(self) -> bool:
                return True

            def readline(self) -> str:
                return f"{left.pop(0)}\n" if left else ""

        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        return left

    return type_in


def needing(*, profiles_dir: str = "own") -> Settings:
    """Settings of a question to the strict endpoint."""
    return Settings(endpoints=("strict",), profiles_dir=profiles_dir)


def kept(home: Path) -> Path:
    """The user's settings file."""
    return home / "fedkg" / "fedkg.toml"


def test_who_is_at_no_terminal_is_not_asked(cli: Cli, strict: Any) -> None:
    """A script gets an error that says what to set, and the endpoint gets no request."""
    result = cli("search", "Flavia", "-e", "strict", "--profiles", "own", stdin=f"{MAIL}\n")
    assert (result.exit_code, result.stdout, strict.asked) == (2, "", 0)
    assert "wants to know whom to write to" in result.stderr
    assert "FEDKG_CONTACT" in result.stderr


def test_asked_once_on_a_terminal(start: Callable[..., "subprocess.Popen[str]"], strict: Any, home: Path) -> None:
    """It is asked on stderr, kept where nobody else reads it, goes on; the next command asks nothing."""
    arguments = ("search", "Flavia", "-e", "strict", "--profiles", "own", "--json")
    for lines in (f"{MAIL}\n", ""):
        person, terminal = pty.openpty()
        process = start(*arguments, stdin=terminal, stderr=terminal)
        os.close(terminal)
        os.write(person, lines.encode())
        shown, _ = process.communicate(timeout=60)
        prompt = os.read(person, 10_000).decode() if lines else ""
        os.close(person)
        assert process.returncode == 0, prompt
        assert '"label":"Flavia"' in shown
        assert "contact" not in shown
        assert ("wants to know whom to write to" in prompt) == bool(lines)
    assert tomllib.loads(kept(home).read_text()) == {"contact": MAIL}
    files = [path for path in (home / "cache").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if MAIL.encode() in path.read_bytes()]
    assert stat.S_IMODE(kept(home).stat().st_mode) == 0o600


@pytest.mark.usefixtures("strict")
def test_the_rest_of_the_settings_stays(home: Path, typed: Callable[..., list[str]]) -> None:
    """The line is put before all tables; comments stay; an empty contact is replaced."""
    kept(home).parent.mkdir()
    kept(home).write_text('# mine\ncontact = ""\nmodel = "local"\n[search]\ndepth = 2\n')
    typed(MAIL)
    assert contact.contacted(needing()).contact == MAIL
    text = kept(home).read_text()
    assert tomllib.loads(text) == {"contact": MAIL, "model": "local", "search": {"depth": 2}}
    assert text.startswith(f'contact = "{MAIL}"\n# mine\n')
    assert [path.name for path in kept(home).parent.iterdir()] == ["fedkg.toml"]


@pytest.mark.usefixtures("strict")
def test_what_was_kept_counts_beside_another_settings_file(home: Path, typed: Callable[..., list[str]]) -> None:
    """Who works with a settings file of a project is not asked again in each."""
    kept(home).parent.mkdir()
    kept(home).write_text(f'contact = "{MAIL}"\n')
    left = typed("other@example.org")
    assert contact.contacted(needing()).contact == MAIL
    assert left == ["other@example.org"]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize(
    "line", ["ann", "ann@", "ann@example.org\tBcc", "ann@ex ample.org", "ann(@b.org", "ftp://a.b", 3 * "ä@b.de"]
)
def test_what_is_no_contact_is_asked_again(
    typed: Callable[..., list[str]], capsys: pytest.CaptureFixture[str], line: str
) -> None:
    """Only a mail address or a web page that a header can carry is taken."""
    typed(line, "https://example.org/~ann")
    assert contact.contacted(needing()).contact == "https://example.org/~ann"
    assert "That is no mail address" in capsys.readouterr().err


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("lines", [(), ("",), ("no",) * 5])
def test_who_types_nothing_useful(typed: Callable[..., list[str]], home: Path, lines: tuple[str, ...]) -> None:
    """After three tries, an empty line or the end of input it is an error, and nothing is kept."""
    typed(*lines)
    with pytest.raises(SettingsError, match="no contact was given"):
        contact.contacted(needing())
    assert not kept(home).exists()


@pytest.mark.usefixtures("strict")
def test_a_file_that_cannot_be_changed(
    home: Path, typed: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command goes on, and says that it will ask again."""
    kept(home).parent.mkdir()
    kept(home).write_text("model = \n")
    typed(MAIL)
    assert contact.contacted(needing()).contact == MAIL
    assert "could not be kept" in capsys.readouterr().err
    assert kept(home).read_text() == "model = \n"


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("wikidata", True),
        ("https://query.wikidata.org/sparql", True),
        ("https://query-scholarly.wikidata.org/sparql", True),
        ("https://commons-query.wikimedia.org/sparql", True),
        ("freebase@https://wikidata.org/sparql", True),
        ("https://notwikidata.org/sparql", False),
        ("https://example.org/wikidata.org", False),
        ("wikidata@http://127.0.0.1:1/sparql", False),
        ("sample", False),
    ],
)
def test_whose_operators_want_a_contact(typed: Callable[..., list[str]], spec: str, wanted: bool) -> None:
    """All hosts of Wikimedia, however they are named; a shape of theirs at another place does not."""
    left = typed(MAIL)
    assert contact.contacted(Settings(endpoints=(spec,))).contact == (MAIL if wanted else "")
    assert left == ([] if wanted else [MAIL])


def test_a_contact_that_is_set_is_taken(typed: Callable[..., list[str]]) -> None:
    """Nobody is asked for what is known."""
    left = typed("other@example.org")
    settings = Settings(endpoints=("wikidata",), contact=MAIL)
    assert contact.contacted(settings) is settings
    assert left
