"""Whether fedkg's federation finds what an independent engine finds: Comunica 4 over the same two endpoints.

Every query needs both: the disease side says which identifier a disease is `skos:exactMatch` with, the drug side says
what is true of that identifier. Comunica is asked by its command line (its servers would bind all interfaces). Without
--comunica it is installed from npm into a folder that goes with the run.
"""

import asyncio
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval.support.engines import oxigraph
from eval.support.report import Report, options, require
from fedkg.core.terms import Direction, Iri
from fedkg.graph.base import Graph
from fedkg.session import Session

DISEASES, DRUGS = "biomed-disease.nt.gz", "biomed-drug.nt.gz"
PACKAGE = "@comunica/query-sparql@4"
EXACT = "http://www.w3.org/2004/02/skos/core#exactMatch"
HET, SIDER = "http://het.io/schema/", "http://sideeffects.embl.de/vocab/"
EACH = 5

Step = tuple[str, Direction]


class Kind(msgspec.Struct, frozen=True):
    """Two-endpoint queries of one form: the steps of a walk, and after how many of them the link is crossed."""

    name: str
    steps: tuple[Step, ...]
    link_after: int

    def query(self, entity: str) -> str:
        """The query that Comunica is asked: the link spelled out between the steps."""
        patterns, node = [], f"<{entity}>"
        for number, (relation, direction) in enumerate(self.steps):
            if number == self.link_after:
                # the drug side's identifier is what a disease is an exact match with
                ends = (node, f"?c{number}") if number == 0 else (f"?c{number}", node)
                patterns.append(f"{ends[0]} <{EXACT}> {ends[1]} .")
                node = f"?c{number}"
            ends = (node, f"?x{number}") if direction == "out" else (f"?x{number}", node)
            patterns.append(f"{ends[0]} <{relation}> {ends[1]} .")
            node = f"?x{number}"
        return f"SELECT DISTINCT {node} WHERE {{ {' '.join(patterns)} }}"


KINDS = (
    Kind("what treats the disease", ((f"{HET}treats", "in"),), 0),
    Kind("what palliates the disease", ((f"{HET}palliates", "in"),), 0),
    Kind("what is indicated for the disease", ((f"{SIDER}indication", "in"),), 0),
    Kind("side effects of what treats the disease", ((f"{HET}treats", "in"), (f"{HET}causes", "out")), 0),
    Kind("genes of what the drug treats", ((f"{HET}treats", "out"), (f"{HET}associates", "out")), 1),
    Kind("symptoms of what the drug treats", ((f"{HET}treats", "out"), (f"{HET}presents", "out")), 1),
)


def main() -> None:
    """Asks both, and says for each query whether they agree."""
    parser = options(__doc__ or "")
    parser.add_argument("--comunica", type=Path, help="the program comunica-sparql, where it is installed already")
    chosen = parser.parse_args()
    require(chosen.data, DISEASES, DRUGS)
    report = Report("comunica", write=chosen.write)
    asked = [(kind, entity) for kind in KINDS for entity in entities(kind, chosen.data)]
    with (
        tempfile.TemporaryDirectory() as folder,
        oxigraph([chosen.data / DISEASES]) as diseases,
        oxigraph([chosen.data / DRUGS]) as drugs,
    ):
        program = chosen.comunica or install(Path(folder))
        released = version(program)
        rows = asyncio.run(compare(program, (diseases, drugs), asked))
    agree = sum(row["same"] for row in rows)
    report.add(
        "agreement",
        {"comunica": released, "queries": len(rows), "same": agree, "answers": sum(row["comunica"] for row in rows)},
    )
    report.add("queries", {row.pop("query"): row for row in rows})
    report.close()


def install(folder: Path) -> Path:
    """Comunica's command line, installed into the folder."""
    npm = shutil.which("npm")
    if not npm:
        sys.exit("comunica.py: npm is not installed; --comunica names a comunica-sparql that is there already")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", PACKAGE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "node_modules" / ".bin" / "comunica-sparql"


def version(program: Path) -> str:
    """The version that Comunica says it has; some releases say it as an error."""
    output = subprocess.run([str(program), "--version"], check=False, capture_output=True, text=True)
    match = re.search(r"Comunica Engine\s*\|\s*(\S+)", output.stdout + output.stderr)
    return match[1] if match else "unknown"


def entities(kind: Kind, data: Path) -> list[str]:
    """Entities that the query is worth asking of: both sides say something, by a plain join over the files."""
    links = _pairs(data / DISEASES, EXACT)
    relation, direction = kind.steps[0]
    if kind.link_after:
        linked = {copy for copies in links.values() for copy in copies}
        pairs = _pairs(data / DRUGS, relation)
        worth = [drug for drug, ends in pairs.items() if linked & ends]
    else:
        output = {end for ends in _pairs(data / DRUGS, relation).values() for end in ends}
        worth = [disease for disease, copies in links.items() if copies & output]
    assert direction == ("out" if kind.link_after else "in"), "the walk starts at a drug or at a disease"
    return random.Random(0).sample(sorted(worth), EACH)


async def compare(program: Path, urls: Sequence[str], asked: Iterable[tuple[Kind, str]]) -> list[dict[str, Any]]:
    """What both say of each query."""
    rows = []
    for kind, entity in asked:
        async with Session(*urls, cache=False, embedder="bm25") as session:
            started = time.monotonic()
            edges, whole = await walked(await session.graph(), kind, entity)
            seconds, requests = time.monotonic() - started, session.meter.usage().requests
        started = time.monotonic()
        theirs = by_comunica(program, urls, kind.query(entity))
        rows.append(
            {
                "query": f"{kind.name}: {entity}",
                "same": edges == theirs and whole,
                "fedkg": len(edges),
                "comunica": len(theirs),
                "fedkg complete": whole,
                "fedkg requests": requests,
                "fedkg seconds": round(seconds, 3),
                "comunica seconds": round(time.monotonic() - started, 1),
            }
        )
    return rows


async def walked(graph: Graph, kind: Kind, entity: str) -> tuple[set[str], bool]:
    """The ends of the walk over fedkg's federation, and whether it says that nothing is missing."""
    nodes, whole = {Iri(entity)}, True
    for relation, direction in kind.steps:
        neighbourhoods = await graph.neighbours(sorted(nodes), direction)
        whole = whole and all(near.complete for near in neighbourhoods)
        ends = [edge.end for near in neighbourhoods for edge in near.edges if edge.relation.value == relation]
        nodes = {end for end in ends if isinstance(end, Iri)}
    return {node.value for node in nodes}, whole


def by_comunica(program: Path, urls: Sequence[str], query: str) -> set[str]:
    """The distinct answers that Comunica gives."""
    kind = "application/sparql-results+json"
    command = [str(program), *(f"sparql@{url}" for url in urls), "-q", query, "-t", kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    rows = json.loads(done.stdout)["results"]["bindings"]
    return {value["value"] for row in rows for value in row.values()}


def _pairs(file: Path, relation: str) -> dict[str, set[str]]:
    """Subjects of a relation between IRIs with their objects."""
    pairs: dict[str, set[str]] = defaultdict(set)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            subject, predicate, target = line.split(" ", 2)
            if predicate == f"<{relation}>" and target.startswith("<"):
                pairs[subject[1:-1]].add(target.split(">")[0][1:])
    return pairs


if __name__ == "__main__":
    main()
