"""Dense embeddings on this machine with sentence-transformers, on the CPU.

`named` is any model, from a folder or a hub. PyTorch takes seconds to import, so that and loading wait for the first
text.
"""

import importlib.util
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedkg.common import hf_loading
from fedkg.common.one_line import line
from fedkg.embed.base import Matrix, unit_rows
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["SentenceEmbedder", "named", "opened"]

BATCH = 64
SAFE: dict[str, Any] = {"trust_remote_code": False, "model_kwargs": {"use_safetensors": True}}
"""No code of a model is run, and its weights are not unpickled."""
HINT = "st: takes a model's name on the hub, or a folder that one was saved to, with weights as *.safetensors"


class SentenceEmbedder:
    """An Embedder over one sentence-transformers model.

    `find` says, at the first text, which folder or hub name to load; `local` forbids every look at a hub. One model is
    used by one thread at a time.
    """

    def __init__(self, name: str, find: Callable[[], str], *, local: bool) -> None:
        self.name = name
        self._find = find
        self._local = local
        self._lock = threading.Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; a text that occurs twice is embedded once.

        Raises ModelNameError where the model cannot be found, MissingExtraError where a package is not installed.
        """
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        with self._lock:
            if self._model is None:
                self._model = self._load()
            if not places:
                return np.zeros((0, self._model.get_embedding_dimension()), dtype=np.float32)
            rows = self._model.encode(list(places), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return unit_rows(np.asarray(rows, dtype=np.float32))[[places[text] for text in texts]]

    def _load(self) -> Any:
        source = self._find()
        _check_no_pickles(Path(source))
        try:
            return opened(source, local=self._local)
        except ImportError as error:
            raise _missing() from error
        except Exception as error:  # whatever is wrong with the files, the libraries raise it as anything
            raise ModelNameError(
                f"sentence-transformers cannot load the model of embedder {self.name!r}: {line(str(error), 300)}",
                asked=self.name,
                hint=HINT,
            ) from error


def named(model: str, *, offline: bool = False) -> SentenceEmbedder:
    """Any sentence-transformers model, by folder or by its name on the hub.

    `offline`, or by folder, without any network.

    Raises MissingExtraError where the package is missing; `embed` raises ModelNameError where there is no such model.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise _missing()
    return SentenceEmbedder(f"st:{model}", lambda: model, local=offline or Path(model).is_dir())


def opened(source: str, *, local: bool) -> Any:
    """The model from this machine where it is here, so that no hub is waited for, else from the hub.

    Raises whatever the library raises where there is none.
    """
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  # optional, and slow to import

    with hf_loading.quiet():
        try:
            with hf_loading.offline():
                return SentenceTransformer(source, device="cpu", local_files_only=True, **SAFE)
        except (OSError, ValueError):
            if local:
                raise
            return SentenceTransformer(source, device="cpu", **SAFE)


def _check_no_pickles(folder: Path) -> None:
    """Raises ModelNameError for weights that would be unpickled, in whichever part of the model: that may run code."""
    for file in sorted(folder.rglob("pytorch_model*.bin")) if folder.is_dir() else ():
        if not any(file.parent.glob("*.safetensors")):
            raise ModelNameError(f"{file} holds pickled weights, which are not read", hint=HINT)


def _missing() -> MissingExtraError:
    install = "pip install 'fedkg[sentence-transformers]'"
    return MissingExtraError(
        f"this embedder needs sentence-transformers: {install}", asked="sentence-transformers", hint=install
    )
