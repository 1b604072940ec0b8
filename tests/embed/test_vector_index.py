import hashlib
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkg.embed import vector_index
from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.vector_index import VectorIndex
from fedkg.errors import CacheError
from fedkg.testing import HashingEmbedder

LABELS = ["place of birth", "date of birth", "place of death", "capital", "member of party", "Zürich", "東京"]


def rows(count: int, size: int = 32, seed: int = 0) -> Matrix:
    """Random unit vectors."""
    return unit_rows(np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32))


def keys(count: int, start: int = 0) -> list[str]:
    """Keys that tell their place."""
    return [f"k{number}" for number in range(start, start + count)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the index is saved, in a folder that is not there yet."""
    return tmp_path / "labels" / "wikidata.index"


def test_finds_labels_by_meaning(file: Path) -> None:
    """The nearest label comes first, with its cosine; what shares no word has none."""
    index, embedder = VectorIndex(file), HashingEmbedder()
    index.add(LABELS, embedder.embed(LABELS))
    [(first, best), (_, second)] = index.search(embedder.embed(["birth place of"])[0], 2)
    assert (first, round(best, 2)) == ("place of birth", 1.0)
    assert 0.5 < second < 0.8


@given(st.integers(1, 60), st.integers(1, 80), st.integers(0, 1_000))
@settings(max_examples=30)
def test_small_indexes_are_exact(count: int, m: int, seed: int) -> None:
    """Below the limit the m nearest are those that numpy finds, with cosines to float16's precision."""
    matrix = rows(count, seed=seed)
    query = rows(1, seed=seed + 1)[0]
    index = VectorIndex(Path("never saved"))
    index.add(keys(count), matrix)
    hits = index.search(query, m)
    cosines = matrix @ query
    assert [score for _, score in hits] == pytest.approx(sorted(cosines, reverse=True)[:m], abs=2e-3)
    assert all(score == pytest.approx(cosines[int(key[1:])], abs=2e-3) for key, score in hits)


def test_large_indexes_find_all(file: Path) -> None:
    """The ten nearest of some thousand are those that numpy finds, apart from float16's rounding."""
    matrix = rows(3_000)
    index = VectorIndex(file)
    index.add(keys(3_000), matrix)
    for query in rows(5, seed=1):
        cosines = matrix @ query
        assert [score for _, score in index.search(query, 10)] == pytest.approx(sorted(cosines)[:-11:-1], abs=2e-3)


def test_known_keys_are_skipped(file: Path) -> None:
    """A key keeps its first vector, within a call and over calls; the count is of new keys."""
    matrix = rows(3)
    index = VectorIndex(file)
    assert index.add(["a", "b", "a"], matrix) == 2
    assert index.add(["b", "c"], rows(2, seed=9)) == 1
    assert (len(index), "c" in index, "d" in index) == (3, True, False)
    assert [index.search(row, 1)[0][0] for row in matrix[:2]] == ["a", "b"]


def test_ties_are_in_order_of_keys(file: Path) -> None:
    """Equal scores give the same order whatever the order of additions."""
    index = VectorIndex(file)
    index.add(["c", "a", "b"], np.repeat(rows(1), 3, axis=0))
    assert [key for key, _ in index.search(rows(1)[0], 3)] == ["a", "b", "c"]


def test_empty_and_odd_requests(file: Path) -> None:
    """An empty index finds nothing; no m and no keys are no error; a zero vector is near to nothing."""
    index = VectorIndex(file)
    assert index.search(rows(1)[0], 5) == []
    assert index.add([], np.zeros((0, 32), dtype=np.float32)) == 0
    index.add(["a"], rows(1))
    assert index.search(rows(1)[0], 0) == []
    assert index.search(np.zeros(32, dtype=np.float32), 1) == [("a", 0.0)]


def test_shapes_must_fit(file: Path) -> None:
    """Vectors of another number or size are refused, and nothing is added."""
    index = VectorIndex(file)
    index.add(["a"], rows(1))
    with pytest.raises(ValueError, match="2 keys"):
        index.add(["b", "c"], rows(1))
    with pytest.raises(ValueError, match="dimensions"):
        index.add(["b"], rows(1, size=16))
    with pytest.raises(ValueError, match="dimensions"):
        index.search(rows(1, size=16)[0], 1)
    assert len(index) == 1


def test_saved_index_comes_back_and_grows(file: Path) -> None:
    """The next process finds keys and vectors as they were, and may add to them."""
    first = VectorIndex(file, "minilm")
    first.add([*keys(20), "\ud800", "line\nbreak"], rows(22))
    first.save()
    second = VectorIndex(file, "minilm")
    assert second.search(rows(22)[20], 3) == first.search(rows(22)[20], 3)
    assert second.add(keys(5, 18), rows(5, seed=2)) == 3
    second.save()
    assert len(VectorIndex(file, "minilm")) == 25


def test_another_embedder_s_index_is_not_used(file: Path) -> None:
    """Vectors of different models do not compare, so the index starts empty."""
    first = VectorIndex(file, "minilm")
    first.add(keys(3), rows(3))
    first.save()
    assert len(VectorIndex(file, "st:other")) == 0


@pytest.mark.parametrize("where", [0, 0.3, 0.6, 0.999])
def test_damaged_files_give_an_empty_index(file: Path, where: float) -> None:
    """One flipped byte or a cut anywhere, and the labels are embedded again instead of a crash."""
    first = VectorIndex(file)
    first.add(keys(50), rows(50))
    first.save()
    data = file.read_bytes()
    place = int(len(data) * where)
    for damaged in (data[:place], data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]):
        file.write_bytes(damaged)
        again = VectorIndex(file)
        assert len(again) == 0
        assert again.add(keys(1), rows(1)) == 1


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b"{}\n", b"null\n[]\n", b"\xff\xfe\n\n"])
def test_foreign_files_give_an_empty_index(file: Path, data: bytes) -> None:
    """A file that fedkg did not write is as good as none."""
    file.parent.mkdir()
    file.write_bytes(data)
    assert len(VectorIndex(file)) == 0


