"""All our tables in one run: every method that applies, on every benchmark that has its graph in the data folder.

Each method is asked the same questions, without a language model (`local`) and, where a way to the answers is known,
with one that takes it whenever it is offered (`guide:gold`): that is what retrieval and search let any model find. Gold
topic entities unless a benchmark says otherwise, default settings, each graph in process, MiniLM. Finished questions
are on disk in `--out`: the same command goes on from there. With --write the results and the report are kept in
eval/results/tables/, and the figures in eval/results/tables.json.

The depth of each set's questions is given, as in the papers; `eval/quality/local.py` asks `local` without. A method
whose questions take long may be asked fewer (`--fewer`): these are the first of the others.

`over the bound` are the questions that a run answers right first and `fidelis` with the scripted model does not answer
right at all, without those whose way is not in the graph: a model that knows the way is above all others as long as
there are none.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eval.support.gold import present
from eval.support.runs import ReportPlace, Runs, keep, report, run, run_options, timed
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.gold_chains import GoldChains
from fedkg.bench.run import results, runner
from fedkg.bench.run.gold import GoldExecutor
from fedkg.bench.run.processes import in_processes
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import mean, score
from fedkg.config.settings import Settings
from fedkg.errors import MethodError
from fedkg.methods.registry import METHODS, find
from fedkg.reasoner.local.model import LocalModel
from fedkg.testing import GoldChat

COMMAND = "python eval/quality/tables.py --write"
QUESTIONS = 100
BOUND = "fidelis"
"""The method whose answers with the scripted model no other run is above: it offers until nothing is left."""
MODELS = (LocalModel.name, GoldChat.name)
TITLE = "All methods on the public benchmarks"
ABOUT = (
    f"The model {LocalModel.name} is none: it compares words. The model {GoldChat.name} is scripted, and takes the "
    "gold step whenever it is offered: its figures are upper bounds, of what retrieval and search let any model find. "
    "It goes by the gold path of the question set or, where there is none, by the shortest relations, one or two, that "
    "lead from a topic to the answers. What an upper bound bounds is Hit: where a condition is no fact of the graph, "
    "all ends of the gold relation answer, and Hits@1 is the share of right ones among them; KAPING's facts are "
    "chosen one by one, by their answer. The depth of each set's questions is given, as in the papers."
)
COST = (
    "Requests are each run's own. Labels are embedded once for all runs of a benchmark: the first one has the seconds "
    "of that."
)


def main() -> None:
    """Asks everything, a benchmark in each process, and reports it."""
    parser = run_options(__doc__ or "", Path("build/tables"), QUESTIONS)
    parser.add_argument("--benchmarks", nargs="+", metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="NAME", choices=list(METHODS))
    slow = "questions of a method that is slow"
    parser.add_argument("--fewer", nargs="+", default=[], type=fewer, metavar="METHOD=N", help=slow)
    parser.add_argument("--kept", action="store_true", help="report the finished results in --out, and ask nothing")
    chosen = parser.parse_args()
    chosen.limits = dict(chosen.fewer)
    with timed():
        names = chosen.benchmarks or with_graph(chosen.data)
        present(chosen.data, names)
        groups = in_processes(partial(finished if chosen.kept else asked, chosen=chosen), names, chosen.processes)
        refused = [
            f"Left out: {why}." for model in MODELS for method in chosen.methods if (why := refusal(method, model))
        ]
        report(ReportPlace("tables", TITLE, chosen.out, (ABOUT, COST, *refused)), sorted(groups), write=chosen.write)
        if chosen.write:
            asked_files = [file for asked_of_one in sorted(groups) for file in asked_of_one.files]
            keep("tables", COMMAND, figures(asked_files, [definitions.find(name) for name in names], chosen.data))


def fewer(text: str) -> tuple[str, int]:
    """A method with the number of its questions. Raises ValueError where it is none."""
    method, _, number = text.partition("=")
    return method, int(number)


def with_graph(data: Path) -> list[str]:
    """The benchmarks that have a graph of their own; those with the largest one take longest, and come first."""
    known = [definition for definition in map(definitions.find, definitions.names()) if definition.graph]
    largest_first = sorted(known, key=lambda definition: _size(data / definition.graph), reverse=True)
    return [definition.name for definition in largest_first]


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def asked(name: str, chosen: argparse.Namespace) -> Runs:
    """All methods on one benchmark; this is what runs in a process of its own."""
    definition = definitions.find(name)
    with GoldExecutor(chosen.data) as executor:
        return asyncio.run(_asked(definition, executor, chosen))


def finished(name: str, chosen: argparse.Namespace) -> Runs:
    """The runs of a benchmark whose questions are all answered, and those that are not."""
    definition = definitions.find(name)
    files = {(model, method): place(definition, method, model, chosen) for model, method in _cells(chosen)}
    complete = {cell: file for cell, file in files.items() if _size(file) and _complete(results.read(file))}
    missing = [f"{definition.name}: {method} was not asked with {model}." for model, method in files.keys() - complete]
    return Runs(tuple(complete.values()), tuple(sorted(missing)))


def _complete(result: BenchmarkResult) -> bool:
    return len(result.records) == result.header.questions


def _cells(chosen: argparse.Namespace) -> list[tuple[str, str]]:
    return [(model, method) for model in MODELS for method in chosen.methods if not refusal(method, model)]


def place(definition: Definition, method: str, model: str, chosen: argparse.Namespace) -> Path:
    """The result file of one run."""
    out: Path = chosen.out
    return out / f"{definition.name}.{method}.{model.replace(':', '-')}.jsonl"


async def _asked(definition: Definition, executor: GoldExecutor, chosen: argparse.Namespace) -> Runs:
    files, notes = [], []
    for model in MODELS:
        if model != LocalModel.name and not executor.chains.known(definition):
            notes.append(f"{definition.name}: not asked with {model}, since no way to the answers is known.")
            continue
        for method in chosen.methods:
            if not refusal(method, model):
                files.append(place(definition, method, model, chosen))
                await run(job(definition, method, model, chosen), executor, files[-1])
    return Runs(tuple(files), tuple(notes))


def job(definition: Definition, method: str, model: str, chosen: argparse.Namespace) -> Job:
    """The run of one method; nothing is kept but what is embedded."""
    settings = Settings(model=model, method=method, embedder=chosen.embedder, cache=False, replies=False)
    limit = chosen.limits.get(method, chosen.limit)
    return runner.prepared(settings, definition, chosen.data, limit=limit, skip_bad=True)


def figures(files: Sequence[Path], asked_of: Sequence[Definition], data: Path) -> dict[str, Any]:
    """Of each benchmark, by method and model: questions, Hits@1, Hit, F1, and the questions over the bound."""
    records: dict[str, dict[str, tuple[QuestionRecord, ...]]] = {}
    for file in files:
        name, method, model = file.stem.rsplit(".", 2)
        records.setdefault(name, {})[f"{method}, {model}"] = results.read(file).records
    chains = GoldChains(data)
    return {each.name: _figures(each, records[each.name], chains, data) for each in asked_of if each.name in records}


def _figures(
    definition: Definition, asked: Mapping[str, Sequence[QuestionRecord]], chains: GoldChains, data: Path
) -> dict[str, Any]:
    """The figures of a benchmark."""
    bound = asked.get(f"{BOUND}, {GoldChat.name.replace(':', '-')}", ())
    above = {run: over(records, bound) for run, records in asked.items()}
    doubtful = {name for names in above.values() for name in names}
    questions, _ = loaders.read(definition, data) if doubtful else ([], ())
    known = {each.id for each in questions if each.id in doubtful and chains.of(definition, each).proven}
    return {run: scored(records, [name for name in above[run] if name in known]) for run, records in asked.items()}


def scored(asked: Sequence[QuestionRecord], above: Sequence[str]) -> dict[str, Any]:
    """The figures of one run."""
    scores = [score(record) for record in asked]
    measures = {name: mean(getattr(each, name) for each in scores) for name in ("hits_at_1", "hit", "f1")}
    return {"questions": len(asked), **measures, "over the bound": list(above)}


def over(asked: Sequence[QuestionRecord], bound: Sequence[QuestionRecord]) -> list[str]:
    """The questions that are answered right first here, and not right at all by the run that is the bound."""
    found = {record.id: score(record).hit for record in bound}
    right = [record.id for record in asked if score(record).hits_at_1]
    return [name for name in right if found.get(name) == 0.0]


def refusal(method: str, model: str) -> str:
    """Why the method is not asked with that model; "" where it is."""
    try:
        known = find(method, prompted=model != LocalModel.name)
    except MethodError as error:
        return str(error)
    return "" if known.graph else f"{method} asks no graph, and {model} would recall the answers that it is told"


if __name__ == "__main__":
    main()
