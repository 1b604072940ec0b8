"""Our own questions for operators: made from templates, each gold answer checked by its SPARQL, and how they fare.

The questions lie beside their definitions, in `eval/benchmarks/operators-*.jsonl`; the halves share no topic. Gold is
what the engine finds with the query in the row, never what fedkg's operators compute; the SPARQL of an unanswerable
question finds what would answer it, which is nothing. Everything is asked as a user would: neither topics nor kind of
question nor depth are told.

    python -m eval.quality.operators --check      # finds all gold answers anew: half a minute
    python -m eval.quality.operators --generate   # writes the questions anew, from eval/plans/operators.toml
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from pyoxigraph import Store

from eval.quality.natural import found, graph
from eval.support.operator_rows import HALVES, OperatorQuestion, made
from eval.support.operator_templates import plan
from eval.support.report import FOLDER, options, require
from fedkg.bench.data import definitions

__all__ = ["GRAPHS", "faults", "questions"]

GRAPHS = ("codex-m", "biomed")


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


def main() -> None:
    """Makes or checks the questions."""
    parser = options(__doc__ or "")
    parser.add_argument("--check", action="store_true", help="ask nothing")
    parser.add_argument("--generate", action="store_true", help="write the questions anew")
    chosen = parser.parse_args()
    require(chosen.data, *(definitions.find(f"natural-{name}-test").graph for name in GRAPHS))
    wrong = []
    for name in GRAPHS:
        store = graph(name, chosen.data)
        if chosen.generate:
            generate(name, store)
        wrong += [fault for half in HALVES for fault in faults(store, questions(name, half))]
    print(*wrong, f"{len(wrong)} wrong gold answers", sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
