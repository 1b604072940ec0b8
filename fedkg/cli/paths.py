"""`fedkg paths`: files to fine-tune a model with."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import click

from fedkg.bench.data import definitions
from fedkg.cli import options
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.progress import ticking
from fedkg.cli.show import counted, plain
from fedkg.reasoner.path_format import ExampleFormat
from fedkg.training import examples as bench
from fedkg.training.examples import Built, ExamplesRecord, Recipe

__all__ = ["paths"]

MOST_ERRORS = 3


@click.group()
def paths() -> None:
    """Write files to fine-tune a model with."""


@paths.command(cls=options.SectionedCommand)
@click.argument("name", metavar="BENCH_OR_FILE")
@options.drawn("Training files")
@options.option(
    "Training files",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of records (JSON Lines); one of an earlier run is gone on with.",
)
@options.option(
    "Training files",
    "--format",
    "form",
    type=click.Choice(get_args(ExampleFormat)),
    default="gcr",
    show_default=True,
    help="For whom.",
)
@options.searched("Training files", most=50, default=None)
@options.option(
    "Training files",
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Of eperm: the least share of answers among all that a kept plan leads to.",
)
@options.prompts_dir
@options.connection
def build(  # noqa: PLR0917  # click gives all of them by name
    name: str,
    data: Path | None,
    out: Path,
    form: ExampleFormat,
    hops: int | None,
    frontier: int,
    threshold: float,
    limit: int | None,
    seed: int,
    skip_bad: bool,
    file: str | None,
    **flags: object,
) -> int:
    """Write what connects topics and answers of questions, as examples to fine-tune with; nothing is trained.

    BENCH_OR_FILE is a benchmark (`fedkg eval list`), or questions of your own (custom:FILE.jsonl, with -e). All
    shortest paths between topic and answer entities, over the benchmark's own graph unless -e names an endpoint.
    For gcr each is an example; for eperm each chain of relations that leads to answers often enough (--threshold);
    for eperm-answer the call that answers from all chains with their weights, and its reply.
    --prompts names a folder with words of your own, as the model is to be asked later (reasoning-paths/form.toml).
    FILE has one JSON object a question; its `examples` have a prompt and a completion each:

    \b
    jq -c '.examples[]' FILE

    Questions that are in FILE already are not asked again, unless they failed. Exit code 3: every question failed.
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    settings = contacted(options.settings(file, flags | {"model": "local"}))
    depth = hops or definitions.find(name).depth
    recipe = Recipe(name, form, depth, frontier, threshold, settings.prompts_dir)
    with interruptible(settings), ticking() as tick:
        work = bench.build(
            settings,
            recipe,
            data,
            out,
            limit=limit,
            seed=seed,
            skip_bad=skip_bad,
            on_progress=_progress(name, tick),
        )
        built = asyncio.run(work)
    _print(built)
    return 3 if built.records and all(record.error for record in built.records) else 0


def _progress(name: str, tick: Callable[[str], None]) -> Callable[[Sequence[ExamplesRecord], int], None]:
    def on_progress(records: Sequence[ExamplesRecord], total: int) -> None:
        examples = sum(len(record.examples) for record in records)
        tick(f"{name}: {len(records)} of {total}, {counted(examples, 'example')}")

    return on_progress


def _print(built: Built) -> None:
    number = len(built.records)
    each = built.usage.requests / number if number else 0.0
    click.echo(f"questions        {number}")
    click.echo(f"there already    {built.kept}")
    click.echo(f"with examples    {sum(bool(record.examples) for record in built.records)}")
    click.echo(f"examples         {sum(len(record.examples) for record in built.records)}")
    click.echo(f"cut              {sum(bool(record.cut) for record in built.records)}")
    click.echo(f"errors           {sum(bool(record.error) for record in built.records)}")
    click.echo(f"requests each    {each:.2f}")
    click.echo(f"seconds          {built.seconds:.1f}")
    for bad in built.left_out:
        click.echo(f"left out: {plain(str(bad), 300)}", err=True)
    often = Counter(record.error for record in built.records if record.error)
    for why, times in often.most_common(MOST_ERRORS):
        click.echo(f"{counted(times, 'question')} failed: {plain(why, 300)}", err=True)