def forged(table: object, numbers: Matrix, **changes: object) -> bytes:
    """A file whose first line vouches for what a stranger wrote."""
    body = json.dumps(table).encode() + b"\n" + numbers.astype("<f2").tobytes()
    head = {"format": vector_index.FORMAT, "embedder": "", "size": 4, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(head | changes).encode() + b"\n" + body


@pytest.mark.parametrize(
    "data",
    [
        forged(["a", "b"], rows(1, 4)),
        forged(["a"], rows(2, 4)),
        forged({"a": 1}, rows(1, 4)),
        forged([1], rows(1, 4)),
        forged([[]], rows(1, 4)),
        forged(["a"], rows(1, 4) * np.inf),
        forged(["a"], rows(1, 4) * np.nan),
        forged(["a"], rows(1, 4), size=0),
        forged(["a"], rows(1, 4), size=-4),
        forged(["a"], rows(1, 4), size=2**62),
        forged(["a"], rows(1, 4), size="4"),
        forged(["a"], rows(1, 3)),
    ],
)
def test_forged_files_give_an_empty_index(file: Path, data: bytes) -> None:
    """A stranger can make the checksum fit; what it stands for has to fit as well, and runs no foreign code."""
    file.parent.mkdir()
    file.write_bytes(data)
    again = VectorIndex(file)
    assert (len(again), again.search(rows(1, 4)[0], 3)) == (0, [])
    assert again.add(keys(1), rows(1, 4)) == 1
    file.write_bytes(forged(["a"], rows(1, 4)))
    assert len(VectorIndex(file)) == 1


def test_links_and_pipes_are_not_read(file: Path, tmp_path: Path) -> None:
    """Of a pipe or a device there may be no end, and a link leads out of the cache."""
    file.parent.mkdir()
    os.mkfifo(file)
    assert len(VectorIndex(file)) == 0
    file.unlink()
    (tmp_path / "elsewhere").write_bytes(forged(["a"], rows(1, 4)))
    file.symlink_to(tmp_path / "elsewhere")
    assert len(VectorIndex(file)) == 0


def test_a_folder_that_is_a_link_is_not_written_to(file: Path, tmp_path: Path) -> None:
    """The labels go nowhere outside the cache."""
    (tmp_path / "elsewhere").mkdir()
    file.parent.symlink_to(tmp_path / "elsewhere")
    index = VectorIndex(file)
    index.add(keys(1), rows(1))
    with pytest.raises(CacheError, match="is a link"):
        index.save()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_crash_while_saving_leaves_the_old_index(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and graph change together or not at all, and no half-written file stays behind."""
    first = VectorIndex(file)
    first.add(keys(3), rows(3))
    first.save()
    first.add(keys(3, 3), rows(3, seed=1))

    def crash(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        first.save()
    assert len(VectorIndex(file)) == 3
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_folder_that_cannot_be_written_is_a_cache_error(tmp_path: Path) -> None:
    """The user is told which file, and where to set another folder."""
    (tmp_path / "labels").write_text("")
    index = VectorIndex(tmp_path / "labels" / "x.index")
    index.add(["a"], rows(1))
    with pytest.raises(CacheError, match=r"x\.index") as caught:
        index.save()
    assert "cache_dir" in caught.value.hint


def test_nothing_new_is_not_written(file: Path) -> None:
    """Saving twice writes once."""
    index = VectorIndex(file)
    index.save()
    assert not file.exists()
    index.add(["a"], rows(1))
    index.save()
    file.unlink()
    index.save()
    assert not file.exists()


def test_threads_may_add_and_search_at_once(file: Path) -> None:
    """Concurrent additions and searches lose nothing and mix up no keys."""
    index = VectorIndex(file)
    matrix = rows(400)

    def work(start: int) -> None:
        for place in range(start, start + 100):
            index.add(keys(1, place), matrix[place : place + 1])
            index.search(matrix[place], 3)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(index) == 400
    assert all(index.search(matrix[place], 1)[0][0] == f"k{place}" for place in range(0, 400, 37))


def test_an_index_may_be_cleared(file: Path) -> None:
    """It then takes vectors of another size; the file keeps the old ones until the new are saved."""
    index = VectorIndex(file)
    assert index.size is None
    index.add(keys(3), rows(3))
    index.save()
    index.clear()
    assert (index.size, len(index), "k0" in index) == (None, 0, False)
    assert index.search(rows(1)[0], 1) == []
    index.save()
    assert len(VectorIndex(file)) == 3
    assert index.add(keys(2), rows(2, size=16)) == 2
    index.save()
    assert (VectorIndex(file).size, len(VectorIndex(file))) == (16, 2)


def test_an_index_without_a_file_is_in_memory_only() -> None:
    """Saving it does nothing."""
    index = VectorIndex(None)
    index.add(keys(2), rows(2))
    index.save()
    assert index.search(rows(2)[1], 1)[0][0] == "k1"
