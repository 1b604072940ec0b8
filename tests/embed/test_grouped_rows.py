"""The grouped file: what was put into it is found, and a damaged or forged one does no harm."""

import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkg.embed import grouped_rows
from fedkg.embed.base import Matrix
from fedkg.embed.cosine import HalfMatrix, cosines, cosines_in_parts
from fedkg.embed.grouped_rows import HEAD_BYTES, GroupedRows, digests, group
from fedkg.errors import CacheError
from tests.support.vectors import halves, keys

SIZE = 8


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the file is, in a folder that is not there yet."""
    return tmp_path / "labels" / "x.labels"


def grouped(file: Path, count: int = 40, start: int = 0, before: GroupedRows | None = None) -> GroupedRows:
    """The file with so many keys more."""
    group(file, "m", before, keys(count, start), halves(count, SIZE, start))
    return GroupedRows(file, "m")


def exact(vector: HalfMatrix, texts: list[str], rows: HalfMatrix, m: int) -> dict[str, float]:
    """The m nearest of all."""
    scores = cosines(vector, rows)
    return {texts[number]: float(scores[number]) for number in np.argsort(-scores, kind="stable")[:m]}


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 12), st.integers(0, 99))
@settings(max_examples=15)
def test_all_that_was_grouped_is_found(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], m: int, seed: int
) -> None:
    """However often the file was written anew, with more: of so few vectors the nearest are those of all."""
    file, before = tmp_path_factory.mktemp("group") / "x", None
    texts = [f"{number} \ud800 é" for number in range(sum(counts))]
    rows = halves(len(texts), SIZE, seed)
    done = 0
    for count in counts:
        group(file, "m", before, texts[done : done + count], rows[done : done + count])
        before, done = GroupedRows(file, "m"), done + count
        assert len(before) == done
        expected = digests([text.encode(errors="surrogatepass") for text in texts[:done]])
        assert np.array_equal(before.known(), np.sort(expected))
        vector = halves(1, SIZE, seed + 1)[0]
        assert dict(before.search(vector, m)) == exact(vector, texts[:done], rows[:done], m)


def test_near_cells_hold_most_of_the_nearest(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a search looks at a tenth of the vectors only, it finds most of the nearest of labels that have topics."""
    monkeypatch.setattr(grouped_rows, "LOOKED_AT", 200)
    topics = halves(50, 64)
    rows = (np.repeat(topics, 40, axis=0) + halves(2_000, 64, 1) * np.float16(0.4)).astype(np.float16)
    group(file, "m", None, keys(2_000), rows)
    index, found = GroupedRows(file, "m"), 0
    for vector in rows[::100]:
        hits = dict(index.search(vector, 10))
        assert len(hits) == 10
        found += len(hits.keys() & exact(vector, keys(2_000), rows, 10).keys())
    assert found >= 190


