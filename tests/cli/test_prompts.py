import json
import shutil
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from fedkg import prompts
from fedkg.data import folder

Cli = Callable[..., Result]


def test_list_names_every_call(cli: Cli) -> None:
    """Each call is one line with the version of its wording; the same in JSON."""
    lines = cli("prompts", "list").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [[name, prompts.load(name).version] for name in prompts.names()]
    shown = json.loads(cli("prompts", "list", "--json").stdout)
    assert [one["call"] for one in shown] == prompts.names()


def test_show_prints_the_files(cli: Cli) -> None:
    """Every file of a prompt is printed as it is."""
    shown = cli("prompts", "show", "plan").stdout
    for file in (folder("prompts") / "plan").iterdir():
        assert f"## {file.name}\n{file.read_text().rstrip()}\n" in shown


def test_own_prompts(cli: Cli, tmp_path: Path) -> None:
    """A folder of one's own replaces a wording and changes its version."""
    shutil.copytree(folder("prompts") / "plan", tmp_path / "own" / "plan")
    (tmp_path / "own" / "plan" / "system.j2").write_text("Plan in rhymes.")
    assert "Plan in rhymes." in cli("prompts", "show", "plan", "--prompts", "own").stdout
    assert prompts.load("plan").version not in cli("prompts", "list", "--prompts", "own").stdout


def test_incomplete_prompt(cli: Cli, tmp_path: Path) -> None:
    """A folder that lacks a file is named."""
    (tmp_path / "own" / "plan").mkdir(parents=True)
    result = cli("prompts", "list", "--prompts", tmp_path / "own")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {tmp_path / 'own' / 'plan'}: " in result.stderr
