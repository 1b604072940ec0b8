"""What retrieval and search let any model find: the answers found with one that takes the gold step whenever it is offered.

FiDeLiS is asked all questions of each set, the other methods that ask a model for steps or plans a sample of them (seed 0), with
default settings. The graph is in process and MiniLM ranks. `found` is the share of questions of which an answer is found.

A set may ask for facts that its graph lacks: of MetaQA's questions those without a gold path (`proven` is the share of the
others, `found of these` is what is found of them). Some of their topics stand in no fact at all (`unknown topics`).
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.report import Report, markdown, options, require
from eval.walks import Bench, Walked, Walker, scores
from fedkg.bench.scores import mean
from fedkg.embed.base import Similarity
from fedkg.session import Session

TARGETS = {"pathquestion-2h": 0.99, "pathquestion-3h": 0.97, "metaqa-2hop": 0.97, "metaqa-3hop": 0.97}
METHODS = ("fidelis", "gcr", "eperm", "tog", "rog")
SAMPLE = 100


def main() -> None:
    """Asks all sets with all methods."""
    chosen = options(__doc__ or "").parse_args()
    benches = {name: Bench.load(name, chosen.data) for name in TARGETS}
    for bench in benches.values():
        require(chosen.data, bench.definition.questions, bench.definition.graph)
    report = Report("bounds", write=chosen.write)
    with Session("none", cache=False, embedder="minilm") as session:
        for name, target in TARGETS.items():
            asked = {method: asyncio.run(bound(name, chosen.data, method, session.similarity)) for method in METHODS}
            report.add(name, {"target": target, **asked})
    report.attach("md", table(report.figures))
    report.close()


async def bound(name: str, data: Path, method: str, similarity: Similarity) -> dict[str, Any]:
    """The figures of one method on one set."""
    bench = Bench.load(name, data, None if method == METHODS[0] else SAMPLE)
    async with Walker(bench, similarity, method=method) as walker:
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


def table(sets: dict[str, Any]) -> str:
    """A line for each set and method."""
    shown = ("questions", "found", "proven", "found of these", "unknown topics", "hits@1", "f1")
    return markdown(
        [
            {"set": name, "method": method, **{part: own[method][part] for part in shown}, "to reach": own["target"]}
            for name, own in sets.items()
            for method in METHODS
        ]
    )


if __name__ == "__main__":
    main()
