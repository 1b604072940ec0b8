import asyncio
import gzip
import threading
from pathlib import Path

import pytest

from fedkg.core.terms import Blank, Iri, Literal
from fedkg.errors import GraphFileError, QueryRejectedError, UnreachableError
from fedkg.sparql.results import accept
from fedkg.transport.embedded import EmbeddedTransport, load

FACT = '<http://ex.org/a> <http://ex.org/p> "x" .\n'
RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://ex.org/">
<rdf:Description rdf:about="http://ex.org/a"><ex:p>x</ex:p></rdf:Description></rdf:RDF>"""
FILES = {
    "g.nt": FACT,
    "G.NT": FACT,
    "v1.2.g.ttl": '@prefix ex: <http://ex.org/> . ex:a ex:p "x" .\n',
    "g.n3": '@prefix ex: <http://ex.org/> . ex:a ex:p "x" . { ex:a ex:p "quoted" } <= { ex:a ex:p "x" } .\n',
    "g.rdf": RDF_XML,
    "g.owl": RDF_XML,
    "g.xml": RDF_XML,
    "g.jsonld": '{"@id": "http://ex.org/a", "http://ex.org/p": "x"}',
    "g.json": '[{"@id": "http://ex.org/a", "http://ex.org/p": [{"@value": "x"}]}]',
    "g.trig": f"<http://g1> {{ {FACT} }} GRAPH _:g {{ {FACT} }}",
    "g.nq": FACT + FACT.replace(" .", " <http://g1> .") + FACT.replace(" .", " <http://g2> ."),
}
ALL = "SELECT ?s ?p ?o { ?s ?p ?o }"
NOISE = "".join(f"<http://ex.org/{n * n * 7919}> <http://ex.org/p> <http://ex.org/x> .\n" for n in range(999)).encode()
# a data set of a hundred people, and a query that joins everything with everything
MANY = "".join(f"<http://ex.org/{n}> <http://ex.org/p> <http://ex.org/{n + 1}> .\n" for n in range(100))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FILES)
async def test_each_format_is_loaded(tmp_path: Path, name: str, packed: bool) -> None:
    """Every format loads, packed or not; a fact of several graphs is one fact, and what N3 quotes is none."""
    path = tmp_path / (name + ".gz" * packed)
    content = FILES[name].encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    transport = load(path)
    rows = accept(await transport.send(ALL), endpoint="g").rows
    facts = [row for row in rows if row["p"] == Iri("http://ex.org/p")]
    assert facts == [{"s": Iri("http://ex.org/a"), "p": Iri("http://ex.org/p"), "o": Literal("x")}]
    assert (len(transport), transport.name) == (1 + (name == "g.n3"), path.name)
    await transport.close()
    assert len(transport) == 0


async def test_a_folder_is_one_graph(tmp_path: Path) -> None:
    """Files of any format in it and below it; a blank node of one is none of another, other files do not matter."""
    (tmp_path / "deep" / ".hidden").mkdir(parents=True)
    (tmp_path / "a.nt").write_text("_:b <http://ex.org/p> <http://ex.org/x> .")
    (tmp_path / "deep" / "b.ttl.gz").write_bytes(gzip.compress(b"_:b <http://ex.org/p> <http://ex.org/y> ."))
    (tmp_path / "deep" / "c.rdf").write_text(RDF_XML)
    for name in ("settings.json", "README.md", "deep/.hidden/d.nt"):
        (tmp_path / name).write_text("no graph")
    transport = load(tmp_path)
    rows = accept(await transport.send(ALL), endpoint="g").rows
    assert len({row["s"] for row in rows}) == len(rows) == 3


async def test_what_is_relative_is_so_to_the_name(tmp_path: Path) -> None:
    """Wherever the file lies, its IRIs are the same, and so is what is kept of them."""
    subjects = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "my graph.rdf"
        file.write_text(RDF_XML.replace("http://ex.org/a", "#a"))
        subjects += [row["s"] for row in accept(await load(file).send(ALL), endpoint="g").rows]
    assert subjects == [Iri("file:///my%20graph.rdf#a")] * 2


def test_a_folder_without_a_graph_is_refused(tmp_path: Path) -> None:
    """An empty folder, and one of other files."""
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(GraphFileError, match="no RDF file in this folder"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.rdf", "<rdf:RDF"), ("g.jsonld", '{"@id": '), ("g.jsonld", '{"@context": "http://schema.org/", "name": "x"}')],
)
def test_a_malformed_document_is_named(tmp_path: Path, name: str, text: str) -> None:
    """Also where its parser names no line; contexts of other hosts are not fetched."""
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphFileError, match=name):
        load(tmp_path / name)


async def test_a_closed_graph_is_freed_and_says_so(tmp_path: Path) -> None:
    """Its triples go with it; who asks all the same is told."""
    path = tmp_path / "g.nt"
    path.write_text(FACT)
    transport = load(path)
    await transport.close()
    with pytest.raises(UnreachableError, match=r"g\.nt is closed"):
        await transport.send(ALL)


@pytest.mark.parametrize("name", ["g.nt", "g.ttl", "g.nq", "g.nt.gz", "g.ttl.gz", "g.nq.gz"])
def test_a_malformed_file_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    """The error says which file and which line cannot be read."""
    content = (FACT * 3 + "<http://ex.org/a> <http://ex.org/p> oops\n" + FACT).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(GraphFileError, match=f"{name}, line 4: "):
        load(path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("g.csv", FACT.encode(), "unknown file name extension"),
        ("g", FACT.encode(), "unknown file name extension"),
        (".gz", FACT.encode(), "unknown file name extension"),
        ("g.gz", FACT.encode(), "unknown file name extension"),
        ("g.nt", b"", "no triple"),
        ("g.ttl", b"# nothing\n", "no triple"),
        ("g.nt.gz", b"", "no triple"),
        ("g.nt.gz", FACT.encode(), "not a whole gzip file"),
        ("g.nt.gz", gzip.compress(FACT.encode() * 1000, mtime=0)[:-20], "not a whole gzip file"),
        ("g.nt.gz", gzip.compress(FACT.encode(), mtime=0)[:12] + b"\xff" * 20, "not a whole gzip file"),
        ("g.nt.gz", gzip.compress(NOISE, mtime=0)[:500] + bytes(500), "not a whole gzip file"),
        ("g.nt", b'<http://ex.org/a> <http://ex.org/p> "\xff" .', "line 1: "),
    ],
)
def test_files_that_hold_no_graph(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    """Unknown extensions, empty files and broken archives are refused with the file's name."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(GraphFileError, match=says) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    """A missing file and a folder are refused."""
    (tmp_path / "d.nt").mkdir()
    with pytest.raises(GraphFileError, match="No such file"):
        load(tmp_path / "g.nt")
    with pytest.raises(GraphFileError, match="no RDF file in this folder"):
        load(tmp_path / "d.nt")


