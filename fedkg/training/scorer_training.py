"""Fine-tuning a sentence encoder so that questions lie near the chains of relations that they ask for.

The loss is that of multiple negatives (Henderson et al., 2017, section 4; Reimers and Gurevych's
MultipleNegativesRankingLoss) over the texts of a batch, each of them once: many questions of a graph have one chain.
A batch holds questions of one graph only, since another graph's name for the same is no negative. The word embeddings
and the lower half of the layers stay as they are: a question set has few of the words that other graphs name their
relations with, and a step takes half the time.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedkg.common import hf_loading
from fedkg.common.one_line import line
from fedkg.errors import ModelNameError
from fedkg.training import fine_tuning
from fedkg.training.fine_tuning import Schedule, TrainingRun, check_extra, last_state
from fedkg.training.scorer_pairs import ScorerPair

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PACKAGES", "ScorerSchedule", "mixed", "train"]

SCALE = 20.0
"""What cosines are multiplied by in the loss: 1 / temperature."""
WARMUP = 0.1
MOST_TOKENS = 48
KEPT_EVERY = 25
"""Steps between two states that a run can be gone on with from."""
LAYER = re.compile(r"\blayer\.(\d+)\.")
PACKAGES = ("torch", "sentence_transformers", "datasets", "accelerate")


class ScorerSchedule(Schedule, frozen=True):
    """How a scorer is trained.

    `untrained` is the untrained model's share in the weights at the end: both are averaged (Wortsman et al., CVPR 2022,
    "Robust fine-tuning of zero-shot models").
    """

    rate: float = 2e-4
    untrained: float = 0.0


def train(
    pairs: Mapping[str, Sequence[ScorerPair]],
    base: Path,
    out: Path,
    schedule: ScorerSchedule,
    on_progress: Callable[[int, int, float], None] = lambda _step, _steps, _loss: None,
) -> TrainingRun:
    """Trains the model of the folder `base` on the pairs of each graph, in their order, and saves it to `out`.

    A run that was interrupted is gone on with from its last state, which `out` keeps until the end. `on_progress` is
    called with steps done, all steps, and the loss. Raises MissingExtraError.
    """
    check_extra("scorer", PACKAGES)
    started = time.monotonic()
    with hf_loading.quiet(), hf_loading.offline():
        trainer = _trainer(pairs, base, out, schedule, on_progress)
        trainer.train(resume_from_checkpoint=last_state(out))
        model = trainer.model
        untrained = _model(base)
        model.max_seq_length = untrained.max_seq_length
        if schedule.untrained:
            model.load_state_dict(mixed(model.state_dict(), untrained.state_dict(), schedule.untrained))
        model.save_pretrained(str(out), create_model_card=False)
    return TrainingRun.of(trainer.state, time.monotonic() - started)


def mixed(trained: Mapping[str, "Tensor"], untrained: Mapping[str, "Tensor"], share: float) -> dict[str, "Tensor"]:
    """The weights of both models, with that share of the untrained one's."""
    return {
        name: values.lerp(untrained[name], share) if values.is_floating_point() else values
        for name, values in trained.items()
    }


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
    schedule: ScorerSchedule,
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


def _arguments(out: Path, schedule: ScorerSchedule) -> Any:
    from sentence_transformers import SentenceTransformerTrainingArguments  # noqa: PLC0415

    return SentenceTransformerTrainingArguments(
        **fine_tuning.arguments(out, schedule, warmup=WARMUP, kept_every=KEPT_EVERY),
        num_train_epochs=1,
        multi_dataset_batch_sampler="proportional",
    )


def _row(pair: ScorerPair) -> dict[str, str]:
    negatives = {f"negative_{number}": text for number, text in enumerate(pair.negatives, 1)}
    return {"anchor": pair.anchor, "positive": pair.positive, **negatives}
