"""How `local`, which has no language model, reads the shared sets, with and without the depth given.

The halves of a public set are those of its questions whose id has an even (tuning) or odd (test) SHA-256. What is tuned
is tuned on the tuning halves alone. Topics are the gold ones of the public sets, by name; those of our own natural
questions have to be linked. Without a depth the walk may go as deep as that of any question of a user (4).

    python -m eval.quality.local --limit 100            # questions of each tuning half
    python -m eval.quality.local --half test --write    # all of the test halves, kept in eval/results/
    python -m eval.quality.local --sets metaqa-1hop --model local:FOLDER --column trained --half test --write
"""

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval.support.report import FOLDER, Report, options, require
from eval.support.runs import timed
from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import runner
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord, WalkedEdge
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import KNOWING, mean, score
from fedkg.config.settings import SearchSettings, Settings

__all__ = ["HALVES", "SETS", "figures", "half_of", "table"]

NATURAL = ("natural-codex-m", "natural-biomed")
SETS = (
    "metaqa-1hop",
    "metaqa-2hop",
    "metaqa-3hop",
    "pathquestion-2h",
    "pathquestion-3h",
    "webqsp-fb15k237",
    *NATURAL,
)
HALVES = ("tuning", "test")
SEED = 0
"""Of the draw: sets are sorted by kinds of question, so the first of a half would be of few kinds."""
DEPTH = SearchSettings().depth


def half_of(identifier: str) -> str:
    """The half that a question of a public set belongs to, by its id."""
    return HALVES[hashlib.sha256(identifier.encode()).digest()[-1] % 2]


def figures(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The measures of some questions, as far as they apply."""
    scores = [score(record) for record in records]
    known = {name: [getattr(one, name) for one in scores if getattr(one, name) is not None] for name in KNOWING}
    kept = {name: mean(values) for name, values in known.items() if values}
    return {"questions": len(scores), "hits_at_1": mean(one.hits_at_1 for one in scores), **kept}


def table(columns: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The figures by set as Markdown: Hits@1; of natural questions the share of the answerable that is right."""
    sets = list(dict.fromkeys(name for by_set in columns.values() for name in by_set))
    lines = ["| set | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for name in sets:
        cells = [_cell(by_set.get(name)) for by_set in columns.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(measured: dict[str, Any] | None) -> str:
    if measured is None:
        return ""
    right = measured.get("answerable", measured["hits_at_1"])
    parts = [f"{right:.3f}", *(f"{name} {measured[name]:.3f}" for name in ("unmarked", "refused") if name in measured)]
    return f"{', '.join(parts if 'refused' in measured else parts[:1])} ({measured['questions']})"


def _definition(name: str, chosen: argparse.Namespace) -> Definition:
    definition = definitions.find(f"{name}-{chosen.half}" if name in NATURAL else name)
    return definition if chosen.depth_given else msgspec.structs.replace(definition, depth=DEPTH)


def _job(name: str, chosen: argparse.Namespace) -> Job:
    settings = Settings(
        model=chosen.model,
        embedder=chosen.embedder,
        replies=False,
        cache=bool(chosen.cache),
        cache_dir=str(chosen.cache or ""),
    )
    job = runner.prepared(settings, _definition(name, chosen), chosen.data, skip_bad=True, verify=False)
    questions = [question for question in job.questions if name in NATURAL or half_of(question.id) == chosen.half]
    return msgspec.structs.replace(job, questions=tuple(drawn(questions, chosen.limit, SEED)))


def _shown(question: BenchmarkQuestion, record: QuestionRecord) -> str:
    gold = ", ".join(item.label or item.key for item in question.answers[:3])
    given = ", ".join(answer.label or answer.key for answer in record.answers[:3])
    way = " ".join(map(_step, record.paths[0])) if record.paths else ""
    caveats = " ".join(map(str, record.caveats))
    return f"  {question.id} {question.question} | {gold} | {given or record.status} | {way} {caveats}"


def _step(edge: WalkedEdge) -> str:
    return f"{'→' if edge.direction == 'out' else '←'} {edge.relation}"


async def _records(name: str, chosen: argparse.Namespace) -> Sequence[QuestionRecord]:
    job = _job(name, chosen)
    records = await runner.run(job, InProcess())
    if chosen.wrong:
        asked = {question.id: question for question in job.questions}
        print(*(_shown(asked[one.id], one) for one in records if score(one).accuracy < 1), sep="\n")
    return records


def _kept(column: str, measured: dict[str, Any]) -> dict[str, Any]:
    """The columns that the result file has, with this one."""
    file = FOLDER / "results" / "local.json"
    before = json.loads(file.read_text())["figures"].get("columns", {}) if file.is_file() else {}
    return {**before, column: {**before.get(column, {}), **measured}}


def main() -> None:
    """Asks the questions of one half of each set."""
    parser = options(__doc__ or "")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, metavar="SET")
    parser.add_argument("--half", choices=HALVES, default="tuning")
    parser.add_argument("--limit", type=int, help="questions of each half, drawn by a fixed seed")
    parser.add_argument("--depth-given", action="store_true", help="the walk is as deep as the set's questions")
    parser.add_argument("--model", default="local")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--column", help="name of the column; else made from half, depth and model")
    parser.add_argument("--cache", type=Path, help="folder of a cache that stays, so that nothing is embedded twice")
    parser.add_argument("--wrong", action="store_true", help="print what is wrong; of a tuning half only")
    chosen = parser.parse_args()
    if chosen.wrong and chosen.half != "tuning":
        parser.error("the questions of a test half are not looked at")
    require(chosen.data, *(definitions.find(f"{name}-test" if name in NATURAL else name).graph for name in chosen.sets))
    report = Report("local", write=chosen.write)
    depth = "depth given" if chosen.depth_given else "no depth"
    column = chosen.column or f"{chosen.model}, {chosen.half} half, {depth}"
    measured = {}
    with timed():
        for name in chosen.sets:
            measured[name] = {**figures(asyncio.run(_records(name, chosen))), "seed": SEED}
            print(name, measured[name], flush=True)
    columns = _kept(column, measured)
    report.add("columns", columns)
    report.attach("md", table(columns))
    report.close()


if __name__ == "__main__":
    main()
