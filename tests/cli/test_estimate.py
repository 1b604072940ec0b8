"""`fedkg ask --dry-run`: what a question will cost, said without asking anybody."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]
QUESTION = "Who is the spouse of the king of Ruritania?"
CLAUDE = ("--model", "anthropic:claude-opus-5")


def test_no_key_and_no_network(cli: Cli, dead: str) -> None:
    """An endpoint that is down and a model without a key do not matter: neither is asked."""
    result = cli("ask", QUESTION, "-e", dead, *CLAUDE, "--dry-run")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Nothing was asked. With the model anthropic:claude-opus-5")
    assert [line.split()[:2] for line in lines if line.split()[0] in {"least", "typical", "most"}] == [
        ["least", "1"],
        ["typical", "2"],
        ["most", "7"],
    ]
    assert "$" in result.stdout


def test_a_line_is_a_line(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow terminal, too: a table that is folded cannot be read."""
    monkeypatch.setenv("COLUMNS", "50")
    lines = cli("ask", QUESTION, "-e", graph, *CLAUDE, "--dry-run").stdout.splitlines()
    assert next(line for line in lines if "most" in line).rstrip().endswith("1 plan, 1 link, 4 choose, 1 answer")


def test_as_json(cli: Cli, graph: Path) -> None:
    """One document with the three cases; options of the search count."""
    result = cli("ask", QUESTION, "-e", graph, *CLAUDE, "--call-plan", "paper", "--depth", "2", "--dry-run", "--json")
    estimate = json.loads(result.stdout)
    assert (result.exit_code, set(estimate)) == (0, {"model", "least", "typical", "most", "notes"})
    assert estimate["most"]["by_call"] == {"plan": 1, "link": 1, "beam": 8, "deductive": 2, "answer": 1}


def test_an_unknown_price_is_said(cli: Cli, graph: Path) -> None:
    """A server of one's own has no price; that is no price of 0."""
    result = cli("ask", QUESTION, "-e", graph, "--model", "openai:m@http://127.0.0.1:9/v1", "--dry-run")
    assert "price unknown" in result.stdout
    assert "prices.toml names no such model" in result.stdout


def test_bad_input_is_said_as_without_it(cli: Cli, graph: Path) -> None:
    """No endpoint, no such model, an empty question: exit code 2."""
    assert cli("ask", QUESTION, "--dry-run").exit_code == 2
    assert cli("ask", QUESTION, "-e", graph, "--model", "nobody:m", "--dry-run").exit_code == 2
    assert cli("ask", " ", "-e", graph, "--dry-run").exit_code == 2


def test_nothing_is_noted_as_a_run(cli: Cli, graph: Path) -> None:
    """What was not asked is no run that could be exported."""
    cli("ask", QUESTION, "-e", graph, "--dry-run")
    assert cli("cache", "runs").stdout == ""


def test_a_method_without_a_graph_needs_no_endpoint(cli: Cli) -> None:
    """Exactly its calls, in all three cases."""
    result = cli("ask", QUESTION, *CLAUDE, "--method", "self-consistency", "--dry-run", "--json")
    estimate = json.loads(result.stdout)
    assert (result.exit_code, estimate["most"]["by_call"], estimate["most"]["requests"]) == (0, {"model-only": 5}, 0)
    assert estimate["least"] == estimate["most"]


def test_each_method_is_counted_by_itself(cli: Cli, graph: Path) -> None:
    """With its own calls; that its tokens are rough is said below them."""
    result = cli("ask", QUESTION, "-e", graph, *CLAUDE, "--method", "tog", "--depth", "1", "--dry-run")
    assert (result.exit_code, "tokens and requests of tog are rough" in result.stdout) == (0, True)
    most = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["most"])
    assert most.rstrip().endswith("1 plan, 1 link, 4 score-relations, 1 score-entities, 1 adequacy, 1 answer")


@pytest.mark.parametrize("method", ["cot", "guessing"])
def test_what_cannot_be_served_is_not_estimated(cli: Cli, graph: Path, method: str) -> None:
    """The same refusal as without --dry-run."""
    result = cli("ask", QUESTION, "-e", graph, "--method", method, "--dry-run")
    assert (result.exit_code, "hint: " in result.stderr) == (2, True)
