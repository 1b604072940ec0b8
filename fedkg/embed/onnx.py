"""Dense embeddings with onnxruntime, on the CPU and without PyTorch: half the memory and a fraction of the start.

A model is a folder of sentence-transformers, or its name on a hub. It is exported once (`fedkg.embed.export`).
"""

import importlib.util
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.encoder import Encoder, loaded
from fedkg.embed.export import exported
from fedkg.embed.hub import fetched, is_hub_name
from fedkg.errors import FedkgError, MissingExtraError, ModelNameError

__all__ = ["PACKAGES", "OnnxEmbedder", "named"]

PACKAGES = ("onnx", "onnxruntime", "tokenizers")
"""What has to be installed: the extra `embeddings`."""


class OnnxEmbedder:
    """An Embedder over one model.

    `find` returns the folder of the model, at the first text, unless it is kept in `keep` as it was exported before;
    `weights` is the SHA-256 that its weights must have, if any. One model is used by one thread at a time.
    """

    def __init__(self, name: str, find: Callable[[], Path], keep: Path | None = None, weights: str = "") -> None:
        self.name = name
        self._load = partial(_loaded, name, find, keep, weights)
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; a text that occurs twice is embedded once.

        Raises ModelNameError where the model cannot be found or exported.
        """
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            rows = self._encoder.vectors(list(places))
        return unit_rows(rows)[[places[text] for text in texts]]


def named(model: str, *, keep: Path | None = None, offline: bool = False) -> OnnxEmbedder:
    """The model of a folder, or of that name on a hub; `offline` only where it is on this machine.

    Raises MissingExtraError; `embed` raises ModelNameError where there is no such model, or it cannot be exported.
    """
    if missing := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
        install = "pip install 'fedkg[embeddings]'"
        raise MissingExtraError(f"this embedder needs {missing[0]}: {install}", asked="embeddings", hint=install)
    on_hub = is_hub_name(model) and not Path(model).is_dir()
    find = partial(fetched, model, offline=offline) if on_hub else partial(Path, model)
    return OnnxEmbedder(f"onnx:{model}", find, keep)


def _loaded(name: str, find: Callable[[], Path], keep: Path | None, weights: str) -> Encoder:
    try:
        return loaded(exported(name, find, keep, weights))
    except FedkgError:
        raise
    except Exception as error:  # whatever is wrong with the files, the libraries raise it as anything
        raise ModelNameError(
            f"embedder {name!r} cannot be read: {error}",
            asked=name,
            hint="it has to be a folder of sentence-transformers or such a model on a hub; st:FOLDER reads others",
        ) from error
