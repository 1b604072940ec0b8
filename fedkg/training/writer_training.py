"""Fine-tuning a causal language model so that it writes paths (GCR, Luo et al. 2024, Eq. 8) or plans (EPERM, Eq. 6).

The loss is that of the completion alone. The embeddings and the lower half of the layers stay as they are: a step takes
two thirds of the time, and what the model knows of words is kept.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fedkg.common import hf_loading
from fedkg.errors import ModelNameError
from fedkg.llm.base import Message
from fedkg.llm.hf import Network
from fedkg.training import fine_tuning
from fedkg.training.examples import TrainingExample
from fedkg.training.fine_tuning import Schedule, TrainingRun, check_extra, last_state

__all__ = ["PACKAGES", "WriterSchedule", "first_choices", "train"]

WARMUP = 0.05
KEPT_EVERY = 50
"""Steps between two states that a run can be gone on with from."""
LAYER = re.compile(r"\b(?:layers|h|blocks)\.(\d+)\.")
PACKAGES = ("torch", "transformers", "accelerate")
MEASURED_AT_ONCE = 8
LONGER = "--base takes a model with a longer context"


class WriterSchedule(Schedule, frozen=True):
    """How a writer is trained, by examples.

    `minutes` ends the training early, `device` is `cpu` to leave an accelerator alone.
    """

    batch: int = 8
    rate: float = 2e-4
    minutes: float | None = None
    device: Literal["auto", "cpu"] = "auto"


def train(
    examples: Sequence[TrainingExample],
    base: Path,
    out: Path,
    schedule: WriterSchedule,
    on_progress: Callable[[int, int, float], None] = lambda _step, _steps, _loss: None,
) -> TrainingRun:
    """Trains the model of the folder `base` on the examples, and saves it to `out`.

    A run that was interrupted is gone on with from its last state, which `out` keeps until the end. `on_progress` is
    called with steps done, all steps, and the loss. Raises MissingExtraError and ModelNameError.
    """
    check_extra("writer", PACKAGES)
    with hf_loading.quiet(), hf_loading.offline():
        network = Network(base)
        trainer = _trainer(network, examples, out, schedule, on_progress)
        trainer.train(resume_from_checkpoint=last_state(out))
        network.model.save_pretrained(out)
        network.tokenizer.save_pretrained(out)
    return TrainingRun.of(trainer.state, trainer.clock.seconds)


def first_choices(folder: Path, sets: Mapping[str, Sequence[TrainingExample]]) -> dict[str, float]:
    """By set in which share of its examples all tokens of relations and marks are the model's first choice.

    Each is chosen behind what stands before it in the example.
    """
    network = Network(folder)
    return {name: _first_choices(network, examples) for name, examples in sets.items()}


def _first_choices(network: Network, examples: Sequence[TrainingExample]) -> float:
    import torch  # noqa: PLC0415  # optional, and slow to import

    from fedkg.training import writer_loss  # noqa: PLC0415  # imports PyTorch

    rows, right = sorted(_encoded(network, examples), key=lambda row: len(row.tokens)), 0
    with torch.inference_mode():
        for start in range(0, len(rows), MEASURED_AT_ONCE):
            batch = writer_loss.batch_of(rows[start : start + MEASURED_AT_ONCE], 0)
            here = writer_loss.TokenBatch(*(part.to(network.model.device) for part in batch))
            right += int(writer_loss.losses(network.model, network.rows([]), here).right.sum())
    return right / len(rows)


def _encoded(network: Network, examples: Sequence[TrainingExample]) -> list[Any]:
    from fedkg.training import writer_loss  # noqa: PLC0415  # imports PyTorch

    prompts = [network.prompt([Message("user", example.prompt)]) for example in examples]
    rows = [
        writer_loss.encoded(network.tokenizer, prompt, example, network.end)
        for prompt, example in zip(prompts, examples, strict=True)
    ]
    longest, most = max(len(row.tokens) for row in rows), network.context
    if most is not None and longest > most:
        raise ModelNameError(f"the model takes {most:,} tokens, and an example has {longest:,}", hint=LONGER)
    return rows


def _trainer(
    network: Network,
    examples: Sequence[TrainingExample],
    out: Path,
    schedule: WriterSchedule,
    on_progress: Callable[[int, int, float], None],
) -> Any:
    from transformers import PrinterCallback, set_seed  # noqa: PLC0415  # optional, and slow to import

    from fedkg.training import writer_loss  # noqa: PLC0415  # imports PyTorch
    from fedkg.training.scorer_loss import reporting  # noqa: PLC0415  # the same

    set_seed(schedule.seed)
    _freeze(network.model)
    rows = _encoded(network, examples)
    prefix = writer_loss.prefix_of(rows)
    clock = writer_loss.TrainingClock(None if schedule.minutes is None else 60 * schedule.minutes)
    trainer = writer_loss.WriterTrainer(
        model=network.model,
        args=_arguments(out, schedule),
        train_dataset=[{"input_ids": row.tokens, "weights": row.weights} for row in rows],
        data_collator=partial(writer_loss.collated, prefix=len(prefix)),
        callbacks=[reporting(on_progress), clock],
    )
    trainer.prefix, trainer.clock = prefix, clock
    trainer.remove_callback(PrinterCallback)
    return trainer


def _freeze(model: Any) -> None:
    """Leaves the upper half of the layers, and what stands above them, to be trained."""
    numbers = [int(match[1]) for name, _ in model.named_parameters() if (match := LAYER.search(name))]
    half = (max(numbers, default=0) + 1) // 2
    fixed = {id(part) for part in (*model.get_input_embeddings().parameters(),)}
    for name, parameter in model.named_parameters():
        match = LAYER.search(name)
        parameter.requires_grad = id(parameter) not in fixed and (match is None or int(match[1]) >= half)


def _arguments(out: Path, schedule: WriterSchedule) -> Any:
    from transformers import TrainingArguments  # noqa: PLC0415  # optional, and slow to import

    return TrainingArguments(
        **fine_tuning.arguments(out, schedule, warmup=WARMUP, kept_every=KEPT_EVERY),
        num_train_epochs=schedule.passes,
        train_sampling_strategy="group_by_length",
        use_cpu=schedule.device == "cpu",
        remove_unused_columns=False,
    )