def test_cells_side_by_side_are_looked_at_in_one_go(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all cells are near there is one comparison of all rows, and not one for each cell."""
    looks: list[int] = []
    compared = cosines_in_parts

    def counted(vector: HalfMatrix, parts: Sequence[HalfMatrix]) -> Matrix:
        looks.append(len(parts))
        return compared(vector, parts)

    monkeypatch.setattr(grouped_rows, "cosines_in_parts", counted)
    index = grouped(file, 40)
    assert len(index.centres) > 1
    assert len(index.search(halves(1, SIZE)[0], 40)) == 40
    assert looks == [1]


def test_pages_that_were_given_back_are_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches find the same after the mapping's pages have left the process's memory."""
    monkeypatch.setattr(grouped_rows, "TOUCHED", 1)
    index, vector = grouped(file), halves(1, SIZE, 7)[0]
    assert index.search(vector, 5) == index.search(vector, 5)


def test_a_file_that_is_replaced_is_still_read(file: Path) -> None:
    """Who has it open goes on with what it held, and sees no half of the new one."""
    first = grouped(file)
    hits = first.search(halves(1, SIZE)[0], 3)
    second = grouped(file, 40, 40, first)
    assert (len(first), len(second)) == (40, 80)
    assert first.search(halves(1, SIZE)[0], 3) == hits
    assert first.token != second.token


def test_a_file_that_is_cut_while_it_is_open_is_an_error(file: Path) -> None:
    """Whoever cuts it: to read its lost pages would end the process."""
    rows = grouped(file)
    os.truncate(file, HEAD_BYTES)
    with pytest.raises(CacheError, match="was cut"):
        rows.search(halves(1, SIZE, 5)[0], 3)
    with pytest.raises(CacheError, match="was cut"):
        rows.rows_of(np.arange(3))


def test_centres_are_learnt_anew_when_there_are_many_more(file: Path) -> None:
    """Until there are four times as many they stay."""
    first = grouped(file, 20)
    second = grouped(file, 20, 20, first)
    assert np.array_equal(first.centres, second.centres)
    assert (second.learnt, grouped(file, 60, 40, second).learnt) == (20, 100)


def test_a_crash_while_writing_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All changes together or not at all, and no half-written file stays behind."""
    first = grouped(file)

    def crash(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        grouped(file, 3, 100, first)
    assert len(GroupedRows(file, "m")) == 40
    assert list(file.parent.iterdir()) == [file]


def test_damage_takes_keys_away_and_adds_none(file: Path) -> None:
    """One flipped byte anywhere: the file is refused, or what a search returns was there, as near as it was."""
    grouped(file)
    whole, vector = file.read_bytes(), halves(1, SIZE, 3)[0]
    true = exact(vector, keys(40), halves(40, SIZE), 40)
    places = [*range(0, 300, 17), *range(HEAD_BYTES, len(whole), 29)]
    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            hits = GroupedRows(file, "m").search(vector, 40)
        except (ValueError, msgspec.MsgspecError):
            continue
        assert dict(hits).items() <= true.items()
        assert len(hits) >= 38


@pytest.mark.parametrize("length", [0, 10, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 100, -1])
def test_cut_files_are_refused(file: Path, length: int) -> None:
    """Nothing behind the end is ever looked at."""
    grouped(file)
    data = file.read_bytes()
    file.write_bytes(data[:length])
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        GroupedRows(file, "m")
    file.write_bytes(data + b"\0")
    with pytest.raises(ValueError, match="not this index"):
        GroupedRows(file, "m")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "else"},
        {"embedder": "other"},
        {"size": 0},
        {"size": -8},
        {"size": 2**40},
        {"size": "8"},
        {"count": 0},
        {"count": 2**62},
        {"count": -40},
        {"cells": 0},
        {"cells": 2**50},
        {"learnt": 0},
        {"text_bytes": -1},
        {"text_bytes": 2**61},
        {"checksum": 1},
    ],
)
def test_forged_heads_are_refused(file: Path, change: dict[str, object]) -> None:
    """Numbers that no file has, or that do not fit its length, and files of another format or embedder."""
    grouped(file)
    data = file.read_bytes()
    head = json.dumps(json.loads(data[:HEAD_BYTES]) | change).encode()
    file.write_bytes(head.ljust(HEAD_BYTES) + data[HEAD_BYTES:])
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        GroupedRows(file, "m")


def forge(file: Path, part: str, place: int, values: bytes) -> GroupedRows:
    """The file, after a stranger has written into that part of it."""
    data = bytearray(file.read_bytes())
    head = msgspec.json.decode(bytes(data[:HEAD_BYTES]).rstrip(), type=grouped_rows._Head)
    start = getattr(grouped_rows._Layout(head), part) + place
    data[start : start + len(values)] = values
    file.write_bytes(bytes(data))
    return GroupedRows(file, "m")


def test_vectors_that_are_none_are_not_found(file: Path) -> None:
    """A forged file may hold what is not finite: such rows are left out, whatever their checksum, and stay so."""
    grouped(file)
    row = np.full(SIZE, np.nan, dtype=np.float16).tobytes()
    forge(file, "rows", 0, row)
    forged = forge(file, "checksums", 0, zlib.crc32(row).to_bytes(4, "little"))
    for index in (forged, grouped(file, 200, 40, forged)):
        hits = index.search(halves(1, SIZE, 5)[0], 300)
        assert len(hits) == len(index) - 1
        assert all(np.isfinite(score) for _, score in hits)


def test_keys_that_are_none_are_not_written_on(file: Path) -> None:
    """Where the ends of the keys are forged, searches find nothing, and the file cannot be added to."""
    grouped(file)
    forged = forge(file, "ends", 0, np.full(40, -5, dtype="<i8").tobytes())
    assert forged.search(halves(1, SIZE)[0], 40) == []
    with pytest.raises(ValueError, match="keys that are none"):
        grouped(file, 2, 40, forged)


def test_pipes_and_links_are_not_read(file: Path, tmp_path: Path) -> None:
    """Of a pipe there may be no end, and a link leads out of the cache."""
    grouped(tmp_path / "elsewhere" / "x")
    file.parent.mkdir()
    file.symlink_to(tmp_path / "elsewhere" / "x")
    with pytest.raises(ValueError, match="no regular file"):
        GroupedRows(file, "m")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ValueError, match="no regular file"):
        GroupedRows(file, "m")
