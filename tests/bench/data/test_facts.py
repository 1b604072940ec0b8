"""The facts of a graph file, walked in memory."""

import gzip
from pathlib import Path

from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_chains import QuestionSet
from fedkg.core.terms import DirectedRelation, Iri, Literal

X = "http://x/"
DIRECTED = DirectedRelation(Iri(f"{X}r/directed"), "out")
STARRING = DirectedRelation(Iri(f"{X}r/starring"), "out")


def test_facts_are_edges_between_entities_and_names(films: QuestionSet, tmp_path: Path) -> None:
    """They can be walked in both directions; a literal is no entity, and who has a name only is in no fact."""
    facts = Facts.read(tmp_path / films.graph, films.relations)
    assert facts.walk([Iri(f"{X}lee")], [DIRECTED, STARRING]) == {Iri(f"{X}ann"), Iri(f"{X}bob")}
    assert facts.walk([Iri(f"{X}ann")], [STARRING.inverse]) == {Iri(f"{X}wave")}
    assert facts.walk([Iri(f"{X}storm")], [DirectedRelation(Iri(f"{X}r/born"), "out")]) == set()
    assert facts.named("lee") == {Iri(f"{X}lee")}
    assert facts.names(Iri(f"{X}lee")) == ("Lee",)
    assert Literal("1990") not in facts


def test_freebase_identifiers_are_names(tmp_path: Path) -> None:
    """An entity of Wikidata is known by the IRI that it has in Freebase."""
    file = tmp_path / "items.nt.gz"
    wdt = "http://www.wikidata.org/prop/direct/"
    text = f'<{X}q1> <{wdt}P646> "/m/02_x" .\n<{X}q1> <{wdt}P31> <{X}q5> .\n'
    file.write_bytes(gzip.compress(text.encode()))
    facts = Facts.read(file, f"<{wdt}")
    assert facts.named("http://rdf.freebase.com/ns/m.02_x") == {Iri(f"{X}q1")}
