"""Whether the exported embedder answers as the original does: MiniLM in onnxruntime against sentence-transformers.

The model `local` over all sets that it answers, 100 questions each; of every question the answers are compared. What is
measured is kept set by set. Needs the extra sentence-transformers and the weights.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

from eval.support.report import Report, options
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import read
from fedkg.bench.scoring.scores import score
from fedkg.embed.minilm import packaged_weights

SETS = (
    "metaqa-1hop",
    "metaqa-2hop",
    "metaqa-3hop",
    "pathquestion-2h",
    "pathquestion-3h",
    "pql-2h",
    "pql-3h",
    "webqsp-fb15k237",
    "cwq-fb15k237",
    "natural-codex-m-test",
    "natural-biomed-test",
)
ASKED = 100


def main() -> None:
    """Asks all sets twice and compares."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS, help="which sets")
    chosen = parser.parse_args()
    report = Report("exported", write=chosen.write)
    report.add("questions", f"{chosen.limit} of each set, seed 0, model local, topics as the set gives them")
    for name in chosen.sets:
        with tempfile.TemporaryDirectory() as folder:
            exported = answers(name, "minilm", chosen, Path(folder))
            original = answers(name, f"st:{packaged_weights()}", chosen, Path(folder))
        report.add(name, compared(exported, original))
        report.close()


def answers(name: str, embedder: str, chosen: argparse.Namespace, folder: Path) -> dict[str, QuestionRecord]:
    """The records of the questions by their ids; each embedder has a cache of its own."""
    out = folder / embedder.partition(":")[0]
    command = [sys.executable, "-m", "fedkg", "eval", "run", name, "--data", chosen.data, "--limit", chosen.limit]
    command += ["--embedder", embedder, "--out", out, "--cache-dir", out / "cache", "--model", "local"]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    [file] = out.glob("*.jsonl")
    return {record.id: record for record in read(file).records}


def compared(exported: dict[str, QuestionRecord], original: dict[str, QuestionRecord]) -> dict[str, Any]:
    """Hits@1 of both, and the questions whose answers differ, in what they are or in their order."""
    changed = [name for name, record in exported.items() if keys(record) != keys(original[name])]
    figures = {"exported": hits(exported), "original": hits(original)}
    return {"questions": len(exported), "answers that differ": changed, "Hits@1": figures}


def keys(record: QuestionRecord) -> list[str]:
    """The answers, in their order; scores differ by a rounding."""
    return [answer.key for answer in record.answers]


def hits(records: dict[str, QuestionRecord]) -> float:
    """The share of questions whose first answer is a gold one."""
    return round(fmean(score(record).hits_at_1 for record in records.values()), 4)


if __name__ == "__main__":
    main()
