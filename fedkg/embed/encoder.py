"""A model at work: its tokenizer, and its graph in onnxruntime, on the CPU."""

import os
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedkg.embed.base import Matrix
from fedkg.embed.model_folder import padding, states

__all__ = ["Encoder", "OnnxModel", "loaded"]

BATCH = 64
UNLIKE = 1
"""Tokens by which the texts of a batch may differ in length."""
MOST_THREADS = 4
"""More do not help with texts of a few words."""
MOST_LOADED = 2
"""Models that stay in memory once they are loaded: as many as one session may need, its embedder and its scorer."""

Tokens = tuple[int, ...]
"""The numbers of a text's tokens."""
States = tuple[tuple[str, tuple[int, int]], ...]

_loading = threading.Lock()


class OnnxModel(NamedTuple):
    """A model as onnxruntime reads it: `graph` is a file, or the content of one whose weights lie in `weights`.

    The tokenizer is that of `folder`; `most_tokens` of a text are read, in lower case where it is `lowered`.
    """

    graph: Path | bytes
    weights: Path
    folder: Path
    most_tokens: int
    lowered: bool = False


class Encoder:
    """A loaded model. Raises whatever its libraries raise where a file is damaged."""

    def __init__(self, model: OnnxModel) -> None:
        self._lowered = model.lowered
        self._tokenizer, self._session = _tokenizer(model), _session(model)
        self._filler: int = self._tokenizer.token_to_id(padding(model.folder)) or 0
        self._width: int = self._session.get_outputs()[0].shape[1]

    def vectors(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), width), float32; texts that are the same to the model are read once."""
        tokens = self._tokens(texts)
        places = {each: place for place, each in enumerate(sorted(set(tokens), key=len))}
        vectors = np.zeros((len(places), self._width), dtype=np.float32)
        for batch in batches(list(places)):
            vectors[[places[each] for each in batch]] = self._batch(batch)
        return vectors[[places[each] for each in tokens]]

    def _tokens(self, texts: Sequence[str]) -> list[Tokens]:
        encoded = self._tokenizer.encode_batch([text.lower() for text in texts] if self._lowered else texts)
        return [tuple(each.ids) for each in encoded]

    def _batch(self, texts: Sequence[Tokens]) -> Matrix:
        longest = max(map(len, texts))
        ids = np.array([each + (self._filler,) * (longest - len(each)) for each in texts], dtype=np.int64)
        mask = np.array([[place < len(each) for place in range(longest)] for each in texts], dtype=np.int64)
        vectors: Matrix = self._session.run(["vectors"], {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def loaded(model: OnnxModel) -> Encoder:
    """The model, loaded once for all sessions of this process, as long as no file of it changes. Any thread may use it.

    It stays in memory; of several models the last two, until the process forks. Raises what an `Encoder` raises.
    """
    with _loading:  # whoever comes meanwhile waits for it
        return _loaded(model, tuple(states(model.folder).items()))


@lru_cache(MOST_LOADED)
def _loaded(model: OnnxModel, _files: States) -> Encoder:
    """The model; its files are there for the cache's key."""
    return Encoder(model)


def _before_fork() -> None:
    """Lets the models go: a child has none of their threads, nor can end them."""
    _loading.acquire()
    _loaded.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_loading.release, after_in_child=_loading.release)


def batches(texts: Sequence[Tokens]) -> Iterator[Sequence[Tokens]]:
    """The texts, the shortest first, in batches of nearly one length: what fills a batch up costs as much as tokens do.

    A batch of one length alone would be too small where there are few texts.
    """
    start = 0
    for end in range(1, len(texts) + 1):
        whole = end == len(texts)
        if whole or end - start == BATCH or len(texts[end]) > len(texts[start]) + UNLIKE:
            yield texts[start:end]
            start = end


def _tokenizer(model: OnnxModel) -> Any:
    from tokenizers import Tokenizer  # noqa: PLC0415  # an optional extra

    tokenizer = Tokenizer.from_str((model.folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(model.most_tokens)
    tokenizer.no_padding()
    return tokenizer


def _session(model: OnnxModel) -> Any:
    """The graph, its weights mapped into memory, in as many threads as there are processors; none waits in a busy loop.

    So two processes on two processors do not take each other's time.
    """
    import onnxruntime  # noqa: PLC0415  # an optional extra

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(MOST_THREADS, _processors())
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(model.weights))
    graph = model.graph if isinstance(model.graph, bytes) else str(model.graph)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
