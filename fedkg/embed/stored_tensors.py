"""Where the tensors of a safetensors file lie in it, so that they can be mapped into memory and need not be read.

The format: 8 bytes with the length of the head, the head, a JSON object that tells of each tensor its type, its shape
and its place behind the head, and the tensors (https://github.com/huggingface/safetensors#format).
"""

from pathlib import Path
from typing import NamedTuple

import msgspec

__all__ = ["StoredTensor", "stored_tensors"]

LONGEST_HEAD = 100_000_000
"""Bytes; the format's own bound."""
LENGTH = 8
METADATA = "__metadata__"


class StoredTensor(NamedTuple):
    """A tensor: its type as the format names it (`F32`), its shape, and its bytes from `offset` on in that file."""

    type: str
    shape: tuple[int, ...]
    file: str
    offset: int
    length: int


class _Entry(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def stored_tensors(file: Path) -> dict[str, StoredTensor]:
    """The tensors by name; BERT's own prefix is left out.

    Raises OSError, and ValueError or msgspec.MsgspecError for what is no such file or does not hold what it tells of.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(LENGTH), "little")
        if length > min(LONGEST_HEAD, size - LENGTH):
            raise ValueError(f"{file.name} is no file of safetensors")
        head = msgspec.json.decode(stream.read(length), type=dict[str, msgspec.Raw])
    head.pop(METADATA, None)
    start = LENGTH + length
    tensors = {}
    for name, raw in head.items():
        entry = msgspec.json.decode(raw, type=_Entry)
        first, last = entry.data_offsets
        if not 0 <= first <= last <= size - start:
            raise ValueError(f"{file.name} ends before its tensor {name[:100]!r}")
        place = StoredTensor(entry.dtype, entry.shape, file.name, start + first, last - first)
        tensors[name.removeprefix("bert.")] = place
    return tensors
