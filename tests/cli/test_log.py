"""`--log`: what a maintainer sees on stderr, without secrets and without what could steer a terminal."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Cli = Callable[..., Result]
QUESTION = "What is the capital of Ruritania?"


@pytest.fixture(autouse=True)
def _as_it_was() -> Any:
    """The command sets up its process; the test runner's gets its loggers back."""
    logger = logging.getLogger("fedkg")
    before = logger.level, list(logger.handlers)
    yield
    logger.setLevel(before[0])
    logger.handlers[:] = before[1]


def test_nothing_is_logged_unless_it_is_asked_for(cli: Cli, graph: Path) -> None:
    """A question that goes well leaves stderr empty."""
    assert cli("ask", QUESTION, "-e", graph).stderr == ""


def test_info_is_a_line_for_what_happens(cli: Cli, graph: Path) -> None:
    """What was connected, the question with how it is answered, and what it came to and cost."""
    lines = cli("--log", "info", "ask", QUESTION, "-e", graph).stderr.splitlines()
    assert all(" INFO fedkg." in line for line in lines)
    connected, asked, answered = lines
    assert connected.endswith("connected: kingdom.ttl")
    assert asked.endswith(f"question '{QUESTION}': method fidelis, model local")
    for part in ("answered, 1 answers", "0 model calls", "requests", " s"):
        assert part in answered


def test_debug_has_each_request_and_call(cli: Cli, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Requests with their rows, calls of the model with their tokens, the cache, the ranking."""
    asked = cli("--log", "debug", "ask", QUESTION, "-e", graph, "--model", speaking("capital").model)
    assert asked.exit_code == 0
    for part in (
        "kingdom.ttl: neighbours: 200, ",
        " rows, attempt 1",
        ": plan: 600 + 400 tokens, ",
        "cache: ",
        " ranked",
    ):
        assert part in asked.stderr


def test_a_level_holds_for_one_command(cli: Cli, graph: Path) -> None:
    """In one process the next command logs what it is told to."""
    assert " DEBUG " in cli("--log", "debug", "ask", QUESTION, "-e", graph).stderr
    assert cli("ask", QUESTION, "-e", graph).stderr == ""


def test_no_secret_is_logged(
    cli: Cli, served: Callable[..., Any], speaking: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a key, nor the password and the query of an endpoint's URL, nor the contact."""
    monkeypatch.setenv("FEDKG_MODEL_KEY", "the-key-of-the-model")
    url = served().url.replace("http://", "http://me:the-password@") + "?token=the-token"
    access = ("--contact", "me@example.org", "--model", speaking("capital").model)
    logged = cli("--log", "debug", "ask", QUESTION, "-e", url, *access).stderr
    assert ": plan: 600 + 400 tokens, " in logged
    for secret in ("the-key-of-the-model", "the-password", "the-token", "me@example.org"):
        assert secret not in logged


def test_hostile_labels_are_one_harmless_line(cli: Cli, tmp_path: Path) -> None:
    """What a graph or a question says steers no terminal, however it gets into the log."""
    hostile = tmp_path / "hostile.ttl"
    hostile.write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        '<http://ex.org/a> rdfs:label "Ruri\\u001b[31mtania\\u202e"@en ; <http://ex.org/capital> <http://ex.org/b> .\n'
        '<http://ex.org/capital> rdfs:label "capital"@en .\n'
    )
    logged = cli("--log", "debug", "ask", "What is the \x1b[31mcapital\u202e of it?", "-e", hostile).stderr
    assert not set(logged) & set("\x1b\u202e\x07")
