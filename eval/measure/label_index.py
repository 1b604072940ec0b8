"""The label index: what building and searching it cost, in time and memory, for a benchmark and for a million labels.

The real case are the names of entities and relations of CoDEx-L, embedded by all-MiniLM-L6-v2, on one thread: as many
as CoDEx-L has entities. Most of these have no label in the copy that can be had, so that aliases and names in other
languages make up the number. The large case are made-up unit vectors in heaps, added in batches of the size that an
embedder gives, in a process of its own; another one opens what it left, and searches. `recall` is the share of the ten
nearest of all that a search finds. Times are of the wall and of the processor: on a busy machine only the second tells
something.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import numpy as np

from eval.support.report import Report, options, quantiles, require
from fedkg.cache.memory import MemoryStore
from fedkg.core.terms import Iri, Term
from fedkg.embed import grouped_rows
from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.cosine import HalfMatrix, cosines
from fedkg.embed.grouped_rows import GroupedRows, group
from fedkg.embed.label_index import LabelIndex
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.minilm import minilm
from fedkg.embed.vector_index import VectorIndex

REAL, OTHER_LANGUAGES = "wikidata-codex-l.nt.gz", "wikidata-codex-labels-multilingual.nt.gz"
ENTITIES = 77_951
"""Those of all of CoDEx-L."""
NAME = re.compile(r'<([^>]+)> <http://www\.w3\.org/\S+#(?:label|altLabel)> ("(?:[^"\\]|\\.)*")')
ENTITY = re.compile(r"<http://www\.wikidata\.org/entity/Q\d+>")
SIZE, HEAPS, SPREAD = 384, 20_000, 0.6
BATCH = 4_096
QUERIES, NEAREST = 200, 10
TARGETS = {"search, milliseconds": 5, "resident megabytes": 300}


def main() -> None:
    """Measures both cases; with --build or --search it is the process that does so."""
    parser = options(__doc__ or "")
    parser.add_argument("--count", type=int, default=1_000_000, help="vectors of the large case")
    parser.add_argument("--labels", type=int, default=ENTITIES, help="names of the real case")
    parser.add_argument("--folder", type=Path, help="keep the index of the large case here, or use the one that is")
    parser.add_argument("--build", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--search", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.build or chosen.search:
        print(json.dumps((_built if chosen.build else _searched)(chosen.folder / "large.labels", chosen.count)))
        return
    require(chosen.data, REAL, OTHER_LANGUAGES)
    report = Report("label_index", write=chosen.write)
    report.add("targets", TARGETS)
    with tempfile.TemporaryDirectory() as own:
        folder = chosen.folder or Path(own)
        if not (folder / "large.labels").exists():
            report.add(f"{chosen.count:,} vectors, built", process("--build", folder, chosen.count))
        report.add(f"{chosen.count:,} vectors, searched", process("--search", folder, chosen.count))
        report.add("names of CoDEx-L", asyncio.run(real(chosen.data, Path(own) / "real", chosen.labels)))
    report.close()


def process(step: str, folder: Path, count: int) -> dict[str, Any]:
    """What a process of its own measures."""
    command = [sys.executable, __file__, step, "--folder", str(folder), "--count", str(count)]
    figures: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return figures


async def real(data: Path, folder: Path, most: int) -> dict[str, Any]:
    """The names of a public graph, embedded and kept; and the same again by the next session."""
    names, entities = named([data / REAL, data / OTHER_LANGUAGES])
    names = names[:most]
    similarity = LazySimilarity(minilm(), MemoryStore(), keep=1_000_000)
    texts = list(dict.fromkeys(name for _, name in names))
    started, used = time.perf_counter(), time.process_time()
    await similarity.halves(texts)
    embedding, embedding_used = time.perf_counter() - started, time.process_time() - used
    started, used = time.perf_counter(), time.process_time()
    for labels in by_entity(names):
        await LabelIndex(folder, "codex", similarity).add(labels)
    adding, adding_used = time.perf_counter() - started, time.process_time() - used
    started = time.perf_counter()
    index = LabelIndex(folder, "codex", similarity)
    opening = time.perf_counter() - started
    asked = ["city in Japan", "someone who writes music", "river", "where a person was born", "Star Wars film"]
    times = []
    for text in asked * 20:
        started = time.perf_counter()
        matches = await index.nearest(text, NEAREST)
        times.append(1_000 * (time.perf_counter() - started))
    share = await by_cells(similarity, texts, folder / "cells")
    similarity.close()
    return {
        "entities": entities,
        "names": len(names),
        "distinct texts": len(texts),
        "embedding": {"seconds": round(embedding, 1), "of the processor": round(embedding_used, 1)},
        "names a second of the processor": round(len(texts) / embedding_used),
        "adding": {"seconds": round(adding, 1), "of the processor": round(adding_used, 1)},
        "opening, milliseconds": round(1_000 * opening, 1),
        "search, milliseconds, the text embedded before": quantiles(times, 2),
        "files, megabytes": _megabytes(folder),
        "recall by cells, of which as small a part is looked at as of a million": share,
        "nearest": {asked[-1]: [match.label for match in matches]},
    }


async def by_cells(similarity: LazySimilarity, texts: Sequence[str], file: Path) -> float:
    """The recall of searches for labels in other words, of which as small a part is looked at as of a million."""
    rows = await similarity.halves(texts)
    asked = [f"something like {text}" for text in random.Random(0).sample(list(texts), min(len(texts), QUERIES))]
    shares, looked_at = [], len(texts) * grouped_rows.LOOKED_AT // 1_000_000
    with mock.patch.object(grouped_rows, "LOOKED_AT", looked_at):
        group(file, "minilm", None, texts, rows)
        index = GroupedRows(file, "minilm")
        for vector in await similarity.halves(asked):
            least = np.sort(cosines(vector, rows))[-NEAREST:][0] - 1e-6
            shares.append(sum(score >= least for _, score in index.search(vector, NEAREST)) / NEAREST)
    return round(fmean(shares), 3)


def named(files: Sequence[Path]) -> tuple[list[tuple[Term, str]], int]:
    """The names of a graph with their IRIs, and how many items it has, with a name or without."""
    names: dict[tuple[Term, str], None] = {}
    items: set[str] = set()
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                items.update(ENTITY.findall(line))
                if match := NAME.match(line):
                    names[Iri(match[1]), json.loads(match[2])] = None
    return list(names), len(items)


def by_entity(names: Sequence[tuple[Term, str]]) -> Iterator[dict[Term, str]]:
    """The names, of each entity one at a time."""
    turns: dict[Term, list[str]] = defaultdict(list)
    for term, name in names:
        turns[term].append(name)
    for turn in itertools.count():
        labels = {term: several[turn] for term, several in turns.items() if turn < len(several)}
        if not labels:
            return
        yield labels


def vectors(count: int, seed: int) -> Iterator[tuple[int, Matrix]]:
    """Unit vectors in heaps of about fifty, in batches, each with the number of its first."""
    centres = np.random.default_rng(0).normal(size=(HEAPS, SIZE)).astype(np.float32)
    for start in range(0, count, BATCH):
        drawn = np.random.default_rng([seed, start])
        size = min(BATCH, count - start)
        noise = drawn.standard_normal(size=(size, SIZE), dtype=np.float32)
        yield start, unit_rows(centres[drawn.integers(HEAPS, size=size)] + SPREAD * noise)


def _built(file: Path, count: int) -> dict[str, Any]:
    index = VectorIndex(file, "synthetic")
    times, used = [], []
    for start, batch in vectors(count, 1):
        keys = [
            f"http://www.wikidata.org/entity/Q{number} label {number}" for number in range(start, start + len(batch))
        ]
        begun, before = time.perf_counter(), time.process_time()
        index.add(keys, batch)
        times.append(time.perf_counter() - begun)
        used.append(time.process_time() - before)
    return {
        "seconds": round(sum(times), 1),
        "seconds of the processor": round(sum(used), 1),
        "vectors a second of the processor": round(count / sum(used)),
        "longest addition, seconds of the processor": round(max(used), 1),
        "resident megabytes at most": _status("VmHWM"),
        "files, megabytes": _megabytes(file.parent),
    }


def _searched(file: Path, count: int) -> dict[str, Any]:
    before = _status("VmRSS")
    started = time.perf_counter()
    index = VectorIndex(file, "synthetic")
    opening = time.perf_counter() - started
    _, queries = next(vectors(QUERIES, 2))
    times, used, hits, resident = [], [], [], []
    for query in queries:
        begun, cpu = time.perf_counter(), time.process_time()
        hits.append(index.search(query, NEAREST))
        times.append(1_000 * (time.perf_counter() - begun))
        used.append(1_000 * (time.process_time() - cpu))
        resident.append(_status("VmRSS"))
    return {
        "vectors": len(index),
        "opening, milliseconds": round(1_000 * opening, 1),
        "search, milliseconds": quantiles(times, 2),
        "search, milliseconds of the processor": quantiles(used, 2),
        "resident megabytes": {"before": before, "median": sorted(resident)[QUERIES // 2], "max": max(resident)},
        "recall": round(recall(count, queries, hits), 3),
    }


def recall(count: int, queries: Matrix, hits: list[list[tuple[str, float]]]) -> float:
    """The share of the nearest of all vectors that were found, over some of the queries."""
    asked = random.Random(0).sample(range(len(queries)), 25)
    best = {place: np.zeros(0, dtype=np.float32) for place in asked}
    for _, batch in vectors(count, 1):
        rows: HalfMatrix = batch.astype(np.float16)
        for place, scores in best.items():
            nearer = np.concatenate([scores, cosines(queries[place].astype(np.float16), rows)])
            best[place] = np.sort(nearer)[-NEAREST:]
    return fmean(sum(score >= scores[0] - 1e-6 for _, score in hits[place]) / NEAREST for place, scores in best.items())


def _status(name: str) -> int:
    """Megabytes of this process's memory, as the system counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) // 1024


def _megabytes(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.iterdir()) / 2**20, 1)


if __name__ == "__main__":
    main()
