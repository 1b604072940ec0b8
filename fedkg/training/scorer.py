"""A scorer of relation chains, from question sets or an endpoint's relations to a folder that `local:FOLDER` takes.

The folder is one of sentence-transformers, with the records that were trained on (`records/`), a card for programs
(`scorer.json`) and one for people (`README.md`), how much it counts on each graph (`judge.json`), and the weights of
its confidence (`confidence.toml`). While it is made it also has what a run is gone on with.
"""

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from fedkg.config.settings import Settings
from fedkg.core.training_card import HeldOutFigures
from fedkg.embed import minilm, sentence
from fedkg.embed.base import Embedder
from fedkg.embed.scorer import CARD, ScorerCard
from fedkg.errors import DatasetError
from fedkg.reasoner.local.chain_texts import chain_text, masked
from fedkg.training.chain_records import ChainRecord
from fedkg.training.fine_tuning import check_extra
from fedkg.training.model_card import CardText, compared, training_card, write_cards
from fedkg.training.run_folder import RECORDS, claim, clean, plain
from fedkg.training.scorer_confidence import write_confidence
from fedkg.training.scorer_data import DataChoice, Progress, QuestionData, collected
from fedkg.training.scorer_pairs import ScorerPair, pairs, rivals
from fedkg.training.scorer_training import PACKAGES, ScorerSchedule, train
from fedkg.training.scorer_weights import write_weights

__all__ = ["ScorerRun", "batches_of", "best_share", "train_scorer"]

BASE = "all-MiniLM-L6-v2"
OFTEN, MOST_TURNS = 20, 8
"""A set is gone over until its relations have stood in gold chains so often on average, so many times at most: many
relations in few questions are not learned in one pass."""


class ScorerRun(msgspec.Struct, frozen=True):
    """What a run was asked for, so that it is only gone on with in the same way."""

    data: dict[str, object]
    schedule: ScorerSchedule
    base: str


def train_scorer(
    settings: Settings,
    choice: DataChoice,
    schedule: ScorerSchedule,
    out: Path,
    *,
    base: Path | None = None,
    on_progress: Progress = lambda _what, _done, _all: None,
) -> ScorerCard:
    """Trains a scorer, or goes on with a run that was interrupted, and returns its card.

    Training begins with the model of the folder `base`, or with all-MiniLM-L6-v2.

    Raises InputError where sets, files, settings or the folder do not fit, MissingExtraError, and EndpointError.
    """
    check_extra("scorer", PACKAGES)
    name, base = (base.resolve().name, base) if base else (BASE, minilm.packaged_weights())
    claim(out, CARD, ScorerRun(plain(choice), schedule, name))
    data = asyncio.run(collected(settings, choice, out / RECORDS, on_progress))
    if not any(part.trained for part in data):
        raise DatasetError("there is no question to train on: of none a chain of relations leads to its answers")
    run = train(
        batches_of(data, schedule), base, out, schedule, lambda step, steps, _loss: on_progress("steps", step, steps)
    )
    made = training_card(name, [part.about for part in data], schedule, run, out, _figures(data, base, out))
    card = ScorerCard(**msgspec.structs.asdict(made), untrained=schedule.untrained)
    write_cards(out, CARD, card, _text(card))
    asyncio.run(write_weights(data, out, on_progress))
    asyncio.run(write_confidence(settings, data, out, on_progress))
    clean(out)
    return card


def batches_of(data: Sequence[QuestionData], schedule: ScorerSchedule) -> dict[str, list[ScorerPair]]:
    """The pairs by graph; each pass over the questions draws other negatives."""
    draw = random.Random(schedule.seed)  # noqa: S311  # reproducible, not a secret
    of_graph: dict[str, list[ScorerPair]] = {}
    for part in data:
        records = [record for _ in range(schedule.passes * _turns(part.trained)) for record in part.trained]
        of_graph.setdefault(part.graph, []).extend(pair for record in records for pair in pairs(record, draw))
    return {graph: made for graph, made in of_graph.items() if made}


def _turns(records: Sequence[ChainRecord]) -> int:
    """How often one pass goes over a set."""
    steps = [step for record in records for step in record.chain]
    return min(MOST_TURNS, max(1, OFTEN * len(set(steps)) // max(1, len(steps))))


def best_share(records: Sequence[ChainRecord], embedder: Embedder) -> float:
    """Of how many questions the gold chain is the most like them, of all chains that a walk is offered on the way."""
    asked = [_candidates(record) for record in records]
    texts = list(dict.fromkeys(text for texts in asked for text in texts))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    first = [
        int(np.argmax(np.stack([vectors[text] for text in chains]) @ vectors[anchor])) == 0 for anchor, *chains in asked
    ]
    return sum(first) / len(first)


def _candidates(record: ChainRecord) -> list[str]:
    """The question without its topic, its chain, and the others."""
    *others, _open = rivals(record)
    chains = [chain_text(record.chain), *(text for kind in others for text in kind)]
    return [masked(record.question, record.topic), *chains]


def _figures(data: Sequence[QuestionData], base: Path, out: Path) -> dict[str, HeldOutFigures]:
    """Of each set, before and after."""
    untrained, trained = map(_embedder, (base, out))
    return {
        part.about.questions or "made": compared(
            len(part.held_out), best_share(part.held_out, untrained), best_share(part.held_out, trained)
        )
        for part in data
        if part.held_out
    }


def _text(card: ScorerCard) -> CardText:
    return CardText(
        "A scorer of relation chains",
        "fedkg train scorer",
        ", so that questions lie\nnear the chains of relations that they ask for. "
        "`fedkg ask … --model local:FOLDER` reads questions with it.",
        "a chain",
        "Questions name their topic by X: nothing is learned of single entities.",
        "questions",
        "Questions that were not trained on",
        "For how many the gold chain is the best of all chains that a walk is offered on the way:",
        f" Share of the untrained weights: {card.untrained}.",
    )


def _embedder(folder: Path) -> Embedder:
    """The model of a folder, which may have no card yet."""
    return sentence.SentenceEmbedder(f"st:{folder}", lambda: str(folder), local=True)
