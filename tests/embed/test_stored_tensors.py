"""Where tensors lie in files of safetensors, and what is no such file."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from fedkg.embed.stored_tensors import stored_tensors
from tests.support.tensors import save


def test_each_tensor_lies_where_it_is_told(tmp_path: Path) -> None:
    """Type, shape and bytes, under the name without BERT's prefix."""
    file = tmp_path / "model.safetensors"
    values = {"bert.a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, dtype=np.float32)}
    save(file, values)
    places = stored_tensors(file)
    assert {name: place[:3] for name, place in places.items()} == {
        "a": ("F32", (2, 3), file.name),
        "b": ("F32", (2,), file.name),
    }
    for name, place in places.items():
        content = file.read_bytes()[place.offset : place.offset + place.length]
        assert content == values.get(name, values.get(f"bert.{name}")).tobytes()  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, b"\x02" + bytes(7) + b"[]", b"\x0a" + bytes(7) + b'{"a":null}'])
def test_other_files_are_errors(content: bytes, tmp_path: Path) -> None:
    """An empty one, a length beyond the end, and a head that tells of no tensors."""
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        stored_tensors(file)


def test_a_file_that_ends_too_early_is_an_error(tmp_path: Path) -> None:
    """The tensor that is missing is named."""
    file = tmp_path / "model.safetensors"
    save(file, {"a": np.ones(4, dtype=np.float32)})
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="'a'"):
        stored_tensors(file)
