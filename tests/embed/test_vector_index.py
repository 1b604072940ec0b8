import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.embed import vector_index
from fedkg.embed.vector_index import VectorIndex
from fedkg.errors import CacheError
from fedkg.testing import HashingEmbedder
from tests.support.vectors import keys, rows

ROOT = Path(__file__).resolve().parents[2]
LABELS = ["place of birth", "date of birth", "place of death", "capital", "member of party", "Zürich", "東京"]


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
    index = VectorIndex(None)
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
    assert (len(index), index.missing(["c", "d"])) == (3, ["d"])
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


def test_an_index_comes_back_and_grows(file: Path) -> None:
    """The next process finds keys and vectors as they were, and may add to them."""
    first = VectorIndex(file, "minilm")
    first.add([*keys(20), "\ud800", "line\nbreak"], rows(22))
    second = VectorIndex(file, "minilm")
    assert second.search(rows(22)[20], 3) == first.search(rows(22)[20], 3)
    assert second.add(keys(5, 18), rows(5, seed=2)) == 3
    assert len(first) == len(VectorIndex(file, "minilm")) == 25


def test_another_embedder_s_index_is_not_used(file: Path, few: int) -> None:
    """Vectors of different models do not compare, so the index starts empty."""
    VectorIndex(file, "minilm").add(keys(3 * few), rows(3 * few))
    other = VectorIndex(file, "st:other")
    assert len(other) == 0
    assert other.add(keys(2), rows(2)) == 2
    assert len(VectorIndex(file, "st:other")) == 2


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """A log of ten rows is long."""
    monkeypatch.setattr(vector_index, "LOG_ROWS", 10)
    return 10


@given(
    st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=25), min_size=1, max_size=8),
    st.integers(1, 70),
)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_added_is_found_by_all(
    few: int, tmp_path_factory: pytest.TempPathFactory, batches: list[list[int]], m: int
) -> None:
    """The law: after each addition writer, reader and newcomer find the same as a list of all, each key once."""
    file = tmp_path_factory.mktemp("labels") / "x"
    writers, reader = [VectorIndex(file), VectorIndex(file)], VectorIndex(file, read_only=True)
    matrix, vector = rows(61), rows(1, seed=9)[0]
    there: dict[str, int] = {}
    for number, batch in enumerate(batches):
        before = len(there)
        there |= {f"k{place}": place for place in batch}
        added = writers[number % 2].add([f"k{place}" for place in batch], matrix[batch])
        assert added == len(there) - before
        for index in (*writers, reader, VectorIndex(file)):
            hits = index.search(vector, m)
            expected = sorted((matrix[list(there.values())] @ vector).tolist(), reverse=True)[:m]
            assert [score for _, score in hits] == pytest.approx(expected, abs=2e-3)
            assert len({key for key, _ in hits}) == len(hits)
            assert index.missing(["new", *there, "new"]) == ["new"]


def test_a_long_log_moves_into_the_grouped_file(file: Path, few: int) -> None:
    """What is left is one file, one lock, and, once there is something new, one log."""
    index = VectorIndex(file)
    for start in range(0, 5 * few, few):
        index.add(keys(few, start), rows(few, seed=start))
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}.lock"]
    index.add(["one more"], rows(1))
    assert len(list(file.parent.iterdir())) == 3
    assert len(VectorIndex(file)) == 51


def test_what_killed_processes_left_is_removed(file: Path, few: int) -> None:
    """Half of a grouped file, and the log of one that is gone."""
    index = VectorIndex(file)
    index.add(["a"], rows(1))
    for name in (f"{file.name}abc.new", f"{file.name}.0123.log"):
        (file.parent / name).write_bytes(b"left")
    index.add(keys(few), rows(few))
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}.lock"]


@pytest.mark.parametrize("where", [0, 0.3, 0.6, 0.999])
def test_damaged_files_cost_what_they_held(file: Path, few: int, where: float) -> None:
    """One flipped byte or a cut anywhere: no crash, no vector that was not added, and what is added next is there."""
    first = VectorIndex(file)
    first.add(keys(25), rows(25))
    first.add(keys(5, 25), rows(5, seed=1))
    whole = {path: path.read_bytes() for path in (file, *file.parent.glob("*.log"))}
    assert len(whole) == 2
    for path, data in whole.items():
        place = int(len(data) * where)
        for damaged in (data[:place], data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]):
            for left in file.parent.glob("*.log"):
                left.unlink()
            for other, content in whole.items():
                other.write_bytes(damaged if other == path else content)
            again = VectorIndex(file)
            assert {key for key, _ in again.search(rows(1)[0], 99)} <= set(keys(30))
            again.add(["new"], rows(1, seed=2))
            assert VectorIndex(file).search(rows(1, seed=2)[0], 1)[0][0] == "new"


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b"{}\n", b"null\n[]\n", b"\xff\xfe\n\n"])
def test_foreign_files_give_an_empty_index(file: Path, few: int, data: bytes) -> None:
    """A file that fedkg did not write is as good as none, and is replaced when there is much to keep."""
    file.parent.mkdir()
    file.write_bytes(data)
    index = VectorIndex(file)
    assert len(index) == 0
    index.add(keys(few), rows(few))
    assert len(VectorIndex(file)) == few


