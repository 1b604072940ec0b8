"""Completion in the real shells: what the Tab key offers."""

import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASH = """
eval "$(_FEDKG_COMPLETE=bash_source fedkg)"
COMP_WORDS=({words}) COMP_CWORD={place}
_fedkg_completion fedkg
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = """
_FEDKG_COMPLETE=fish_source fedkg | source
complete --do-complete {line}
"""
ZSH = """
autoload -Uz compinit && compinit -u
eval "$(_FEDKG_COMPLETE=zsh_source fedkg)"
words=({words}) CURRENT={place}
_describe() {{ print -l ${{(P)3}}; }}
_path_files() {{ print FILES; }}
compadd() {{ print -l "$@"; }}
_fedkg_completion
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A search path on which `fedkg` is this source."""
    command = tmp_path / "bin" / "fedkg"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fedkg "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return f"{command.parent}{os.pathsep}{os.environ['PATH']}"


def offered(shell: str, script: str, path: str) -> str:
    """What the shell prints; skips where it is not installed."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fedkg se", {"search", "serve"}),
        ("fedkg ask -e sampl", {"sample", "sample-library"}),
        ("fedkg ask --method fid", {"fidelis"}),
    ],
)
def test_bash(path: str, line: str, expected: set[str]) -> None:
    """Commands, options and the values that are known."""
    words = line.split()
    script = BASH.format(words=" ".join(words), place=len(words) - 1)
    assert set(offered("bash", script, path).split()) == expected


def test_fish(path: str) -> None:
    """With what each word means."""
    printed = offered("fish", FISH.format(line="'fedkg se'"), path)
    assert [line.split("\t")[0] for line in printed.splitlines()] == ["search", "serve"]


def test_zsh(path: str) -> None:
    """With what each word means."""
    printed = offered("zsh", ZSH.format(words="fedkg se", place=2), path)
    assert "search:Find entities by label or alias." in printed
