"""Whether fedkg works with a server: six of them serve the same graphs, and what each replies is held against the file.

Questions, search, verification and the doctor are tried on the bundled sample; the hops of a batch of entities, their
seconds and requests on CoDEx-S, 85,000 triples, where the data sets are there. A server that is not installed has the
reason in its row. Federation: one half of the sample on the server, the other half in process.
"""

import asyncio
import contextlib
import gzip
import importlib.util
import json
import random
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pyoxigraph

from eval.support import engines
from eval.support.report import Report, options
from fedkg.config.resources import folder
from fedkg.core.answer import Answer
from fedkg.core.terms import Iri
from fedkg.errors import FedkgError
from fedkg.graph.base import Graph
from fedkg.session import Session

CODEX = "wikidata-codex-s.nt.gz"
ENTITIES = 50
NAMES = ("King Kong", "Marie Curie", "Switzerland", "The Shining")
QUESTIONS = {
    1: ("Who directed 2001: A Space Odyssey?", "Who are the children of Marie Curie?"),
    2: ("Who is the spouse of the director of King Kong?", "When was the father of Klaus Mann born?"),
}
COLUMNS = ("doctor", "search", "neighbours", "1 hop", "2 hops", "verify", "federation", "warm")
"""What is tried; the document has "ok" for each that is as in the file."""

Serve = Callable[[Sequence[Path]], AbstractContextManager[str]]


@contextlib.contextmanager
def nameless(files: Sequence[Path]) -> Iterator[str]:
    """The URL of pyoxigraph behind Python's own HTTP server, which speaks HTTP/1.0 and names no engine."""
    store = pyoxigraph.Store()
    for file in files:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        store.bulk_load(content, pyoxigraph.RdfFormat.N_TRIPLES)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that the library looks for
            form = self.rfile.read(int(self.headers["content-length"])).decode()
            try:
                rows = cast("pyoxigraph.QuerySolutions", store.query(urllib.parse.parse_qs(form)["query"][0]))
                status, body = 200, cast("bytes", rows.serialize(format=pyoxigraph.QueryResultsFormat.JSON))
            except (SyntaxError, ValueError) as error:
                status, body = 400, str(type(error).__name__).encode()
            self.send_response(status)
            self.send_header("content-type", "application/sparql-results+json" if status == 200 else "text/plain")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing: each request would be a line."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


SERVERS: dict[str, tuple[str, Serve]] = {
    "Oxigraph": (engines.missing("oxigraph"), engines.oxigraph),
    "Virtuoso": (engines.missing("virtuoso"), engines.virtuoso),
    "rdflib-endpoint": (engines.missing("rdflib"), engines.rdflib),
    "rdflib-endpoint over Oxigraph's store": (
        engines.missing("rdflib") or ("" if importlib.util.find_spec("oxrdflib") else "oxrdflib not installed"),
        partial(engines.rdflib, store="Oxigraph"),
    ),
    "Comunica file server": (engines.missing("comunica"), engines.comunica),
    "pyoxigraph behind http.server": ("", nameless),
}


def main() -> None:
    """Tries each server."""
    chosen = options(__doc__ or "").parse_args()
    report, codex = Report("servers", write=chosen.write), chosen.data / CODEX
    with TemporaryDirectory() as name:
        whole, halves = sample(Path(name))
        for server, (why, serve) in SERVERS.items():
            row: dict[str, Any] = {"missing": why} if why else tried(serve, whole, halves)
            if not why and codex.is_file():
                row["codex-s"] = scaled(serve, codex)
            report.add(server, row)
    report.attach("md", table(report.figures))
    report.close()


def sample(place: Path) -> tuple[Path, tuple[Path, Path]]:
    """The bundled sample as N-Triples, and in two halves: edges are in one of them, names and the like in both."""
    store = pyoxigraph.Store()
    store.load(path=str(folder("sample") / "graph.ttl"))
    lines = sorted(f"{quad.triple} .\n" for quad in store)
    files = [place / f"{name}.nt" for name in ("whole", "first", "second")]
    edges = [line for line in lines if "/prop/direct/" in line.split(" ")[1]]
    first, second = set(edges[::2]), set(edges[1::2])
    parts = (lines, [line for line in lines if line not in second], [line for line in lines if line not in first])
    for file, part in zip(files, parts, strict=True):
        file.write_text("".join(part), encoding="utf-8")
    return files[0], (files[1], files[2])


def tried(serve: Serve, whole: Path, halves: tuple[Path, Path]) -> dict[str, str]:
    """What each attempt came to: "ok", else what differs."""
    row = dict.fromkeys(COLUMNS, "not tried")
    try:
        with serve([whole]) as url:
            row |= asyncio.run(asked(f"sample@{url}", f"wikidata@{whole}"))
        with serve([halves[0]]) as url:
            row["federation"] = asyncio.run(federated((f"wikidata@{url}", f"wikidata@{halves[1]}"), whole))
    except (FedkgError, RuntimeError) as error:
        row["error"] = str(error)[:200]
    return row


