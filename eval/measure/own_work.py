"""What a cold question of three hops costs our own process, against an earlier state of the project.

Questions of MetaQA with three hops, from their topics, the model `local`, Oxigraph's server on loopback. Each question
has an empty cache and so embeds its labels anew, in a process that has asked one before: that first one loads what is
needed, and stands by itself. Both states take turns in processes of their own. `processor` counts all threads; waiting
is none of it. `auto` is the embedder as it is shipped, `bm25` embeds nothing. Where the two states answer otherwise
they have walked otherwise: `alike` are the figures of the questions with the same answers alone.

    git worktree add --detach BEFORE COMMIT
    python -m eval.measure.own_work --before BEFORE --write
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from eval.support.engines import oxigraph
from eval.support.report import Report, options, require
from fedkg.bench.data import loaders
from fedkg.bench.data.questions import drawn

GRAPH, QUESTIONS = "metaqa.nt.gz", "metaqa-3hop-test.jsonl.gz"
EMBEDDERS = ("auto", "bm25")
ASKED, ROUNDS = 12, 5
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "eval" / "support" / "cold_questions.py"
Round = Sequence[dict[str, Any]]
"""What each question took, in one process."""


def main() -> None:
    """Asks both states in turns."""
    parser = options(__doc__ or "")
    parser.add_argument("--before", type=Path, required=True, help="folder of the earlier state")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions, and one before them")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    require(chosen.data, GRAPH, QUESTIONS)
    report = Report("own_work", write=chosen.write)
    sample = drawn(loaders.questions(chosen.data / QUESTIONS), chosen.limit + 1, 0)
    tasks = [(each.question, each.topic_entities[0].iri) for each in sample]
    states = {"before": chosen.before.resolve(), "now": ROOT}
    report.add("states", {name: commit(folder) for name, folder in states.items()})
    with oxigraph([chosen.data / GRAPH]) as url, tempfile.TemporaryDirectory() as place:
        file = Path(place) / "tasks.json"
        file.write_text(json.dumps(tasks), encoding="utf-8")
        for embedder in EMBEDDERS:
            rounds: dict[str, list[Round]] = {name: [] for name in states}
            for _ in range(chosen.rounds):
                for name, folder in states.items():
                    rounds[name].append(asked(folder, url, embedder, file))
            alike = same_answers(*rounds.values())
            every = {name: figures(each, range(len(tasks))) for name, each in rounds.items()}
            report.add(embedder, {**every, "alike": {name: figures(each, alike) for name, each in rounds.items()}})
    report.close()


def same_answers(*states: Sequence[Round]) -> list[int]:
    """The places of the questions that all states answer alike, and of the first, which loads what is needed."""
    first = [[question["answers"] for question in rounds[0]] for rounds in states]
    return [
        place
        for place, answers in enumerate(zip(*first, strict=True))
        if not place or answers.count(answers[0]) == len(answers)
    ]


def commit(folder: Path) -> str:
    """The commit of that folder."""
    command = ["git", "-C", str(folder), "log", "-1", "--format=%h %cs"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def asked(folder: Path, url: str, embedder: str, file: Path) -> Round:
    """One process of that state: what it took for each question."""
    command = [sys.executable, str(PROGRAM), url, embedder, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=file.parent)
    read: Round = json.loads(done.stdout)
    return read


def figures(rounds: Sequence[Round], places: Sequence[int]) -> dict[str, Any]:
    """Of each question the least seconds over the rounds, as other work on the machine only adds; their median."""
    every = list(zip(*rounds, strict=True))
    by_question = [every[place] for place in places]
    first, *others = [min(one["processor"] for one in question) for question in by_question]
    clock = [min(one["clock"] for one in question) for question in by_question[1:]]
    return {
        "questions": len(others),
        "rounds": len(rounds),
        "processor, median": round(median(others), 3),
        "processor, most": round(max(others), 3),
        "clock, median": round(median(clock), 3),
        "processor, first question": round(first, 2),
        "requests, median": median(question[0]["requests"] for question in by_question[1:]),
    }


if __name__ == "__main__":
    main()
