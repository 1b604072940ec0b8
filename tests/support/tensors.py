"""Files of safetensors, written by the format's own description."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["save"]

STORED: dict[str, Any] = {
    "F32": lambda values: values,
    "F16": lambda values: values.astype(np.float16),
    "BF16": lambda values: (values.view(np.uint32) >> 16).astype(np.uint16),  # the upper half of a single's bits
}


def save(file: Path, tensors: Mapping[str, Any], kind: str = "F32") -> None:
    """Writes float32 arrays by name, as numbers of that kind."""
    head, content = {}, b""
    for name, values in tensors.items():
        stored = STORED[kind](values).tobytes()
        place = [len(content), len(content) + len(stored)]
        head[name] = {"dtype": kind, "shape": values.shape, "data_offsets": place}
        content += stored
    text = json.dumps(head).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + content)
