"""What each method costs, on the same questions: calls, tokens, requests and seconds, with a model that knows the way.

Default settings; the graph is in process, so that requests are queries to the embedded engine and seconds are those of
fedkg and the engine alone: the model takes none. MiniLM ranks; each method starts with no vectors of labels. Methods
without a graph are given the right answers to recall, so their Hits@1 says nothing and is left out. Hits@1 of the
others is an upper bound.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from eval.support.gold import GoldBenchmark, present, records, scores
from eval.support.report import Report, options
from fedkg.bench.report import markdown
from fedkg.bench.run.record import QuestionRecord
from fedkg.methods.registry import METHODS
from fedkg.session import Session

SETS = ("pathquestion-2h", "metaqa-2hop")
ASKED = 100


def main() -> None:
    """Asks with all methods."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set")
    chosen = parser.parse_args()
    present(chosen.data, SETS)
    report = Report("methods", write=chosen.write)
    for name in SETS:
        report.add(
            name,
            [{"method": method, **asyncio.run(cost(name, chosen.data, method, chosen.limit))} for method in METHODS],
        )
    tables = (f"{name}, {chosen.limit} questions\n\n{markdown.records(rows)}" for name, rows in report.figures.items())
    report.attach("md", "\n".join(tables))
    report.close()


async def cost(name: str, data: Path, method: str, limit: int) -> dict[str, Any]:
    """The figures of one method."""
    benchmark = GoldBenchmark.load(name, data, limit, method=method)
    async with Session("none", cache=False, embedder="minilm") as session:
        await warm(session)
        return figures(await records(benchmark, session.similarity), graph=METHODS[method].graph)


async def warm(session: Session) -> None:
    """Loads the embedder: that takes seconds, once, and is no part of any question."""
    await session.similarity.scores("warm", ["up"])


def figures(walked: Sequence[QuestionRecord], *, graph: bool) -> dict[str, Any]:
    """The means over the questions, of requests and seconds over those with an answer; the most calls of one."""
    calls = [record.usage.model_calls for record in walked]
    answered = [record.usage for record in walked if not record.error]
    return {
        "calls": round(fmean(calls), 2),
        "calls, most": max(calls),
        "tokens": round(fmean(record.usage.tokens_in + record.usage.tokens_out for record in walked)),
        "requests": round(fmean(usage.requests for usage in answered), 1),
        "seconds": round(fmean(usage.seconds for usage in answered), 3),
        "hits@1": scores(walked)["hits@1"] if graph else None,
    }


if __name__ == "__main__":
    main()
