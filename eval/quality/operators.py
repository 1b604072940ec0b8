"""Our own questions for operators: made from templates, each gold answer checked by its SPARQL, and how they fare.

The questions lie beside their definitions, in `eval/benchmarks/operators-*.jsonl`; the halves share no topic. Gold is
what the engine finds with the query in the row, never what fedkg's operators compute; the SPARQL of an unanswerable
question finds what would answer it, which is nothing. Everything is asked as a user would: neither topics nor kind of
question nor depth are told.

    python -m eval.quality.operators              # checks, asks `local` and the gold reasoner, prints
    python -m eval.quality.operators --write      # and keeps figures and result files in eval/results/
    python -m eval.quality.operators --check      # finds all gold answers anew, asks nothing: half a minute
    python -m eval.quality.operators --generate   # writes the questions anew, from eval/plans/operators.toml
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
from pyoxigraph import Store

from eval.quality.natural import found, graph
from eval.support.operator_rows import HALVES, OperatorQuestion, made
from eval.support.operator_templates import Operator, plan
from eval.support.report import FOLDER, Report, options, require
from eval.support.runs import timed
from fedkg.bench.data import definitions
from fedkg.bench.report import markdown
from fedkg.bench.run import results, runner
from fedkg.bench.run.gold import GoldExecutor
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import Score, mean, score
from fedkg.config.settings import Settings

__all__ = ["GRAPHS", "MODELS", "before", "faults", "figures", "questions"]

GRAPHS = ("codex-m", "biomed")
MODELS = ("local", "guide:gold")


def file_of(name: str, half: str) -> Path:
    """The questions of one half over one graph, as JSON Lines."""
    return FOLDER / "benchmarks" / f"operators-{name}-{half}.jsonl"


def questions(name: str, half: str) -> list[OperatorQuestion]:
    """The questions of one half over one graph."""
    return [msgspec.json.decode(line, type=OperatorQuestion) for line in file_of(name, half).read_bytes().splitlines()]


def faults(store: Store, asked: Sequence[OperatorQuestion]) -> Iterator[str]:
    """What is wrong with the gold answers."""
    for question in asked:
        if bool(question.unanswerable) == bool(question.answers):
            yield f"{question.id}: it has answers, or is unanswerable"
        if (there := found(store, question.sparql)) != question.gold:
            yield f"{question.id}: the graph has {sorted(there)[:5]}, the file {sorted(question.gold)[:5]}"


def generate(name: str, store: Store) -> None:
    """Writes the questions over one graph, and prints the checksums that their definitions need."""
    rows = list(made(plan(), name, store))
    for half in HALVES:
        lines = [msgspec.json.encode(row) for row in rows if row.half == half]
        file_of(name, half).write_bytes(b"\n".join(lines) + b"\n")
        print(file_of(name, half).name, len(lines), hashlib.sha256(file_of(name, half).read_bytes()).hexdigest())


def figures(records: Sequence[QuestionRecord], shapes: Mapping[str, str]) -> dict[str, Any]:
    """How the questions of each operator are answered, and all together; `shapes` is the operator of each, by id."""
    groups: dict[str, list[Score]] = defaultdict(list)
    for record in records:
        for group in ("all", "unanswerable" if record.unanswerable else shapes[record.id]):
            groups[group].append(score(record))
    return {group: _means(groups[group]) for group in sorted(groups, key=_place)}


def _place(group: str) -> int:
    return ("all", *get_args(Operator), "unanswerable").index(group)


def _means(scores: Sequence[Score]) -> dict[str, Any]:
    """`wrong unmarked` is the share of all questions with a wrong answer that has no caveat."""
    right = [value for measured in scores if (value := measured.answerable) is not None]
    kept = [value for measured in scores if (value := measured.refused) is not None]
    answered = [measured for measured in scores if measured.answerable is not None]
    return {
        "questions": len(scores),
        **({"hits@1": mean(right), "f1": mean(measured.f1 for measured in answered)} if right else {}),
        **({"exact": mean(measured.exact for measured in answered)} if right else {}),
        "wrong unmarked": mean(0.0 if measured.unmarked is None else 1 - measured.unmarked for measured in scores),
        **({"refused": mean(kept)} if kept else {}),
    }


def rows(parts: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line for each operator and each who answers."""
    shown = ("questions", "hits@1", "f1", "exact", "wrong unmarked", "refused")
    return [
        {"model": model, "operator": group, **{name: measured.get(name, "") for name in shown}}
        for model, groups in parts.items()
        for group, measured in groups.items()
    ]


