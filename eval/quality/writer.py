r"""What small writers of paths and plans do that `fedkg train paths` has made: GCR's constraint, K, L; EPERM's plans.

The topics of a set are in two halves: on those of one half the writer was trained (`--held-out 0.5`). The questions
here are drawn from those about the others, of the test halves (`eval.quality.local`): decoding was made with the tuning
halves. L is the depth of the set unless said otherwise, so that the depth is given; topics are the gold ones. `local`
is beside the writer, and answers in the rows "with `local`" and in those of EPERM; in all others the ends of the paths
are the answer, those of the likeliest path where K is 1. Every edge is verified. Figures of the untrained writer are
those of its base.

    fedkg train paths metaqa-1hop metaqa-2hop metaqa-3hop pathquestion-2h pathquestion-3h --base smollm2 \\
        --format gcr --limit 500 --held-out 0.5 --passes 2 --minutes 45 --data DIR --out writer
    fedkg train paths …the same… --format eperm --limit 400 --minutes 25 --out planner
    python -m eval.quality.writer --writer writer --planner planner --base smollm2 --write
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval.quality.local import half_of
from eval.support.report import Report, options, require
from fedkg.bench.data import definitions
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import runner
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import mean, score
from fedkg.config.settings import SearchSettings, Settings
from fedkg.training.scorer_pairs import drawn_out
from fedkg.training.writer import CARD

__all__ = ["SETS", "VARIANTS", "held_out"]

SETS = ("metaqa-1hop", "metaqa-2hop", "metaqa-3hop", "pathquestion-2h", "pathquestion-3h")
FEWEST = 20
"""A row has no figure of a set that was asked less."""
APART = 0.1
"""Hits@1 of answers that are ranked alike is a share: where it is so much below Hit, both are shown."""
HELD_OUT, SEED = 0.5, 0
"""As the writer was trained."""


class Variant(NamedTuple):
    """One way to answer: with which model's paths or plans, and with which settings of the search.

    `writer` is the option that names the model's folder; without one `local` plans by itself.
    """

    search: Mapping[str, Any]
    writer: str = "writer"
    method: str = "gcr"


MAIN = "trie, K = 1"
ALONE = {"top_paths": 1, "last_step": False}
VARIANTS: Mapping[str, Variant] = {
    MAIN: Variant(ALONE),
    "trie, K = 3": Variant({"top_paths": 3, "last_step": False}),
    "trie, K = 10": Variant({"top_paths": 10, "last_step": False}),
    "trie, K = 10, with `local`": Variant({"top_paths": 10}),
    "trie, K = 1, L = 1": Variant(ALONE | {"hops": 1}),
    "trie, K = 1, L = 2": Variant(ALONE | {"hops": 2}),
    "trie, K = 1, L = 3": Variant(ALONE | {"hops": 3}),
    "trie, published score, K = 1": Variant(ALONE | {"path_score": "vocabulary"}),
    "trie, published score, K = 10": Variant({"top_paths": 10, "last_step": False, "path_score": "vocabulary"}),
    "without constraint, K = 1": Variant(ALONE | {"decoding": "free"}),
    "without constraint, K = 10": Variant({"top_paths": 10, "last_step": False, "decoding": "free"}),
    "untrained, trie, K = 1": Variant(ALONE, "base"),
    "EPERM, trained plans": Variant({}, "planner", "eperm"),
    "EPERM, untrained plans": Variant({}, "base", "eperm"),
    "EPERM, plans by `local`": Variant({}, "", "eperm"),
}


def held_out(question: BenchmarkQuestion) -> bool:
    """Whether the writer was not trained on any question about its topic, and its decoding not looked at with it."""
    topic = question.topic_entities[0].key if question.topic_entities else question.id
    return drawn_out(topic, HELD_OUT, SEED) and half_of(question.id) == "test"


def main() -> None:
    """Asks each set in each way that is chosen; figures that are there already are kept."""
    parser = options(__doc__ or "")
    parser.add_argument("--writer", type=Path, required=True)
    parser.add_argument("--base", type=Path, help="the model before training")
    parser.add_argument("--planner", type=Path, help="a writer of plans (`--format eperm`)")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--variants", nargs="+", default=tuple(VARIANTS))
    parser.add_argument("--limit", type=int, default=100, help="questions of each set")
    parser.add_argument("--fewer", type=int, default=30, help="the same in all rows but the first")
    parser.add_argument("--out", type=Path, default=Path("build/writer"), help="folder of the unfinished results")
    parser.add_argument("--kept", action="store_true", help="report what is in --out, and ask nothing")
    parser.add_argument("--embedder", default="bm25")
    parser.add_argument("--wrong", action="store_true")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    require(chosen.data)
    report = Report("writer", write=chosen.write)
    for name, folder in (("writer", chosen.writer), ("planner", chosen.planner)):
        if folder and (card := folder / CARD).is_file():
            report.add(name, msgspec.json.decode(card.read_bytes()))
    for variant in chosen.variants:
        sets = [name for name in chosen.sets if not chosen.kept or _out(name, variant, chosen).is_file()]
        figures = {name: asyncio.run(_figures(name, variant, chosen)) for name in sets}
        if known := {name: each for name, each in figures.items() if each["questions"] >= FEWEST}:
            report.add(variant, known)
    report.attach("md", table(report.figures))
    report.close()


async def _figures(name: str, variant: str, chosen: argparse.Namespace) -> dict[str, Any]:
    definition = definitions.find(name)
    way = VARIANTS[variant]
    folder: Path | None = getattr(chosen, way.writer) if way.writer else None
    search = SearchSettings(**{"depth": definition.depth, "hops": definition.depth, **way.search})
    if search.hops and search.hops > definition.depth:
        definition = msgspec.structs.replace(definition, depth=search.hops)
    settings = Settings(
        method=way.method,
        model="local",
        path_model=f"hf:{folder}" if folder else "",
        embedder=chosen.embedder,
        search=search,
        cache=False,
    )
    job = runner.prepared(settings, definition, chosen.data, skip_bad=True)
    number = chosen.limit if variant == MAIN else chosen.fewer
    asked = drawn([question for question in job.questions if held_out(question)], number, SEED)
    out = _out(name, variant, chosen)
    if chosen.kept:
        done = {msgspec.json.decode(line).get("id") for line in out.read_bytes().splitlines()}
        asked = [question for question in asked if question.id in done]
    records = await runner.run(msgspec.structs.replace(job, questions=tuple(asked)), InProcess(), out)
    if chosen.wrong:
        print(*map(_shown, [one for one in records if score(one).hits_at_1 < 1]), sep="\n")
    return measured(records)


def _out(name: str, variant: str, chosen: argparse.Namespace) -> Path:
    folder: Path = chosen.out
    return folder / f"{name} {variant}.jsonl".replace("`", "").replace(" ", "-")


def measured(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The figures of one set."""
    scores = [score(record) for record in records]
    return {
        "questions": len(records),
        "hits_at_1": mean(one.hits_at_1 for one in scores),
        "hit": mean(one.hit for one in scores),
        "f1": mean(one.f1 for one in scores),
        "path_validity": mean(one.path_validity for one in scores if one.path_validity is not None),
        "seconds": round(mean(record.usage.seconds for record in records) or 0.0, 2),
        "errors": sum(bool(record.error) for record in records),
        "measures": _means([record.measures for record in records]),
    }


