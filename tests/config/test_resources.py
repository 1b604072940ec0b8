from pathlib import Path
from typing import get_args

import pytest

from fedkg.config import resources


@pytest.mark.parametrize("name", get_args(resources.Folder))
def test_every_data_folder_is_found(name: resources.Folder) -> None:
    """A checkout has all data folders, beside the package."""
    assert resources.folder(name).is_dir()
    assert resources.folder(name).name == name


def test_a_wheel_s_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside an installed package its own data are used, whatever lies beside it."""
    inside, beside = tmp_path / "fedkg" / "_data" / "prompts", tmp_path / "prompts"
    for place in (inside, beside):
        place.mkdir(parents=True)
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "fedkg")
    assert resources.folder("prompts") == inside
    inside.rmdir()
    assert resources.folder("prompts") == beside


def test_a_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation says which folder it lacks."""
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "fedkg")
    with pytest.raises(FileNotFoundError, match="'eval' is missing"):
        resources.folder("eval")
