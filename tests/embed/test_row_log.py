"""The log of vectors: whole blocks are read as they were written, and nothing else is."""

import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.embed.cosine import HalfMatrix
from fedkg.embed.row_log import HEAD, IDENTITY, MAGIC, RowLog
from tests.support.vectors import halves, keys

TEXT = st.text(st.characters(), max_size=6)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "x.log"


def written(file: Path, *sizes: int) -> list[int]:
    """Writes a block of each size; returns where each ends."""
    log, ends = RowLog(file), []
    for number, count in enumerate(sizes):
        log.append(keys(count, 100 * number), halves(count, 8, number))
        ends.append(file.stat().st_size)
    return ends


def read(file: Path, size: int | None = None) -> RowLog:
    """What a reader finds."""
    log = RowLog(file, size)
    log.refresh()
    return log


@given(st.lists(st.lists(TEXT, min_size=1, max_size=5), max_size=5), st.integers(1, 9))
def test_what_was_appended_is_read_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[list[str]], d: int
) -> None:
    """Any texts, lone surrogates included, block after block; a reader that is open sees each as it comes."""
    file = tmp_path_factory.mktemp("log") / "x.log"
    writer, follower = RowLog(file), RowLog(file)
    expected: list[str] = []
    matrix = np.zeros((0, d), dtype=np.float16)
    for number, block in enumerate(blocks):
        rows = halves(len(block), d, number)
        writer.append(block, rows)
        expected, matrix = expected + block, np.concatenate([matrix, rows])
        follower.refresh()
        for log in (writer, follower, read(file)):
            assert log.keys == expected
            assert log.rows is not None
            assert np.array_equal(log.rows, matrix)
    assert all(text in writer for text in expected)


@pytest.mark.parametrize("cut", [1, 4, HEAD.size - 1, HEAD.size, HEAD.size + 9])
def test_a_torn_block_is_not_there_and_is_written_over(file: Path, cut: int) -> None:
    """Of a block that a killed process left nothing is read; the next writer's block stands in its place."""
    first, _ = written(file, 3, 2)
    with file.open("r+b") as stream:
        stream.truncate(first + cut)
    log = read(file)
    assert log.keys == keys(3)
    log.append(["next"], halves(1, 8))
    assert read(file).keys == [*keys(3), "next"]


def test_a_flipped_byte_ends_the_log_before_its_block(file: Path) -> None:
    """Wherever it is: no row is read that was not written."""
    first, second = written(file, 2, 2)
    whole = file.read_bytes()
    for place in range(IDENTITY, second, 3):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        assert read(file).keys == (keys(2) if place >= first else [])


def forged(count: int, size: int, texts: bytes, body: bytes, magic: bytes = MAGIC) -> bytes:
    """A block of a stranger's, whose checksum fits."""
    numbers = HEAD.pack(magic, count, size, len(texts), 0)[:-4]
    checksum = zlib.crc32(body, zlib.crc32(numbers)).to_bytes(4, "little")
    return b"0" * IDENTITY + numbers + checksum + body


def block(lengths: list[int], texts: bytes, rows: HalfMatrix) -> bytes:
    """The body of a block."""
    return np.array(lengths, dtype="<u4").tobytes() + texts + rows.tobytes()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        b"\x00" * 5_000,
        b"0" * IDENTITY + MAGIC + b"\xff" * 16,
        forged(0, 4, b"", b""),
        forged(1, 0, b"a", block([1], b"a", halves(0, 4))),
        forged(2, 4, b"ab", block([1], b"a", halves(1, 4))),
        forged(1, 4, b"a", block([9], b"a", halves(1, 4))),
        forged(1, 4, b"\xff", block([1], b"\xff", halves(1, 4))),
        forged(1, 4, b"a", block([1], b"a", halves(1, 4) * np.float16("nan"))),
        forged(1, 4, b"a", block([1], b"a", halves(1, 4) * np.float16("inf"))),
        forged(1, 4, b"a", block([1], b"a", halves(1, 4)), magic=b"else"),
        forged(2**31, 2**31, b"a", block([1], b"a", halves(1, 4))),
    ],
)
def test_forged_logs_are_empty(file: Path, data: bytes) -> None:
    """A stranger can make the checksum fit; what it stands for has to fit as well. What is written next is there."""
    file.write_bytes(data)
    log = read(file)
    assert (log.keys, log.rows) == ([], None)
    log.append(["a"], halves(1, 4))
    assert read(file).keys == ["a"]


def test_blocks_of_another_width_do_not_count(file: Path) -> None:
    """Neither those that differ from the first, nor all where another width is required."""
    other = file.with_name("other")
    RowLog(file).append(["a"], halves(1, 4))
    RowLog(other).append(["b"], halves(1, 8))
    file.write_bytes(file.read_bytes() + other.read_bytes()[IDENTITY:])
    assert read(file).keys == ["a"]
    assert read(file, 8).keys == []
    assert read(file, 8).size == 8


def test_a_log_that_was_begun_anew_is_read_anew(file: Path) -> None:
    """Another process may remove it and write another, of any length: nothing of the old one stays."""
    written(file, 3)
    log = read(file)
    file.unlink()
    written(file, 1, 5)
    log.refresh()
    assert log.keys == [*keys(1), *keys(5, 100)]


def test_pipes_and_links_are_no_logs(file: Path, tmp_path: Path) -> None:
    """Of a pipe there may be no end, and a link leads out of the cache: neither is read or written."""
    written(tmp_path / "elsewhere", 2)
    before = (tmp_path / "elsewhere").read_bytes()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="no regular file"):
        read(file)
    with pytest.raises(OSError, match="symbolic"):
        RowLog(file).append(["a"], halves(1))
    assert (tmp_path / "elsewhere").read_bytes() == before
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="no regular file"):
        read(file)


def test_without_a_file_it_is_in_memory() -> None:
    """It keeps what is appended, and reads nothing."""
    log = RowLog(None)
    log.append(["a"], halves(1))
    log.refresh()
    assert (log.keys, log.size, "a" in log, "b" in log) == (["a"], 32, True, False)
