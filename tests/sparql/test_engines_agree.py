"""Every query shape in every dialect on real engines: embedded Oxigraph, its server and Virtuoso give the same rows."""

import gzip
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fedkg.config.dialects import DIALECTS, GENERIC, Dialect, Engine, Format
from fedkg.config.profiles import Edges, Labels, Mediators, Shape
from fedkg.core.terms import UNKNOWN, Blank, Direction, Edge, Iri, Literal, Term, Through
from fedkg.sparql import build
from fedkg.sparql.results import accept
from fedkg.transport import embedded
from fedkg.transport.base import Transport
from fedkg.transport.http import HttpTransport

WD, P, PS, PQ = (
    f"http://www.wikidata.org/{place}/" for place in ("entity", "prop", "prop/statement", "prop/qualifier")
)
TRUTHY, RANK, LOW = "http://www.wikidata.org/prop/direct/", "http://wikiba.se/ontology#rank", "http://x/low"
NASTY = f"""\
<http://x/a> <http://x/p> <http://x/b> .
<http://x/a> <http://x/p> <http://x/l'%C3%A9t%C3%A9_(a,b);c=1?q#f> .
<http://x/a> <http://x/p> <http://x/\u00e9\u732b> .
<http://x/a> <http://x/q> "say \\"hi\\"\\\\\\n\\ttab \\u00e9 \\u732b \\U0001B000 }} UNION {{ ?s" .
<http://x/a> <http://x/q> "Farbe"@de .
<http://x/a> <http://x/q> "colour"@en-GB .
<http://x/a> <http://x/q> "" .
<http://x/a> <http://x/q> "1906-12-09"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://x/a> <http://x/q> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://x/a> <http://x/q> "plain"^^<http://www.w3.org/2001/XMLSchema#string> .
<http://x/a> <http://x/q> "Point(1 2)"^^<http://x/wkt> .
<http://x/a> <http://x/wiki1> <http://x/page> .
<http://x/a> <http://x/skip> <http://x/page> .
<http://x/a> <http://x/name> "A"@en .
<http://x/a> <http://x/name> "\u00c4"@de .
<http://x/b> <http://x/name> "say \\"b\\"\\n" .
<http://x/b> <http://x/alias> "A" .
<http://x/c> <http://x/alias> "typed"^^<http://www.w3.org/2001/XMLSchema#string> .
<http://x/b> <http://x/about> "the second"@en .
<http://x/b> <http://x/p> <http://x/a> .
<http://x/b> <http://x/p> <http://x/b> .
<http://x/\u00e9\u732b> <http://x/p> <http://x/a> .
<http://x/a> <http://x/job> _:job .
_:job <http://x/at> <http://x/b> .
_:job <http://x/as> "head"@en .
_:job <http://x/more> _:deep .
_:deep <http://x/at> <http://x/c> .
<http://x/a> <http://x/cvt> <http://x/m.1> .
<http://x/m.1> <http://x/at> <http://x/b> .
<http://x/m.1> <http://x/since> "1990" .
<http://x/a> <http://x/cvt> <http://x/m.2> .
<http://x/m.2> <http://x/at> <http://x/b> .
<http://x/m.2> <http://x/name> "named"@en .
<http://x/a> <http://x/p> _:nobody .
<{WD}Q1> <{TRUTHY}P1> <{WD}Q2> .
<{WD}Q1> <{TRUTHY}P1> <{WD}.well-known/genid/x1> .
<{WD}Q1> <{P}P1> <{WD}statement/s1> .
<{WD}statement/s1> <{PS}P1> <{WD}Q2> .
<{WD}statement/s1> <{PQ}P2> "1990" .
<{WD}statement/s1> <{RANK}> <http://x/normal> .
<{WD}Q1> <{P}P1> <{WD}statement/s2> .
<{WD}statement/s2> <{PS}P1> <{WD}Q2> .
<{WD}statement/s2> <{PQ}P2> "1066" .
<{WD}statement/s2> <{RANK}> <{LOW}> .
"""
LABELS = Labels(("http://x/name", "http://x/title"), ("http://x/alias",), "http://x/about", TRUTHY + "P1")
PLUMBING = Edges(skip=("http://x/skip", "http://x/page"), skip_prefixes=("http://x/wiki",))
SHAPES = {
    "bare": Shape(mediators=Mediators(blank=False)),
    "blank": Shape(LABELS, PLUMBING),
    "unnamed": Shape(LABELS, PLUMBING, Mediators(unnamed=("http://x/m.",), name="http://x/name")),
    "statements": Shape(
        LABELS, Edges(only=TRUTHY), Mediators(False, (), "", P + "P", PS + "P", PQ + "P", TRUTHY, RANK, LOW)
    ),
}
A, B, C, ODD = Iri("http://x/a"), Iri("http://x/b"), Iri("http://x/c"), Iri("http://x/\u00e9\u732b")
Q1, Q2 = Iri(WD + "Q1"), Iri(WD + "Q2")
X_P, X_Q, AT = Iri("http://x/p"), Iri("http://x/q"), Iri("http://x/at")
WAYS: list[Direction] = ["out", "in"]
EDGES = [
    Edge(A, X_P, B, "out", "x"),
    Edge(A, X_P, C, "out", "x"),
    Edge(A, X_Q, Literal('say "hi"\\\n\ttab \u00e9 \u732b \U0001b000 } UNION { ?s'), "out", "x"),
    Edge(A, X_Q, Literal("colour", language="en-gb"), "out", "x"),
    Edge(A, X_Q, Literal("plain"), "out", "x"),
    Edge(A, X_Q, Literal("42", "http://www.w3.org/2001/XMLSchema#integer"), "out", "x"),
    Edge(A, Iri("http://x/job"), B, "in", "x", through=Through(Blank("b"), AT)),
    Edge(A, Iri("http://x/job"), C, "in", "x", through=Through(Blank("b"), AT)),
    Edge(A, Iri("http://x/cvt"), B, "in", "x", through=Through(Iri("http://x/m.1"), AT)),
    Edge(A, X_P, UNKNOWN, "out", "x"),
    Edge(A, X_Q, UNKNOWN, "out", "x"),
    Edge(Q1, Iri(TRUTHY + "P1"), UNKNOWN, "out", "x"),
]
HOLDS = ["0", "2", "3", "4", "5", "6", "8", "9", "11"]

