import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from fedkg.cli.answer import exit_code
from fedkg.core.answer import Answer, Status, decode_answer
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.usage import Usage
from fedkg.session import Session
from tests.support.extras import needs

Cli = Callable[..., Result]
CAPITAL = "What is the capital of Ruritania?"


def test_answer_then_proof_then_usage(cli: Cli, graph: Path) -> None:
    """A person reads the answer first, then each edge of the proof, then how it ended and what it cost."""
    graph.with_name("all.toml").write_text("guess_below = 0.0\nrefuse_below = 0.0\n")
    result = cli("ask", CAPITAL, "-e", "kingdom.ttl", "--settings", graph.with_name("all.toml"))
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines[0] == "Strelsau  <http://ex.org/strelsau>"
    assert lines[2].startswith("proof 1 (score ")
    assert lines[3] == "  Ruritania → capital → Strelsau  [kingdom.ttl]"
    assert lines[5] == "Answered."
    assert lines[6].endswith(" s")


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_a_guess_is_marked_and_less_is_refused(cli: Cli, graph: Path, strict: tuple[str, ...]) -> None:
    """Below the first threshold the answer has a caveat, below the second it is what came closest, with its paths."""
    file = graph.with_name("sure.toml")
    file.write_text("guess_below = 1.0\nrefuse_below = 0.0\n")
    guess = cli("ask", CAPITAL, "-e", graph, "--settings", file, *strict)
    assert guess.exit_code == (5 if strict else 0)
    assert guess.stdout.splitlines()[1].startswith("caveat: the answer is a guess: its confidence is 0.")
    told = cli("ask", CAPITAL, "-e", graph, "--settings", file, "--json", *strict)
    assert (told.exit_code, [caveat.kind for caveat in decode_answer(told.stdout.encode()).caveats]) == (
        guess.exit_code,
        [CaveatKind.GUESS],
    )
    file.write_text("guess_below = 1.0\nrefuse_below = 1.0\n")
    refused = cli("ask", CAPITAL, "-e", graph, "--settings", file, *strict)
    assert refused.exit_code == 1
    assert "  Ruritania → capital → Strelsau  [kingdom.ttl]\n" in refused.stdout
    assert "The closest is Strelsau, which the graph states, but it may not answer this." in refused.stdout
    document = decode_answer(cli("ask", CAPITAL, "-e", graph, "--settings", file, "--json").stdout.encode())
    assert (document.status, document.answers, document.caveats) == (Status.NOT_FOUND, (), ())
    assert [value.value for value in document.closest] == ["Strelsau"]
    assert 0 < (document.confidence or 0) < 1


def test_json_is_one_document(cli: Cli, graph: Path) -> None:
    """`--json` prints the answer document and nothing else, with all the keys that the contract names."""
    result = cli("ask", CAPITAL, "-e", graph, "--json", "-v")
    shown = json.loads(result.stdout)
    wanted = "version question kind status answers paths gaps usage warnings settings ledger options method "
    wanted += "measures caveats confidence closest operation query"
    assert set(wanted.split()) == set(shown)
    answer = decode_answer(result.stdout.encode())
    assert [value.value for value in answer.answers] == ["Strelsau"]
    assert "ended: answered, 1 answers" in result.stderr


@pytest.mark.parametrize(
    "options", [("--beam", "1"), ("--candidates", "1"), ("--alpha", "9"), ("--alpha", "0"), ("--verifier", "none")]
)
def test_options_without_effect_on_the_local_model(cli: Cli, options: tuple[str, ...]) -> None:
    """The help says which options the local model does not look at; answers and proofs are the same with them."""
    question = ("ask", "In which city is the university located where Werner Heisenberg studied?", "-e", "sample")
    plain, changed = (json.loads(cli(*question, "--json", *more).stdout) for more in ((), options))
    assert plain["answers"] == changed["answers"]
    assert [path["score"] for path in plain["paths"]] == [path["score"] for path in changed["paths"]]
    page = " ".join(cli("ask", "--help").stdout.split())
    assert options[0] in page.partition("have no effect")[0].rpartition("`local`")[2]


