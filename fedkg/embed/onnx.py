"""Dense embeddings with onnxruntime, on the CPU and without PyTorch: half the memory and a fraction of the start.

A folder of sentence-transformers that holds a BERT encoder is read as it is: its weights (safetensors) and its
tokenizer. The graph is made from its configuration (`fedkg.embed.bert_graph`), so nothing is exported or kept.
"""

import importlib.util
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from fedkg.embed.base import Matrix, unit_rows
from fedkg.errors import MissingExtraError, ModelNameError

if TYPE_CHECKING:
    from fedkg.embed.bert_graph import BertConfig, Pooling

__all__ = ["PACKAGES", "OnnxEmbedder", "named"]

PACKAGES = ("onnx", "onnxruntime", "safetensors", "tokenizers")
"""What has to be installed: the extra `embeddings`."""

BATCH = 64
MOST_THREADS = 4
"""More do not help with texts of a few words."""

MODULES = ("Transformer", "Pooling", "Normalize")
"""The parts of a model that can be read; the last may be left out, since vectors have length 1 anyway."""


class _Folder(NamedTuple):
    """What the files of a model's folder tell."""

    config: "BertConfig"
    pooling: "Pooling"
    most_tokens: int


class OnnxEmbedder:
    """An Embedder over one BERT encoder.

    `find` returns, at the first text, the folder to load. One model is used by one thread at a time.
    """

    def __init__(self, name: str, find: Callable[[], Path]) -> None:
        self.name = name
        self._find = find
        self._lock = threading.Lock()
        self._model: _Encoder | None = None

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; a text that occurs twice is embedded once.

        Raises ModelNameError where the model cannot be found or is of another kind.
        """
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        with self._lock:
            if self._model is None:
                self._model = _load(self.name, self._find())
            rows = self._model.vectors(list(places))
        return unit_rows(rows)[[places[text] for text in texts]]


def named(folder: str) -> OnnxEmbedder:
    """The model of a folder. Raises MissingExtraError; `embed` raises ModelNameError where it is of another kind."""
    if missing := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
        install = "pip install 'fedkg[embeddings]'"
        raise MissingExtraError(f"this embedder needs {missing[0]}: {install}", asked="embeddings", hint=install)
    return OnnxEmbedder(f"onnx:{folder}", lambda: Path(folder))


class _Encoder:
    """A loaded model: tokenizer and graph."""

    def __init__(self, tokenizer: Any, session: Any, width: int) -> None:
        self._tokenizer, self._session, self._width = tokenizer, session, width

    def vectors(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), width), float32; texts of like length are read together, so that little is filled up."""
        vectors = np.zeros((len(texts), self._width), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            vectors[places] = self._batch([texts[place] for place in places])
        return vectors

    def _batch(self, texts: Sequence[str]) -> Matrix:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([tokens.ids for tokens in encoded], dtype=np.int64)
        mask = np.array([tokens.attention_mask for tokens in encoded], dtype=np.int64)
        vectors: Matrix = self._session.run(["vectors"], {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def _load(name: str, folder: Path) -> _Encoder:
    """Raises ModelNameError for a folder that holds no such model."""
    try:
        model = _described(folder)
        return _Encoder(_tokenizer(folder, model.most_tokens), _session(folder, model), model.config.hidden_size)
    except Exception as error:  # whatever is wrong with the files, the libraries raise it as anything
        raise ModelNameError(
            f"embedder {name!r} cannot be read: {error}",
            asked=str(folder),
            hint="it has to be a folder of sentence-transformers with a BERT encoder; take `st:FOLDER` for others",
        ) from error


def _described(folder: Path) -> _Folder:
    from fedkg.embed.bert_graph import BertConfig  # noqa: PLC0415  # an optional extra

    config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BertConfig)
    modules = _read(folder / "modules.json")
    kinds = tuple(module["type"].rpartition(".")[2] for module in modules)
    if kinds not in {MODULES, MODULES[:2]}:
        raise ValueError(f"its parts are {', '.join(kinds)}, and not {', '.join(MODULES)}")
    limit = _read(folder / "sentence_bert_config.json")["max_seq_length"]
    return _Folder(config, _pooling(_read(folder / modules[1]["path"] / "config.json")), limit)


def _read(file: Path) -> Any:
    return msgspec.json.decode(file.read_bytes())


def _pooling(switches: Mapping[str, object]) -> "Pooling":
    chosen = {name for name, on in switches.items() if name.startswith("pooling_mode_") and on is True}
    if chosen == {"pooling_mode_mean_tokens"}:
        return "mean"
    if chosen == {"pooling_mode_cls_token"}:
        return "cls"
    raise ValueError(
        f"its pooling is {', '.join(sorted(chosen)) or 'not named'}, and neither the mean nor the first token"
    )


def _tokenizer(folder: Path, most_tokens: int) -> Any:
    from tokenizers import Tokenizer  # noqa: PLC0415  # an optional extra

    tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(most_tokens)
    tokenizer.enable_padding()
    return tokenizer


def _session(folder: Path, model: _Folder) -> Any:
    """The graph with its weights, in as many threads as there are processors, which do not wait in a busy loop.

    So two processes on two processors do not take each other's time.
    """
    import onnxruntime  # noqa: PLC0415  # an optional extra

    from fedkg.embed.bert_graph import bert_graph  # noqa: PLC0415  # an optional extra

    weights = _weights(folder / "model.safetensors")
    graph = bert_graph(model.config, model.pooling, {name: values.shape for name, values in weights.items()})
    needed = [tensor.name for tensor in graph.graph.initializer if tensor.external_data]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(MOST_THREADS, _processors())
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_external_initializers(
        needed, [onnxruntime.OrtValue.ortvalue_from_numpy(weights[name]) for name in needed]
    )
    return onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _weights(file: Path) -> dict[str, Matrix]:
    """The tensors by name, float32; BERT's own prefix is left out."""
    from safetensors import SafetensorError  # noqa: PLC0415  # an optional extra
    from safetensors.numpy import load_file  # noqa: PLC0415

    try:
        tensors = load_file(file)
    except SafetensorError as error:
        raise ValueError(f"{file.name}: {error}") from error
    return {name.removeprefix("bert."): values.astype(np.float32, copy=False) for name, values in tensors.items()}


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
