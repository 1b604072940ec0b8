"""A folder of sentence-transformers read by onnxruntime: small models with random weights, made here."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedkg.embed import torch_export
from fedkg.embed.onnx import named
from fedkg.errors import MissingExtraError, ModelNameError
from tests.support.extras import needs
from tests.support.tensors import save

pytestmark = needs("embeddings", "onnxruntime")

WIDTH, LAYERS, WORDS = 8, 2, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "place", "of", "birth", "##s"]
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "num_attention_heads": 2,
    "num_hidden_layers": LAYERS,
    "intermediate_size": 2 * WIDTH,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "vocab_size": len(WORDS),
}


def weights() -> dict[str, Any]:
    """Random weights by the names of a BERT checkpoint."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (16, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{name}.{part}.weight": (WIDTH, WIDTH), f"{name}.{part}.bias": (WIDTH,)}
        shapes |= {f"{name}.intermediate.dense.weight": (2 * WIDTH, WIDTH)}
        shapes |= {f"{name}.intermediate.dense.bias": (2 * WIDTH,), f"{name}.output.dense.weight": (WIDTH, 2 * WIDTH)}
        shapes |= {f"{name}.output.dense.bias": (WIDTH,)}
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    shapes |= {f"{norm}.{part}": (WIDTH,) for norm in norms for part in ("weight", "bias")}
    random = np.random.default_rng(7)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def folder(place: Path, *, pooling: str = "mean_tokens", prefix: str = "", **changes: Any) -> Path:
    """A model as sentence-transformers saves it; `changes` replace what config.json has."""
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415  # only with fedkg[embeddings]

    (place / "1_Pooling").mkdir(parents=True)
    save(place / "model.safetensors", {prefix + name: values for name, values in weights().items()})
    (place / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer: Any = BertWordPieceTokenizer(str(place / "vocab.txt"))
    tokenizer.save(str(place / "tokenizer.json"))
    kinds = ("Transformer", "Pooling", "Normalize")
    paths = ("", "1_Pooling", "2_Normalize")
    modules = [
        {"idx": number, "name": str(number), "type": f"sentence_transformers.models.{kind}", "path": path}
        for number, (kind, path) in enumerate(zip(kinds, paths, strict=True))
    ]
    (place / "modules.json").write_text(json.dumps(modules))
    (place / "config.json").write_text(json.dumps(CONFIG | changes))
    (place / "sentence_bert_config.json").write_text('{"max_seq_length": 12}')
    modes = ("mean_tokens", "cls_token", "max_tokens")
    switches = {"word_embedding_dimension": WIDTH} | {f"pooling_mode_{mode}": mode == pooling for mode in modes}
    (place / "1_Pooling" / "config.json").write_text(json.dumps(switches))
    return place


@needs("hf", "transformers")
@pytest.mark.torch
@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token"])
def test_the_graph_computes_what_the_architecture_defines(pooling: str, tmp_path: Path) -> None:
    """Against transformers' own BERT with the same weights, texts of several lengths in one batch."""
    import torch  # noqa: PLC0415  # only with fedkg[hf]
    from transformers import AutoTokenizer, BertConfig, BertModel  # noqa: PLC0415

    place = folder(tmp_path / "model", pooling=pooling)
    texts = ["place of birth", "of", "births of of of birth place place unknown words here and there"]
    bert = BertModel(BertConfig(**{key: CONFIG[key] for key in CONFIG if key != "model_type"}), add_pooling_layer=False)
    bert.load_state_dict({name: torch.from_numpy(values) for name, values in weights().items()}, strict=False)
    rows = []
    for text in texts:
        tokens = AutoTokenizer.from_pretrained(place)(text, truncation=True, max_length=12, return_tensors="pt")
        hidden = bert.train(mode=False)(**tokens).last_hidden_state[0].detach().numpy()
        rows.append(hidden.mean(axis=0) if pooling == "mean_tokens" else hidden[0])
    expected = np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(named(str(place)).embed(texts), expected, atol=1e-5)


def test_a_prefix_of_the_weights_is_left_out(tmp_path: Path) -> None:
    """Checkpoints name their tensors with and without `bert.`."""
    plain, prefixed = folder(tmp_path / "a"), folder(tmp_path / "b", prefix="bert.")
    texts = ["place of birth", "births"]
    assert np.array_equal(named(str(plain)).embed(texts), named(str(prefixed)).embed(texts))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_type": "mpnet"}, "model_type"),
        ({"hidden_act": "relu"}, "hidden_act"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"pooling": "max_tokens"}, "pooling_mode_max_tokens"),
        ({"num_hidden_layers": 3}, "encoder.layer.2"),
    ],
)
def test_models_of_another_kind_are_refused(
    changes: dict[str, Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PyTorch does not export it, the message names what is other, and the hint what reads such models."""
    monkeypatch.setattr(torch_export, "installed", lambda: False)
    place = folder(tmp_path / "model", **changes)
    with pytest.raises(ModelNameError, match=reason) as error:
        named(str(place)).embed(["a"])
    assert "st:FOLDER" in (error.value.hint or "")


@pytest.mark.parametrize("file", ["config.json", "modules.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"\x00" * 100])
def test_damaged_folders_are_refused(file: str, content: bytes | None, tmp_path: Path) -> None:
    """Files that are missing, empty, cut or other ones end with a clear error."""
    place = folder(tmp_path / "model")
    if content is None:
        (place / file).unlink()
    else:
        (place / file).write_bytes(content)
    with pytest.raises(ModelNameError):
        named(str(place)).embed(["a"])


def test_weights_in_a_pickle_are_not_read(tmp_path: Path) -> None:
    """Of weights only safetensors are read: a pickle could run anything."""
    place = folder(tmp_path / "model")
    (place / "model.safetensors").rename(place / "pytorch_model.bin")
    with pytest.raises(ModelNameError, match=r"model\.safetensors"):
        named(str(place)).embed(["a"])


def test_missing_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any work."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name))
    with pytest.raises(MissingExtraError, match=r"pip install 'fedkg\[embeddings\]'"):
        named("folder")
