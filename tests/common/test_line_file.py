import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fedkg.common.line_file import LineFile

WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from fedkg.common.line_file import LineFile
for number in range(20):
    with closing(LineFile(Path(sys.argv[1]), wait=True)) as lines:
        lines.append(f"{sys.argv[2]} {number}\\n".encode())
"""


def test_lines_are_appended_and_a_torn_one_is_cut_off(tmp_path: Path) -> None:
    """What an earlier writer has left stays, but for the line in whose middle it was killed."""
    file = tmp_path / "new" / "lines"
    with closing(LineFile(file)) as lines:
        assert lines.mend() == b""
        lines.append(b"a\nb\n")
    file.write_bytes(file.read_bytes() + b"half a li")
    with closing(LineFile(file)) as lines:
        assert lines.mend() == b"a\nb\n"
        lines.append(b"c\n")
    assert file.read_bytes() == b"a\nb\nc\n"


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    """A second one is refused, or waits until the first has ended: no line of theirs gets into the other's."""
    file = tmp_path / "lines"
    with closing(LineFile(file)) as lines:
        lines.append(b"x\n")
        with pytest.raises(BlockingIOError):
            LineFile(file)
    command = [sys.executable, "-c", WRITER, str(file)]
    writers = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    expected = {"x", *(f"{name} {number}" for name in ("one", "two") for number in range(20))}
    assert sorted(file.read_text().splitlines()) == sorted(expected)


def test_a_file_without_lines_is_removed(tmp_path: Path) -> None:
    """Who opens a file and writes nothing leaves none."""
    LineFile(tmp_path / "lines").close()
    assert not (tmp_path / "lines").exists()
    (tmp_path / "lines").touch()
    LineFile(tmp_path / "lines").close()
    assert (tmp_path / "lines").exists()  # somebody else's


def test_only_a_regular_file_is_taken(tmp_path: Path) -> None:
    """A device, a pipe or a folder is refused unopened, and stays; a link to a device is one, too."""
    (tmp_path / "link").symlink_to(os.devnull)
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(OSError, match="no regular file"):
            LineFile(path)
        assert path.exists()


def test_a_private_file_is_the_users_alone(tmp_path: Path) -> None:
    """It is made with mode 0600, and a link in its place is refused: what lies behind it may be anything."""
    with closing(LineFile(tmp_path / "lines", private=True)) as lines:
        lines.append(b"x\n")
    assert stat.S_IMODE((tmp_path / "lines").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "lines")
    with pytest.raises(OSError, match="symbolic link"):
        LineFile(tmp_path / "link", private=True)
