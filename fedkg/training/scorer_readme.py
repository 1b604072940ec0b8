"""The card of a scorer for people: what it is, what it was trained on, and how well it does on other questions."""

from collections.abc import Iterator

from fedkg.embed.scorer import ScorerCard, ScorerData

__all__ = ["readme"]


def readme(card: ScorerCard) -> str:
    """The card as Markdown."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: ScorerCard) -> Iterator[str]:
    yield from ("# A scorer of relation chains", "")
    yield f"{card.base}, fine-tuned by `fedkg train scorer` (fedkg {card.fedkg}, {card.made_at}), so that questions lie"
    yield "near the chains of relations that they ask for. `fedkg ask … --model local:FOLDER` reads questions with it."
    yield from ("", "## Data", "")
    yield "| questions | trained on | without a chain | licence | to cite |"
    yield "|---|---|---|---|---|"
    yield from map(_row, card.data)
    yield from ("", "Questions name their topic by X: nothing is learned of single entities.", "", "## Training", "")
    yield f"{card.steps} steps of {card.batch} questions, learning rate {card.rate}, seed {card.seed}, last loss"
    yield f"{card.loss}; {card.seconds:.0f} s on {card.cores} processors. Share of the untrained weights:"
    yield f"{card.untrained}. SHA-256 of the weights: `{card.weights}`."
    if card.figures:
        yield from ("", "## Questions that were not trained on", "")
        yield "For how many the gold chain is the best of all chains that a walk is offered on the way:"
        yield from ("", "| set | questions | untrained | trained |", "|---|---|---|---|")
        for name, figures in card.figures.items():
            yield f"| {name} | {figures.questions} | {figures.untrained:.3f} | {figures.trained:.3f} |"


def _row(data: ScorerData) -> str:
    title = f"{data.title} ({', '.join(data.endpoints)})"
    cells = (title, str(data.trained), str(data.failed), data.licence or "not stated", data.cite or "–")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