def test_second_run_asks_nothing_of_what_is_kept(cli: Cli, graph: Path) -> None:
    """Neighbourhoods and labels come from the cache the second time; with --no-cache they do not."""
    first, second, third = (
        json.loads(cli("ask", CAPITAL, "-e", graph, "--topic", "http://ex.org/ruritania", "--json", *more).stdout)
        for more in ((), (), ("--no-cache",))
    )
    assert first["usage"]["requests"] == third["usage"]["requests"] > 0
    assert second["usage"]["requests"] == 0
    assert first["answers"] == second["answers"] == third["answers"]


def test_replies_are_not_kept_without_a_cache(cli: Cli, graph: Path) -> None:
    """Flags that contradict each other are bad input, before anybody is asked."""
    result = cli("ask", CAPITAL, "-e", graph, "--replies", "--no-cache")
    assert result.exit_code == 2
    assert "hint: leave out --replies, or --no-cache" in result.stderr


def test_offline_without_a_cache_says_that_it_lacks_one(cli: Cli) -> None:
    """The hint names the flag that is in the way; a pack would not help."""
    result = cli("ask", CAPITAL, "-e", "wikidata", "--mode", "offline", "--no-cache")
    assert result.exit_code == 2
    assert "leave out --no-cache" in result.stderr
    assert "import" not in result.stderr


def test_options_reach_the_settings(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Every option of the search is in the document's settings; what is not given stays as it is."""
    (tmp_path / "own.toml").write_text("[search]\ndepth = 9\nalpha = 0.7\n")
    more = (
        "--lang de,en --depth 2 --beam 3 --candidates 7 --form pairs --call-plan paper --no-keywords --verifier none "
        "--scoring diverse --no-planning --no-last-step"
    )
    budget = "--max-calls 5 --max-tokens 600 --max-money 0.5 --timeout 70 --no-cache --settings own.toml"
    result = cli("ask", "Was ist capital Ruritanien?", "-e", graph, "--json", *more.split(), *budget.split())
    shown = json.loads(result.stdout)["settings"]
    search = shown["search"]
    assert (search["depth"], search["beam"], search["candidates"], search["alpha"]) == (2, 3, 7, 0.7)
    assert (search["form"], search["call_plan"], search["keywords"], search["verifier"]) == (
        "pairs",
        "paper",
        False,
        "none",
    )
    assert (search["scoring"], search["planning"], search["last_step"]) == ("diverse", False, False)
    assert shown["budget"] == {"calls": 5, "tokens": 600, "money": 0.5, "seconds": 70.0}
    assert (shown["languages"], shown["cache"]) == (["de", "en"], False)
    assert "Ruritanien" in result.stdout


def test_abstaining_is_no_answer(cli: Cli) -> None:
    """The local model does not judge claims: exit code 1 and a sentence that says so."""
    result = cli("ask", "Wellington is the capital of New Zealand.", "--kind", "claim", "-e", "sample")
    assert result.exit_code == 1
    assert "No answer: the model does not answer questions of this kind." in result.stdout
    assert "claim" in result.stdout


def test_graph_that_has_no_answer(cli: Cli, graph: Path) -> None:
    """An entity that has a label but no edges gives the status none and exit code 1."""
    graph.write_text(graph.read_text() + 'ex:zenda rdfs:label "Zenda"@en .\n')
    result = cli("ask", "Who?", "--topic", "http://ex.org/zenda", "-e", graph)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "No answer: the graph has none.")


def test_spent_budget(cli: Cli, graph: Path) -> None:
    """A time that is over ends with 4, with what was found until then and the budget's name."""
    result = cli("ask", CAPITAL, "-e", graph, "--timeout", "0.000001")
    assert result.exit_code == 4
    assert "the budget of seconds is spent" in result.stdout
    shown = json.loads(cli("ask", CAPITAL, "-e", graph, "--timeout", "0.000001", "--json").stdout)
    assert shown["usage"]["spent"] == "seconds"


