"""All our tables in one run: every method that applies, on every benchmark that has its graph in the data folder.

Each method is asked the same questions, without a language model (`local`) and, where a way to the answers is known,
with one that takes it whenever it is offered (`guide:gold`): that is what retrieval and search let any model find. Gold
topic entities unless a benchmark says otherwise, default settings, each graph in process, MiniLM. Finished questions
are on disk in `--out`: the same command goes on from there. With --write the results and the report are kept in
eval/results/tables/.
"""

import argparse
import asyncio
from functools import partial
from pathlib import Path

from eval.support.gold import present
from eval.support.runs import ReportPlace, Runs, report, run, run_options, timed
from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run import runner
from fedkg.bench.run.gold import GoldExecutor
from fedkg.bench.run.processes import in_processes
from fedkg.bench.run.runner import Job
from fedkg.config.settings import Settings
from fedkg.errors import MethodError
from fedkg.methods.registry import METHODS, find
from fedkg.reasoner.local.model import LocalModel
from fedkg.testing import GoldChat

QUESTIONS = 12
MODELS = (LocalModel.name, GoldChat.name)
TITLE = "All methods on the public benchmarks"
ABOUT = (
    f"The model {LocalModel.name} is none: it compares words. The model {GoldChat.name} is scripted, and takes the "
    "gold step whenever it is offered: its figures are upper bounds, of what retrieval and search let any model find. "
    "It goes by the gold path of the question set or, where there is none, by the shortest relations, one or two, that "
    "lead from a topic to the answers."
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
    chosen = parser.parse_args()
    with timed():
        names = chosen.benchmarks or with_graph(chosen.data)
        present(chosen.data, names)
        groups = in_processes(partial(asked, chosen=chosen), names, chosen.processes)
        refused = [
            f"Left out: {why}." for model in MODELS for method in chosen.methods if (why := refusal(method, model))
        ]
        report(ReportPlace("tables", TITLE, chosen.out, (ABOUT, COST, *refused)), sorted(groups), write=chosen.write)


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


async def _asked(definition: Definition, executor: GoldExecutor, chosen: argparse.Namespace) -> Runs:
    files, notes = [], []
    for model in MODELS:
        if model != LocalModel.name and not executor.chains.known(definition):
            notes.append(f"{definition.name}: not asked with {model}, since no way to the answers is known.")
            continue
        for method in chosen.methods:
            if not refusal(method, model):
                files.append(chosen.out / f"{definition.name}.{method}.{model.replace(':', '-')}.jsonl")
                await run(job(definition, method, model, chosen), executor, files[-1])
    return Runs(tuple(files), tuple(notes))


def job(definition: Definition, method: str, model: str, chosen: argparse.Namespace) -> Job:
    """The run of one method; nothing is kept but what is embedded."""
    settings = Settings(model=model, method=method, embedder=chosen.embedder, cache=False, replies=False)
    return runner.prepared(settings, definition, chosen.data, limit=chosen.limit, skip_bad=True)


def refusal(method: str, model: str) -> str:
    """Why the method is not asked with that model; "" where it is."""
    try:
        known = find(method, prompted=model != LocalModel.name)
    except MethodError as error:
        return str(error)
    return "" if known.graph else f"{method} asks no graph, and {model} would recall the answers that it is told"


if __name__ == "__main__":
    main()
