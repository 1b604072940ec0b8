from pathlib import Path
from typing import get_args

import pytest

from fedkg.config import resources
from fedkg.errors import PromptError


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


def test_the_user_s_folder_lies_over_the_bundled_one(tmp_path: Path) -> None:
    """Where one is named; one that is not there is an error of the class that the caller names."""
    assert resources.layers("prompts", "", PromptError, what="prompts") == [resources.folder("prompts")]
    assert resources.layers("prompts", str(tmp_path), PromptError, what="prompts")[1:] == [tmp_path]
    with pytest.raises(PromptError, match=r"gone: no such folder of prompts$") as caught:
        resources.layers("prompts", str(tmp_path / "gone"), PromptError, what="prompts", hint="set prompts_dir")
    assert caught.value.hint == "set prompts_dir"
