"""Result files: what is on disk after each record, after a crash, and where it cannot be."""

import errno
import gzip
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.run import results
from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.results import BenchmarkResult, ResultWriter
from fedkg.common.line_file import LineFile
from fedkg.core.usage import Usage
from fedkg.errors import DatasetError

HEADER = Header(benchmark="b", method="m", model="local", settings={}, questions=9, limit=None, seed=0, fedkg="1")
RECORDS = tuple(QuestionRecord(id=str(number), question="who?", kind="entities", status="none") for number in range(3))


def write(file: Path, records: tuple[QuestionRecord, ...] = RECORDS) -> bytes:
    """The bytes of a result file that was written record by record."""
    with results.resumed(file, HEADER) as (writer, _):
        for record in records:
            writer.add(record)
    return file.read_bytes()


def test_each_record_is_there_when_it_was_added(tmp_path: Path) -> None:
    """Another process reads it at once; folders on the way are made."""
    file = tmp_path / "new" / "folder" / "b.jsonl"
    with results.resumed(file, HEADER) as (writer, done):
        assert done == ()
        for number, record in enumerate(RECORDS, 1):
            writer.add(record)
            assert results.read(file).records == RECORDS[:number]


def test_each_record_is_synced_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call each, the first with the header."""
    synced: list[int] = []
    monkeypatch.setattr("fedkg.common.line_file.os.fsync", synced.append)
    write(tmp_path / "b.jsonl")
    assert len(synced) == len(RECORDS)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A result file as a whole."""
    return write(tmp_path_factory.mktemp("whole") / "b.jsonl")


@given(data=st.data())
def test_a_file_that_was_cut_anywhere_is_taken_up(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, data: st.DataObject
) -> None:
    """Whatever a crash has left: the records whose lines are whole are kept, and the rest is written once."""
    cut = data.draw(st.integers(0, len(whole)))
    file = tmp_path_factory.mktemp("cut") / "b.jsonl"
    file.write_bytes(whole[:cut])
    with results.resumed(file, HEADER) as (writer, done):
        assert len(done) == max(0, whole[:cut].count(b"\n") - 1)
        for record in RECORDS[len(done) :]:
            writer.add(record)
    assert file.read_bytes() == whole


