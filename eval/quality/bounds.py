"""What retrieval and search let any model find: the answers found with one that takes the gold step whenever it is offered.

FiDeLiS with default settings is asked a sample of each set (seed 0; `--limit 0` asks all). The graph is in process and MiniLM
ranks. `found` is the share of questions of which an answer is found. `eval/quality/methods.py` has Hits@1 of the other methods.

A set may ask for facts that its graph lacks: of MetaQA's questions those without a gold path (`proven` is the share of the
others, `found of these` is what is found of them). Some of their topics stand in no fact at all (`unknown topics`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from eval.support.report import Report, markdown, options
from eval.support.walks import Bench, Walked, Walker, present, scores
from fedkg.bench.scoring.scores import mean
from fedkg.embed.base import Similarity
from fedkg.session import Session

TARGETS = {"pathquestion-2h": 0.99, "pathquestion-3h": 0.97, "metaqa-2hop": 0.97, "metaqa-3hop": 0.97}
ASKED = 300


def main() -> None:
    """Asks all sets."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set, 0 for all")
    chosen = parser.parse_args()
    present(chosen.data, TARGETS)
    report = Report("bounds", write=chosen.write)
    with Session("none", cache=False, embedder="minilm") as session:
        for name in TARGETS:
            bench = Bench.load(name, chosen.data, chosen.limit or None)
            report.add(name, asyncio.run(bound(bench, session.similarity)))
    report.attach("md", markdown(rows(report.figures)))
    report.add("targets", TARGETS)
    report.close()


async def bound(bench: Bench, similarity: Similarity) -> dict[str, Any]:
    """The figures of one set."""
    async with Walker(bench, similarity) as walker:
        return figures(bench, await walker.all())


def figures(bench: Bench, walks: Sequence[Walked]) -> dict[str, Any]:
    """The scores, and how many of the questions could have been answered."""
    proven = [walk for walk in walks if bench.golds[walk.question.id].proven]
    return {
        "questions": len(walks),
        **scores(walks),
        "proven": round(len(proven) / len(walks), 4),
        "found of these": mean(walk.score.hit for walk in proven),
        "unknown topics": sum(walk.error.startswith("TopicError") for walk in walks),
        "missed": [walk.question.id for walk in proven if not walk.score.hit],
    }


def rows(sets: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each set."""
    shown = ("questions", "found", "proven", "found of these", "unknown topics", "hits@1", "f1")
    return [
        {"set": name, **{part: own[part] for part in shown}, "to reach": TARGETS[name]} for name, own in sets.items()
    ]


if __name__ == "__main__":
    main()