@pytest.fixture
def people(triples: Path) -> EmbeddedTransport:
    """The small graph that all tests of this folder share."""
    return load(str(triples))


async def test_rows_are_sparql_json(people: EmbeddedTransport) -> None:
    """A SELECT passes the same acceptance test as an endpoint's reply."""
    reply = await people.send("SELECT ?o { <http://ex.org/grace> ?p ?o }")
    year = Literal("1906", "http://www.w3.org/2001/XMLSchema#gYear")
    assert accept(reply, endpoint="p").rows == ({"o": year},)
    assert reply.seconds > 0


@pytest.mark.parametrize(
    "query",
    [
        "SELEC",
        "",
        "ASK { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }",
        "INSERT DATA { <a:b> <a:b> 1 }",
        "DROP ALL",
    ],
)
async def test_what_is_no_query_is_rejected(people: EmbeddedTransport, query: str) -> None:
    """Syntax errors, other kinds of queries and updates get status 400, and the graph stays as it is."""
    with pytest.raises(QueryRejectedError, match="p answered 400"):
        accept(await people.send(query), endpoint="p")
    assert len(people) == 3


async def test_a_query_that_fails_is_a_500(people: EmbeddedTransport) -> None:
    """What goes wrong while a query runs is a reply too, not an exception of the engine."""
    with pytest.raises(QueryRejectedError, match=r"p answered 500: .*not supported"):
        accept(await people.send("SELECT (<http://f>(1) AS ?x) {}"), endpoint="p")


async def test_blank_nodes_are_blank(tmp_path: Path) -> None:
    """Blank nodes of the file stay blank nodes."""
    path = tmp_path / "b.ttl"
    path.write_text("[] <http://ex.org/p> [] .")
    (row,) = accept(await load(path).send(ALL), endpoint="b").rows
    assert isinstance(row["s"], Blank)
    assert isinstance(row["o"], Blank)


async def test_the_event_loop_stays_free(tmp_path: Path) -> None:
    """A query runs in a thread: while it does, other work goes on."""
    path = tmp_path / "many.nt"
    path.write_text(MANY)
    transport = load(path)
    turns = 0
    slow = asyncio.create_task(transport.send("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"))
    while not slow.done():
        turns += 1
        await asyncio.sleep(0)
    (row,) = accept(await slow, endpoint="m").rows
    assert row["n"] == Literal("1000000", "http://www.w3.org/2001/XMLSchema#integer")
    assert turns > 10


async def test_the_same_graph_for_many_at_once(people: EmbeddedTransport) -> None:
    """Queries side by side get the same rows."""
    replies = await asyncio.gather(*(people.send(ALL) for _ in range(20)))
    assert {len(accept(reply, endpoint="p").rows) for reply in replies} == {3}


async def test_queries_that_take_long_keep_nobody_else_waiting(
    people: EmbeddedTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have threads of their own: what others do in threads, such as a look into the cache, goes on."""
    release = threading.Event()
    monkeypatch.setattr(people, "_run", lambda _: release.wait(20))
    many = [asyncio.create_task(people.send("SELECT")) for _ in range(50)]
    await asyncio.sleep(0)
    await asyncio.wait_for(asyncio.to_thread(release.set), 10)
    assert all(await asyncio.gather(*many))
