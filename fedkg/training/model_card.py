"""The cards of a trained model in its folder: one for programs, and one for people."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from fedkg.core.encoding import encode
from fedkg.core.training_card import HeldOutFigures, TrainingCard, TrainingData
from fedkg.training.fine_tuning import Schedule, TrainingRun
from fedkg.training.run_folder import digest

__all__ = ["CardText", "compared", "training_card", "write_cards"]

WEIGHTS = "model.safetensors"


class CardText(NamedTuple):
    """What the card for people tells of one kind of model.

    `made` ends the sentence on how it was made; `lacking` is what the failed questions are without; `note` stands
    under the data. Batches are counted in `unit`, and `training` is a further sentence on the training. `others` is
    the heading over the figures, and `figures` says what they count.
    """

    title: str
    command: str
    made: str
    lacking: str
    note: str
    unit: str
    others: str
    figures: str
    training: str = ""


def training_card(  # noqa: PLR0917
    base: str,
    data: Sequence[TrainingData],
    schedule: Schedule,
    run: TrainingRun,
    out: Path,
    figures: Mapping[str, HeldOutFigures],
) -> TrainingCard:
    """What all cards have, of the model whose weights lie in `out`."""
    return TrainingCard(
        fedkg=version("fedkg"),
        base=base,
        weights=digest(out / WEIGHTS),
        data=tuple(data),
        seed=schedule.seed,
        batch=schedule.batch,
        rate=schedule.rate,
        steps=run.steps,
        loss=round(run.loss, 3),
        seconds=round(run.seconds, 3),
        cores=os.cpu_count() or 1,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        figures=figures,
    )


def compared(questions: int, untrained: float, trained: float) -> HeldOutFigures:
    """The figures of one set, rounded as cards have them."""
    return HeldOutFigures(questions, round(untrained, 3), round(trained, 3))


def write_cards(out: Path, file: str, card: TrainingCard, text: CardText) -> None:
    """Writes both into the folder; that for programs is called `file`, and is the last to be there."""
    (out / "README.md").write_text("\n".join(_lines(card, text)) + "\n", encoding="utf-8")
    (out / file).write_bytes(msgspec.json.format(encode(card), indent=2) + b"\n")


def _lines(card: TrainingCard, text: CardText) -> Iterator[str]:
    yield from (f"# {text.title}", "")
    yield f"{card.base}, fine-tuned by `{text.command}` (fedkg {card.fedkg}, {card.made_at}){text.made}"
    yield from ("", "## Data", "")
    yield f"| questions | trained on | without {text.lacking} | licence | to cite |"
    yield "|---|---|---|---|---|"
    yield from map(_row, card.data)
    yield from ("", text.note, "", "## Training", "")
    yield f"{card.steps} steps of {card.batch} {text.unit}, learning rate {card.rate}, seed {card.seed}, last loss"
    yield f"{card.loss}; {card.seconds:.0f} s on {card.cores} processors.{text.training} SHA-256 of the weights:"
    yield f"`{card.weights}`."
    if card.figures:
        yield from ("", f"## {text.others}", "", text.figures)
        yield from ("", "| set | questions | untrained | trained |", "|---|---|---|---|")
        for name, figures in card.figures.items():
            yield f"| {name} | {figures.questions} | {figures.untrained:.3f} | {figures.trained:.3f} |"


def _row(data: TrainingData) -> str:
    title = f"{data.title} ({', '.join(data.endpoints)})"
    cells = (title, str(data.trained), str(data.failed), data.licence or "not stated", data.cite or "–")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
