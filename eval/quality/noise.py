"""How much a search forgives: Hits@1 of a model that knows the way and errs, by beam width, verified or not.

An error is drawn for each step that the model may choose (as many as the beam is wide): with the probability of the
noise it is a wrong one of those offered, else a right one, as long as there are any left. When it verifies, it errs by
the same probability for each path: it then takes one of the two other views than the true one (that the last step does
not follow, that it follows, that the statement can be deduced, too). The answer call errs as well: it then takes a
wrong one of the paths that it is shown.

FiDeLiS with the fused call plan, default settings otherwise; the graph is in process and BM25 ranks. Means over seeds.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from eval.support.gold import GoldBenchmark, present, records, scores
from eval.support.report import Report, options
from fedkg.bench.report import markdown
from fedkg.bench.report.plots import curves
from fedkg.config.settings import SearchSettings, Verifier
from fedkg.embed.base import Similarity
from fedkg.session import Session

SETS = ("pathquestion-2h", "pathquestion-3h")
ASKED = 100
RATES = (0.0, 0.1, 0.2, 0.3)
WIDTHS = (1, 2, 4, 8)
VERIFIERS: dict[str, Verifier] = {"verified": "deductive", "not verified": "none"}
SEEDS = (0,)


class Cell(NamedTuple):
    """One measurement: the set, what verifies, how wide the beam is, and how often the model errs."""

    name: str
    verified: str
    width: int
    rate: float

    @property
    def search(self) -> SearchSettings:
        """The settings."""
        return SearchSettings(beam=self.width, verifier=VERIFIERS[self.verified])


def main() -> None:
    """Measures all cells and draws them."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set")
    chosen = parser.parse_args()
    present(chosen.data, SETS)
    report = Report("noise", write=chosen.write)
    report.add("questions", f"{chosen.limit} of each set, seeds {', '.join(map(str, SEEDS))}")
    cells = [Cell(name, how, width, rate) for name in SETS for how in VERIFIERS for width in WIDTHS for rate in RATES]
    with Session("none", cache=False, embedder="bm25") as session:
        measured = {cell: asyncio.run(hits(cell, chosen.data, chosen.limit, session.similarity)) for cell in cells}
    for name in SETS:
        report.add(name, rows(name, measured))
    asked = f"{chosen.limit} questions, seeds {len(SEEDS)}"
    report.attach("md", "\n".join(f"{name}, {asked}\n\n{markdown.records(rows(name, measured))}" for name in SETS))
    report.attach("svg", plot(measured))
    report.close()


async def hits(cell: Cell, data: Path, limit: int, similarity: Similarity) -> float:
    """The mean Hits@1 over the seeds; without noise they are all the same."""
    benchmark = GoldBenchmark.load(cell.name, data, limit, cell.search)
    measured = []
    for seed in SEEDS if cell.rate else SEEDS[:1]:
        walked = await records(benchmark, similarity, rate=cell.rate, seed=seed)
        measured.append(scores(walked)["hits@1"])
    return round(fmean(measured), 3)


def rows(name: str, measured: dict[Cell, float]) -> list[dict[str, Any]]:
    """A row for each beam width, with a column for each rate."""
    return [
        {"": how, "beam": width, **{f"{rate:.0%}": measured[Cell(name, how, width, rate)] for rate in RATES}}
        for how in VERIFIERS
        for width in WIDTHS
    ]


def plot(measured: dict[Cell, float]) -> str:
    """Hits@1 against noise, over both sets, as SVG: a line for each beam width and verification."""
    lines = {f"beam {width}, {how}": _line(measured, how, width) for how in VERIFIERS for width in WIDTHS}
    return curves("A model that errs (PathQuestion, 2 and 3 hops)", "noise", "Hits@1", lines)


def _line(measured: dict[Cell, float], how: str, width: int) -> Sequence[tuple[float, float]]:
    return [(rate, fmean(measured[Cell(name, how, width, rate)] for name in SETS)) for rate in RATES]


if __name__ == "__main__":
    main()
