"""What retrieval and search let any model find: the answers of one that takes the gold step whenever it is offered.

FiDeLiS with default settings is asked a sample of each set (seed 0; `--limit 0` asks all). The graph is in process and
MiniLM ranks. CWQ's conditions are its checks where the graph has them; the questions whose conditions it has all are
asked by themselves, too. `found` is the share of questions of which an answer is found. `eval/quality/methods.py` has
Hits@1 of the other methods. Where only some sets are asked (`--sets`) the result file keeps its other rows.

A set may ask for facts that its graph lacks: of MetaQA's questions those without a gold path (`proven` is the share of
the others, `found of these` is what is found of them). Some of their topics stand in no fact at all (`unknown topics`).
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.support.gold import GoldBenchmark, present, records, scores
from eval.support.report import FOLDER, Report, options
from fedkg.bench.data import definitions
from fedkg.bench.report import markdown
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import mean, score
from fedkg.session import Session

TARGETS = {"pathquestion-2h": 0.99, "pathquestion-3h": 0.97, "metaqa-2hop": 0.97, "metaqa-3hop": 0.97}
SETS = (*TARGETS, "webqsp-fb15k237", "cwq-fb15k237", "qald10-codex")
SUPPORTED = ", all conditions in the graph"
ASKED = 300


def main() -> None:
    """Asks all sets."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set, 0 for all")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS, help="sets to ask")
    chosen = parser.parse_args()
    present(chosen.data, chosen.sets)
    report = Report("bounds", write=chosen.write)
    for name, measured in _before(chosen.sets).items():
        report.figures[name] = measured
    with Session("none", cache=False, embedder="minilm") as session:
        for name in chosen.sets:
            asked = {name: GoldBenchmark.load(name, chosen.data, chosen.limit or None)}
            if supported := with_conditions(name, chosen.data):
                asked[f"{name}{SUPPORTED}"] = supported
            for part, benchmark in asked.items():
                report.add(part, figures(benchmark, asyncio.run(records(benchmark, session.similarity))))
    report.figures = {name: report.figures[name] for name in sorted(report.figures, key=_place)}
    report.attach("md", markdown.records(rows(report.figures)))
    report.add("targets", TARGETS)
    report.close()


def _before(asked: Collection[str], file: Path = FOLDER / "results" / "bounds.json") -> dict[str, Any]:
    """The figures of the result file for the sets that are not asked: asking some anew leaves the others."""
    figures = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.is_file() else {}
    return {name: measured for name, measured in figures.items() if _set(name) in set(SETS) - set(asked)}


def _set(name: str) -> str:
    """The set that the figures of this name are of."""
    return name.removesuffix(SUPPORTED)


def _place(name: str) -> tuple[int, str]:
    return SETS.index(_set(name)), name


def with_conditions(name: str, data: Path) -> GoldBenchmark | None:
    """All questions of the set whose conditions all stand in the graph; None where the set does not say of any."""
    if not definitions.find(name).conditions:
        return None
    benchmark = GoldBenchmark.load(name, data)
    return benchmark._replace(questions=[question for question in benchmark.questions if question.supported])


def figures(benchmark: GoldBenchmark, walked: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The scores, and how many of the questions could have been answered."""
    proven = [record for record in walked if benchmark.chains[record.id].proven]
    return {
        "questions": len(walked),
        **scores(walked),
        "proven": round(len(proven) / len(walked), 4),
        "found of these": mean(score(record).hit for record in proven),
        "unknown topics": sum(record.error.startswith("TopicError") for record in walked),
        "calls": mean(record.usage.model_calls for record in walked),
        "tokens": round(mean(record.usage.tokens_in + record.usage.tokens_out for record in walked)),
        "missed": [record.id for record in proven if not score(record).hit],
    }


def rows(sets: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each set."""
    shown = ("questions", "found", "proven", "found of these", "unknown topics", "hits@1", "f1", "calls", "tokens")
    return [
        {"set": name, **{part: measured[part] for part in shown}, "to reach": TARGETS.get(name, "")}
        for name, measured in sets.items()
    ]


if __name__ == "__main__":
    main()
