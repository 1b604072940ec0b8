"""The folder of a run: begun, gone on with, and over."""

import shutil
from pathlib import Path

import msgspec
import pytest

from fedkg.errors import DatasetError
from fedkg.training.fine_tuning import CHECKPOINTS
from fedkg.training.run_folder import RECORDS, RUN, claim, clean

CARD = "model.json"


class Asked(msgspec.Struct):
    """What a run was asked for."""

    seed: int = 0


def test_a_run_is_gone_on_with(tmp_path: Path) -> None:
    """By one that asks for the same; another one is refused."""
    out = tmp_path / "a" / "out"
    claim(out, CARD, Asked())
    claim(out, CARD, Asked())
    assert {file.name for file in out.iterdir()} == {RUN, RECORDS}
    with pytest.raises(DatasetError, match="other options"):
        claim(out, CARD, Asked(1))


def test_a_run_that_was_stopped_at_its_first_file_is_gone_on_with(tmp_path: Path) -> None:
    """What it was asked for stands there before anything else does."""
    claim(tmp_path, CARD, Asked())
    (tmp_path / RECORDS).rmdir()
    claim(tmp_path, CARD, Asked())
    assert (tmp_path / RECORDS).is_dir()


@pytest.mark.parametrize(("file", "message"), [(CARD, "has a trained model already"), ("else", "is not empty")])
def test_another_folder_is_not_taken(file: str, message: str, tmp_path: Path) -> None:
    """Nothing is written over."""
    (tmp_path / file).touch()
    with pytest.raises(DatasetError, match=message):
        claim(tmp_path, CARD, Asked())
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """It is told, and left as it is."""
    (tmp_path / "out").touch()
    with pytest.raises(DatasetError, match="out: "):
        claim(tmp_path / "out", CARD, Asked())


def test_a_run_that_is_stopped_while_it_is_cleaned_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not trained anew without the states that are gone already: the folder has its card."""
    claim(tmp_path, CARD, Asked())
    (tmp_path / CHECKPOINTS).mkdir()
    (tmp_path / CARD).touch()

    def stopped(*_of: object, **_how: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", stopped)
    with pytest.raises(KeyboardInterrupt):
        clean(tmp_path)
    with pytest.raises(DatasetError, match="has a trained model already"):
        claim(tmp_path, CARD, Asked())