def _means(measures: Sequence[Mapping[str, float | str]]) -> dict[str, float]:
    names = dict.fromkeys(name for each in measures for name, value in each.items() if not isinstance(value, str))
    return {name: round(mean(float(each.get(name, 0)) for each in measures) or 0.0, 2) for name in names}


def _shown(record: QuestionRecord) -> str:
    gold, given = (", ".join(one.label or one.key for one in part[:3]) for part in (record.gold, record.answers))
    way = " ".join(f"{'→' if edge.direction == 'out' else '←'} {edge.relation}" for edge in (*record.paths, ())[0])
    return (
        f"  {record.id} {record.question} | {gold} | {given or record.status} | {way} {record.measures} {record.error}"
    )


def table(figures: Mapping[str, Any]) -> str:
    """Hits@1 by variant and set, as Markdown, and which paths exist."""
    rows = {name: by_set for name, by_set in figures.items() if name in VARIANTS}
    sets = list(dict.fromkeys(name for by_set in rows.values() for name in by_set))
    lines = ["| With trained writers | " + " | ".join(sets) + " |", "|---|" + "---|" * len(sets)]
    cells = {row: " | ".join(_cell(by_set.get(name)) for name in sets) for row, by_set in rows.items()}
    lines += [f"| {row} | {line} |" for row, line in cells.items()]
    held = [each["path_validity"] for row, by_set in rows.items() if "trie" in row for each in by_set.values()]
    lines += ["", f"Edges of shown paths that the graph has, with the trie: at least {min(held, default=0):.3f}."]
    free = [each["measures"] for row, by_set in rows.items() if row.startswith("without") for each in by_set.values()]
    existing = mean(each["paths in the graph"] / each["paths written"] for each in free)
    return "\n".join(
        [*lines, "", f"Paths that exist, of those written without the constraint: {existing or 0:.3f}.", ""]
    )


def _cell(figures: Mapping[str, Any] | None) -> str:
    """Hits@1, with Hit where several answers are ranked alike, and the number of questions."""
    if not figures:
        return ""
    hit = f", Hit {figures['hit']:.3f}" if figures["hit"] - figures["hits_at_1"] > APART else ""
    return f"{figures['hits_at_1']:.3f}{hit} ({figures['questions']})"


if __name__ == "__main__":
    main()
