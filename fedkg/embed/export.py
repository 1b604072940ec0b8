"""A model for onnxruntime, made once from a folder of sentence-transformers, and kept.

Of a BERT encoder only the graph is made, some 30 kB, without PyTorch (`bert_graph`): the weights are mapped into memory
from where they lie. Another kind of model is exported whole by PyTorch, where that is installed (`torch_export`). What
is kept is used as long as no file of the model changes and the graph's SHA-256 is the one that was noted.
"""

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import msgspec

from fedkg.cache.folders import claim, read_bounded
from fedkg.embed import torch_export
from fedkg.embed.encoder import OnnxModel
from fedkg.embed.model_folder import WEIGHTS, BertFolder, UnknownArchitectureError, bert_folder, states
from fedkg.embed.stored_tensors import stored_tensors

__all__ = ["digest", "exported"]

FORMAT = "fedkg export 1"
NOTE, GRAPH = "export.json", "model.onnx"
MOST_NOTED = 1 << 20
MAKER = "fedkg"

log = logging.getLogger(__name__)


class _Export(msgspec.Struct, frozen=True):
    """What is noted beside a graph: of which files it was made, as they were then, and by what.

    `files` has size and time of change; `weights` and `graph` are SHA-256. `cosine` is the least one of sample texts to
    what the original made of them, where that was at hand.
    """

    format: str
    name: str
    folder: str
    files: dict[str, tuple[int, int]]
    weights: str
    graph: str
    most_tokens: int
    lowered: bool
    made_by: str
    cosine: float | None = None


def exported(name: str, find: Callable[[], Path], keep: Path | None = None, weights: str = "") -> OnnxModel:
    """The model of that name: the kept one, or one that is made of the folder that `find` returns.

    It is kept in `keep`, if any. `weights` is the SHA-256 that the weights must have, if any.

    Raises ValueError for a model that cannot be exported here, and whatever `find` and damaged files raise.
    """
    place = keep / hashlib.sha256(name.encode()).hexdigest()[:16] if keep else None
    kept = _kept(place, name, weights) if place else None
    return kept or _made(name, find(), place)


@lru_cache(maxsize=8)
def digest(file: Path, _modified: int, _size: int) -> str:
    """The SHA-256 of the file, computed once per state of it: time and size are there for the cache's key."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _kept(place: Path, name: str, weights: str) -> OnnxModel | None:
    """The model that is kept there; None where there is none, or it was made of other files."""
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        note = msgspec.json.decode(read_bounded(place / NOTE, MOST_NOTED), type=_Export)
        folder, graph = Path(note.folder), place / GRAPH
        holds = (note.format, note.name, weights or note.weights) == (FORMAT, name, note.weights)
        if holds and note.files == states(folder) and note.graph == _digest(graph):
            return _model(note, graph)
    return None


def _made(name: str, folder: Path, place: Path | None) -> OnnxModel:
    """The model, made now and kept if it can be."""
    try:
        return _bert(name, folder, place)
    except UnknownArchitectureError as error:
        if not torch_export.installed():
            hint = "PyTorch exports other kinds, once: pip install 'fedkg[embeddings,sentence-transformers]'"
            raise ValueError(f"{error}; {hint}") from error
    return _by_torch(name, folder, place)


def _bert(name: str, folder: Path, place: Path | None) -> OnnxModel:
    """The graph of a BERT encoder, which refers to the folder's weights."""
    described, weights = bert_folder(folder), (folder / WEIGHTS).resolve()
    state = weights.stat()
    graph = _graph(described, weights, state.st_mtime_ns, state.st_size)
    if place:
        note = _note(name, folder, graph, described.most_tokens, lowered=described.lowered)
        _keep(place, note, graph)
    return OnnxModel(graph, weights.parent, folder, described.most_tokens, described.lowered)


@lru_cache(maxsize=8)
def _graph(described: BertFolder, weights: Path, _modified: int, _size: int) -> bytes:
    """The encoder's graph, made once per state of the weights."""
    from fedkg.embed.bert_graph import bert_graph  # noqa: PLC0415  # an optional extra

    graph: bytes = bert_graph(described.config, described.pooling, stored_tensors(weights)).SerializeToString()
    return graph


def _by_torch(name: str, folder: Path, place: Path | None) -> OnnxModel:
    """What PyTorch exports; kept, or where nothing is to be kept in memory."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / GRAPH
        made = torch_export.export(folder, file)
        graph = file.read_bytes()
    if place:
        note = _note(name, folder, graph, made.most_tokens)
        _keep(place, msgspec.structs.replace(note, made_by=made.made_by, cosine=made.cosine), graph)
    return OnnxModel(graph, folder, folder, made.most_tokens)


def _model(note: _Export, graph: Path) -> OnnxModel:
    folder = Path(note.folder)
    if note.made_by != MAKER:
        return OnnxModel(graph, graph.parent, folder, note.most_tokens)
    weights = (folder / WEIGHTS).resolve().parent
    return OnnxModel(graph.read_bytes(), weights, folder, note.most_tokens, note.lowered)


def _note(name: str, folder: Path, graph: bytes, most_tokens: int, *, lowered: bool = False) -> _Export:
    weights, sha256 = folder / WEIGHTS, hashlib.sha256(graph).hexdigest()
    folder = folder.absolute()
    return _Export(FORMAT, name, str(folder), states(folder), _digest(weights), sha256, most_tokens, lowered, MAKER)


def _keep(place: Path, note: _Export, graph: bytes) -> None:
    """Writes both, each in one step; where that fails the log says so, and the model is made anew the next time."""
    try:
        claim(place.parent)
        claim(place)
        _replace(place / GRAPH, graph)
        _replace(place / NOTE, msgspec.json.encode(note))
    except OSError as error:
        log.warning("the exported model is not kept: %s", error)
    else:
        log.info("the model %s is exported by %s, and kept in %s", note.name, note.made_by, place)


def _replace(file: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    Path(name).replace(file)


def _digest(file: Path) -> str:
    if not file.is_file():
        return ""
    state = file.stat()
    return digest(file, state.st_mtime_ns, state.st_size)
