"""Values made of files."""

import os
from pathlib import Path

import pytest

from fedkg.common.file_cache import FileCache


class Counted:
    """Reads a file, and counts how often."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.times = 0

    def __call__(self) -> str:
        """The file's text."""
        self.times += 1
        return self.file.read_text()


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    """Another time or another size is another file; the same file is read once."""
    file = tmp_path / "a"
    file.write_text("first")
    cache, read = FileCache[str, str](), Counted(file)
    assert [cache.get("a", [file], read) for _ in range(3)] == ["first"] * 3
    assert read.times == 1
    stat = file.stat()
    file.write_text("later")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert cache.get("a", [file], read) == "later"
    file.write_text("longer")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert cache.get("a", [file], read) == "longer"
    assert read.times == 3


def test_a_file_that_comes_or_goes_is_a_change(tmp_path: Path) -> None:
    """Also one that is not there yet counts, and so does the folder that a relative path starts from."""
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_text("text")
    cache, read = FileCache[str, str](), Counted(file)
    cache.get("a", [file, other], read)
    other.write_text("")
    cache.get("a", [file, other], read)
    other.unlink()
    cache.get("a", [file, other], read)
    cache.get("a", [file], read)
    assert read.times == 4


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    """Whoever asks next gets what can be read by then."""
    file = tmp_path / "a"
    cache, read = FileCache[str, str](), Counted(file)
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            cache.get("a", [file], read)
    file.write_text("text")
    assert cache.get("a", [file], read) == "text"


def test_a_folder_is_the_files_in_it(tmp_path: Path) -> None:
    """One that comes, changes or goes is a change; what lies deeper is not looked at."""
    file, deeper = tmp_path / "a", tmp_path / "folder"
    deeper.mkdir()
    file.write_text("text")
    cache, read = FileCache[str, str](), Counted(file)
    cache.get("a", [tmp_path], read)
    (tmp_path / "b").write_text("")
    cache.get("a", [tmp_path], read)
    (tmp_path / "b").write_text("more")
    cache.get("a", [tmp_path], read)
    (tmp_path / "b").unlink()
    for _ in range(2):
        cache.get("a", [tmp_path], read)
    assert read.times == 4
