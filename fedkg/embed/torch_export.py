"""Models that `bert_graph` does not know, exported by PyTorch with all their parts, and compared with the original."""

import importlib.util
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedkg.embed.encoder import Encoder, OnnxModel
from fedkg.embed.sentence import opened

__all__ = ["LEAST_COSINE", "TorchExport", "export", "installed"]

LEAST_COSINE = 0.9999
"""Of each sample's vector to the original's."""
SAMPLES = ("capital", "place of birth", "Which films did the director of Jaws make?", "a " * 300, "Ort der Geburt", "")
OPERATIONS = 17
"""Version of ONNX's set of operations: the last one before the exporter's newest, which few runtimes read."""


class TorchExport(NamedTuple):
    """What was exported: how many tokens of a text are read, by what, and the least cosine to the original."""

    most_tokens: int
    made_by: str
    cosine: float


def installed() -> bool:
    """Whether models can be exported here."""
    return all(map(importlib.util.find_spec, ("torch", "sentence_transformers", "onnx")))


def export(folder: Path, file: Path) -> TorchExport:
    """Exports the model of the folder into the file.

    Raises ValueError where the export does not give the original's vectors, and whatever its libraries raise.
    """
    import torch  # noqa: PLC0415  # optional, and slow to import

    model = opened(str(folder), local=True)
    _write(torch, model, file)
    most_tokens = int(model.max_seq_length)
    encoder = Encoder(OnnxModel(file, file.parent, folder, most_tokens))
    cosine = _least_cosine(encoder.vectors(SAMPLES), model.encode(list(SAMPLES), normalize_embeddings=True))
    if not cosine >= LEAST_COSINE:
        raise ValueError(f"its export gives other vectors: cosine {cosine:.4f}")
    return TorchExport(most_tokens, f"torch {torch.__version__}", cosine)


def _write(torch: Any, model: Any, file: Path) -> None:
    class TextVectors(torch.nn.Module):  # type: ignore[misc]  # torch is imported late
        """The model as a function of tensors."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = self.model({"input_ids": input_ids, "attention_mask": attention_mask})
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=1)

    encoder: Any = getattr(model[0], "auto_model", None)
    if hasattr(encoder, "set_attn_implementation"):
        encoder.set_attn_implementation("eager")  # others are not exported
    names = ["input_ids", "attention_mask"]
    tokens = model.tokenizer(list(SAMPLES[:2]), padding=True, return_tensors="pt")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, about shapes that are constant
        torch.onnx.export(
            TextVectors().eval(),
            tuple(tokens[name] for name in names),
            str(file),
            dynamo=False,
            input_names=names,
            output_names=["vectors"],
            dynamic_axes={**{name: {0: "texts", 1: "tokens"} for name in names}, "vectors": {0: "texts"}},
            opset_version=OPERATIONS,
        )


def _least_cosine(made: Any, expected: Any) -> float:
    lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(expected, axis=1)
    return float(((made * expected).sum(axis=1) / lengths).min())
