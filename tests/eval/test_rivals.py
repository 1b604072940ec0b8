"""The comparison with what one would take instead: the same ends by different requests, and the page of bars."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from eval.measure import page
from eval.measure.rivals import relations
from eval.support.rivals import WAYS

X, LABEL = "http://x/", "<http://www.w3.org/2000/01/rdf-schema#label>"
FACTS = [("ann", "child", "bob"), ("ann", "child", "eve"), ("bob", "home", "oslo"), ("eve", "home", "rome")]
HOPS = [(f"{X}child", "out"), (f"{X}home", "out"), (f"{X}home", "in")]


class CountedGraph:
    """A small graph whose queries are counted."""

    def __init__(self) -> None:
        self.asked = 0
        self._store = pyoxigraph.Store()
        triples = [f"<{X}{s}> <{X}{p}> <{X}{o}> ." for s, p, o in FACTS]
        names = [f'<{X}{name}> {LABEL} "{name}" .' for name in ("bob", "eve", "oslo", "rome")]
        self._store.load("\n".join([*triples, *names]).encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)

    def select(self, query: str) -> Sequence[dict[str, str]]:
        """The rows of a query."""
        self.asked += 1
        rows = self._store.query(query)
        assert isinstance(rows, pyoxigraph.QuerySolutions)
        names = [variable.value for variable in rows.variables]
        return [{name: row[name].value for name in names if row[name] is not None} for row in rows]


@pytest.mark.parametrize(("way", "requests"), [("own", 1), ("one-by-one", 1 + 2 + 2 + 2), ("tog", 5 + 8 + 8)])
def test_all_ways_lead_to_the_same_ends(way: str, requests: int) -> None:
    """Each finds all ends with their names, in as many requests as its shape takes."""
    graph = CountedGraph()
    assert WAYS[way](graph.select, f"{X}ann", HOPS) == {f"{X}bob": "bob", f"{X}eve": "eve"}
    assert graph.asked == requests


def test_the_relations_of_a_gold_path() -> None:
    """Those that a row names, else those of its path, with a mark where one is walked backwards."""
    topic = {"topic_entities": [{"iri": "a"}]}
    assert relations({**topic, "gold_relations": ["^r", "s"]}) == ["^r", "s"]
    assert relations({**topic, "gold_path": [["b", "r", "a"], ["b", "s", "c"]]}) == ["^r", "s"]


def figures(**more: Any) -> dict[str, Any]:
    """One side's figures."""
    names = ("requests", "seconds for all", "seconds for all, again", "seconds to the first answer", "memory, MB")
    return dict.fromkeys(names, 1.0) | more


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results in place of ours."""
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    return tmp_path


def test_the_page_shows_what_was_measured(results: Path) -> None:
    """One bar for each side, fedkg's in its own colour, no script; parts that were not measured are left out."""
    sides = {"questions": 2, "<b>rival</b>": figures(), "fedkg": figures(requests=3.0)}
    document = {
        "command": "python x.py",
        "date": "2026-01-01",
        "cores": 2,
        "load_before": 0.1,
        "figures": {"set": sides, "two endpoints": sides},
    }
    (results / "rivals.json").write_text(json.dumps(document))
    text, beside = page.as_html(), page.as_markdown()
    assert "<script" not in text
    assert "<b>" not in text
    assert text.count("<h2>") == beside.count("\n## ") == 1
    assert text.count("3 requests") == 2


def test_the_page_of_our_results() -> None:
    """What is committed can be drawn."""
    assert "<h2>" in page.as_html()
    assert "█" in page.as_markdown()
