"""`fedkg train`: models that are trained on this machine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click

from fedkg.cli import options
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.progress import ticking
from fedkg.config.settings import Settings
from fedkg.core.training_card import TrainingCard
from fedkg.errors import SettingsError
from fedkg.reasoner.path_format import Format
from fedkg.training.scorer import train_scorer
from fedkg.training.scorer_data import DataChoice, Progress
from fedkg.training.scorer_training import ScorerSchedule
from fedkg.training.writer import train_writer
from fedkg.training.writer_training import WriterSchedule

__all__ = ["train"]

MADE = 2_000
"""Questions that are made where no set is named."""
MOST_MINUTES = 100_000
MOST_SEED = (1 << 32) - 1
"""The largest that NumPy takes."""

SHARE = click.FloatRange(0, 1, max_open=True)
F = TypeVar("F", bound=Callable[..., Any])
CHOICE = ("limit", "seed", "held_out", "hops", "frontier", "data", "skip_bad")
"""What of a `DataChoice` options of the same name say."""
QUESTIONS = options.all_of(
    options.option("Training", "--data", type=options.DATA_FOLDER, help="Folder of question sets and graphs."),
    options.option(
        "Training",
        "--limit",
        type=options.COUNT,
        default=400,
        show_default=True,
        metavar="N",
        help="Most questions of a set.",
    ),
    options.option(
        "Training",
        "--held-out",
        type=SHARE,
        default=0.1,
        show_default=True,
        metavar="SHARE",
        help="Share of the topics that are not trained on; the card's figures are of questions about these.",
    ),
    options.option(
        "Training",
        "--seed",
        type=click.IntRange(0, MOST_SEED),
        default=0,
        show_default=True,
        metavar="N",
        help="What all draws depend on.",
    ),
    options.option(
        "Training",
        "--passes",
        type=click.IntRange(1, 100),
        default=1,
        show_default=True,
        help="Over all questions.",
    ),
    options.searched("Training", most=4, default=3),
    options.option("Training", "--skip-bad", is_flag=True, help="Leave out questions that cannot be read."),
)
"""Which questions are trained on, and how often."""


def _trained(kind: str, base: str, *, required: bool) -> Callable[[F], F]:
    """The options of all that is trained: from what, over which questions, into which folder."""
    return options.all_of(
        options.option("Training", "--base", required=required, type=options.DATA_FOLDER, metavar="FOLDER", help=base),
        options.option(
            "Training",
            "--out",
            required=True,
            type=click.Path(file_okay=False, path_type=Path),
            metavar="FOLDER",
            help=f"The trained {kind}; that of an interrupted run is gone on with.",
        ),
        QUESTIONS,
        options.connection,
    )


@click.group()
def train() -> None:
    """Train models on this machine."""


@train.command(cls=options.SectionedCommand)
@click.argument("sets", nargs=-1, metavar="[BENCH_OR_FILE]...")
@_trained(
    "scorer",
    "Begin with this model of sentence-transformers, or scorer, instead of all-MiniLM-L6-v2.",
    required=False,
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
    "--untrained",
    type=SHARE,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Share of the untrained model's weights in the result.",
)
def scorer(  # noqa: PLR0917  # click gives all of them by name
    sets: tuple[str, ...],
    base: Path | None,
    out: Path,
    passes: int,
    made: int | None,
    untrained: float,
    file: str | None,
    **flags: Any,
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
    choice = _choice(sets, flags, made if made is not None else 0 if sets else MADE)
    settings = _settings(file, flags)
    if not sets and not settings.endpoints:
        raise SettingsError("nothing to train on", hint="name a benchmark or custom:FILE.jsonl, or an endpoint with -e")
    schedule = ScorerSchedule(seed=choice.seed, passes=passes, untrained=untrained)
    with interruptible(settings), ticking() as tick:
        card = train_scorer(settings, choice, schedule, out, base=base, on_progress=_progress(tick))
    _print(card, "chain", f"--model local:{out}")
    return 0


@train.command("paths", cls=options.SectionedCommand)
@click.argument("sets", nargs=-1, required=True, metavar="BENCH_OR_FILE...")
@_trained("writer", "The causal model of transformers to begin with, or a writer.", required=True)
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
def paths(  # noqa: PLR0917  # click gives all of them by name
    sets: tuple[str, ...],
    base: Path,
    out: Path,
    passes: int,
    form: Format,
    minutes: float | None,
    device: Literal["auto", "cpu"],
    file: str | None,
    **flags: Any,
) -> int:
    """Fine-tune a causal language model to write paths, for --path-model hf:FOLDER; an hour on two processors.

    BENCH_OR_FILE are benchmarks (`fedkg eval list`) or question files (custom:FILE.jsonl), each over its own graph, or
    over -e where it has none. Of each question one path to an answer is learned, in the words of `fedkg paths build`:

    \b
    fedkg train paths metaqa-1hop metaqa-2hop --data DIR --base smollm2 --out writer
    fedkg ask "…" -e graph.nt --method gcr --model local --path-model hf:writer

    FOLDER has a card: data and licence, seed, time, and figures on questions that were not trained on.
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    choice = _choice(sets, flags, 0)
    settings = _settings(file, flags)
    schedule = WriterSchedule(passes=passes, seed=choice.seed, minutes=minutes, device=device)
    with interruptible(settings), ticking() as tick:
        card = train_writer(settings, choice, form, schedule, base, out, on_progress=_progress(tick))
    _print(card, "path", f"--path-model hf:{out}")
    return 0


def _choice(sets: tuple[str, ...], flags: Mapping[str, Any], made: int) -> DataChoice:
    return DataChoice(sets, made, **{name: flags[name] for name in CHOICE})


def _settings(file: str | None, flags: Mapping[str, Any]) -> Settings:
    others = {name: value for name, value in flags.items() if name not in CHOICE}
    return contacted(options.settings(file, others | {"model": "local"}))


def _progress(tick: Callable[[str], None]) -> Progress:
    return lambda what, done, number: tick(f"{what}: {done} of {number}")


def _print(card: TrainingCard, learned: str, used: str) -> None:
    lacking = f"without a {learned}"
    click.echo(f"questions        {sum(data.trained for data in card.data)}")
    click.echo(f"{lacking:<17}{sum(data.failed for data in card.data)}")
    click.echo(f"steps            {card.steps}")
    click.echo(f"seconds          {card.seconds:.0f}")
    for name, figures in card.figures.items():
        change = f"{figures.untrained:.3f} → {figures.trained:.3f}"
        click.echo(f"{name}: gold {learned} first {change} of {figures.questions}")
    click.echo(f"use it           {used}")
