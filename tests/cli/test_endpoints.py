import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg import profiles

Cli = Callable[..., Result]


def test_list_names_every_profile(cli: Cli) -> None:
    """Each profile is one line with its title and where it is; the same in JSON."""
    lines = cli("endpoints", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == profiles.names()
    assert any("https://query.wikidata.org/sparql" in line for line in lines)
    assert "generic@FILE" in next(line for line in lines if line.startswith("generic"))
    shown = json.loads(cli("endpoints", "list", "--json").stdout)
    assert [one["name"] for one in shown] == profiles.names()


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
    """An endpoint that answers is shown with profile, engine, a label, edges, latency and limits."""
    result = cli("endpoints", "check", "sample")
    assert result.exit_code == 0
    for part in ("sample answers", "profile    sample, engine oxigraph", " ms; ", "http://www.wikidata.org/entity/Q"):
        assert part in result.stdout
    limits = profiles.find("sample").limits
    assert f"{limits.batch} entities a request, {limits.rows} rows a reply" in result.stdout


def test_check_of_a_file_names_the_shape_that_was_found(cli: Cli, graph: Path) -> None:
    """For a file of no known shape that is the generic profile."""
    shown = json.loads(cli("endpoints", "check", graph, "--json").stdout)
    assert (shown["endpoint"], shown["profile"]) == ("kingdom.ttl", "generic")
    assert shown["labelled"]["label"]
    assert shown["latency"] <= shown["seconds"]


def test_check_takes_no_further_endpoint(cli: Cli) -> None:
    """The endpoint is the argument; -e is refused, not ignored."""
    result = cli("endpoints", "check", "sample", "-e", "nonsense")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No such option" in result.stderr


def test_check_asks_past_the_cache(cli: Cli, served: Callable[..., Any]) -> None:
    """Every check asks the endpoint itself, and leaves nothing behind."""
    endpoint = served()
    first, second = (json.loads(cli("endpoints", "check", endpoint.url, "--json").stdout) for _ in range(2))
    assert first["requests"] == second["requests"] == 2
    assert endpoint.asked == 4
    assert "neighbours" not in cli("cache", "stats").stdout


def test_check_without_labels(cli: Cli, tmp_path: Path) -> None:
    """A graph that names nothing answers as well, and the check says that no label was found."""
    (tmp_path / "bare.nt").write_text("<http://a/b> <http://a/c> <http://a/d> .\n")
    result = cli("endpoints", "check", "bare.nt")
    assert result.exit_code == 0
    assert "none found by the profile's predicates" in result.stdout
    assert "edges      not tried" in result.stdout


def test_check_of_an_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """Nothing there is exit code 3, with what was tried, how often and how long."""
    result = cli("endpoints", "check", dead)
    error, tried, hint = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (3, "")
    assert error.startswith(f"error: {dead}: no connection")
    assert tried.startswith("tried: 4 requests in ")
    assert hint.startswith("hint: ")
