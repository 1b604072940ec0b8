"""What a hub costs: entities with 50,000 and 1,000,000 incoming edges, fetched cold by a process of its own.

The graph is synthetic: nine of ten edges of a hub are of one relation, the others of a hundred further ones.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from eval.support.engines import ENGINES, missing
from eval.support.report import Report, options
from fedkg.core.terms import Iri
from fedkg.session import Session

HUBS = {"hub50k": 50_000, "hub1m": 1_000_000}
FURTHER = 100
BASE = "http://fedkg.invalid/"
TARGET_SECONDS, TARGET_MEGABYTES = 3.0, 300


def main() -> None:
    """Measures every hub on every engine that is installed; with --client it is the client."""
    parser = options(__doc__ or "")
    parser.add_argument("--client", nargs=2, metavar=("URL", "IRI"), help="fetch one entity and say what it took")
    chosen = parser.parse_args()
    if chosen.client:
        print(json.dumps(asyncio.run(fetch(*chosen.client))))
        return
    report = Report("hubs", write=chosen.write)
    report.add("targets", {"seconds": TARGET_SECONDS, "megabytes": TARGET_MEGABYTES})
    with tempfile.TemporaryDirectory() as folder:
        graph = write_graph(Path(folder) / "hubs.nt")
        for name, serve in ENGINES.items():
            if reason := missing(name):
                report.add(name, f"skipped: {reason}")
                continue
            with serve([graph]) as url:
                for hub, edges in HUBS.items():
                    report.add(f"{name}: {edges:,} incoming edges", client(url, f"{BASE}{hub}"))
    report.close()


def write_graph(file: Path) -> Path:
    """The hubs with their edges, and the labels, as N-Triples."""
    with file.open("w") as lines:
        for hub, edges in HUBS.items():
            for number in range(edges):
                relation = "instance" if number % 10 else f"r{number // 10 % FURTHER}"
                lines.write(f"<{BASE}{hub}/n{number}> <{BASE}{relation}> <{BASE}{hub}> .\n")
            lines.write(f'<{BASE}{hub}> <http://www.w3.org/2000/01/rdf-schema#label> "{hub}"@en .\n')
    return file


def client(url: str, entity: str) -> dict[str, Any]:
    """What a fresh process says of one entity, and whether that keeps to the targets."""
    command = [sys.executable, __file__, "--client", url, entity]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    fits = figures["seconds"] < TARGET_SECONDS and figures["peak megabytes"] < TARGET_MEGABYTES
    return figures | {"within targets": fits}


async def fetch(url: str, entity: str) -> dict[str, Any]:
    """Seconds, requests, rows, peak memory and the cut of the entity's incoming edges, asked with nothing kept."""
    async with Session(url, cache=False, embedder="bm25") as session:
        graph = await session.graph()
        started = time.monotonic()
        near = (await graph.neighbours([Iri(entity)], "in"))[0]
        seconds = time.monotonic() - started
        usage = session.meter.usage()
    return {
        "seconds": round(seconds, 3),
        "requests": usage.requests,
        "round trips": usage.round_trips,
        "megabytes received": round(usage.bytes / 1e6, 3),
        "edges kept": len(near.edges),
        "relations": len({edge.relation for edge in near.edges}),
        "complete": near.complete,
        "cut": near.cut,
        "failed": near.failed,
        "peak megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    main()