async def asked(spec: str, file: str) -> dict[str, str]:
    """The doctor, search, neighbours, questions and their verification, and the same again without a request."""
    row: dict[str, str] = {}
    async with _session(file) as here, _session(spec) as there:
        names = [[match.iri for match in await session.search(name)] for session in (here, there) for name in NAMES]
        row["search"] = _same(names[: len(NAMES)], names[len(NAMES) :])
        edges = [await edges_of(await session.graph(), [names[0][0]]) for session in (here, there)]
        row["neighbours"] = _same(*edges)
        answers: list[Answer] = []
        for hops, questions in QUESTIONS.items():
            replies = [[await session.ask(text) for text in questions] for session in (here, there)]
            row[f"{hops} hop{'s' * (hops > 1)}"] = _same(*([_values(one) for one in part] for part in replies))
            answers += replies[1]
        checked = [edge.holds for answer in answers for edge in await there.verify(answer)]
        row["verify"] = "ok" if checked and all(checked) else f"{Counter(checked)}"
        before = there.usage().requests
        for text in (text for questions in QUESTIONS.values() for text in questions):
            await there.ask(text)
        row["warm"] = "ok" if there.usage().requests == before else f"{there.usage().requests - before} requests"
    async with _session(spec) as fresh:
        (health,) = await fresh.check()
        works = all(value == "ok" for value in row.values())
        row["doctor"] = "ok" if (health.grade.value != "failed") == works else health.verdict
    return row


async def federated(specs: Sequence[str], whole: Path) -> str:
    """Whether two halves give the answers of the whole."""
    values = []
    for endpoints in ((f"wikidata@{whole}",), specs):
        async with _session(*endpoints) as session:
            values.append([_values(await session.ask(text)) for part in QUESTIONS.values() for text in part])
    return _same(*values)


def scaled(serve: Serve, codex: Path) -> dict[str, Any]:
    """The edges of fifty entities both ways, cold: whether they are those of the file, seconds and requests."""
    with gzip.open(codex, "rt", encoding="utf-8") as lines:
        edges = Counter(line.split(" ", 1)[0][1:-1] for line in lines if "/prop/direct/" in line)
    some = [Iri(iri) for iri in sorted(iri for iri, number in edges.items() if 3 <= number <= 30)]
    chosen = random.Random(0).sample(some, ENTITIES)
    try:
        with serve([codex]) as url:
            return asyncio.run(hop(f"wikidata@{url}", f"wikidata@{codex}", chosen))
    except (FedkgError, RuntimeError) as error:
        return {"error": str(error)[:200]}


async def hop(spec: str, file: str, chosen: Sequence[Iri]) -> dict[str, Any]:
    """One hop from all of them, after one from a single one, as in a walk."""
    async with _session(file) as here, _session(spec) as there:
        expected = await edges_of(await here.graph(), chosen)
        graph, started = await there.graph(), time.monotonic()
        await edges_of(graph, chosen[:1])
        edges = await edges_of(graph, chosen)
        return {
            "equal": _same(expected, edges),
            "edges": len(edges),
            "seconds": round(time.monotonic() - started, 1),
            "requests": there.usage().requests,
        }


async def edges_of(graph: Graph, entities: Sequence[Iri]) -> list[str]:
    """The edges of these entities, both ways, and what could not be had.

    Engines write some values anew: rdflib "Z" as "+00:00", Oxigraph "+1" as "1". They are the same here.
    """
    near = [*await graph.neighbours(entities, "out"), *await graph.neighbours(entities, "in")]
    gaps = [f"gap: {part.failed or part.cut}" for part in near if not part.complete]
    edges = {f"{edge.subject} {edge.relation} {edge.object}" for part in near for edge in part.edges}
    return sorted({edge.replace("+00:00", "Z").replace('"+', '"') for edge in edges} | set(gaps))


def table(figures: dict[str, Any]) -> str:
    """The result file as a table of Markdown."""
    head = ["server", *COLUMNS, "50 entities, both ways"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for server, row in figures.items():
        if "missing" in row:
            lines.append(f"| {server} | {row['missing']} |{' |' * (len(head) - 2)}")
            continue
        large = row.get("codex-s", {})
        same = "equal to the file" if large.get("equal") == "ok" else f"differs: `{large.get('equal')}`"
        cost = f"{large['seconds']} s, {large['requests']} requests, {same}" if "seconds" in large else "-"
        cells = ["yes" if row[name] == "ok" else row[name].replace("|", "/") for name in COLUMNS]
        lines.append(f"| {' | '.join([server, *cells, cost])} |")
    return "\n".join(lines) + "\n"


def _session(*endpoints: str) -> Session:
    settings: dict[str, Any] = {"cache": False, "embedder": "bm25"}
    return Session(*endpoints, **settings)


def _same(expected: list[Any], given: list[Any]) -> str:
    """The word ok, else what is there and what should be, cut; of lists of texts what only one of them has."""
    if expected == given:
        return "ok"
    with contextlib.suppress(TypeError):  # lists of lists are shown whole
        given, expected = sorted(set(given) - set(expected)), sorted(set(expected) - set(given))
    return json.dumps([given, expected], default=str)[:400]


def _values(answer: Answer) -> list[str]:
    return sorted(value.iri or value.value for value in answer.answers)


if __name__ == "__main__":
    main()
