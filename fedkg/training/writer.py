"""A writer of paths or plans, from question sets to a folder that `--path-model hf:FOLDER` takes.

The folder is one of transformers, with the records that were trained on (`records/`), a card for programs
(`writer.json`) and one for people (`README.md`). While it is made it also has what a run is gone on with.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fedkg.config.settings import Settings
from fedkg.core.training_card import HeldOutFigures, TrainingCard
from fedkg.errors import DatasetError, SettingsError
from fedkg.llm import hf
from fedkg.reasoner.path_format import Format, form_of
from fedkg.training.fine_tuning import check_extra
from fedkg.training.model_card import CardText, compared, training_card, write_cards
from fedkg.training.run_folder import RECORDS, claim, clean, plain
from fedkg.training.scorer_data import DataChoice, Progress
from fedkg.training.writer_data import WriterData, writer_data
from fedkg.training.writer_training import PACKAGES, WriterSchedule, first_choices, train

__all__ = ["CARD", "WriterCard", "WriterRun", "train_writer"]

CARD = "writer.json"
"""The card's file in the folder of a writer."""
USES: dict[Format, str] = {
    "gcr": "writes paths of a knowledge graph that lead to the answers of a question (GCR): "
    "`fedkg ask … --method gcr --path-model hf:FOLDER`",
    "eperm": "writes plans, chains of relations that lead to the answers of a question (EPERM): "
    "`fedkg ask … --method eperm --path-model hf:FOLDER`",
}


class WriterCard(TrainingCard, frozen=True, kw_only=True):
    """What a writer is made of, and what it writes; batches and figures are of examples."""

    format: Format


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
    check_extra("writer", PACKAGES)
    hf.check(base)
    _check_words(settings, form)
    base = base.resolve()  # the card has its name: "." has none
    claim(out, CARD, WriterRun(plain(choice), form, schedule, base.name))
    data = asyncio.run(writer_data(settings, choice, form, out / RECORDS, on_progress))
    examples = [example for part in data for example in part.trained]
    if not examples:
        raise DatasetError("there is no question to train on: of none a path leads to its answers")
    run = train(examples, base, out, schedule, lambda step, steps, _loss: on_progress("steps", step, steps))
    made = training_card(base.name, [part.about for part in data], schedule, run, out, _figures(data, base, out))
    card = WriterCard(**msgspec.structs.asdict(made), format=form)
    write_cards(out, CARD, card, _text(card))
    clean(out)
    return card


def _check_words(settings: Settings, form: Format) -> None:
    """Raises SettingsError where the settings have words of their own: the loss tells relations by the bundled ones."""
    if form_of(form, settings.prompts_dir) != form_of(form):
        raise SettingsError(
            f"a writer is trained in the bundled words, and {settings.prompts_dir} has others (form.toml)",
            hint="leave out prompts_dir; any other trainer takes the examples of `fedkg paths build --prompts`",
        )


def _text(card: WriterCard) -> CardText:
    return CardText(
        "A writer of paths" if card.format == "gcr" else "A writer of plans",
        "fedkg train paths",
        f". It\n{USES[card.format]}.",
        "a path",
        "The base has a licence of its own.",
        "examples",
        "Questions about topics that were not trained on",
        "For which share all relations of the gold path, and its end, are the model's first choice, each after\n"
        "what stands before it, out of all tokens:",
    )


def _figures(data: Sequence[WriterData], base: Path, out: Path) -> dict[str, HeldOutFigures]:
    """Of each set, before and after."""
    held_out = {part.about.questions: part.held_out for part in data if part.held_out}
    untrained, trained = (first_choices(folder, held_out) for folder in (base, out))
    return {name: compared(len(examples), untrained[name], trained[name]) for name, examples in held_out.items()}
