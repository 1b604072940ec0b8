"""The card of a trained writer of paths or plans: for programs, and for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from fedkg.core.encoding import encode
from fedkg.embed.scorer import HeldOutFigures, ScorerData
from fedkg.reasoner.path_format import Format

__all__ = ["CARD", "WriterCard", "write_cards"]

CARD = "writer.json"
"""The card's file in the folder of a writer."""
USES: dict[Format, str] = {
    "gcr": "writes paths of a knowledge graph that lead to the answers of a question (GCR): "
    "`fedkg ask … --method gcr --path-model hf:FOLDER`",
    "eperm": "writes plans, chains of relations that lead to the answers of a question (EPERM): "
    "`fedkg ask … --method eperm --path-model hf:FOLDER`",
}


class WriterCard(msgspec.Struct, frozen=True):
    """What a writer is made of: `weights` is the SHA-256 of its weights, `base` the folder that training began with.

    `seconds` is the time of training alone, on `cores` processors; `steps` of `batch` examples each. `figures` are by
    set: of how many examples, none of them trained on, all tokens of relations and marks are the model's first choice.
    """

    fedkg: str
    base: str
    format: Format
    weights: str
    data: tuple[ScorerData, ...]
    seed: int
    batch: int
    rate: float
    steps: int
    loss: float
    seconds: float
    cores: int
    made_at: str
    figures: Mapping[str, HeldOutFigures] = {}


def write_cards(out: Path, card: WriterCard) -> None:
    """Writes both into the folder."""
    (out / CARD).write_bytes(msgspec.json.format(encode(card), indent=2) + b"\n")
    (out / "README.md").write_text("\n".join(_lines(card)) + "\n", encoding="utf-8")


def _lines(card: WriterCard) -> Iterator[str]:
    yield from ("# A writer of paths" if card.format == "gcr" else "# A writer of plans", "")
    yield f"{card.base}, fine-tuned by `fedkg train paths` (fedkg {card.fedkg}, {card.made_at}). It"
    yield f"{USES[card.format]}."
    yield from ("", "## Data", "")
    yield from ("| questions | trained on | without a path | licence | to cite |", "|---|---|---|---|---|")
    yield from map(_row, card.data)
    yield from ("", "The base has a licence of its own.", "", "## Training", "")
    yield f"{card.steps} steps of {card.batch} examples, learning rate {card.rate}, seed {card.seed}, last loss"
    yield f"{card.loss}; {card.seconds:.0f} s on {card.cores} processors. SHA-256 of the weights: `{card.weights}`."
    if card.figures:
        yield from ("", "## Questions about topics that were not trained on", "")
        yield "For which share all relations of the gold path, and its end, are the model's first choice, each after"
        yield "what stands before it, out of all tokens:"
        yield from ("", "| set | questions | untrained | trained |", "|---|---|---|---|")
        for name, figures in card.figures.items():
            yield f"| {name} | {figures.questions} | {figures.untrained:.3f} | {figures.trained:.3f} |"


def _row(data: ScorerData) -> str:
    title = f"{data.title} ({', '.join(data.endpoints)})"
    cells = (title, str(data.trained), str(data.failed), data.licence or "not stated", data.cite or "–")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
