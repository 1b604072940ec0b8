"""Offline mode over all commands: whatever is asked for, no connection is opened and no name is looked up."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main

ASK = ("ask", "Who is the spouse of Marie Curie?", "--topic", "http://www.wikidata.org/entity/Q7186")
# the interpreter itself tells of every connection, also of those that a library of C code opens by its sockets
SCRIPT = """
import json, sys
asked, codes = [], []
sys.addaudithook(lambda event, _: event in EVENTS and asked.append(event))
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}
from fedkg.cli.main import main
for command in json.loads(sys.argv[1]):
    try:
        main(command, prog_name="fedkg")
    except SystemExit as end:
        codes.append(end.code or 0)
print(json.dumps([codes, asked]))
"""


def run(*commands: Sequence[str]) -> tuple[list[int], list[str]]:
    """The exit codes of the commands, one after the other in one process, and how it turned to the network."""
    line = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=120)
    assert "Traceback" not in done.stderr
    codes, asked = json.loads(done.stdout.splitlines()[-1])
    return codes, asked


ENDPOINTS = (
    ("wikidata",),
    ("https://host.example/sparql",),
    ("freebase@http://127.0.0.1:9/sparql", "sample"),
    ("dbpedia", "wikidata-scholarly"),
)
COMMANDS = (ASK, ("ask", "Who is the spouse of Marie Curie?"), ("search", "Marie Cury"), ("neighbours", "Marie Curie"))


@pytest.fixture(scope="module")
def endings() -> tuple[dict[tuple[str, ...], list[int]], list[str]]:
    """How each command ends over each choice of endpoints, and how any of them turned to the network."""
    lines = [
        [*command, *(part for name in endpoints for part in ("-e", name)), "--mode", "offline"]
        for endpoints in ENDPOINTS
        for command in COMMANDS
    ]
    codes, asked = run(*lines)
    ends = iter(codes)
    return {endpoints: [next(ends) for _ in COMMANDS] for endpoints in ENDPOINTS}, asked


@pytest.mark.parametrize("endpoints", ENDPOINTS)
def test_what_is_not_kept_is_not_asked_for(
    endpoints: tuple[str, ...], endings: tuple[dict[tuple[str, ...], list[int]], list[str]]
) -> None:
    """Each command that would ask an endpoint ends with bad input instead."""
    codes, asked = endings
    assert (codes[endpoints], asked) == ([2] * 4, [])


def test_a_document_of_elsewhere_is_not_verified(tmp_path: Path) -> None:
    """Its edges are somebody else's to confirm; those of a file are read."""
    document = CliRunner().invoke(main, [*ASK, "-e", "sample", "--json"], catch_exceptions=False).stdout
    for name in ("sample", "wikidata"):
        (tmp_path / name).write_text(document.replace('"sample"', f'"{name}"'))
    verified = [("verify", str(tmp_path / name), "--mode", "offline") for name in ("sample", "wikidata")]
    assert run((*ASK, "-e", "sample", "--mode", "offline"), *verified) == ([0, 0, 2], [])


def test_neither_models_nor_embedders_nor_the_check_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with a key; what a pack would hold is said to be missing."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    offline = ("-e", "sample", "--mode", "offline")
    commands = (
        (*ASK, *offline, "--model", "openai:m@http://127.0.0.1:9/v1"),
        (*ASK, *offline, "--embedder", "openai"),
        ("endpoints", "check", "wikidata", "--mode", "offline"),
    )
    assert run(*commands) == ([2] * 3, [])


def test_what_the_others_would_not_tell() -> None:
    """Without the mode the same question does turn to the network."""
    codes, asked = run(("search", "Marie Curie", "-e", "http://127.0.0.1:9/sparql"))
    assert (codes, "socket.connect" in asked) == ([3], True)
