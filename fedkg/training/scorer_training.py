"""Fine-tuning a sentence encoder so that questions lie near the chains of relations that they ask for.

The loss is that of multiple negatives (Henderson et al., 2017, section 4; Reimers and Gurevych's
MultipleNegativesRankingLoss) over the texts of a batch, each of them once: many questions of a graph have one chain.
A batch holds questions of one graph only, since another graph's name for the same is no negative. The word embeddings
and the lower half of the layers stay as they are: a question set has few of the words that other graphs name their
relations with, and a step takes half the time.
"""

import importlib.util
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fedkg.common import hf_loading
from fedkg.common.one_line import line
from fedkg.errors import MissingExtraError, ModelNameError
from fedkg.training.scorer_pairs import ScorerPair

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["CHECKPOINTS", "Schedule", "TrainingRun", "check_extra", "last_state", "mixed", "train"]

SCALE = 20.0
"""What cosines are multiplied by in the loss: 1 / temperature."""
WARMUP = 0.1
MOST_TOKENS = 48
KEPT_EVERY = 25
"""Steps between two states that a run can be gone on with from."""
STEPS_REPORTED = 5
"""Steps between two reports of progress."""
CHECKPOINTS = "checkpoints"
LAYER = re.compile(r"\blayer\.(\d+)\.")
PACKAGES = ("torch", "sentence_transformers", "datasets", "accelerate")


class Schedule(msgspec.Struct, frozen=True):
    """How is trained: questions a batch, passes over all questions, the highest learning rate, and the seed.

    `untrained` is the untrained model's share in the weights at the end: both are averaged (Wortsman et al., CVPR 2022,
    "Robust fine-tuning of zero-shot models").
    """

    batch: int = 32
    passes: int = 1
    rate: float = 1e-4
    seed: int = 0
    untrained: float = 0.0


class TrainingRun(msgspec.Struct, frozen=True):
    """What a run did: its steps, the mean loss of the last of them, and how long it took."""

    steps: int
    loss: float
    seconds: float


def check_extra() -> None:
    """Raises MissingExtraError where what trains is not installed."""
    if missing := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
        install = "pip install 'fedkg[train]'"
        raise MissingExtraError(f"training a scorer needs {missing[0]}: {install}", asked="train", hint=install)


def train(
    pairs: Mapping[str, Sequence[ScorerPair]],
    base: Path,
    out: Path,
    schedule: Schedule,
    on_progress: Callable[[int, int, float], None] = lambda _step, _steps, _loss: None,
) -> TrainingRun:
    """Trains the model of the folder `base` on the pairs of each graph, in their order, and saves it to `out`.

    A run that was interrupted is gone on with from its last state, which `out` keeps until the end. `on_progress` is
    called with steps done, all steps, and the loss. Raises MissingExtraError.
    """
    check_extra()
    started = time.monotonic()
    with hf_loading.quiet(), hf_loading.offline():
        trainer = _trainer(pairs, base, out, schedule, on_progress)
        trainer.train(resume_from_checkpoint=last_state(out / CHECKPOINTS))
        model = trainer.model
        untrained = _model(base)
        model.max_seq_length = untrained.max_seq_length
        if schedule.untrained:
            model.load_state_dict(mixed(model.state_dict(), untrained.state_dict(), schedule.untrained))
        model.save_pretrained(str(out), create_model_card=False)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return TrainingRun(trainer.state.global_step, losses[-1] if losses else 0.0, time.monotonic() - started)


def mixed(trained: Mapping[str, "Tensor"], untrained: Mapping[str, "Tensor"], share: float) -> dict[str, "Tensor"]:
    """The weights of both models, with that share of the untrained one's."""
    return {
        name: values.lerp(untrained[name], share) if values.is_floating_point() else values
        for name, values in trained.items()
    }


def last_state(folder: Path) -> str | None:
    """The folder of the last state that was saved whole: `trainer_state.json` is among the last files to be written."""
    saved = (file.parent for file in folder.glob("checkpoint-*/trainer_state.json"))
    states = sorted(saved, key=lambda state: int(state.name.rpartition("-")[2]))
    return str(states[-1]) if states else None


def _model(base: Path) -> Any:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  # optional, and slow to import

    try:
        model = SentenceTransformer(str(base), local_files_only=True, model_kwargs={"use_safetensors": True})
    except Exception as error:  # whatever is wrong with the files, the libraries raise it as anything
        message = f"the model to begin with cannot be loaded: {line(str(error), 300)}"
        raise ModelNameError(message, asked=str(base), hint="--base takes a folder of sentence-transformers") from error
    model.model_card_data.set_widget_examples = lambda _dataset: None
    return model


def _trainer(
    pairs: Mapping[str, Sequence[ScorerPair]],
    base: Path,
    out: Path,
    schedule: Schedule,
    on_progress: Callable[[int, int, float], None],
) -> Any:
    from datasets import Dataset  # noqa: PLC0415  # optional, and slow to import
    from sentence_transformers import SentenceTransformerTrainer  # noqa: PLC0415
    from transformers import PrinterCallback, set_seed  # noqa: PLC0415

    from fedkg.training.scorer_loss import ScorerLoss, reporting  # noqa: PLC0415

    set_seed(schedule.seed)
    model = _model(base)
    model.max_seq_length = MOST_TOKENS
    layers = 1 + max(
        (int(match[1]) for name, _ in model.named_parameters() if (match := LAYER.search(name))), default=0
    )
    for name, parameter in model.named_parameters():
        match = LAYER.search(name)
        parameter.requires_grad = match is not None and int(match[1]) >= layers // 2
    trainer = SentenceTransformerTrainer(
        model=model,
        args=_arguments(out, schedule),
        train_dataset={graph: Dataset.from_list(list(map(_row, of_graph))) for graph, of_graph in pairs.items()},
        loss=ScorerLoss(model, SCALE),
        callbacks=[reporting(on_progress)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _arguments(out: Path, schedule: Schedule) -> Any:
    from sentence_transformers import SentenceTransformerTrainingArguments  # noqa: PLC0415

    return SentenceTransformerTrainingArguments(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=1,
        per_device_train_batch_size=schedule.batch,
        learning_rate=schedule.rate,
        warmup_steps=WARMUP,
        seed=schedule.seed,
        data_seed=schedule.seed,
        multi_dataset_batch_sampler="proportional",
        save_strategy="steps",
        save_steps=KEPT_EVERY,
        save_total_limit=1,
        logging_steps=STEPS_REPORTED,
        disable_tqdm=True,
        report_to="none",
        dataloader_pin_memory=False,
    )


def _row(pair: ScorerPair) -> dict[str, str]:
    negatives = {f"negative_{number}": text for number, text in enumerate(pair.negatives, 1)}
    return {"anchor": pair.anchor, "positive": pair.positive, **negatives}
