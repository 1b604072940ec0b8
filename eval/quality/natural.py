"""Our own natural questions: each gold answer checked by its SPARQL, and how one method reads those of the test half.

The questions lie beside their definitions, in `eval/benchmarks/natural-*.jsonl`; the halves share no topic entity. In
the tuning halves those from number 201 on were written later by others, who did not know how a question is read. The
SPARQL of an unanswerable question finds what would answer it, which is nothing. Everything is asked as a user would:
neither topics nor kind of question nor depth are told.

    python -m eval.quality.natural            # checks, asks, prints
    python -m eval.quality.natural --write    # and keeps figures and result files in eval/results/
    python -m eval.quality.natural --check    # checks only: half a minute
"""

import argparse
import asyncio
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pyoxigraph import Literal, QueryBoolean, RdfFormat, Store

from eval.support.report import FOLDER, Report, options, require
from eval.support.runs import timed
from fedkg.bench.data import definitions
from fedkg.bench.data.formats import Entity
from fedkg.bench.data.questions import Missing
from fedkg.bench.run import results, runner
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import KNOWING, Score, mean, score
from fedkg.config.settings import Settings
from fedkg.core.question import Kind

__all__ = ["GRAPHS", "HALVES", "NaturalQuestion", "faults", "figures", "found", "graph", "questions"]

GRAPHS = ("codex-m", "biomed")
HALVES = ("tuning", "test")


class NaturalQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of ours: as any set's, and its shape, its half, and the query that finds the answers."""

    id: str
    question: str
    kind: Kind
    shape: str
    half: str
    topics: tuple[Entity, ...]
    answers: tuple[Entity | bool, ...]
    sparql: str
    hops: int = 0
    unanswerable: Missing = ""

    @property
    def gold(self) -> set[str]:
        """The answers: IRIs, values, or the verdict."""
        return {str(answer) if isinstance(answer, bool) else str(answer.iri or answer.value) for answer in self.answers}


def questions(name: str, half: str) -> list[NaturalQuestion]:
    """The questions of one half over one graph."""
    file = FOLDER / "benchmarks" / f"natural-{name}-{half}.jsonl"
    return [msgspec.json.decode(line, type=NaturalQuestion) for line in file.read_bytes().splitlines()]


def graph(name: str, data: Path) -> Store:
    """That graph, in memory."""
    store = Store()
    packed = (data / definitions.find(f"natural-{name}-test").graph).read_bytes()
    store.bulk_load(gzip.decompress(packed), format=RdfFormat.N_TRIPLES)
    return store


def found(store: Store, sparql: str) -> set[str]:
    """What the query finds: IRIs and values, or the verdict."""
    result = store.query(sparql)
    if isinstance(result, QueryBoolean):
        return {str(bool(result))}
    return {term.value if isinstance(term, Literal) else str(term.value) for term in (row["x"] for row in result)}


def faults(store: Store, asked: Sequence[NaturalQuestion]) -> Iterator[str]:
    """What is wrong with the gold answers."""
    for question in asked:
        if bool(question.unanswerable) == bool(question.answers):
            yield f"{question.id}: it has answers, or is unanswerable"
        if (there := found(store, question.sparql)) != question.gold:
            yield f"{question.id}: the graph has {sorted(there)[:5]}, the file {sorted(question.gold)[:5]}"


def figures(records: Sequence[QuestionRecord], shapes: dict[str, str]) -> dict[str, Any]:
    """The three figures over all questions, over those with one shape, and over those where the graph lacks the same.

    `shapes` is the shape of each question, by id.
    """
    groups: dict[str, list[Score]] = defaultdict(list)
    for record in records:
        for group in ("all", f"shape {shapes[record.id]}", f"lacking {record.unanswerable or 'nothing'}"):
            groups[group].append(score(record))
    return {group: _means(groups[group]) for group in sorted(groups, key=lambda group: (group != "all", group))}


def _means(scores: Sequence[Score]) -> dict[str, Any]:
    known = {name: [getattr(one, name) for one in scores if getattr(one, name) is not None] for name in KNOWING}
    return {"questions": len(scores)} | {name: mean(values) for name, values in known.items() if values}


async def _records(name: str, chosen: argparse.Namespace) -> list[QuestionRecord]:
    """The records of the chosen half over that graph, and their result file."""
    settings = Settings(model=chosen.model, method=chosen.method, embedder=chosen.embedder, cache=False, replies=False)
    definition = definitions.find(f"natural-{name}-{chosen.half}")
    out = chosen.out / f"{definition.name}.jsonl"
    records = await runner.run(runner.prepared(settings, definition, chosen.data), InProcess(), out)
    if chosen.write:
        results.save(results.read(out), FOLDER / "results" / "natural" / f"{out.name}.gz")
    return list(records)


def _checked(name: str, chosen: argparse.Namespace) -> list[str]:
    store = graph(name, chosen.data)
    return [fault for half in HALVES for fault in faults(store, questions(name, half))]


def main() -> None:
    """Checks the questions of both halves and asks those of one."""
    parser = options(__doc__ or "")
    parser.add_argument("--check", action="store_true", help="ask nothing")
    parser.add_argument("--half", choices=HALVES, default="test")
    parser.add_argument("--model", default="local")
    parser.add_argument("--method", default="fidelis")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--out", type=Path, default=Path("build/natural"), help="folder of the unfinished results")
    chosen = parser.parse_args()
    require(chosen.data, *(definitions.find(f"natural-{name}-test").graph for name in GRAPHS))
    wrong = [fault for name in GRAPHS for fault in _checked(name, chosen)]
    print(*wrong, f"{len(wrong)} wrong gold answers", sep="\n")
    if wrong or chosen.check:
        sys.exit(1 if wrong else 0)
    report = Report("natural", write=chosen.write)
    with timed():
        records = [record for name in GRAPHS for record in asyncio.run(_records(name, chosen))]
    shapes = {question.id: question.shape for name in GRAPHS for question in questions(name, chosen.half)}
    report.add("asked", {"half": chosen.half, "method": chosen.method, "model": chosen.model})
    report.add("figures", figures(records, shapes))
    report.close()


if __name__ == "__main__":
    main()
