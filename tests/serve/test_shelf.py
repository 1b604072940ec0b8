"""Answers that a server keeps."""

import os
import resource
import signal
from pathlib import Path

import pytest

from fedkg.core.answer import Answer, Status
from fedkg.errors import CacheError
from fedkg.serve.shelf import AnswerShelf

ANSWER = Answer("Which pet has Ann?", "entities", Status.NONE)


def test_an_answer_comes_back_by_its_name(tmp_path: Path) -> None:
    """The same document; two answers have two names, which nothing but chance decides."""
    shelf = AnswerShelf(tmp_path / "answers")
    first, second = shelf.put(ANSWER), shelf.put(ANSWER)
    assert first != second
    assert shelf.get(first) == ANSWER


@pytest.mark.parametrize("name", ["", "x" * 22, "../../etc/passwd", "a/b", "é" * 22, "x" * 300])
def test_another_name_has_none(tmp_path: Path, name: str) -> None:
    """Nothing outside the folder is looked at."""
    (tmp_path / "secret.json").write_bytes(ANSWER.to_json())
    assert AnswerShelf(tmp_path / "answers").get(name) is None


@pytest.mark.parametrize("damage", ["cut", "no answer", "a link"])
def test_what_is_no_answer_is_none(tmp_path: Path, damage: str) -> None:
    """A file that was damaged, or put there by others, is not handed out."""
    shelf = AnswerShelf(tmp_path / "answers")
    name = shelf.put(ANSWER)
    file = tmp_path / "answers" / f"{name}.json"
    if damage == "a link":
        outside = tmp_path / "outside.json"
        outside.write_bytes(file.read_bytes())
        file.unlink()
        file.symlink_to(outside)
    else:
        file.write_bytes(ANSWER.to_json()[:40] if damage == "cut" else b"[]")
    assert shelf.get(name) is None


def test_the_oldest_go_first(tmp_path: Path) -> None:
    """No more than the most are kept."""
    shelf = AnswerShelf(tmp_path / "answers", most=2)
    names = []
    for age in (30, 20, 10):
        names.append(shelf.put(ANSWER))
        os.utime(tmp_path / "answers" / f"{names[-1]}.json", (1e9 - age, 1e9 - age))
    shelf.put(ANSWER)
    assert [shelf.get(name) is None for name in names] == [True, True, False]


def test_a_folder_that_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    """A file in its place, before anything is asked."""
    (tmp_path / "answers").write_text("")
    with pytest.raises(CacheError, match="answers"):
        AnswerShelf(tmp_path / "answers")


def test_a_folder_that_is_gone_keeps_nothing(tmp_path: Path) -> None:
    """The error says that it is the keeping that failed."""
    shelf = AnswerShelf(tmp_path / "answers")
    (tmp_path / "answers").rmdir()
    with pytest.raises(CacheError, match="cannot be kept"):
        shelf.put(ANSWER)


def test_a_full_disk_leaves_no_part(tmp_path: Path) -> None:
    """A file that cannot take its place is removed."""
    shelf = AnswerShelf(tmp_path / "answers")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        with pytest.raises(CacheError, match="cannot be kept"):
            shelf.put(ANSWER)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list((tmp_path / "answers").glob("*.part"))


def test_what_else_lies_in_the_folder_is_let_be(tmp_path: Path) -> None:
    """Only answers make room for answers."""
    shelf = AnswerShelf(tmp_path / "answers", most=1)
    (tmp_path / "answers" / "thesis.tex").write_text("")
    (tmp_path / "answers" / "folder").mkdir()
    names = [shelf.put(ANSWER) for _ in range(3)]
    assert {path.name for path in (tmp_path / "answers").iterdir()} == {"thesis.tex", "folder", f"{names[-1]}.json"}
