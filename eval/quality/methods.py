"""What each method costs, on the same questions: calls, tokens, requests and seconds, with a model that knows the way.

Default settings; the graph is in process, so that requests are queries to the embedded engine and seconds are those of fedkg and the
engine alone: the model takes none. MiniLM ranks; each method starts with no vectors of labels. Methods without a graph are given
the right answers to recall, so their Hits@1 says nothing and is left out. Hits@1 of the others is an upper bound.
"""

import asyncio
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from eval.support.report import Report, markdown, options
from eval.support.walks import Bench, Walked, Walker, present, scores
from fedkg.methods.registry import METHODS
from fedkg.session import Session

SETS = ("pathquestion-2h", "metaqa-2hop")
ASKED = 100


def main() -> None:
    """Asks with all methods."""
    chosen = options(__doc__ or "").parse_args()
    present(chosen.data, SETS)
    benches = {name: Bench.load(name, chosen.data, ASKED) for name in SETS}
    report = Report("methods", write=chosen.write)
    for name, bench in benches.items():
        report.add(name, [{"method": method, **asyncio.run(cost(bench, method))} for method in METHODS])
    report.attach(
        "md", "\n".join(f"{name}, {ASKED} questions\n\n{markdown(own)}" for name, own in report.figures.items())
    )
    report.close()


async def cost(bench: Bench, method: str) -> dict[str, Any]:
    """The figures of one method."""
    async with Session("none", cache=False, embedder="minilm") as session:
        await warm(session)
        async with Walker(bench, session.similarity, method=method) as walker:
            return figures(await walker.all(), graph=METHODS[method].graph)


async def warm(session: Session) -> None:
    """Loads the embedder: that takes seconds, once, and is no part of any question."""
    await session.similarity.scores("warm", ["up"])


def figures(walks: Sequence[Walked], *, graph: bool) -> dict[str, Any]:
    """The means over the questions, and the most calls of one."""
    usage = [walk.answer.usage for walk in walks if walk.answer]
    calls = [len(walk.sent) for walk in walks]
    return {
        "calls": round(fmean(calls), 2),
        "calls, most": max(calls),
        "tokens": round(fmean(sum(one.tokens for one in walk.sent) for walk in walks)),
        "requests": round(fmean(one.requests for one in usage), 1),
        "seconds": round(fmean(one.seconds for one in usage), 3),
        "hits@1": scores(walks)["hits@1"] if graph else None,
    }


if __name__ == "__main__":
    main()
