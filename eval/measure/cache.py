"""What a kept neighbourhood costs: time of a hit and bytes on disk with 100,000 of them, and eight processes at once.

The entities are those of CoDEx-M in both directions; to reach the number, the graph is there three times, twice with
its entities renamed. Everything goes through sessions with their cache on disk, as a program has it.
"""

import asyncio
import gzip
import json
import logging
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.support.graphs import ENTITY, edges
from eval.support.report import Report, options, quantiles, require
from fedkg.core.terms import BOTH, Iri
from fedkg.graph.base import Graph
from fedkg.session import Session

GRAPH = "wikidata-codex-m.nt.gz"
COPIES = ("", "A", "B")
HITS, PROCESSES, OPERATIONS, PIECE = 4_000, 8, 2_000, 500
TARGET_SECONDS, TARGET_BYTES = 0.001, 1_000


def main() -> None:
    """Fills the cache, measures hits and size, then lets the processes loose; with --worker it is one of them."""
    parser = options(__doc__ or "")
    parser.add_argument("--worker", nargs=2, metavar=("FOLDER", "SEED"), help="read and write, say what went wrong")
    chosen = parser.parse_args()
    if chosen.worker:
        folder, seed = chosen.worker
        print(json.dumps(asyncio.run(read_and_write(Path(folder), int(seed)))))
        return
    require(chosen.data, GRAPH)
    report = Report("cache", write=chosen.write)
    report.add("targets", {"seconds of a hit": TARGET_SECONDS, "bytes per entry": TARGET_BYTES})
    with tempfile.TemporaryDirectory() as single, tempfile.TemporaryDirectory() as three:
        report.add("codex-m", asyncio.run(fill(Path(single), chosen.data / GRAPH, COPIES[:1])))
        report.add(f"codex-m, {len(COPIES)} copies", asyncio.run(fill(Path(three), chosen.data / GRAPH, COPIES)))
        report.add("hits", asyncio.run(hits(Path(three))))
        report.add(f"{PROCESSES} processes", at_once(Path(single)))
    report.close()


# ---- filling ----


async def fill(folder: Path, source: Path, copies: Sequence[str]) -> dict[str, Any]:
    """Keeps the neighbourhoods of all entities of the graph's copies, in both directions; bytes and seconds."""
    write_copies(source, folder / "graph.nt", copies)
    iris = entities(source, copies)
    (folder / "entities.json").write_text(json.dumps([iri.value for iri in iris]))
    started = time.monotonic()
    async with open_session(folder) as session:
        graph = await session.graph()
        for start in range(0, len(iris), PIECE):
            for way in BOTH:
                await graph.neighbours(iris[start : start + PIECE], way)
        kept, size = session.store.count(), session.store.size()
    return {
        "entries": kept,
        "seconds": round(time.monotonic() - started, 1),
        "bytes on disk": size,
        "bytes per entry": round(size / sum(kept.values())),
    }


def entities(source: Path, copies: Sequence[str]) -> list[Iri]:
    """All entities of the copies that have an edge, in a fixed order."""
    known = sorted({end for edge in edges(source) for end in edge})
    return [Iri(iri.replace(ENTITY, ENTITY + copy)) for copy in copies for iri in known]


def write_copies(source: Path, target: Path, copies: Sequence[str]) -> None:
    """The graph once for each copy, with the copy's letter in the names of its entities."""
    pattern = re.compile(re.escape(f"<{ENTITY}").encode())
    with gzip.open(source) as file, target.open("wb") as lines:
        whole = file.read()
        for copy in copies:
            lines.write(pattern.sub(f"<{ENTITY}{copy}".encode(), whole))


def open_session(folder: Path) -> Session:
    """A session over the graph and the cache of that folder."""
    return Session(f"wikidata@{folder / 'graph.nt'}", cache_dir=str(folder / "cache"), embedder="bm25")


# ---- hits ----


async def hits(folder: Path) -> dict[str, Any]:
    """Seconds of a neighbourhood that is there, asked one by one in a random order by a new session."""
    iris = _known(folder)
    async with open_session(folder) as session:
        graph = await session.graph()
        await graph.neighbours(iris[:1], "out")
        before = session.meter.usage()
        seconds = [await _timed(graph, iri) for iri in random.Random(0).sample(iris, HITS)]
        asked = session.meter.since(before).requests
    return {"hits": len(seconds), "requests": asked, "milliseconds": quantiles([1000 * value for value in seconds])}


async def _timed(graph: Graph, iri: Iri) -> float:
    started = time.perf_counter()
    await graph.neighbours([iri], "out")
    return time.perf_counter() - started


def _known(folder: Path) -> list[Iri]:
    return [Iri(value) for value in json.loads((folder / "entities.json").read_text())]


# ---- processes ----


def at_once(folder: Path) -> dict[str, Any]:
    """What the processes did to one cache at the same time; errors are exceptions and warnings of the cache."""
    started = time.monotonic()
    command = [sys.executable, __file__, "--worker", str(folder)]
    workers = [
        subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for seed in range(PROCESSES)
    ]
    outputs = [worker.communicate() for worker in workers]
    done = [json.loads(out) for worker, (out, _) in zip(workers, outputs, strict=True) if worker.returncode == 0]
    return {
        "seconds": round(time.monotonic() - started, 1),
        "reads": sum(part["reads"] for part in done),
        "writes": sum(part["writes"] for part in done),
        "wrong values": sum(part["wrong"] for part in done),
        "warnings": sorted({text for part in done for text in part["warnings"]}),
        "crashed": [error[-300:] for worker, (_, error) in zip(workers, outputs, strict=True) if worker.returncode],
    }


async def read_and_write(folder: Path, seed: int) -> dict[str, Any]:
    """Reads what the cache holds and writes entries of its own, in turns; each is read back."""
    warnings = _Kept()
    logging.getLogger("fedkg").addHandler(warnings)
    drawn, iris = random.Random(seed), _known(folder)
    reads = writes = wrong = 0
    async with open_session(folder) as session:
        graph, store = await session.graph(), session.store
        for number in range(OPERATIONS):
            if number % 2:
                iri = drawn.choice(iris)
                near = (await graph.neighbours([iri], "out"))[0]
                wrong += bool(near.failed) or any(edge.subject != iri for edge in near.edges)
                reads += 1
            else:
                key, value = str(drawn.randrange(100)), drawn.randbytes(300)
                store.put_many(f"process {seed}", {key: value})
                wrong += store.get_many(f"process {seed}", [key]) != {key: value}
                writes += 1
    return {"reads": reads, "writes": writes, "wrong": wrong, "warnings": warnings.texts}


class _Kept(logging.Handler):
    """Keeps what is logged as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


if __name__ == "__main__":
    main()
