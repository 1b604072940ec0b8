"""The cache's own folders: only the user's, and nothing behind a link."""

import os
import stat
from pathlib import Path

import pytest

from fedkg.cache.folders import claim, is_plain, read_bounded


def mode(path: Path) -> int:
    """The permissions of a path."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_made_and_closed(tmp_path: Path) -> None:
    """With those above it; one that is there already is closed to others."""
    claim(tmp_path / "a" / "b")
    (tmp_path / "c").mkdir(mode=0o777)
    claim(tmp_path / "c")
    assert [mode(tmp_path / "a" / "b"), mode(tmp_path / "c")] == [0o700, 0o700]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_no_folder_of_the_cache(tmp_path: Path, *, there: bool) -> None:
    """What it leads to keeps its mode, and is not made where it is not there."""
    target = tmp_path / "target"
    if there:
        target.mkdir()
        target.chmod(0o755)
    (tmp_path / "store").symlink_to(target)
    with pytest.raises(NotADirectoryError, match="store is a link"):
        claim(tmp_path / "store")
    assert target.exists() == there
    assert not there or mode(target) == 0o755


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """It stays as it is."""
    (tmp_path / "store").write_text("mine")
    with pytest.raises(NotADirectoryError, match="store is a file"):
        claim(tmp_path / "store")
    assert (tmp_path / "store").read_text() == "mine"


def test_another_user_s_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner could change what lies in it, and its mode is not ours to change."""
    (tmp_path / "store").mkdir(mode=0o755)
    before = mode(tmp_path / "store")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        claim(tmp_path / "store")
    assert mode(tmp_path / "store") == before


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """Neither links nor pipes nor folders; and no more than is bounded."""
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(ValueError, match="more than 4 bytes"):
        read_bounded(tmp_path / "file", 4)
    for name in ("link", "pipe", "", "missing"):
        assert not is_plain(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            read_bounded(tmp_path / name, 5)
