"""A scorer that `fedkg train scorer` has made: its card, and the embedder that it is."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path

import msgspec

from fedkg.common.one_line import line
from fedkg.embed import onnx, sentence
from fedkg.embed.base import Embedder
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["CARD", "HeldOutFigures", "ScorerCard", "ScorerData", "card", "named"]

CARD = "scorer.json"
"""The card's file in the folder of a scorer."""


class ScorerData(msgspec.Struct, frozen=True, omit_defaults=True):
    """Questions that a scorer was trained on: the set, "" for questions made of an endpoint's relations.

    `endpoints` are the graphs, without where they lie on a machine; `failed` are questions that no chain was seen for.
    """

    questions: str
    title: str
    endpoints: tuple[str, ...]
    trained: int
    held_out: int = 0
    failed: int = 0
    licence: str = ""
    cite: str = ""


class HeldOutFigures(msgspec.Struct, frozen=True):
    """Of how many questions, none of them trained on, the gold chain is the best of those that a walk is offered.

    Both are shares of `questions`, by the model before and after training, and without any search.
    """

    questions: int
    untrained: float
    trained: float


class ScorerCard(msgspec.Struct, frozen=True):
    """What a scorer is made of: `weights` is the SHA-256 of its weights, `base` the model that training began with.

    `seconds` is the time of training alone, on `cores` processors; `steps` of `batch` questions each. `untrained` is
    the share of the base's weights in the result. `figures` are by set.
    """

    fedkg: str
    base: str
    weights: str
    data: tuple[ScorerData, ...]
    seed: int
    batch: int
    rate: float
    untrained: float
    steps: int
    loss: float
    seconds: float
    cores: int
    made_at: str
    figures: Mapping[str, HeldOutFigures] = {}


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
