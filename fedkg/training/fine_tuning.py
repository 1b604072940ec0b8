"""What all fine-tuning here has: its schedule, the packages it needs, and the state that it is gone on with from."""

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fedkg.errors import MissingExtraError

__all__ = ["CHECKPOINTS", "Schedule", "TrainingRun", "arguments", "check_extra", "last_state"]

STEPS_REPORTED = 5
"""Steps between two reports of progress."""
CHECKPOINTS = "checkpoints"


class Schedule(msgspec.Struct, frozen=True):
    """How is trained: questions a batch, passes over all questions, the highest learning rate, and the seed."""

    batch: int = 32
    passes: int = 1
    rate: float = 1e-4
    seed: int = 0


class TrainingRun(msgspec.Struct, frozen=True):
    """What a run did: its steps, the mean loss of the last of them, and how long it took."""

    steps: int
    loss: float
    seconds: float

    @classmethod
    def of(cls, state: Any, seconds: float) -> "TrainingRun":
        """The run whose trainer ended with this state."""
        losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
        return cls(state.global_step, losses[-1] if losses else 0.0, seconds)


def check_extra(kind: str, packages: Sequence[str]) -> None:
    """Raises MissingExtraError where one of the packages that train this kind of model is not installed."""
    if missing := [package for package in packages if importlib.util.find_spec(package) is None]:
        install = "pip install 'fedkg[train]'"
        raise MissingExtraError(f"training a {kind} needs {missing[0]}: {install}", asked="train", hint=install)


def arguments(out: Path, schedule: Schedule, *, warmup: float, kept_every: int) -> dict[str, Any]:
    """What transformers' trainer is told of any run: `warmup` is a share of the steps, `kept_every` counts them."""
    return {
        "output_dir": str(out / CHECKPOINTS),
        "per_device_train_batch_size": schedule.batch,
        "learning_rate": schedule.rate,
        "warmup_steps": warmup,
        "seed": schedule.seed,
        "data_seed": schedule.seed,
        "save_strategy": "steps",
        "save_steps": kept_every,
        "save_total_limit": 1,
        "logging_steps": STEPS_REPORTED,
        "disable_tqdm": True,
        "report_to": "none",
        "dataloader_pin_memory": False,
    }


def last_state(out: Path) -> str | None:
    """The last state that was saved whole of the run in that folder: `trainer_state.json` is among its last files."""
    saved = (file.parent for file in (out / CHECKPOINTS).glob("checkpoint-*/trainer_state.json") if _is_whole(file))
    states = sorted(saved, key=lambda state: int(state.name.rpartition("-")[2]))
    return str(states[-1]) if states else None


def _is_whole(file: Path) -> bool:
    """Whether the file was written to its end."""
    try:
        json.loads(file.read_bytes())
    except ValueError:
        return False
    return True
