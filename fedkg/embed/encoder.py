"""A model at work: its tokenizer, and its graph in onnxruntime, on the CPU."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedkg.embed.base import Matrix
from fedkg.embed.model_folder import padding

__all__ = ["Encoder", "OnnxModel"]

BATCH = 64
MOST_THREADS = 4
"""More do not help with texts of a few words."""


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
        self._width: int = self._session.get_outputs()[0].shape[1]

    def vectors(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), width), float32; texts of like length are read together, so that little is filled up."""
        vectors = np.zeros((len(texts), self._width), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            vectors[places] = self._batch([texts[place] for place in places])
        return vectors

    def _batch(self, texts: Sequence[str]) -> Matrix:
        encoded = self._tokenizer.encode_batch([text.lower() for text in texts] if self._lowered else texts)
        ids = np.array([tokens.ids for tokens in encoded], dtype=np.int64)
        mask = np.array([tokens.attention_mask for tokens in encoded], dtype=np.int64)
        vectors: Matrix = self._session.run(["vectors"], {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def _tokenizer(model: OnnxModel) -> Any:
    from tokenizers import Tokenizer  # noqa: PLC0415  # an optional extra

    tokenizer = Tokenizer.from_str((model.folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(model.most_tokens)
    filler = padding(model.folder)
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(filler) or 0, pad_token=filler)
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