Row = tuple[tuple[str, str], ...]
Ask = Callable[[str], Any]


def shown(row: Mapping[str, Term]) -> Row:
    """A row for comparison: a blank node's name means nothing outside of its reply."""
    return tuple(sorted((name, "_" if isinstance(term, Blank) else term.text) for name, term in row.items()))


def near(shape: Shape) -> dict[str, Callable[[Dialect], str]]:
    """The queries whose form depends on the dialect: one entity and several, both ways, and their labels."""
    some = [Q1, Q2] if shape is SHAPES["statements"] else [A, B, C, ODD]
    groups = {"one": some[:1], "some": some, "last": some[1:2]}
    queries: dict[str, Callable[[Dialect], str]] = {
        f"{name} {way}{'' if statements else ' without statements'}": partial(
            build.neighbours, group, way, shape, 500, statements=statements
        )
        for name, group in groups.items()
        for way in WAYS
        for statements in (True, False)
    }
    for name, group in groups.items():
        queries[f"labels {name}"] = partial(build.labels, group, LABELS, ("en", "de"))
        forward = {X_P: group, X_Q: [A]}
        backward: dict[Iri, Sequence[Term]] = {X_P: group, X_Q: [Literal("colour", language="en-gb")]}
        queries[f"known {name}"] = partial(build.known, [*group, Iri("http://x/nobody")], forward, backward, 500)
    return queries


def others(shape: Shape) -> dict[str, Callable[[Dialect], str]]:
    """The other queries; where the text does not depend on the dialect it is the same for all of them."""
    hub = Q1 if shape is SHAPES["statements"] else A
    queries: dict[str, Callable[[Dialect], str]] = {
        "named": partial(build.named, ["A", 'say "b"\n', "typed", "nobody"], LABELS, ("en", "de"), 50),
        "holds": partial(build.holds, EDGES, f"{WD}.well-known/genid/"),
    }
    for way in WAYS:
        queries[f"relations {way}"] = partial(build.hub_relations, hub, way, shape, 50)
    fixed = {
        "scan": build.scan_labels(LABELS, 50),
        "catalogue": build.catalogue(LABELS, ("en",), "http://x/p"),
        "used": build.used([A, Iri("http://x/cvt"), Q1]),
        "contains": build.contains("http://x/cvt"),
        **{f"tails {way}": build.hub_tails(A, [X_P, X_Q, AT], way, 50) for way in WAYS},
        **{f"counts {way}": build.edge_counts([A, B, Q1, Iri("http://x/nobody")], way, shape, 5) for way in WAYS},
    }
    return queries | {what: partial(_same, query) for what, query in fixed.items()}


def _same(query: str, _: Dialect) -> str:
    return query


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph above as a file."""
    path = tmp_path_factory.mktemp("nasty") / "nasty.nt"
    path.write_text(NASTY, encoding="utf-8")
    return path


SERVERS = ["oxigraph", "virtuoso", "rdflib", pytest.param("comunica", marks=pytest.mark.exhaustive)]


@pytest.fixture(scope="module", params=SERVERS)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine that has a server here."""
    name: Engine = request.param
    return name


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest, engine: Engine, nasty: Path) -> Iterator[str]:
    """The URL of such a server over that graph.

    Comunica 4 compares the tags of the data with lower-case ones of the query, and misses those with capitals.
    """
    serve: Callable[..., AbstractContextManager[str]] = request.getfixturevalue(engine)
    if engine == "comunica":
        lower = nasty.with_name("lower.nt")
        lower.write_text(nasty.read_text(encoding="utf-8").replace("@en-GB", "@en-gb"), encoding="utf-8")
        nasty = lower
    with serve([nasty]) as url:
        yield url


