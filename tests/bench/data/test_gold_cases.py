"""Questions that a graph is known to answer, with all of their gold chains."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import gold_cases
from fedkg.bench.data.gold_chains import QuestionSet
from fedkg.core.terms import DirectedRelation, Iri

Row = Callable[..., dict[str, Any]]
X = "http://x/"
DIRECTED = DirectedRelation(Iri(f"{X}r/directed"), "out")
STARRING = DirectedRelation(Iri(f"{X}r/starring"), "out")


def test_a_case_has_topics_answers_and_chains_of_the_graph(films: QuestionSet, tmp_path: Path) -> None:
    """A question whose topic the graph does not know is left out, and no more are drawn than wanted."""
    facts = Facts.read(tmp_path / films.graph, films.relations)
    known = {case.id: case for case in gold_cases(tmp_path, films, facts, 10)}
    assert set(known) == {"one", "two"}
    assert known["one"].chains == ((Iri(f"{X}lee"), (DIRECTED, STARRING)),)
    assert known["two"].chains == ((Iri(f"{X}wave"), (DIRECTED.inverse,)),)
    assert (known["one"].hops, known["two"].hops) == (2, 1)
    assert len(gold_cases(tmp_path, films, facts, 1)) == 1


def test_without_named_relations_every_edge_to_an_answer_is_gold(films: QuestionSet, tmp_path: Path, row: Row) -> None:
    """WebQSP names answers by their labels only."""
    asked = row("three", "what did lee direct", "lee", []) | {"answers": [{"label": "wave"}, {"label": "Nowhere"}]}
    (tmp_path / "films.jsonl.gz").write_bytes(gzip.compress(json.dumps(asked).encode()))
    facts = Facts.read(tmp_path / films.graph, films.relations)
    (case,) = gold_cases(tmp_path, films, facts, 10)
    assert case.chains == ((Iri(f"{X}lee"), (DIRECTED,)),)
    assert case.answers == {Iri(f"{X}wave")}
