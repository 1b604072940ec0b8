"""What retrieval and search let any model find: the answers of one that takes the gold step whenever it is offered.

FiDeLiS with default settings is asked a sample of each set (seed 0; `--limit 0` asks all). The graph is in process and
MiniLM ranks. `found` is the share of questions of which an answer is found. `eval/quality/methods.py` has Hits@1 of the
other methods.

A set may ask for facts that its graph lacks: of MetaQA's questions those without a gold path (`proven` is the share of
the others, `found of these` is what is found of them). Some of their topics stand in no fact at all (`unknown topics`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from eval.support.gold import GoldBenchmark, present, records, scores
from eval.support.report import Report, options
from fedkg.bench.report import markdown
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import mean, score
from fedkg.session import Session

TARGETS = {"pathquestion-2h": 0.99, "pathquestion-3h": 0.97, "metaqa-2hop": 0.97, "metaqa-3hop": 0.97}
SETS = (*TARGETS, "webqsp-fb15k237", "cwq-fb15k237")
ASKED = 300


def main() -> None:
    """Asks all sets."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set, 0 for all")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS, help="sets to ask")
    chosen = parser.parse_args()
    present(chosen.data, chosen.sets)
    report = Report("bounds", write=chosen.write)
    with Session("none", cache=False, embedder="minilm") as session:
        for name in chosen.sets:
            benchmark = GoldBenchmark.load(name, chosen.data, chosen.limit or None)
            report.add(name, figures(benchmark, asyncio.run(records(benchmark, session.similarity))))
    report.attach("md", markdown.records(rows(report.figures)))
    report.add("targets", TARGETS)
    report.close()


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
    shown = ("questions", "found", "proven", "found of these", "unknown topics", "hits@1", "f1")
    return [
        {"set": name, **{part: measured[part] for part in shown}, "to reach": TARGETS[name]}
        for name, measured in sets.items()
    ]


if __name__ == "__main__":
    main()
