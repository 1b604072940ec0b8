import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.config import profiles

Cli = Callable[..., Result]


def test_list_names_every_profile(cli: Cli) -> None:
    """Each profile is one line with its title and where it is; the same in JSON."""
    lines = cli("endpoints", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == profiles.names()
    assert any("https://query.wikidata.org/sparql" in line for line in lines)
    assert "generic@FILE" in next(line for line in lines if line.startswith("generic"))
    shown = json.loads(cli("endpoints", "list", "--json").stdout)
    assert [endpoint["name"] for endpoint in shown] == profiles.names()


@pytest.mark.parametrize("way", ["flag", "environment", "file"])
def test_own_profiles(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """A folder of one's own is listed and shown too, whichever way it is named."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text('title = "my graph"\nurls = ["http://127.0.0.1:1/sparql"]\n')
    more = {"flag": ("--profiles", "own"), "file": ("--settings", "own.toml"), "environment": ()}[way]
    (tmp_path / "own.toml").write_text('profiles_dir = "own"')
    if way == "environment":
        monkeypatch.setenv("FEDKG_PROFILES_DIR", "own")
    assert "my graph" in cli("endpoints", "list", *more).stdout
    assert 'title = "my graph"' in cli("endpoints", "show", "mine", *more).stdout


def test_list_with_a_bad_profile(cli: Cli, tmp_path: Path) -> None:
    """The others are listed, the bad one is named with its key, and the exit code is that of bad input."""
    (tmp_path / "good.toml").write_text('title = "my graph"\nurls = ["http://127.0.0.1:1/sparql"]\n')
    (tmp_path / "bad.toml").write_text("colour = 1\n")
    result = cli("endpoints", "list", "--profiles", tmp_path)
    assert result.exit_code == 2
    assert "my graph" in result.stdout
    assert len(result.stdout.splitlines()) == len(profiles.names()) + 1
    assert result.stderr.startswith("error: ")
    assert "bad.toml" in result.stderr
    assert "colour" in result.stderr
    as_json = cli("endpoints", "list", "--profiles", tmp_path, "--json")
    assert ("good" in {shown["name"] for shown in json.loads(as_json.stdout)}, as_json.exit_code) == (True, 2)


def test_a_bad_profile_costs_no_other_endpoint(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """An endpoint that has nothing to do with it is asked as ever, and the log names the bad file."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "bad.toml").write_text("colour = 1\n")
    result = cli("neighbours", "Strelsau", "-e", graph, "--profiles", tmp_path / "own")
    assert result.exit_code == 0
    assert "bad.toml" in result.stderr
    assert cli("endpoints", "check", "sample", "--profiles", tmp_path / "own").exit_code == 0


def test_check_is_headed_by_the_profile_that_was_named(cli: Cli, served: Callable[..., Any]) -> None:
    """PROFILE@URL has the name of its profile."""
    url = served().url
    assert cli("endpoints", "check", f"freebase@{url}").stdout.startswith(f"freebase@{url}, profile freebase\n")


@pytest.mark.parametrize("name", profiles.names())
def test_show_prints_all_that_a_profile_says(cli: Cli, name: str) -> None:
    """What is printed is TOML with every value of the profile, defaults included."""
    shown = tomllib.loads(cli("endpoints", "show", name).stdout)
    profile = profiles.find(name)
    assert (shown["name"], shown["engine"]) == (name, profile.engine)
    assert shown["limits"]["timeout"] == profile.limits.timeout
    assert tuple(shown["shape"]["labels"]["predicates"]) == profile.shape.labels.predicates
    assert json.loads(cli("endpoints", "show", name, "--json").stdout) == shown


def test_check_of_the_sample(cli: Cli) -> None:
    """Each finding is a line with its grade, some edges follow, and the last line is the verdict."""
    result = cli("endpoints", "check", "sample")
    lines = result.stdout.splitlines()
    assert (result.exit_code, lines[0], lines[-1]) == (0, "sample, profile sample", "ready")
    names = [line.split()[1] for line in lines if line.startswith("  ok ")]
    assert names[:4] == ["reachable", "latency", "format", "engine"]
    assert {"labels", "search", "neighbourhood", "edges", "limits"} <= set(names)
    assert any(" → " in line and line.endswith("[sample]") for line in lines)
    assert " requests in " in lines[-2]


def test_check_of_a_file_names_the_shape_that_was_found(cli: Cli, graph: Path) -> None:
    """For a file of no known shape that is the generic profile."""
    shown = json.loads(cli("endpoints", "check", graph, "--json").stdout)
    assert (shown["endpoint"], shown["profile"]) == ("kingdom.ttl", "generic")
    assert shown["labelled"]["label"]
    assert shown["latency"] <= shown["seconds"]
    assert {finding["grade"] for finding in shown["findings"]} == {"ok"}


def test_check_takes_no_further_endpoint(cli: Cli) -> None:
    """The endpoint is the argument; -e is refused, not ignored."""
    result = cli("endpoints", "check", "sample", "-e", "nonsense")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No such option" in result.stderr


def test_check_of_nothing(cli: Cli) -> None:
    """Who names no endpoint is told how to name one."""
    result = cli("endpoints", "check")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: no endpoint is named: `fedkg endpoints check SPEC`")
    assert "fedkg endpoints list" in result.stderr


def test_check_asks_past_the_cache(cli: Cli, served: Callable[..., Any]) -> None:
    """Every check asks the endpoint itself, and leaves nothing that it said behind."""
    endpoint = served()
    first, second = (json.loads(cli("endpoints", "check", endpoint.url, "--json").stdout) for _ in range(2))
    assert first["requests"] + second["requests"] == endpoint.asked
    # who answers there may be asked the first time, and is remembered
    assert 24 > first["requests"] >= second["requests"] > 5
    assert "neighbours" not in cli("cache", "stats").stdout


def test_check_without_labels(cli: Cli, tmp_path: Path) -> None:
    """A graph that names nothing answers as well, and the check says that no label was found, and what follows."""
    (tmp_path / "bare.nt").write_text("<http://a/b> <http://a/c> <http://a/d> .\n")
    result = cli("endpoints", "check", "bare.nt")
    assert result.exit_code == 0
    assert "warning  labels" in result.stdout
    assert "→ find the predicate that names things" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("usable, but look at: labels")


def test_check_of_an_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """Nothing there is exit code 3, with what was tried, how often and how long."""
    result = cli("endpoints", "check", dead)
    *_, tried, verdict = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (3, "")
    assert verdict.startswith(f"not usable: {dead}: no connection")
    assert tried.startswith("4 requests in ")
    assert "→ check the URL and the network" in result.stdout


def test_check_prints_nothing_that_steers_a_terminal(cli: Cli, tmp_path: Path) -> None:
    """Labels come from outside."""
    label = '<http://a/b> <http://www.w3.org/2000/01/rdf-schema#label> "Evil\\u001B[2Jname" .\n'
    (tmp_path / "evil.nt").write_text(f"{label}<http://a/b> <http://a/c> <http://a/d> .\n")
    shown = cli("endpoints", "check", "evil.nt").stdout
    assert "\x1b" not in shown
    assert "Evil" in shown


def test_forget_asks_a_host_again(cli: Cli, dead: str) -> None:
    """A host that failed again and again is left alone by every process, until that is forgotten."""
    while json.loads(cli("endpoints", "check", dead, "--json").stdout)["requests"]:
        pass
    assert "left alone" in cli("endpoints", "check", dead).stdout
    assert cli("endpoints", "forget", dead).stdout == f"forgotten: {dead}\n"
    assert json.loads(cli("endpoints", "check", dead, "--json").stdout)["requests"]


@pytest.mark.parametrize(("spec", "message"), [("sample", "is no profile or URL"), ("nobody", "is no")])
def test_forget_of_what_has_no_host(cli: Cli, spec: str, message: str) -> None:
    """Of files nothing is remembered, and of what does not exist neither."""
    result = cli("endpoints", "forget", spec)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_init_prints_a_profile(cli: Cli, served: Callable[..., Any]) -> None:
    """What is printed is the TOML of a profile for that URL, and nothing else."""
    url = served().url
    result = cli("endpoints", "init", url)
    assert result.exit_code == 0
    assert tomllib.loads(result.stdout)["urls"] == [url]
    assert result.stdout.startswith("# ")


def test_init_writes_a_profile_that_can_be_asked(cli: Cli, served: Callable[..., Any], tmp_path: Path) -> None:
    """With a name it lies in the folder of profiles, and is an endpoint from then on; it is not written over."""
    url = served().url
    (tmp_path / "own").mkdir()
    result = cli("endpoints", "init", url, "--name", "kingdom", "--profiles", "own")
    assert result.exit_code == 0
    assert "kingdom.toml" in result.stdout
    found = cli("neighbours", "Strelsau", "-e", "kingdom", "--profiles", "own")
    assert (found.exit_code, "Ruritania" in found.stdout) == (0, True)
    again = cli("endpoints", "init", url, "--name", "kingdom", "--profiles", "own")
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sample",), "is no http URL"),
        (("http://127.0.0.1:1/x", "--name", "a"), "there is no folder of profiles"),
        (("http://127.0.0.1:1/x", "--name", "../a", "--profiles", "."), "cannot be the name of a profile"),
        (("http://127.0.0.1:1/x", "--name", "identity", "--profiles", "."), "cannot be the name of a profile"),
    ],
)
def test_init_of_what_cannot_be_written(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """Bad input is refused before anything is asked."""
    result = cli("endpoints", "init", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_init_of_an_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """Of an endpoint that is not usable there is nothing to write; the findings say why."""
    result = cli("endpoints", "init", dead)
    assert result.exit_code == 3
    assert "not usable" in result.stdout
