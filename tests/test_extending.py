"""docs/extending.md, followed: its package is built, installed into an empty environment beside fedkg, and used."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tests" / "extension"
DOCUMENT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
CONSOLES = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
COMMANDS = [
    (command, shown.splitlines())
    for console in CONSOLES
    for command, shown in re.findall(r"(?m)^\$ fedkg (.*)\n((?:(?!\$ ).*\n)*)", console)
]
OFFLINE = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")


class Environment(NamedTuple):
    """A Python that has the two wheels, and a folder with the files of the document."""

    python: Path
    folder: Path

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """What the Python prints; it sees nothing of the checkout."""
        environ = {**os.environ, "PYTHONPATH": "", "FEDKG_CACHE_DIR": str(self.folder / "cache"), "COLUMNS": "200"}
        command = [self.python, *arguments]
        return subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False)


def run(*command: str | Path) -> None:
    """A command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An empty environment with fedkg's wheel and the package's; what fedkg depends on is that of the running one."""
    place = tmp_path_factory.mktemp("extending")
    shutil.copytree(PACKAGE, place / "package", ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place / "dist", place / "package")
    run(sys.executable, "-m", "venv", "--without-pip", place / "env")
    paths = sysconfig.get_paths("venv", {"base": str(place / "env"), "platbase": str(place / "env")})
    base = sysconfig.get_paths()
    Path(paths["purelib"], "dependencies.pth").write_text(f"{base['purelib']}\n{base['platlib']}\n")
    [package] = (place / "dist").glob("*.whl")
    python = Path(paths["scripts"], "python")
    run(sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE, wheel, package)
    return Environment(python, place / "package")


def shown_in(lines: Sequence[str], printed: str) -> None:
    """The lines were printed, in their order; `…` is anything, and so is what stands behind a line's end."""
    output = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in filter(None, lines):
        pattern = ".*".join(re.escape(part) for part in " ".join(line.split()).split("…"))
        assert any(re.match(pattern, candidate) for candidate in output), (line, printed)


def test_the_document_is_the_package() -> None:
    """Every file of the package stands in the document, to the byte, and no other file does."""
    blocks = dict(re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", DOCUMENT, re.DOTALL))
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert blocks == {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in files}


IN_ONE_PROCESS = """
import json, shlex, sys
from click.testing import CliRunner
from fedkg.cli.main import main
results = [CliRunner().invoke(main, shlex.split(command)) for command in sys.argv[1:]]
print(json.dumps([(result.exit_code, result.stdout, result.stderr) for result in results]))
"""


@pytest.fixture(scope="session")
def outputs(environment: Environment) -> dict[str, tuple[int, str, str]]:
    """How each command of the document ends and what it prints, one after the other."""
    commands = [command for command, _ in COMMANDS]
    done = environment.run("-c", IN_ONE_PROCESS, *commands)
    assert done.returncode == 0, done.stderr
    return dict(zip(commands, map(tuple, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_each_command_does_what_is_shown(
    outputs: dict[str, tuple[int, str, str]], command: str, shown: list[str]
) -> None:
    """In the order of the document."""
    code, printed, errors = outputs[command]
    assert code == 0, errors
    shown_in(shown, printed)


def test_the_command_line_has_what_the_package_brings(environment: Environment) -> None:
    """A process of its own is told by a name, too."""
    command, shown = COMMANDS[0]
    done = environment.run("-m", "fedkg", *shlex.split(command))
    assert done.returncode == 0, done.stderr
    shown_in(shown, done.stdout)


def test_each_kind_of_thing_is_used() -> None:
    """The commands name all of the package's entry points."""
    text = " ".join(command for command, _ in COMMANDS)
    assert all(
        f"--{option}" in text for option in ("method", "retriever", "model", "embedder letters", "data", "profiles")
    )


def test_a_session_takes_the_objects(environment: Environment) -> None:
    """The program prints what is shown."""
    done = environment.run("objects.py")
    assert done.returncode == 0, done.stderr
    shown_in(re.findall(r"```text\n(.*)\n```\n\n## Names", DOCUMENT), done.stdout)


UNKNOWN = {
    "--method nosuch": "known: fidelis, .*, first-hop",
    "--retriever nosuch": "known: path-rag, vanilla, kaping, tog, global, fewest-first",
    "--model nosuch:model": "hf:FOLDER, example:MODEL",
    "--model example:second": "the vendor example has no model 'second'",
    "--embedder nosuch": "st:NAME_OR_FOLDER, letters",
}
SCRIPT = """
import json, sys
from click.testing import CliRunner
from fedkg.cli.main import main
asked = ["ask", "Who is the director of King Kong?", "-e", "sample"]
results = [CliRunner().invoke(main, [*asked, *arguments.split()]) for arguments in sys.argv[1:]]
print(json.dumps([(result.exit_code, result.stderr) for result in results]))
"""


def test_unknown_names_are_bad_input(environment: Environment) -> None:
    """Exit code 2, and the known ones are listed, those of the package among them."""
    done = environment.run("-c", SCRIPT, *UNKNOWN)
    assert done.returncode == 0, done.stderr
    for message, (code, printed) in zip(UNKNOWN.values(), json.loads(done.stdout), strict=True):
        assert (code, bool(re.search(message, printed))) == (2, True), printed