def test_a_line_that_is_not_whole_yet_is_not_read(
    tmp_path: Path, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Who scores a run that was killed, or is under way, sees what is finished, and is told so."""
    file = tmp_path / "b.jsonl"
    file.write_bytes(whole[:-5])
    assert results.read(file).records == RECORDS[:-1]
    assert "last line is not whole" in caplog.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "the file is empty"),
        (lambda data: b"{}\n", "line 1: Object missing required field"),
        (lambda data: data.replace(b'"schema":2', b'"schema":99'), "schema 99 is not known"),
        (lambda data: b'{"schema":1,"old":"header"}\n', "schema 1 is not known"),
        (lambda data: data.replace(b'"id":"1"', b'"id":1'), "line 3: Expected `str`, got `int`"),
        (lambda data: data.replace(b'"id":"1"', b'"id":"\xff"'), "line 3: "),
    ],
)
def test_what_is_no_result_is_said_with_its_line(tmp_path: Path, whole: bytes, change: Any, message: str) -> None:
    """A file of another kind or version, or a damaged one."""
    file = tmp_path / "b.jsonl"
    file.write_bytes(change(whole))
    with pytest.raises(DatasetError, match=message) as caught:
        results.read(file)
    assert str(file) in str(caught.value)


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    """The file stays as it is, and the message says what differs."""
    file = tmp_path / "b.jsonl"
    before = write(file)
    other = msgspec.structs.replace(HEADER, seed=1, model="openai:m")
    with pytest.raises(DatasetError, match=r"holds another run \(other model, seed\)"), results.resumed(file, other):
        pass
    deeper = msgspec.structs.replace(HEADER, settings={"search": {"depth": 2}})
    with pytest.raises(DatasetError, match=r"\(other search.depth\)"):
        results.earlier(file, deeper)
    assert file.read_bytes() == before


def test_a_header_alone_is_no_run(tmp_path: Path, whole: bytes) -> None:
    """As an earlier fedkg left it of a run that failed at once: another takes its place, and readers leave it out."""
    file, good = tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    other = msgspec.structs.replace(HEADER, seed=1)
    file.write_bytes(msgspec.json.encode(other) + b"\n" + whole.splitlines()[1][:9])
    write(good)
    assert [name for name, _ in results.every([file, good])] == [good]
    with pytest.raises(DatasetError, match="no question is finished"):
        results.every([file])
    assert results.earlier(file, HEADER) == ()
    assert write(file) == whole


def test_a_run_that_fails_at_once_leaves_no_file(tmp_path: Path) -> None:
    """So that it is in nobody's way."""
    file = tmp_path / "b.jsonl"
    with pytest.raises(ConnectionError), results.resumed(file, HEADER):
        raise ConnectionError
    assert not file.exists()
    before = write(file)
    with pytest.raises(ConnectionError), results.resumed(file, HEADER):
        raise ConnectionError
    assert file.read_bytes() == before


def test_another_version_goes_on_and_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever updates fedkg loses no run: its header stands before its records, once, and a reader is warned."""
    file = tmp_path / "b.jsonl"
    later = msgspec.structs.replace(HEADER, fedkg="2", commit="c", packages={"numpy": "3"})
    write(file, RECORDS[:1])
    for number in (1, 2):
        with results.resumed(file, later) as (writer, done):
            assert done == RECORDS[:number]
            writer.add(RECORDS[number])
    assert "begun by another version" in caplog.text
    assert results.read(file) == BenchmarkResult(HEADER, RECORDS, (later,))
    assert "of several versions" in caplog.text
    before = file.read_bytes()
    results.save(results.read(file), file)
    assert results.read(file) == BenchmarkResult(HEADER, RECORDS, (later,))
    assert sorted(file.read_bytes().splitlines()) == sorted(before.splitlines())


def test_a_larger_budget_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With the questions that the smaller one of the whole run has ended.

    A question's own budget has decided its answer.
    """
    file = tmp_path / "b.jsonl"
    poor, rich = (msgspec.structs.replace(HEADER, settings={"run": {"money": money}}) for money in (1.0, 2.0))
    ended = [
        msgspec.structs.replace(RECORDS[number], usage=Usage(spent=spent))
        for number, spent in ((1, "run money"), (2, "money"))
    ]
    with results.resumed(file, poor) as (writer, _):
        for record in (RECORDS[0], *ended):
            writer.add(record)
    with results.resumed(file, rich) as (writer, done):
        assert done == (RECORDS[0], ended[1])
        writer.add(RECORDS[1])
    assert results.read(file) == BenchmarkResult(poor, (RECORDS[0], RECORDS[1], ended[1]), (rich,))
    assert caplog.text == ""


def test_errors_are_asked_again_where_that_is_wanted(tmp_path: Path) -> None:
    """Of ours, of an endpoint, of the model; what was asked again takes the place of the error."""
    file = tmp_path / "b.jsonl"
    bad = [msgspec.structs.replace(RECORDS[number], status=status) for number, status in ((0, "error"), (1, "failed"))]
    write(file, (*bad, RECORDS[2]))
    assert results.earlier(file, HEADER) == (*bad, RECORDS[2])
    assert results.earlier(file, HEADER, retry_errors=True) == (RECORDS[2],)
    with results.resumed(file, HEADER, retry_errors=True) as (writer, done):
        assert done == (RECORDS[2],)
        writer.add(RECORDS[0])
    assert results.read(file).records == (RECORDS[0], bad[1], RECORDS[2])


def test_two_runs_do_not_write_one_file(tmp_path: Path, whole: bytes) -> None:
    """The second one is refused, changes nothing, and may go on once the first has ended."""
    pytest.importorskip("fcntl", reason="this system has no such locks")
    file = tmp_path / "b.jsonl"
    with results.resumed(file, HEADER) as (writer, _):
        writer.add(RECORDS[0])
        with pytest.raises(DatasetError, match="another run is writing") as caught, results.resumed(file, HEADER):
            pass
        assert str(file) in str(caught.value)
        writer.add(RECORDS[1])
        writer.add(RECORDS[2])
    with results.resumed(file, HEADER) as (_, done):
        assert done == RECORDS
    assert file.read_bytes() == whole


def test_a_file_that_was_removed_meanwhile_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a run that failed at once, between our opening it and our having the lock: what is written would be lost."""
    file = tmp_path / "b.jsonl"
    monkeypatch.setattr("fedkg.common.line_file._lock", lambda _stream, wait: file.unlink())
    with pytest.raises(DatasetError, match="another run is writing"), results.resumed(file, HEADER):
        pass


@pytest.mark.parametrize("missing", ["module", "locks"])
def test_where_there_are_no_locks_there_is_none(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """On Windows, and on a network's disk that knows none: the run goes on without."""

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    without = SimpleNamespace(flock=none, LOCK_EX=2, LOCK_NB=4)
    monkeypatch.setitem(sys.modules, "fcntl", None if missing == "module" else without)
    assert write(tmp_path / "b.jsonl") == whole


def test_a_question_that_stands_twice_counts_once(tmp_path: Path) -> None:
    """The last one, as where an error was asked again."""
    file = tmp_path / "b.jsonl"
    last = msgspec.structs.replace(RECORDS[0], status="answered")
    write(file, (*RECORDS, last))
    assert results.read(file).records == (last, *RECORDS[1:])


@pytest.mark.parametrize("place", ["file/b.jsonl", "folder"])
def test_a_place_that_cannot_be_written_to(tmp_path: Path, place: str) -> None:
    """A file where a folder should be, a folder where the file should be."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DatasetError, match="cannot write") as caught, results.resumed(tmp_path / place, HEADER):
        pass
    assert "--out" in caught.value.hint
    with pytest.raises(DatasetError, match="cannot write"):
        results.save(BenchmarkResult(HEADER, RECORDS), tmp_path / place)


def test_a_full_disk_ends_the_run_and_keeps_what_was_finished(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a line fits: the error is the disk's, and the next start cuts that half off."""
    file = tmp_path / "b.jsonl"
    write(file, RECORDS[:2])
    written: list[bytes] = []
    with file.open("ab", buffering=0) as stream:

        def some(line: bytes) -> int:
            if written:
                raise OSError(errno.ENOSPC, "No space left on device")
            written.append(line)
            return stream.write(line[:20])

        lines = LineFile(file)
        full: Any = SimpleNamespace(write=some)
        with monkeypatch.context() as patch:
            patch.setattr(lines, "_stream", full)
            with pytest.raises(DatasetError, match="No space left on device"):
                ResultWriter(lines).add(RECORDS[2])
        lines.close()
    with results.resumed(file, HEADER) as (writer, done):
        assert done == RECORDS[:2]
        writer.add(RECORDS[2])
    assert file.read_bytes() == whole


def test_errors_of_the_run_are_not_taken_for_those_of_the_file(tmp_path: Path) -> None:
    """A connection that breaks is an OSError too."""
    with pytest.raises(ConnectionError), results.resumed(tmp_path / "b.jsonl", HEADER):
        raise ConnectionError


def test_a_result_is_saved_as_a_run_would_write_it(tmp_path: Path, whole: bytes) -> None:
    """In the place of what was there."""
    file = tmp_path / "b.jsonl"
    file.write_text("old")
    results.save(BenchmarkResult(HEADER, RECORDS), file)
    assert file.read_bytes() == whole


def test_a_packed_result_is_read_as_it_was(tmp_path: Path, whole: bytes) -> None:
    """The same bytes each time; what is damaged, or packs too much, is refused by its name."""
    result, file = BenchmarkResult(HEADER, RECORDS), tmp_path / "b.jsonl.gz"
    results.save(result, file)
    packed = file.read_bytes()
    assert gzip.decompress(packed) == whole
    assert results.read(file) == result
    results.save(result, file)
    assert file.read_bytes() == packed
    for damaged in (packed[:-9], b"no gzip", packed[:20] + b"\xff" * 20):
        file.write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"b\.jsonl\.gz: "):
            results.read(file)


def test_a_result_that_is_too_large_is_refused(tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed or not: no more than the most is unpacked."""
    monkeypatch.setattr(results, "MOST", len(whole) - 1)
    for name in ("b.jsonl", "b.jsonl.gz"):
        results.save(BenchmarkResult(HEADER, RECORDS), tmp_path / name)
        with pytest.raises(DatasetError, match="it holds more than"):
            results.read(tmp_path / name)
