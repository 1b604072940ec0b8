"""What the trainer calls: the loss of a batch, and what tells of progress. Imports PyTorch."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import TrainerCallback

__all__ = ["ScorerLoss", "distinct", "reporting"]

Features = Mapping[str, Tensor]


class ScorerLoss(nn.Module):
    """The cross-entropy of each anchor's own positive among all texts of the batch, each of which stands there once."""

    def __init__(self, model: nn.Module, scale: float) -> None:
        super().__init__()
        self.model = model
        self._scale = scale

    def forward(self, columns: Iterable[Features], _labels: Tensor | None = None) -> Tensor:
        """The mean over the batch; columns are anchors, positives, and one for each negative."""
        anchors, *texts = columns
        batch = len(anchors["input_ids"])
        ids, mask, places = distinct(texts)
        similarity = self._vectors(anchors["input_ids"], anchors["attention_mask"]) @ self._vectors(ids, mask).T
        return functional.cross_entropy(self._scale * similarity, places[:batch])

    def _vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = self.model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]
        return functional.normalize(vectors, dim=-1)


def distinct(columns: Iterable[Features]) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct texts of all columns as tokens with their mask, and the place of each text among them."""
    columns = list(columns)
    width = max(column["input_ids"].shape[1] for column in columns)
    both = [torch.cat([_wide(column[name], width) for column in columns]) for name in ("input_ids", "attention_mask")]
    rows, places = torch.unique(torch.cat([both[0] * both[1], both[1]], dim=1), dim=0, return_inverse=True)
    return rows[:, :width], rows[:, width:], places


def _wide(rows: Tensor, width: int) -> Tensor:
    return functional.pad(rows, (0, width - rows.shape[1]))


def reporting(on_progress: Callable[[int, int, float], None]) -> TrainerCallback:
    """A callback of the trainer that hands on steps done, all steps, and the loss of late."""

    class Reporting(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            on_progress(state.global_step, state.max_steps, float(others["logs"].get("loss", 0.0)))

    return Reporting()
