"""What the README shows is what happens."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from fedkg.config.settings import ENVIRONMENT, Settings, Ttl, public
from fedkg.errors import FedkgError
from tests.support.extras import needs

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
TRANSCRIPTS = [
    (command.removeprefix("$ ").removeprefix("fedkg "), shown)
    for language, block in BLOCKS
    if language == "console"
    for command, shown in re.findall(r"(?m)^(\$ fedkg .*)\n((?:(?!\$ ).*\n)*)", block)
]


@needs("embeddings", "onnxruntime")
@pytest.mark.parametrize(("command", "shown"), TRANSCRIPTS)
def test_every_transcript_is_what_the_command_prints(monkeypatch: pytest.MonkeyPatch, command: str, shown: str) -> None:
    """Line by line, apart from the cost at the end and the score's last digit."""
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, shlex.split(command), prog_name="fedkg")
    assert result.exit_code == 0, result.stderr
    printed = re.sub(r"score 0\.\d+", "score", result.stdout)
    for line in filter(None, re.sub(r"score 0\.\d+", "score", shown).splitlines()):
        assert line in printed


def test_there_is_a_transcript() -> None:
    """The README shows at least one real run."""
    assert TRANSCRIPTS


@pytest.mark.parametrize("code", [block for language, block in BLOCKS if language == "python"])
def test_the_python_example_runs(capsys: pytest.CaptureFixture[str], code: str) -> None:
    """As it stands."""
    exec(code, {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "answered ['Irène Joliot-Curie', 'Ève Curie']" in printed
    assert "<http://www.wikidata.org/entity/Q7186>" in printed


def test_settings_and_variables_are_all_told() -> None:
    """Every setting and every environment variable stands in the README, and nothing else of that look."""
    documented = set(
        re.findall(r"`((?:search|budget|run|ttl)\.\w+|\w+)`", README.partition("## Settings")[2].partition("## ")[0])
    )
    documented |= set(re.findall(r"`(\w+)`, `\w+` \|", README))
    shown = public(Settings())
    nested = {f"{group}.{key}" for group in ("search", "budget", "run") for key in shown[group]}
    nested |= {f"ttl.{kind}" for kind in Ttl.__struct_fields__}
    assert nested <= documented
    assert set(ENVIRONMENT) <= set(re.findall(r"FEDKG_\w+", README))


def test_the_exit_codes_are_told() -> None:
    """Each class of errors ends with a code that the README lists."""
    kinds: list[type[FedkgError]] = [FedkgError, *FedkgError.__subclasses__()]
    codes = {kind.exit_code for kind in kinds}
    assert codes <= {int(code) for code in re.findall(r"(?m)^\| (\d) \|", README)}


def test_the_files_that_the_readme_names_exist() -> None:
    """Folders and files of the project in code marks."""
    for name in ("endpoints/", "prompts/", "CHANGELOG.md", "tests/test_levels.py", "eval/benchmarks/"):
        assert name.rstrip("/") in README
        assert (ROOT / name).exists()
