"""What the files of a sentence-transformers folder tell of its model: its parts, how long a text may be, its filler."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from fedkg.embed.bert_graph import BertConfig, Pooling

__all__ = ["WEIGHTS", "BertFolder", "UnknownArchitectureError", "bert_folder", "files", "padding", "states"]

WEIGHTS = "model.safetensors"
MODULES = ("Transformer", "Pooling", "Normalize")
"""The parts of a model that can be read; the last may be left out, since vectors have length 1 anyway."""


class UnknownArchitectureError(ValueError):
    """Another kind of model than `bert_graph` makes."""


class BertFolder(NamedTuple):
    """A BERT encoder: `most_tokens` of a text are read, which is `lowered` first where its letters are told to be."""

    config: "BertConfig"
    pooling: "Pooling"
    most_tokens: int
    lowered: bool


def bert_folder(folder: Path) -> BertFolder:
    """Raises UnknownArchitectureError for a model of another kind, OSError or ValueError where files are damaged."""
    from fedkg.embed.bert_graph import BertConfig  # noqa: PLC0415  # an optional extra

    modules = _read(folder / "modules.json")
    kinds = tuple(module["type"].rpartition(".")[2] for module in modules)
    if kinds not in {MODULES, MODULES[:2]}:
        raise UnknownArchitectureError(f"its parts are {', '.join(kinds)}, and not {', '.join(MODULES)}")
    pooling = _pooling(_read(folder / modules[1]["path"] / "config.json"))
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BertConfig)
    except msgspec.ValidationError as error:
        raise UnknownArchitectureError(f"config.json: {error}") from error
    limits = _read(folder / "sentence_bert_config.json")
    most_tokens = limits.get("max_seq_length") or config.max_position_embeddings
    return BertFolder(config, pooling, most_tokens, limits.get("do_lower_case") is True)


def files(folder: Path) -> list[Path]:
    """The files that make the model, sorted: its configuration, its tokenizer, its weights."""
    return sorted(file for ending in ("*.json", "*.safetensors") for file in folder.rglob(ending))


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change, in nanoseconds, of each of them, by its name within the folder."""
    found = {str(file.relative_to(folder)): file.stat() for file in files(folder)}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in found.items()}


def padding(folder: Path) -> str:
    """The token that fills up a row."""
    file = folder / "tokenizer_config.json"
    token = _read(file).get("pad_token") if file.is_file() else None
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else "[PAD]"


def _pooling(switches: Mapping[str, object]) -> "Pooling":
    if (mode := switches.get("pooling_mode")) in {"mean", "cls"}:  # as version 6 of sentence-transformers writes it
        return "mean" if mode == "mean" else "cls"
    chosen = {name for name, on in switches.items() if name.startswith("pooling_mode_") and on is True}
    if chosen == {"pooling_mode_mean_tokens"}:
        return "mean"
    if chosen == {"pooling_mode_cls_token"}:
        return "cls"
    raise UnknownArchitectureError(
        f"its pooling is {', '.join(sorted(chosen)) or 'not named'}, and neither the mean nor the first token"
    )


def _read(file: Path) -> Any:
    return msgspec.json.decode(file.read_bytes())
