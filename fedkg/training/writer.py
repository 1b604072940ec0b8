"""A writer of paths or plans, from question sets to a folder that `--path-model hf:FOLDER` takes.

The folder is one of transformers, with the records that were trained on (`records/`), a card for programs
(`writer.json`) and one for people (`README.md`). While it is made it also has what a run is gone on with.
"""

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec

from fedkg.config.settings import Settings
from fedkg.embed.scorer import HeldOutFigures
from fedkg.errors import DatasetError
from fedkg.llm import hf
from fedkg.reasoner.path_format import Format
from fedkg.training.run_folder import RECORDS, claim, clean, digest, plain
from fedkg.training.scorer_data import DataChoice, Progress
from fedkg.training.scorer_training import CHECKPOINTS, TrainingRun
from fedkg.training.writer_card import CARD, WriterCard, write_cards
from fedkg.training.writer_data import WriterData, writer_data
from fedkg.training.writer_training import WriterSchedule, check_extra, first_choices, train

__all__ = ["WriterRun", "train_writer"]

WEIGHTS = "model.safetensors"


class WriterRun(msgspec.Struct, frozen=True):
    """What a run was asked for, so that it is only gone on with in the same way."""

    data: dict[str, object]
    format: Format
    schedule: WriterSchedule
    base: str


def train_writer(  # noqa: PLR0917
    settings: Settings,
    choice: DataChoice,
    form: Format,
    schedule: WriterSchedule,
    base: Path,
    out: Path,
    on_progress: Progress = lambda _what, _done, _all: None,
) -> WriterCard:
    """Trains a writer, or goes on with a run that was interrupted, and returns its card.

    Training begins with the model of the folder `base`. Raises InputError where sets, files, settings or a folder do
    not fit, MissingExtraError, and EndpointError.
    """
    check_extra()
    hf.check(base)
    claim(out, CARD, WriterRun(plain(choice), form, schedule, base.name))
    data = asyncio.run(writer_data(settings, choice, form, out / RECORDS, on_progress))
    examples = [example for part in data for example in part.trained]
    if not examples:
        raise DatasetError("there is no question to train on: of none a path leads to its answers")
    run = train(examples, base, out, schedule, lambda step, steps, _loss: on_progress("steps", step, steps))
    figures = _figures(data, base, out)
    card = msgspec.structs.replace(_card(data, schedule, run, out), base=base.name, format=form, figures=figures)
    write_cards(out, card)
    clean(out, CHECKPOINTS)
    return card


def _card(data: Sequence[WriterData], schedule: WriterSchedule, run: TrainingRun, out: Path) -> WriterCard:
    return WriterCard(
        fedkg=version("fedkg"),
        base="",
        format="gcr",
        weights=digest(out / WEIGHTS),
        data=tuple(part.about for part in data),
        seed=schedule.seed,
        batch=schedule.batch,
        rate=schedule.rate,
        steps=run.steps,
        loss=round(run.loss, 3),
        seconds=round(run.seconds, 3),
        cores=os.cpu_count() or 1,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _figures(data: Sequence[WriterData], base: Path, out: Path) -> dict[str, HeldOutFigures]:
    """Of each set, before and after."""
    held_out = {part.about.questions: part.held_out for part in data if part.held_out}
    untrained, trained = (first_choices(folder, held_out) for folder in (base, out))
    return {
        name: HeldOutFigures(len(examples), round(untrained[name], 3), round(trained[name], 3))
        for name, examples in held_out.items()
    }