def test_links_and_pipes_are_not_read_or_written(file: Path, tmp_path: Path) -> None:
    """Of a pipe or a device there may be no end, and a link leads out of the cache."""
    VectorIndex(tmp_path / "elsewhere" / file.name).add(keys(3), rows(3))
    [log, lock] = sorted((tmp_path / "elsewhere").iterdir())
    before = log.read_bytes()
    file.parent.mkdir()
    (file.parent / log.name).symlink_to(log)
    index = VectorIndex(file)
    assert len(index) == 0
    with pytest.raises(CacheError):
        index.add(["a"], rows(1))
    (file.parent / log.name).unlink()
    (file.parent / lock.name).unlink()
    (file.parent / lock.name).symlink_to(lock)
    with pytest.raises(CacheError):
        index.add(["a"], rows(1))
    assert log.read_bytes() == before
    os.mkfifo(file)
    assert len(VectorIndex(file)) == 0


def test_a_folder_that_is_a_link_is_not_written_to(file: Path, tmp_path: Path) -> None:
    """The labels go nowhere outside the cache."""
    (tmp_path / "elsewhere").mkdir()
    file.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CacheError):
        VectorIndex(file).add(keys(1), rows(1))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_cache_error(tmp_path: Path) -> None:
    """The user is told which file, and where to set another folder."""
    (tmp_path / "labels").write_text("")
    index = VectorIndex(tmp_path / "labels" / "x.index")
    with pytest.raises(CacheError, match=r"x\.index") as caught:
        index.add(["a"], rows(1))
    assert "cache_dir" in caught.value.hint


def test_vectors_that_are_none_are_left_out(file: Path) -> None:
    """What a broken embedder makes is not kept; the rest of the batch is."""
    matrix = rows(3)
    matrix[1] = np.nan
    index = VectorIndex(file)
    assert index.add(keys(3), matrix) == 2
    assert [key for key, _ in VectorIndex(file).search(matrix[0], 3)] == [key for key, _ in index.search(matrix[0], 3)]


def test_a_reader_keeps_what_it_adds_to_itself(file: Path) -> None:
    """Offline nothing is written; what others write is seen beside it."""
    writer, reader = VectorIndex(file), VectorIndex(file, read_only=True)
    assert reader.add(["own"], rows(1)) == 1
    assert not file.parent.exists()
    writer.add(["other"], rows(1, seed=1))
    assert {key for key, _ in reader.search(rows(1)[0], 5)} == {"own", "other"}
    assert reader.missing(["own", "other", "new"]) == ["new"]
    assert len(writer) == 1


def test_threads_may_add_and_search_at_once(file: Path, few: int) -> None:
    """Concurrent additions and searches lose nothing and mix up no keys."""
    index = VectorIndex(file)
    matrix = rows(200)

    def work(start: int) -> None:
        for place in range(start, start + 50):
            index.add(keys(1, place), matrix[place : place + 1])
            index.search(matrix[place], 3)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 50, 100, 150)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(index) == 200
    assert all(index.search(matrix[place], 1)[0][0] == f"k{place}" for place in range(0, 200, 37))


PROCESS = """
import sys
from pathlib import Path
from fedkg.embed import vector_index
from fedkg.embed.vector_index import VectorIndex
from tests.support.vectors import keys, rows

vector_index.LOG_ROWS = 20
file, start = Path(sys.argv[1]), int(sys.argv[2])
index = VectorIndex(file)
for number in range(start, start + 30):
    index.add(keys(1, number), rows(1, seed=number))
    print(number, flush=True)
"""


def process(file: Path, start: int) -> subprocess.Popen[bytes]:
    """A process that adds keys one by one, and tells of each."""
    command = [sys.executable, "-c", PROCESS, str(file), str(start)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)


def test_two_processes_add_while_a_third_reads(file: Path) -> None:
    """Nothing is lost, twice there, or seen in part; the log is regrouped while others have it open."""
    reader = VectorIndex(file)
    running = [process(file, 0), process(file, 15)]
    counts = []
    while any(one.poll() is None for one in running):
        counts.append(len(reader.search(rows(1)[0], 1_000)))
    for one in running:
        one.communicate()
    assert [one.returncode for one in running] == [0, 0]
    assert counts == sorted(counts)
    assert {key for key, _ in reader.search(rows(1)[0], 1_000)} == set(keys(45))
    assert len(VectorIndex(file)) == len(reader) == 45


def test_a_process_that_is_killed_leaves_what_it_had_added(file: Path) -> None:
    """The lock is free again, and the next process adds the rest."""
    running = process(file, 0)
    assert running.stdout
    told = [int(running.stdout.readline()) for _ in range(25)]
    running.kill()
    running.communicate()
    index = VectorIndex(file)
    assert set(keys(len(told))) <= {key for key, _ in index.search(rows(1)[0], 1_000)}
    index.add(keys(30), np.concatenate([rows(1, seed=number) for number in range(30)]))
    assert len(VectorIndex(file)) == 30


def test_an_index_may_be_cleared(file: Path, few: int) -> None:
    """It then takes vectors of another size, and so do those who have it open; a reader's is empty on its own."""
    index, other = VectorIndex(file), VectorIndex(file)
    assert index.size is None
    index.add(keys(3 * few), rows(3 * few))
    reader = VectorIndex(file, read_only=True)
    reader.clear()
    assert (len(reader), reader.add(["own"], rows(1, size=16)), len(index)) == (0, 1, 3 * few)
    index.clear()
    assert (index.size, len(index), len(other), index.missing(["k0"])) == (None, 0, 0, ["k0"])
    assert index.search(rows(1)[0], 1) == []
    assert index.add(keys(2), rows(2, size=16)) == 2
    assert (VectorIndex(file).size, len(other)) == (16, 2)


def test_an_index_without_a_file_is_in_memory_only() -> None:
    """It takes, finds and forgets as one with a file does."""
    index = VectorIndex(None)
    index.add(keys(2), rows(2))
    assert index.search(rows(2)[1], 1)[0][0] == "k1"
    index.clear()
    assert len(index) == 0
