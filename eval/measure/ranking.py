"""USearch beside numpy: whether candidates stand in the same order, and what comparing costs.

The steps are those of the coverage benchmark (`eval/quality/coverage.py`): walks that are led along the gold steps of
each set. Each step is ranked by the product, which compares half-precision vectors by USearch, and again by numpy in
float32: over the same half-precision vectors, and over the vectors as the model makes them. Two candidates whose
scores differ by less than 0.000001 in both are a tie, and may stand either way.

The costs are those of the comparing alone, over vectors as a session keeps them in memory: of a few candidates, of a
page, and of a hub.
"""

import asyncio
import itertools
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from eval.quality.coverage import LIMIT, Cold, Variant, WalkStep, context, led, queries, ranked
from eval.support.report import Report, options, require
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import ANSWERABLE, GoldCase, gold_cases
from fedkg.bench.data.gold_chains import SETS
from fedkg.cache.memory import MemoryStore
from fedkg.core.path import Step
from fedkg.core.terms import DirectedRelation, Term, relation_text
from fedkg.embed.base import Embedder, Matrix, Similarity, unit_rows
from fedkg.embed.cosine import cosines
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.minilm import minilm
from fedkg.graph.explored import ExploredGraph
from fedkg.session import Session

VARIANTS = (
    Variant("path-rag", "groups", query="content words"),
    Variant("path-rag", "groups", ahead=True),
    Variant("path-rag", "pairs"),
    Variant("vanilla", "pairs"),
    Variant("kaping", "pairs"),
)
OFFERED = 10
TIE = 1e-6
SHOWN = 20
"""Differences of a set that are written out; all are counted."""
DIMENSIONS = 384
SIZES = (5, 50, 500, 5_000, 100_000)

Key = tuple[int, DirectedRelation, tuple[Term, ...]]
"""What tells one candidate of a step from the others: its path, its relation and its tails."""
Names = Callable[[Key], str]


class Read:
    """An embedder that reads each text once, for all similarities that share it."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._rows: dict[str, Matrix] = {}

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32."""
        if fresh := [text for text in dict.fromkeys(texts) if text not in self._rows]:
            self._rows |= zip(fresh, self._embedder.embed(fresh), strict=True)
        return np.stack([self._rows[text] for text in texts])


class Numpy:
    """A Similarity by numpy in float32; `half` rounds the vectors as the product keeps them."""

    unrelated, weak = LazySimilarity.unrelated, LazySimilarity.weak
    embedded = 0

    def __init__(self, embedder: Embedder, *, half: bool) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._half = half

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts),)."""
        return np.asarray((await self.table([query], texts))[0], dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Shape (len(queries), len(texts))."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), dtype=np.float32)
        rows = self._embedder.embed([*queries, *texts])
        matrix = unit_rows(rows.astype(np.float16).astype(np.float32)) if self._half else rows
        return np.asarray(matrix[: len(queries)] @ matrix[len(queries) :].T, dtype=np.float32)


class Difference(NamedTuple):
    """The first place at which two rankings differ by more than a tie, with what stands there and its two scores."""

    question: str
    retriever: str
    place: int
    usearch: tuple[str, float, float]
    numpy: tuple[str, float, float]


class Tally:
    """What two ways of comparing have in common over the steps of a set."""

    def __init__(self) -> None:
        self.rankings = 0
        self.ties = 0
        self.other_page = 0
        self.largest = 0.0
        self.differences: list[Difference] = []

    def add(self, question: str, variant: Variant, ours: Sequence[Step], theirs: Sequence[Step], names: Names) -> None:
        """Counts one step, ranked by USearch (`ours`) and by numpy (`theirs`)."""
        mine, other = ({_key(step): step.score for step in steps} for steps in (ours, theirs))
        self.rankings += 1
        self.largest = max([self.largest, *(abs(mine[key] - other[key]) for key in mine.keys() & other.keys())])
        self.other_page += set(list(mine)[:OFFERED]) != set(list(other)[:OFFERED])
        place = next((place for place, pair in enumerate(zip(mine, other, strict=True)) if len(set(pair)) > 1), None)
        if place is None:
            return
        keys = list(mine)[place], list(other)[place]
        if all(abs(scores.get(keys[0], 0) - scores.get(keys[1], 0)) < TIE for scores in (mine, other)):
            self.ties += 1
            return
        shown = [(names(key), round(mine.get(key, 0), 7), round(other.get(key, 0), 7)) for key in keys]
        self.differences.append(Difference(question, variant.name, place + 1, shown[0], shown[1]))

    def figures(self) -> dict[str, Any]:
        """The counts, and the first differences written out."""
        return {
            "rankings": self.rankings,
            "in another order, ties aside": len(self.differences),
            "in another order by ties": self.ties,
            f"another first {OFFERED}": self.other_page,
            "largest difference of a score": float(f"{self.largest:.2g}"),
            "differences": [difference._asdict() for difference in self.differences[:SHOWN]],
        }


def main() -> None:
    """Compares the orders on every set, then the costs."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of each set, drawn by a fixed seed")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS), help="sets to compare")
    parser.add_argument(
        "--way", choices=list(WAYS), help="compare by this way and say what it took, as its own process"
    )
    parser.add_argument("--size", type=int, help="so many vectors")
    chosen = parser.parse_args()
    if chosen.way:
        print(*_cost(WAYS[chosen.way], chosen.size))
        return
    require(
        chosen.data,
        ANSWERABLE,
        *(name for key in SETS for name in (f"{SETS[key].questions}.jsonl.gz", SETS[key].graph)),
    )
    report = Report("ranking", write=chosen.write)
    report.add("costs", {f"{size:,} vectors": {way: cost(way, size) for way in WAYS} for size in SIZES})
    embedder = Read(minilm())
    for name in chosen.sets:
        questions = SETS[name]
        facts = Facts.read(chosen.data / questions.graph, questions.relations)
        cases = gold_cases(chosen.data, questions, facts, chosen.limit)
        endpoint = f"{questions.profile}@{chosen.data / questions.graph}"
        report.add(name, asyncio.run(compared(endpoint, cases, facts, embedder)))
    report.close()


