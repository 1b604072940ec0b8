"""What a hop costs past entities that fill a reply each, "human", "United States", "English", against an earlier state.

The incoming edges of the neighbours of topics of CoDEx-M, each topic's by a session that knows nothing; the endpoint is
100 ms away. Both states take turns, in processes of their own; of each topic the least seconds count.

    git worktree add --detach BEFORE COMMIT
    python -m eval.measure.crowds --before BEFORE --write
"""

import asyncio
import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from eval.measure.own_work import commit
from eval.support.distance import distant
from eval.support.engines import ENGINES, missing
from eval.support.report import Report, options, require
from fedkg.core.terms import Iri
from fedkg.session import Session

GRAPH = "wikidata-codex-m.nt.gz"
SECONDS, TOPICS, ENDS, ROUNDS = 0.1, 20, 50, 2
ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Fetches the hops of both states in turns; with --client it is one of them."""
    parser = options(__doc__ or "")
    parser.add_argument("--before", type=Path, help="folder of the earlier state")
    parser.add_argument("--client", nargs=2, metavar=("URL", "FILE"), help="fetch these hops and say what they took")
    chosen = parser.parse_args()
    if chosen.client:
        url, file = chosen.client
        print(json.dumps([asyncio.run(fetch(url, hop)) for hop in json.loads(Path(file).read_text(encoding="utf-8"))]))
        return
    if not chosen.before:
        parser.error("--before is needed: the folder of an earlier state")
    require(chosen.data, GRAPH)
    report = Report("crowds", write=chosen.write)
    states = {"before": chosen.before.resolve(), "now": ROOT}
    report.add("states", {name: commit(folder) for name, folder in states.items()})
    hops = drawn(chosen.data / GRAPH)
    report.add("hops", {"topics": len(hops), "entities": sum(map(len, hops)), "seconds away": SECONDS})
    for engine in ("oxigraph", "virtuoso"):
        report.add(engine, missing(engine) or measured(engine, chosen.data / GRAPH, hops, states))
    report.close()


def drawn(graph: Path) -> list[list[str]]:
    """The entities next to some topics that state something, by a fixed seed."""
    ends: dict[str, set[str]] = {}
    topics: set[str] = set()
    with gzip.open(graph, "rt", encoding="utf-8") as lines:
        for subject, relation, target in (line.split(" ", 2) for line in lines):
            if "/prop/direct/" in relation and (end := target.rstrip(" .\n")).startswith("<"):
                topics.add(subject)
                ends.setdefault(subject, set()).add(end[1:-1])
                ends.setdefault(end, set()).add(subject[1:-1])
    return [sorted(ends[topic])[:ENDS] for topic in random.Random(0).sample(sorted(topics), TOPICS)]


def measured(engine: str, graph: Path, hops: Sequence[Sequence[str]], states: dict[str, Path]) -> dict[str, Any]:
    """The figures of both states, and whether they found the same edges."""
    rounds: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in states}
    with tempfile.TemporaryDirectory() as place, ENGINES[engine]([graph]) as near, distant(near, SECONDS) as far:
        file = Path(place) / "hops.json"
        file.write_text(json.dumps(hops), encoding="utf-8")
        for _ in range(ROUNDS):
            for name, folder in states.items():
                command = [sys.executable, __file__, "--client", far.url, str(file)]
                environment = {**os.environ, "PYTHONPATH": str(folder)}
                done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                rounds[name].append(json.loads(done.stdout))
    found = [[hop["edges"] for hop in each] for by_round in rounds.values() for each in by_round]
    return {name: figures(each) for name, each in rounds.items()} | {"same edges": found.count(found[0]) == len(found)}


def figures(rounds: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Means by hop: of requests, round trips and megabytes, and of the least seconds."""
    hops = list(zip(*rounds, strict=True))
    means = {
        name: round(mean(hop[0][name] for hop in hops), 2) for name in ("requests", "round trips", "megabytes received")
    }
    seconds = [min(once["seconds"] for once in hop) for hop in hops]
    return means | {"seconds": round(mean(seconds), 3), "most seconds": round(max(seconds), 3)}


async def fetch(url: str, entities: Sequence[str]) -> dict[str, Any]:
    """What one hop took a session that knows nothing, and a digest of its edges."""
    async with Session(url, cache=False, embedder="bm25") as session:
        graph = await session.graph()
        started = time.monotonic()
        neighbourhoods = await graph.neighbours(list(map(Iri, entities)), "in")
        seconds, usage = time.monotonic() - started, session.meter.usage()
    found = [
        (near.entity, near.cut, near.failed, [(edge.walked, edge.end) for edge in near.edges])
        for near in neighbourhoods
    ]
    return {
        "seconds": seconds,
        "requests": usage.requests,
        "round trips": usage.round_trips,
        "megabytes received": usage.bytes / 1e6,
        "edges": hashlib.sha256(repr(found).encode()).hexdigest(),
    }


if __name__ == "__main__":
    main()