def test_the_answer_is_shown_before_the_session_closes(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing may wait for labels to be kept; whoever set a time limit reads the answer before that."""

    def close(session: Session) -> None:
        click.echo("closing")
        session_close(session)

    session_close = Session.close
    monkeypatch.setattr(Session, "close", close)
    for more in ((), ("--json",)):
        lines = cli("ask", CAPITAL, "-e", graph, *more).stdout.splitlines()
        assert (len(lines) > 1, lines[-1]) == (True, "closing")


def test_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """An endpoint that nothing serves ends with 3 and says what was tried, how often and how long."""
    result = cli("ask", CAPITAL, "-e", dead)
    error, tried, hint = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (3, "")
    assert error.startswith(f"error: {dead}: no connection")
    assert tried.startswith("tried: 4 requests in ")
    assert tried.endswith(" s, the last for search")
    assert hint.startswith("hint: check the URL")


def test_endpoint_that_fails_on_the_way(cli: Cli, dead: str) -> None:
    """Where the walk itself finds no endpoint, the answer says so in a gap, with its cost, and ends with 3."""
    result = cli("ask", "Who?", "--topic", "http://ex.org/ruritania", "-e", dead)
    assert result.exit_code == 3
    assert "No answer: an endpoint or the model failed" in result.stdout
    assert f"gap: {dead}: http://ex.org/ruritania (out)" in result.stdout


@needs("openai", "openai")
def test_model_that_does_not_answer(cli: Cli, graph: Path, dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model's service that is not there ends with 3 and its hint."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = cli("ask", CAPITAL, "-e", graph, "--model", f"openai:m@{dead.removesuffix('/sparql')}/v1")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: openai:m@http://127.0.0.1:")
    assert "base URL" in result.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--option", "Zenda", "--option", "Strelsau"), ("choice", "2. Strelsau  (judged from these paths, ")),
        (("--kind", "yesno"), ("yesno", "yes  (judged from these paths, ")),
        (("--kind", "count"), ("count", "1")),
    ],
)
def test_the_kind_of_a_question(
    cli: Cli, graph: Path, speaking: Callable[[str], Any], options: tuple[str, ...], expected: tuple[str, str]
) -> None:
    """Whoever asks may say what is asked for; options make a choice."""
    kind, first = expected
    asked = ("ask", CAPITAL, "-e", graph, "--model", speaking("capital").model, *options)
    result = cli(*asked)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].startswith(first)
    shown = json.loads(cli(*asked, "--json").stdout)
    assert (shown["kind"], len(shown["paths"])) == (kind, 1)


def test_what_a_model_costs(cli: Cli, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Calls, tokens and price stand at the end; with -v each call has its line; the document has all of it."""
    model = speaking("capital").model
    lines = cli("ask", CAPITAL, "-e", graph, "--model", model).stdout.splitlines()
    assert lines[0].startswith("Strelsau")
    assert ", 3 model calls, 1800 + 1200 tokens (300 cached), $0.0300, " in lines[-2]
    verbose = cli("ask", CAPITAL, "-e", graph, "--model", model, "-v").stdout.splitlines()
    assert verbose[-4].split() == ["call", "template", "calls", "in", "cached", "out", "reasoning", "s", "price"]
    assert [line.split()[0] for line in verbose[-3:]] == ["plan", "choose", "answer"]
    assert all(line.split()[2:6] == ["1", "600", "100", "400"] and line.endswith("$0.0100") for line in verbose[-3:])
    shown = json.loads(cli("ask", CAPITAL, "-e", graph, "--model", model, "--json").stdout)
    assert [line["call"] for line in shown["ledger"]] == ["plan", "choose", "answer"]
    assert {line["model"] for line in shown["ledger"]} == {model}
    assert (shown["usage"]["cached"], round(shown["usage"]["price"], 9)) == (300, 0.03)


@pytest.mark.parametrize(
    ("budget", "ends"),
    [
        (("--max-calls", "2"), ("calls", 2)),
        (("--max-tokens", "1500"), ("tokens", 2)),
        (("--max-money", "0.005"), ("money", 1)),
        (("--settings", "run.toml"), ("run calls", 1)),
    ],
)
def test_a_spent_budget_of_model_calls(
    cli: Cli, graph: Path, speaking: Callable[[str], Any], budget: tuple[str, ...], ends: tuple[str, int]
) -> None:
    """It ends with 4 and names the budget, after what was found until then; no further request was sent."""
    graph.with_name("run.toml").write_text("[run]\ncalls = 1\n")
    model, (spent, asked) = speaking("capital"), ends
    result = cli("ask", CAPITAL, "-e", graph, "--model", model.model, *budget)
    assert (result.exit_code, model.asked) == (4, asked)
    assert result.stdout.splitlines()[-1].endswith(f"; the budget of {spent} is spent")
    assert "what was found until then is returned" in result.stdout


def test_money_without_a_price(cli: Cli, graph: Path, speaking: Callable[[str], Any]) -> None:
    """A model that no table prices is refused a budget in money, before it is asked; else its price is unknown."""
    unpriced, priced = speaking("capital"), speaking("capital")  # the table is that of the latest
    result = cli("ask", CAPITAL, "-e", graph, "--model", unpriced.model, "--max-money", "1")
    assert (result.exit_code, result.stdout, unpriced.asked) == (2, "", 0)
    assert f"the price of {unpriced.model} is not known" in result.stderr
    assert "prices.toml" in result.stderr
    assert "price unknown" in cli("ask", CAPITAL, "-e", graph, "--model", unpriced.model).stdout
    for model in (priced.model, "local"):
        assert cli("ask", CAPITAL, "-e", graph, "--model", model, "--max-money", "1").exit_code == 0


def test_over_http_and_in_process(cli: Cli, graph: Path, served: Callable[..., Any]) -> None:
    """The same graph gives the same answer over HTTP and from its file."""
    over_http, in_process = (
        json.loads(cli("ask", CAPITAL, "-e", e, "--json").stdout) for e in (served().url, str(graph))
    )
    assert over_http["answers"] == in_process["answers"]
    assert [len(path["edges"]) for path in over_http["paths"]] == [len(path["edges"]) for path in in_process["paths"]]


def test_verbose_prints_each_event(cli: Cli, graph: Path) -> None:
    """-v shows the walk on stderr, one line an event, in its order."""
    lines = cli("ask", CAPITAL, "-e", graph, "-v").stderr.splitlines()
    assert lines[0].startswith("planned: entities, keywords capital, ruritania")
    assert lines[1].startswith("linked: ")
    assert lines[2].startswith("depth 1: ")
    assert lines[-1] == "ended: answered, 1 answers"


def test_labels_cannot_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """Escape sequences, control characters and markup in a label come out as harmless text."""
    label = r"Strel\u001B[31msau\u0007\u202E [bold]x[/bold] \u2192 y"
    (tmp_path / "evil.ttl").write_text(
        "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f':r rdfs:label "Ruritania" ; :capital :s . :s rdfs:label "{label}" .\n'
    )
    result = cli("ask", CAPITAL, "-e", "evil.ttl", "-v")
    assert result.stdout.startswith("Strelsau [bold]x[/bold] → y  <http://ex.org/s>\n")
    assert "Ruritania → capital → Strelsau [bold]x[/bold] -> y  [evil.ttl]" in result.stdout
    assert not any(char in result.stdout + result.stderr for char in "\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("status", "spent", "code"),
    [
        (Status.ANSWERED, "", 0),
        (Status.ANSWERED, "tokens", 4),
        (Status.NONE, "", 1),
        (Status.NOT_FOUND, "", 1),
        (Status.NOT_FOUND, "calls", 4),
        (Status.ABSTAINED, "", 1),
        (Status.FAILED, "", 3),
    ],
)
def test_exit_codes(status: Status, spent: str, code: int) -> None:
    """Each way in which a question can end has its documented code."""
    assert exit_code(Answer("q", "entities", status, usage=Usage(spent=spent))) == code


@pytest.mark.parametrize(
    ("status", "spent", "code"),
    [
        (Status.ANSWERED, "", 5),
        (Status.NONE, "", 5),
        (Status.NOT_FOUND, "", 5),
        (Status.FAILED, "", 3),
        (Status.ANSWERED, "tokens", 4),
    ],
)
def test_strict_exit_codes(status: Status, spent: str, code: int) -> None:
    """A caveat counts where nothing worse has happened; without one, or without `--strict`, nothing is changed."""
    doubtful = Answer("q", "entities", status, usage=Usage(spent=spent), caveats=(Caveat(CaveatKind.CUT, "x"),))
    sure = Answer("q", "entities", status, usage=Usage(spent=spent))
    assert exit_code(doubtful, strict=True) == code
    assert exit_code(doubtful) == exit_code(sure) == exit_code(sure, strict=True)


@pytest.mark.parametrize("strict", ["flag", "settings"])
def test_a_caveat_with_strict_is_exit_code_5(cli: Cli, graph: Path, tmp_path: Path, strict: str) -> None:
    """An answer of which not all ends were fetched is printed with its caveat, and ends with 5."""
    profile = f'like = "generic"\nfile = "{graph}"\n[limits]\nrelation = 1\nentity = 2\n'
    (tmp_path / "few.toml").write_text(profile)
    (tmp_path / "settings.toml").write_text("strict = true\n")
    asked = ("ask", "Who is the king of Ruritania?", "-e", "few", "--profiles", tmp_path, "--depth", "1")
    plain = cli(*asked)
    result = cli(*asked, *(("--strict",) if strict == "flag" else ("--settings", tmp_path / "settings.toml")))
    assert (plain.exit_code, result.exit_code) == (0, 5)
    assert any(line.startswith("caveat: there is more than was looked at: ") for line in result.stdout.splitlines())


@pytest.mark.parametrize("claimed", [0, 1])
@pytest.mark.parametrize("budget", ["tokens 100", "money 0.001"])
def test_a_server_that_understates_its_usage(
    cli: Cli, graph: Path, speaking: Callable[..., Any], claimed: int, budget: str
) -> None:
    """Budgets of tokens and money hold by our own estimate; the ledger has both counts."""
    part, limit = budget.split()
    model = speaking("capital", claimed)
    result = cli("ask", CAPITAL, "-e", graph, "--model", model.model, "--json", f"--max-{part}", limit)
    assert (result.exit_code, model.asked) == (4, 1)
    document = json.loads(result.stdout)
    [call] = document["ledger"]
    assert f"the budget of {'$' * (part == 'money')}{limit}" in " ".join(document["warnings"])
    if claimed:
        assert "by our own estimate of " in " ".join(document["warnings"])
        assert (call["tokens_in"], call["tokens_out"]) == (1, 1) == (document["usage"]["tokens_in"], 1)
        assert call["price"] == pytest.approx(2 * 10 / 1e6)
        assert call["uncounted_in"] > 200
    else:
        assert call["tokens_in"] > 200
        assert call["uncounted_in"] == 0


def test_the_query_is_printed_alone(cli: Cli, graph: Path) -> None:
    """With --sparql; what has none says why on stderr; beside --json it makes no sense."""
    result = cli("ask", "Who is the king of Ruritania?", "-e", graph, "--sparql")
    assert result.exit_code == 0
    assert "<http://ex.org/ruritania> <http://ex.org/king> ?answer .  # Ruritania → king" in result.stdout
    assert "Rudolf" not in result.stdout
    none = cli("ask", "Is Rudolf V the king of Ruritania?", "-e", graph, "--sparql")
    assert (none.stdout, "No query: the answer is a judgement." in none.stderr) == ("", True)
    refused = cli("ask", "Who is the king of Ruritania?", "-e", graph, "--sparql", "--json")
    assert (refused.exit_code, "cannot be combined" in refused.stderr) == (2, True)


def test_options_that_the_method_does_not_heed_are_named(cli: Cli, graph: Path) -> None:
    """On stderr, as they are written, and none of those that it heeds; the answer call cannot be left out by all."""
    given = ("ask", CAPITAL, "-e", graph, "--method", "kaping")
    result = cli(*given, "--no-weights", "--verifier", "none", "--candidates", "5")
    assert result.stderr.startswith("warning: with the method kaping this has no effect: --no-weights, --verifier\n")
    assert "no effect" not in cli("ask", CAPITAL, "-e", graph, "--beam", "3").stderr
    refused = cli(*given, "--no-last-step")
    assert refused.exit_code == 2
    assert "kaping has no answer without its answer call" in refused.stderr


@pytest.mark.parametrize(
    ("methods", "given", "named"),
    [
        (("gcr", "fidelis"), ("--fidelity", "paper"), "--call-plan, --statement"),
        (("fidelis", "gcr"), ("--path-model", "hf:{tiny}"), "--path-model"),
    ],
)
def test_forms_and_writers_that_the_method_does_not_heed_are_named(  # noqa: PLR0917
    cli: Cli, graph: Path, tiny: Path, methods: tuple[str, str], given: tuple[str, str], named: str
) -> None:
    """The paper's form is that of FiDeLiS, and a model that writes paths is for those who have one write."""
    without, heeding = methods
    asked = ("ask", CAPITAL, "-e", graph, *(text.format(tiny=tiny) for text in given), "--method")
    result = cli(*asked, without)
    assert result.exit_code == 0
    assert f"warning: with the method {without} this has no effect: {named}\n" in result.stderr
    assert "no effect" not in cli(*asked, heeding).stderr
