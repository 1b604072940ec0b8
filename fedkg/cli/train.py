"""`fedkg train`: models that are trained on this machine."""

from pathlib import Path
from typing import Literal, get_args

import click

from fedkg.cli import options
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.progress import ticking
from fedkg.embed.scorer import ScorerCard
from fedkg.errors import SettingsError
from fedkg.reasoner.path_format import Format
from fedkg.training.scorer import train_scorer
from fedkg.training.scorer_data import DataChoice
from fedkg.training.scorer_training import Schedule
from fedkg.training.writer import train_writer
from fedkg.training.writer_card import WriterCard
from fedkg.training.writer_training import WriterSchedule

__all__ = ["train"]

MADE = 2_000
"""Questions that are made where no set is named."""
MOST_MINUTES = 100_000


@click.group()
def train() -> None:
    """Train models on this machine."""


@train.command(cls=options.SectionedCommand)
@click.argument("sets", nargs=-1, metavar="[BENCH_OR_FILE]...")
@options.option(
    "Training",
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The trained scorer; that of an interrupted run is gone on with.",
)
@options.option("Training", "--data", type=options.DATA_FOLDER, help="Folder of question sets and graphs.")
@options.option(
    "Training",
    "--limit",
    type=options.COUNT,
    default=400,
    show_default=True,
    metavar="N",
    help="Most questions of a set.",
)
@options.option(
    "Training",
    "--made",
    type=click.IntRange(0, 100_000),
    metavar="N",
    help=f"Questions made of the endpoint's relations. [default: {MADE} where no set is named, else 0]",
)
@options.option(
    "Training",
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Share of the topics that are not trained on; the card's figures are of questions about these.",
)
@options.option("Training", "--seed", default=0, show_default=True, help="What all draws depend on.")
@options.option(
    "Training", "--passes", type=click.IntRange(1, 100), default=1, show_default=True, help="Over all questions."
)
@options.option(
    "Training",
    "--untrained",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Share of the untrained model's weights in the result.",
)
@options.searched("Training", most=4, default=3)
@options.option(
    "Training",
    "--base",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Begin with this model of sentence-transformers, or scorer, instead of all-MiniLM-L6-v2.",
)
@options.option("Training", "--skip-bad", is_flag=True, help="Leave out questions that cannot be read.")
@options.connection
def scorer(  # noqa: PLR0917  # click gives all of them by name
    sets: tuple[str, ...],
    out: Path,
    data: Path | None,
    limit: int,
    made: int | None,
    held_out: float,
    seed: int,
    passes: int,
    untrained: float,
    hops: int,
    frontier: int,
    base: Path | None,
    skip_bad: bool,
    file: str | None,
    **flags: object,
) -> int:
    """Fine-tune the embedding model on chains of relations, for --model local:FOLDER; minutes on a processor.

    BENCH_OR_FILE are benchmarks (`fedkg eval list`) or question files (custom:FILE.jsonl), each over its own graph, or
    over -e where it has none. Without any, questions are made of the relations of -e by templates, so that any graph
    gets a scorer of its own:

    \b
    fedkg train scorer metaqa-1hop metaqa-2hop --data DIR --out scorer
    fedkg train scorer -e graph.nt --out scorer
    fedkg ask "…" -e graph.nt --model local:scorer

    FOLDER has a card: data and licence, seed, time, and figures on questions that were not trained on.
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    settings = contacted(options.settings(file, flags | {"model": "local"}))
    if not sets and not settings.endpoints:
        raise SettingsError("nothing to train on", hint="name a benchmark or custom:FILE.jsonl, or an endpoint with -e")
    number = made if made is not None else 0 if sets else MADE
    choice = DataChoice(sets, number, limit, seed, held_out, hops, frontier, data, skip_bad)
    schedule = Schedule(seed=seed, passes=passes, untrained=untrained)
    with interruptible(settings), ticking() as tick:
        card = train_scorer(
            settings,
            choice,
            schedule,
            out,
            base=base,
            on_progress=lambda what, done, number: tick(f"{what}: {done} of {number}"),
        )
    _print(card, out)
    return 0


@train.command("paths", cls=options.SectionedCommand)
@click.argument("sets", nargs=-1, required=True, metavar="BENCH_OR_FILE...")
@options.option(
    "Training",
    "--base",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The causal model of transformers to begin with, or a writer.",
)
@options.option(
    "Training",
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    default="gcr",
    show_default=True,
    help="Paths for gcr, or plans for eperm.",
)
@options.option(
    "Training",
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The trained writer; that of an interrupted run is gone on with.",
)
@options.option("Training", "--data", type=options.DATA_FOLDER, help="Folder of question sets and graphs.")
@options.option(
    "Training",
    "--limit",
    type=options.COUNT,
    default=400,
    show_default=True,
    metavar="N",
    help="Most questions of a set.",
)
@options.option(
    "Training",
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Share of the topics that are not trained on; the card's figures are of questions about these.",
)
@options.option("Training", "--seed", default=0, show_default=True, help="What all draws depend on.")
@options.option(
    "Training", "--passes", type=click.IntRange(1, 100), default=1, show_default=True, help="Over all questions."
)
@options.option(
    "Training",
    "--minutes",
    type=click.FloatRange(0, MOST_MINUTES, min_open=True),
    metavar="M",
    help="End the training after so many, whatever is left; the learning rate falls with the time, too.",
)
@options.option(
    "Training",
    "--device",
    type=click.Choice(["auto", "cpu"]),
    default="auto",
    show_default=True,
    help="An accelerator where PyTorch has one, or the processor.",
)
@options.searched("Training", most=4, default=3)
@options.option("Training", "--skip-bad", is_flag=True, help="Leave out questions that cannot be read.")
@options.connection
def paths(  # noqa: PLR0917  # click gives all of them by name
    sets: tuple[str, ...],
    base: Path,
    form: Format,
    out: Path,
    data: Path | None,
    limit: int,
    held_out: float,
    seed: int,
    passes: int,
    minutes: float | None,
    device: Literal["auto", "cpu"],
    hops: int,
    frontier: int,
    skip_bad: bool,
    file: str | None,
    **flags: object,
) -> int:
    """Fine-tune a causal language model to write paths, for --path-model hf:FOLDER; an hour on two processors.

    BENCH_OR_FILE are benchmarks (`fedkg eval list`) or question files (custom:FILE.jsonl), each over its own graph, or
    over -e where it has none. Of each question one path to an answer is learned, in the words of `fedkg paths build`:

    \b
    fedkg train paths metaqa-1hop metaqa-2hop --data DIR --base smollm2 --out writer
    fedkg ask "…" -e graph.nt --method gcr --model local --path-model hf:writer

    FOLDER has a card: data and licence, seed, time, and figures on questions that were not trained on.
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    settings = contacted(options.settings(file, flags | {"model": "local"}))
    choice = DataChoice(sets, 0, limit, seed, held_out, hops, frontier, data, skip_bad)
    schedule = WriterSchedule(passes=passes, seed=seed, minutes=minutes, device=device)
    with interruptible(settings), ticking() as tick:
        card = train_writer(
            settings,
            choice,
            form,
            schedule,
            base,
            out,
            on_progress=lambda what, done, number: tick(f"{what}: {done} of {number}"),
        )
    _print_writer(card, out)
    return 0


def _print_writer(card: WriterCard, out: Path) -> None:
    click.echo(f"questions        {sum(data.trained for data in card.data)}")
    click.echo(f"without a path   {sum(data.failed for data in card.data)}")
    click.echo(f"steps            {card.steps}")
    click.echo(f"seconds          {card.seconds:.0f}")
    for name, figures in card.figures.items():
        click.echo(f"{name}: gold path first {figures.untrained:.3f} → {figures.trained:.3f} of {figures.questions}")
    click.echo(f"use it           --path-model hf:{out}")


def _print(card: ScorerCard, out: Path) -> None:
    click.echo(f"questions        {sum(data.trained for data in card.data)}")
    click.echo(f"without a chain  {sum(data.failed for data in card.data)}")
    click.echo(f"steps            {card.steps}")
    click.echo(f"seconds          {card.seconds:.0f}")
    for name, figures in card.figures.items():
        click.echo(f"{name}: gold chain first {figures.untrained:.3f} → {figures.trained:.3f} of {figures.questions}")
    click.echo(f"use it           --model local:{out}")
