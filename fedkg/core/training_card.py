"""What a model that is trained here is made of: its data, its training, and how well it does on other questions."""

from collections.abc import Mapping

import msgspec

__all__ = ["HeldOutFigures", "TrainingCard", "TrainingData"]


class TrainingData(msgspec.Struct, frozen=True, omit_defaults=True):
    """Questions that a model was trained on: the set, "" for questions made of an endpoint's relations.

    `endpoints` are the graphs, without where they lie on a machine; `failed` are questions that nothing to learn was
    seen for.
    """

    questions: str
    title: str
    endpoints: tuple[str, ...]
    trained: int
    held_out: int = 0
    failed: int = 0
    licence: str = ""
    cite: str = ""


class HeldOutFigures(msgspec.Struct, frozen=True):
    """Of how many questions, none of them trained on, the model's first choice is the gold one.

    Of a scorer the gold chain among those that a walk is offered, of a writer all tokens of relations and marks. Both
    are shares of `questions`, by the model before and after training, and without any search.
    """

    questions: int
    untrained: float
    trained: float


class TrainingCard(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is made of: `weights` is the SHA-256 of its weights, `base` the model that training began with.

    `seconds` is the time of training alone, on `cores` processors; `steps` of `batch` questions each. `figures` are by
    set.
    """

    fedkg: str
    base: str
    weights: str
    data: tuple[TrainingData, ...]
    seed: int
    batch: int
    rate: float
    steps: int
    loss: float
    seconds: float
    cores: int
    made_at: str
    figures: Mapping[str, HeldOutFigures] = {}
