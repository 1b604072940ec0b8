"""Models as onnxruntime reads them, kept beside the cache: made once, and anew where a file has changed."""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedkg.embed import torch_export
from fedkg.embed.encoder import Encoder, loaded
from fedkg.embed.export import exported
from fedkg.embed.onnx import named
from fedkg.embed.sentence import opened
from tests.embed.test_onnx import CONFIG, WIDTH, folder, weights
from tests.support.extras import needs
from tests.support.tensors import save

pytestmark = needs("embeddings", "onnxruntime")
TEXTS = ["place of birth", "of", "births of unknown words"]


def vectors(name: str, place: Path, keep: Path | None = None) -> Any:
    """What the model of that folder gives; kept under the name."""
    return Encoder(exported(name, lambda: place, keep)).vectors(TEXTS)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a model."""
    return folder(tmp_path / "model")


def test_a_model_is_made_once(model: Path, tmp_path: Path) -> None:
    """The second time it is read as it is kept, without looking for the folder; the vectors are the same."""
    first = vectors("m", model, tmp_path / "keep")

    def find() -> Path:
        raise AssertionError("it is looked for")

    kept = exported("m", find, tmp_path / "keep")
    assert np.array_equal(Encoder(kept).vectors(TEXTS), first)
    assert sum(file.stat().st_size for file in (tmp_path / "keep").rglob("*.*")) < 100_000  # the weights are not copied


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "1_Pooling/config.json", "model.safetensors"])
def test_it_is_made_anew_where_a_file_has_changed(name: str, model: Path, tmp_path: Path) -> None:
    """Size and time of every file are those that were noted, or the export does not hold."""
    vectors("m", model, tmp_path / "keep")
    content = (model / name).read_bytes()
    (model / name).write_bytes(content + b" ")
    looked: list[Path] = []

    def find() -> Path:
        looked.append(model)
        return model

    exported("m", find, tmp_path / "keep")
    exported("m", find, tmp_path / "keep")
    assert looked == [model]


@pytest.mark.parametrize("file", ["export.json", "model.onnx"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 50])
def test_damage_is_no_error(file: str, content: bytes, model: Path, tmp_path: Path) -> None:
    """A note or a graph that is another one is made anew."""
    first = vectors("m", model, tmp_path / "keep")
    [kept] = (tmp_path / "keep").rglob(file)
    kept.write_bytes(content)
    assert np.array_equal(vectors("m", model, tmp_path / "keep"), first)
    assert kept.read_bytes() != content


def test_other_weights_than_the_expected_are_not_taken(model: Path, tmp_path: Path) -> None:
    """Where their SHA-256 is given, an export of others does not hold."""
    exported("m", lambda: model, tmp_path / "keep")

    def find() -> Path:
        raise LookupError("it is looked for")

    with pytest.raises(LookupError):
        exported("m", find, tmp_path / "keep", weights="53aa")


def test_a_folder_that_cannot_be_written_is_no_error(model: Path, tmp_path: Path) -> None:
    """The model is made for this process then."""
    (tmp_path / "keep").write_text("a file")
    assert np.array_equal(vectors("m", model, tmp_path / "keep"), vectors("m", model))


@pytest.mark.parametrize(("kind", "most"), [("F16", 0.02), ("BF16", 0.1)])
def test_weights_in_half_precision_are_widened(kind: str, most: float, tmp_path: Path) -> None:
    """The vectors are those in single precision but for the rounding of the weights."""
    half, single = folder(tmp_path / "half"), folder(tmp_path / "single")
    save(half / "model.safetensors", weights(), kind)
    assert np.abs(vectors("h", half) - vectors("s", single)).max() < most


@needs("sentence-transformers", "sentence_transformers")
@pytest.mark.torch
@pytest.mark.parametrize("kind", ["distilbert", "max"])
def test_torch_exports_what_is_no_bert(kind: str, tmp_path: Path) -> None:
    """Another encoder, or another pooling, is exported once, compared with the original, and used without PyTorch."""
    place = other(kind, folder(tmp_path / "model"))
    name = f"onnx:{place}"
    made = named(str(place), keep=tmp_path / "keep").embed(TEXTS)
    [note] = (tmp_path / "keep").rglob("export.json")
    assert json.loads(note.read_bytes())["cosine"] >= torch_export.LEAST_COSINE
    assert json.loads(note.read_bytes())["made_by"].startswith("torch ")
    original = opened(str(place), local=True).encode(TEXTS, normalize_embeddings=True)
    assert (made * original).sum(axis=1).min() >= torch_export.LEAST_COSINE
    kept = Encoder(exported(name, Path, tmp_path / "keep")).vectors(TEXTS)
    assert np.allclose(kept, made, atol=1e-6)


def other(kind: str, place: Path) -> Path:
    """The folder with a model of another kind, whose weights are random."""
    import transformers  # noqa: PLC0415  # only with fedkg[sentence-transformers]

    if kind == "max":
        switches = {
            "word_embedding_dimension": WIDTH,
            "pooling_mode_mean_tokens": False,
            "pooling_mode_max_tokens": True,
        }
        (place / "1_Pooling" / "config.json").write_text(json.dumps(switches))
        return place
    small = {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 16, "vocab_size": CONFIG["vocab_size"]}
    transformers.DistilBertModel(transformers.DistilBertConfig(**small)).save_pretrained(place)
    return place


@needs("sentence-transformers", "sentence_transformers")
@pytest.mark.torch
def test_an_export_with_other_vectors_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not kept, and the error has the cosine."""
    place = other("max", folder(tmp_path / "model"))
    monkeypatch.setattr(torch_export, "LEAST_COSINE", 1.1)
    with pytest.raises(ValueError, match="cosine"):
        exported("m", lambda: place, tmp_path / "keep")
    assert not list((tmp_path / "keep").rglob("*.json"))


def test_a_moved_folder_is_looked_for_again(model: Path, tmp_path: Path) -> None:
    """The export refers to the weights where they were."""
    first = vectors("m", model, tmp_path / "keep")
    moved = Path(shutil.move(model, tmp_path / "moved"))
    assert np.array_equal(vectors("m", moved, tmp_path / "keep"), first)


def test_a_model_is_loaded_once(model: Path, tmp_path: Path) -> None:
    """All sessions of a process share it; where one of its files has changed, it is another."""
    first = loaded(exported("m", lambda: model))
    assert loaded(exported("m", lambda: model, tmp_path / "keep")) is first
    assert loaded(exported("m", lambda: model, tmp_path / "keep")) is first
    save(model / "model.safetensors", {name: -values for name, values in weights().items()})
    changed = loaded(exported("m", lambda: model, tmp_path / "keep"))
    assert not np.array_equal(changed.vectors(TEXTS), first.vectors(TEXTS))


def test_threads_that_need_a_model_at_once_share_it(model: Path) -> None:
    """One of them loads it, and the others wait for that."""
    described, together = exported("m", lambda: model), threading.Barrier(4)

    def load(_: int) -> Encoder:
        together.wait(60)
        return loaded(described)

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(load, range(4)))) == 1


FORKED = """
import os, signal, sys
from fedkg.embed.onnx import named

*before, after = sys.argv[1:]
for model in before:
    named(model).embed(["place", "place of birth"])
child = os.fork()
if not child:
    signal.alarm(20)
    named(after).embed(["place", "place of birth"])
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_loads_its_own(tmp_path: Path) -> None:
    """It would wait for ever for the threads of a model of its parent's, were that to make room for its own."""
    models = [folder(tmp_path / name) for name in ("first", "second", "third")]
    subprocess.run([sys.executable, "-c", FORKED, *models], check=True)
