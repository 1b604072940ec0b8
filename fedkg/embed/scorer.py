"""A scorer that `fedkg train scorer` has made: its card, and the embedder that it is."""

import importlib.util
from pathlib import Path

import msgspec

from fedkg.common.one_line import line
from fedkg.core.training_card import TrainingCard
from fedkg.embed import onnx, sentence
from fedkg.embed.base import Embedder
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["CARD", "ScorerCard", "card", "named"]

CARD = "scorer.json"
"""The card's file in the folder of a scorer."""


class ScorerCard(TrainingCard, frozen=True, kw_only=True):
    """What a scorer is made of; `untrained` is the share of the base's weights in the result."""

    untrained: float


def card(folder: Path) -> ScorerCard:
    """The card of the scorer in that folder. Raises ModelNameError where there is none."""
    hint = "`fedkg train scorer … --out FOLDER` makes one; `local` alone needs none"
    try:
        return msgspec.json.decode((folder / CARD).read_bytes(), type=ScorerCard)
    except OSError as error:
        message = f"there is no trained scorer in {str(folder)!r}: {CARD}: {error.strerror}"
        raise ModelNameError(message, asked=str(folder), hint=hint) from error
    except msgspec.MsgspecError as error:
        message = f"{CARD} of the scorer in {str(folder)!r} cannot be read: {line(str(error), 200)}"
        raise ModelNameError(message, asked=str(folder), hint=hint) from error


def named(folder: Path, keep: Path | None = None) -> Embedder:
    """The scorer of that folder, in onnxruntime, or where that is not installed in sentence-transformers.

    It is called by its weights, so that vectors that are kept belong to them, also after another training; the folder
    `keep` is for the model as onnxruntime reads it. Raises ModelNameError, and MissingExtraError where neither is
    installed.
    """
    weights = card(folder).weights
    name = f"scorer:{weights[:16]}"
    if all(importlib.util.find_spec(package) for package in onnx.PACKAGES):
        return onnx.OnnxEmbedder(name, lambda: folder, keep, weights)
    if importlib.util.find_spec("sentence_transformers"):
        return sentence.SentenceEmbedder(name, lambda: str(folder), local=True)
    install = "pip install 'fedkg[embeddings]'"
    raise MissingExtraError(f"a trained scorer needs fedkg[embeddings]: {install}", asked="embeddings", hint=install)