async def compared(endpoint: str, cases: Sequence[GoldCase], facts: Facts, embedder: Embedder) -> dict[str, Any]:
    """Both comparisons over all steps of a set, for each variant."""
    usearch = LazySimilarity(embedder, MemoryStore(), keep=1_000_000)
    numpy = {half: Numpy(embedder, half=half) for half in (True, False)}
    tallies = {half: Tally() for half in numpy}
    candidates = 0
    async with Session(endpoint, similarity=usearch, cache=False) as session:
        for case in cases:
            explored = ExploredGraph(await session.graph())
            texts = await queries(case, explored)
            walks: Mapping[str, list[WalkStep]] = {
                form: await led(case, facts, explored, form) for form in ("groups", "pairs")
            }
            for variant in VARIANTS:
                for step in walks[variant.form]:
                    ours = await _ranked(variant, step, explored, usearch, texts)
                    candidates += len(ours)
                    names = await _names(ours, explored)
                    for half, similarity in numpy.items():
                        theirs = await _ranked(variant, step, explored, similarity, texts)
                        tallies[half].add(case.question, variant, ours, theirs, names)
    return {
        "questions": len(cases),
        "candidates": candidates,
        "beside float32 over the half-precision vectors": tallies[True].figures(),
        "beside float32 over the model's own vectors": tallies[False].figures(),
    }


async def _ranked(
    variant: Variant, step: WalkStep, explored: ExploredGraph, similarity: Similarity, texts: Mapping[str, str]
) -> tuple[Step, ...]:
    ranking = await ranked(variant, step, OFFERED, context(variant, explored, Cold(similarity), texts))
    return ranking.candidates


async def _names(steps: Sequence[Step], explored: ExploredGraph) -> Names:
    """What the differences show of a step."""
    terms = itertools.chain.from_iterable((step.relation.relation, *step.tails[:1]) for step in steps)
    labels = await explored.graph.labels(dict.fromkeys(terms))

    def name(key: Key) -> str:
        _, relation, tails = key
        return f"{relation_text(relation, labels)} {labels.get(tails[0], '')} ({len(tails)})"

    return name


def _key(step: Step) -> Key:
    return step.path_index, step.relation, step.tails


def cost(way: str, size: int) -> dict[str, float]:
    """Milliseconds of processor time of comparing one vector with so many, and the megabytes that it needs."""
    command = [sys.executable, __file__, "--way", way, "--size", str(size)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept, peak, milliseconds = map(float, output.split())
    return {"milliseconds": milliseconds, "megabytes kept": kept, "megabytes on top": peak}


def _cost(way: Callable[[Sequence[Any]], Matrix], size: int) -> tuple[float, float, float]:
    """Megabytes of the vectors as they are kept, megabytes on top of them while comparing, milliseconds."""
    vectors = unit_rows(np.random.default_rng(0).normal(size=(size + 1, DIMENSIONS)).astype(np.float32))
    dtype = np.float16 if way is by_usearch or way is by_numpy_from_halves else np.float32
    rows: list[Any] = [row.tobytes() if dtype is np.float16 else row.copy() for row in vectors.astype(dtype)]
    del vectors
    way(rows[:2])  # what is loaded at the first use is no cost of the second
    repeats = 5 if size > 10_000 else 500
    started = time.process_time()
    for _ in range(repeats):
        way(rows)
    seconds = (time.process_time() - started) / repeats
    tracemalloc.start()
    way(rows)
    peak = tracemalloc.get_traced_memory()[1]
    kept = size * DIMENSIONS * np.dtype(dtype).itemsize
    return round(kept / 2**20, 2), round(peak / 2**20, 2), round(1_000 * seconds, 3)


def by_usearch(rows: Sequence[bytes]) -> Matrix:
    """As `LazySimilarity` does: vectors kept in half precision, compared as they are."""
    matrix = np.frombuffer(b"".join(rows), dtype=np.float16).reshape(len(rows), -1)
    return cosines(matrix[0], matrix[1:])


def by_numpy_from_halves(rows: Sequence[bytes]) -> Matrix:
    """Vectors kept in half precision, and widened for numpy."""
    matrix = np.frombuffer(b"".join(rows), dtype=np.float16).reshape(len(rows), -1).astype(np.float32)
    return np.asarray(unit_rows(matrix)[1:] @ matrix[0], dtype=np.float32)


def by_numpy(rows: Sequence[Matrix]) -> Matrix:
    """Vectors kept in single precision, twice the memory, multiplied by numpy: what fedkg did before."""
    matrix = np.stack(rows)
    return np.asarray(matrix[1:] @ matrix[0], dtype=np.float32)


WAYS: dict[str, Callable[[Sequence[Any]], Matrix]] = {
    "usearch": by_usearch,
    "numpy, kept in float16": by_numpy_from_halves,
    "numpy, kept in float32": by_numpy,
}


if __name__ == "__main__":
    main()