@pytest.fixture
async def over_http(url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ask]:
    """What the server answers in the format that it writes quickest: sorted rows."""
    monkeypatch.setattr("urllib.request.getproxies", dict)
    transport = HttpTransport(url, timeout=20)
    yield partial(ask, transport, wanted=DIALECTS[engine].format)
    await transport.close()


async def ask(transport: Transport, query: str, wanted: Format = "json") -> list[Row]:
    """The accepted rows of an answer, sorted."""
    asked = transport.send_for(query, wanted) if isinstance(transport, HttpTransport) else transport.send(query)
    return sorted(shown(row) for row in accept(await asked, endpoint="engine").rows)


@pytest.mark.parametrize("name", SHAPES)
async def test_dialects_differ_in_text_and_never_in_rows(
    name: str, nasty: Path, engine: Engine, over_http: Ask
) -> None:
    """However a dialect puts the known entities into a query, every engine that understands it gives the same rows.

    A simple engine takes long over the others' dialects, and is asked in its own.
    """
    here = embedded.load(nasty)
    for what, query in near(SHAPES[name]).items():
        expected = await ask(here, query(DIALECTS["generic"]))
        for dialect in DIALECTS.values():
            assert await ask(here, query(dialect)) == expected, (what, dialect)
            if dialect.engine == engine or not DIALECTS[engine].simple:
                assert await over_http(query(dialect)) == expected, (what, dialect)


@pytest.mark.parametrize("name", SHAPES)
async def test_engines_agree_on_every_other_shape(name: str, nasty: Path, engine: Engine, over_http: Ask) -> None:
    """Hubs, names, look-ups and verification mean the same on every engine that is asked in its own dialect."""
    here, results = embedded.load(nasty), {}
    for what, query in others(SHAPES[name]).items():
        results[what] = await ask(here, query(GENERIC))
        assert await over_http(query(DIALECTS[engine])) == results[what], what
    assert all(results[what] for what in results if what != "relations in" or name != "statements")


async def test_what_holds_and_what_does_not(engine: Engine, over_http: Ask) -> None:
    """Literals of every kind, mediators of both kinds and values that are not known are recognised on every engine."""
    rows = await over_http(build.holds(EDGES, f"{WD}.well-known/genid/", DIALECTS[engine]))
    assert rows == sorted((("i", f'"{number}"'),) for number in HOLDS)


async def test_a_name_is_found_however_its_type_is_written(engine: Engine, over_http: Ask) -> None:
    """A label of type xsd:string is a plain one, also on an engine that tells them apart."""
    rows = await over_http(build.named(["typed"], LABELS, ("en",), 9, DIALECTS[engine]))
    assert rows == [(("e2", "<http://x/c>"), ("l2", '"typed"'))]


async def test_what_was_said_in_error_qualifies_nothing(over_http: Ask) -> None:
    """Qualifiers of statements of deprecated rank do not travel, from either end."""
    for start, way in ((Q1, WAYS[0]), (Q2, WAYS[1])):
        rows = await over_http(build.neighbours([start], way, SHAPES["statements"], 99))
        assert {value for row in rows for name, value in row if name == "v"} == {'"1990"'}


@pytest.mark.parametrize(
    "name", [pytest.param("freebase-fb15k237-cvt", marks=pytest.mark.exhaustive), "wikidata-codex-s"]
)
async def test_engines_agree_on_public_graphs(
    name: str, data: Path, virtuoso: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    """Real neighbourhoods, mediators included, are the same in process and on Virtuoso, in every dialect."""
    file = tmp_path / "part.nt"
    with gzip.open(data / f"{name}.nt.gz", "rt", encoding="utf-8") as lines:
        text = [line for line, _ in zip(lines, range(20_000), strict=False)]
    file.write_text("".join(text), encoding="utf-8")
    subjects = sorted({line.split(" ", 1)[0] for line in text if line.startswith("<")})
    chosen = [Iri(subject[1:-1]) for subject in subjects[:: len(subjects) // 40]][:40]
    prefix = ("http://rdf.freebase.com/ns/m.",) if name.endswith("cvt") else ()
    shape = Shape(mediators=Mediators(unnamed=prefix, name="http://www.w3.org/2000/01/rdf-schema#label"))
    here = embedded.load(file)
    with virtuoso([file]) as url:
        transport = HttpTransport(url, timeout=30)
        for way in WAYS:
            expected = await ask(here, build.neighbours(chosen, way, shape, 9_000))
            assert 0 < len(expected) < 9_000
            for dialect in (DIALECTS["virtuoso"], DIALECTS["qlever"]):
                query = build.neighbours(chosen, way, shape, 9_000, dialect)
                assert await ask(transport, query, dialect.format) == expected
        await transport.close()
