"""What the trainer of a writer calls: examples as tokens, a batch, and its loss. Imports PyTorch.

What all prompts begin with (a chat template's marks, the task) is computed once a batch and not learned from, which
leaves about half of the tokens. Names count little in the loss: a decoder that is held to a graph is told them.
"""

import itertools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR
from transformers import Trainer, TrainerCallback

from fedkg.reasoner import path_format
from fedkg.training.examples import TrainingExample

__all__ = [
    "NAME_WEIGHT",
    "EncodedExample",
    "TokenBatch",
    "TrainingClock",
    "WriterTrainer",
    "batch_of",
    "collated",
    "encoded",
    "losses",
    "prefix_of",
]

NAME_WEIGHT = 0.1
"""What a token of an entity's name counts in the loss, of a relation or a mark 1."""
PATH = re.compile(r"(?<=<PATH> ).*?(?= </PATH>)", re.DOTALL)
SECONDS = "seconds"
RELATION = re.compile(r" ?([→←])[^→←]*\1(?=$| )")


class EncodedExample(NamedTuple):
    """Tokens of prompt and completion, and what each counts in the loss: 0 in the prompt."""

    tokens: list[int]
    weights: list[float]


def encoded(tokenizer: Any, prompt: list[int], example: TrainingExample, end: int) -> EncodedExample:
    """The example behind the tokens of its prompt; a path is tokenized apart from what follows it, as when decoded."""
    path, mark, answer = example.completion.partition(path_format.read("reasoning-paths").end)
    tokens, weights = list(prompt), [0.0] * len(prompt)
    for part, counted in ((path + mark, _of_path(path + mark)), (answer, _of_answer(answer))):
        made = tokenizer(part, add_special_tokens=False, return_offsets_mapping=True)
        tokens += made["input_ids"]
        weights += [max(counted[start:stop], default=1.0) for start, stop in made["offset_mapping"]]
    return EncodedExample([*tokens, end], [*weights, 1.0])


def _of_path(text: str) -> list[float]:
    """What each character counts: in a path those of relations 1, others as names do."""
    counted = [1.0] * len(text)
    for path in PATH.finditer(text):
        counted[path.start() - 1 : path.end()] = [NAME_WEIGHT] * (path.end() - path.start() + 1)
        for relation in RELATION.finditer(path[0]):
            start, stop = (path.start() + place for place in relation.span())
            counted[start:stop] = [1.0] * (stop - start)
    return counted


def _of_answer(text: str) -> list[float]:
    """The same behind the path: the last line is a name."""
    name = len(text) - text.rfind("\n") - 1
    return [1.0] * (len(text) - name) + [NAME_WEIGHT] * name


def prefix_of(examples: Sequence[EncodedExample]) -> list[int]:
    """What all begin with, at least one token of each prompt left out."""
    prompts = [example.tokens[: example.weights.index(next(filter(None, example.weights))) - 1] for example in examples]
    first, last = min(prompts), max(prompts)  # what these share all between them share
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return [token for token, _ in alike]


class TokenBatch(NamedTuple):
    """Rows of tokens behind the prefix, padded at their ends: which are tokens, and what each counts."""

    tokens: Tensor
    mask: Tensor
    weights: Tensor


def batch_of(examples: Sequence[EncodedExample], prefix: int) -> TokenBatch:
    """The examples without so many tokens of each."""
    rows = [(example.tokens[prefix:], example.weights[prefix:]) for example in examples]
    width = max(len(tokens) for tokens, _ in rows)
    tokens = torch.tensor([tokens + [0] * (width - len(tokens)) for tokens, _ in rows])
    mask = torch.tensor([[1] * len(tokens) + [0] * (width - len(tokens)) for tokens, _ in rows])
    weights = torch.tensor([weights + [0.0] * (width - len(weights)) for _, weights in rows])
    return TokenBatch(tokens, mask, weights)


class CompletionLoss(NamedTuple):
    """The weighted cross-entropy of each row, the sum of its weights, and whether the first choice is right for all.

    `right` looks at the tokens that count fully.
    """

    entropy: Tensor
    weight: Tensor
    right: Tensor


def losses(model: Any, prefix: Tensor, batch: TokenBatch) -> CompletionLoss:
    """The losses of the rows behind the prefix."""
    rows = len(batch.tokens)
    cache = None
    if len(prefix) > 0:
        with torch.no_grad():
            cache = model(input_ids=prefix[None], use_cache=True, logits_to_keep=1).past_key_values
        cache.batch_repeat_interleave(rows)
    mask = torch.cat([torch.ones((rows, len(prefix)), dtype=batch.mask.dtype, device=prefix.device), batch.mask], dim=1)
    weights = batch.weights[:, 1:]
    columns = weights.any(dim=0).nonzero()[:, 0]
    logits = model(
        input_ids=batch.tokens, attention_mask=mask, past_key_values=cache, use_cache=True, logits_to_keep=columns
    ).logits
    targets, weights = batch.tokens[:, 1:][:, columns], weights[:, columns]
    entropy = functional.cross_entropy(logits.float().transpose(1, 2), targets, reduction="none")
    right = ((logits.argmax(dim=-1) == targets) | (weights < 1)).all(dim=1)
    return CompletionLoss((entropy * weights).sum(dim=1), weights.sum(dim=1), right)


class WriterTrainer(Trainer):
    """The trainer with that loss, and a rate that falls to nothing with the steps or with the time, if that is first.

    `prefix` and `clock` are set behind its making.
    """

    prefix: list[int] = []
    clock: "TrainingClock"

    def compute_loss(
        self, model: Any, inputs: Mapping[str, Tensor], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean over the tokens of a batch, by what they count."""
        batch = TokenBatch(**inputs)
        entropy, weight, _ = losses(model, torch.tensor(self.prefix, device=batch.tokens.device), batch)
        return entropy.sum() / weight.sum()

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> LambdaLR:
        """The rate by step: it rises at the beginning."""
        warm = self.args.get_warmup_steps(num_training_steps)

        def rate(step: int) -> float:
            left = 1 - max(step / num_training_steps, self.clock.share)
            return float(max(0.0, min((step + 1) / max(1, warm), left)))

        trained: Any = optimizer or self.optimizer
        self.lr_scheduler = LambdaLR(trained, rate)
        return self.lr_scheduler


class TrainingClock(TrainerCallback):
    """Ends the training after so many seconds, those before an interruption included."""

    def __init__(self, most: float | None) -> None:
        self._most = most
        self._before, self._started = 0.0, time.monotonic()

    @property
    def seconds(self) -> float:
        """Of training until now."""
        return self._before + time.monotonic() - self._started

    @property
    def share(self) -> float:
        """Of the time that has passed; 0 where there is no end to it."""
        return self.seconds / self._most if self._most else 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Reads what an interrupted run has taken."""
        self._before = max((entry.get(SECONDS, 0.0) for entry in state.log_history), default=0.0)
        self._started = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Notes the time, so that it is kept with the state."""
        state.log_history[-1][SECONDS] = self.seconds

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Ends it when the time is over."""
        if self.share >= 1:
            control.should_training_stop = control.should_save = True


def collated(rows: Iterable[Mapping[str, Any]], prefix: int) -> dict[str, Tensor]:
    """A batch as the trainer hands it on."""
    return batch_of([EncodedExample(row["input_ids"], row["weights"]) for row in rows], prefix)._asdict()