async def _records(model: str, name: str, chosen: argparse.Namespace) -> list[QuestionRecord]:
    """The records of the chosen half over that graph, and their result file."""
    settings = Settings(model=model, method=chosen.method, embedder=chosen.embedder, cache=False, replies=False)
    definition = definitions.find(f"operators-{name}-{chosen.half}")
    out = chosen.out / model.replace(":", "-") / f"{definition.name}.jsonl"
    task = runner.prepared(settings, definition, chosen.data, limit=chosen.limit or None)
    with GoldExecutor(chosen.data) as executor:
        records = await runner.run(task, executor, out)
    if chosen.write:
        results.save(results.read(out), FOLDER / "results" / "operators" / model.replace(":", "-") / f"{out.name}.gz")
    return list(records)


def _asked(model: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """The figures of one model over both graphs."""
    records = [record for name in chosen.graphs for record in asyncio.run(_records(model, name, chosen))]
    return figures(records, {row.id: row.shape for name in GRAPHS for row in questions(name, chosen.half)})


def _checked(chosen: argparse.Namespace) -> list[str]:
    """All faults, after the questions were made anew where that is wanted."""
    wrong = []
    for name in GRAPHS:
        store = graph(name, chosen.data)
        if chosen.generate:
            generate(name, store)
        wrong += [fault for half in HALVES for fault in faults(store, questions(name, half))]
    return wrong


def main() -> None:
    """Makes or checks the questions of both halves, and asks those of one."""
    parser = options(__doc__ or "")
    parser.add_argument("--check", action="store_true", help="ask nothing")
    parser.add_argument("--generate", action="store_true", help="write the questions anew, and ask nothing")
    parser.add_argument("--half", choices=HALVES, default="test")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS), choices=GRAPHS)
    parser.add_argument("--limit", type=int, default=0, help="questions over each graph, 0 for all")
    parser.add_argument("--method", default="fidelis")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--out", type=Path, default=Path("build/operators"), help="folder of the unfinished results")
    chosen = parser.parse_args()
    require(chosen.data, *(definitions.find(f"operators-{name}-test").graph for name in GRAPHS))
    if wrong := _checked(chosen):
        sys.exit("\n".join([*wrong, f"{len(wrong)} wrong gold answers"]))
    if not (chosen.check or chosen.generate):
        _report(chosen)


def _report(chosen: argparse.Namespace) -> None:
    report = Report("operators", write=chosen.write)
    report.add("asked", {"half": chosen.half, "method": chosen.method})
    with timed():
        for model in chosen.models:
            report.add(model, _asked(model, chosen))
    parts = before(chosen.half, chosen.models) | {model: report.figures[model] for model in chosen.models}
    report.figures |= {model: parts[model] for model in MODELS if model in parts}
    report.attach("md", markdown.records(rows({model: parts[model] for model in MODELS if model in parts})))
    report.close()


def before(half: str, asked: Collection[str], file: Path = FOLDER / "results" / "operators.json") -> dict[str, Any]:
    """The figures of the result file for models that are not asked, where it is of the same half."""
    figures = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.is_file() else {}
    same = figures.get("asked", {}).get("half") == half
    return {model: figures[model] for model in MODELS if same and model in figures and model not in asked}


if __name__ == "__main__":
    main()
