"""Question files in rows."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.bench.data import rows
from fedkg.bench.data.rows import Row, array, lines
from fedkg.errors import DatasetError

HEAD = r"^\s*\["
OBJECTS = st.lists(
    st.fixed_dictionaries({"query": st.text(), "more": st.lists(st.dictionaries(st.text(), st.integers()))}), max_size=8
)


def written(folder: Path, text: str | bytes, name: str = "q.json") -> Path:
    """The file, packed where its name says so."""
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def read(folder: Path, text: str | bytes, name: str = "q.json") -> list[Row]:
    """The rows of an array."""
    return list(array(written(folder, text, name), HEAD, "query"))


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    """Blank lines are passed over and counted."""
    file = written(tmp_path, '{"id": 7}\n\n  \n{"id": "b"}', "q.jsonl.gz")
    assert [(row.line, row.id, row.fault) for row in lines(file)] == [(1, "7", ""), (4, "b", "")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OBJECTS, st.sampled_from([None, 1, 4]), st.integers(1, 40))
def test_an_array_gives_its_objects(tmp_path: Path, objects: list[object], indent: int | None, window: int) -> None:
    """All of them, each on its line, however they are laid out and however little is held at a time."""
    with pytest.MonkeyPatch.context() as patch:
        text = json.dumps(objects, indent=indent, ensure_ascii=False)
        longest = max((len(json.dumps(value, indent=indent)) for value in objects), default=0) * 2
        patch.setattr(rows, "LONGEST", longest + window)
        parsed = read(tmp_path, text.encode(errors="surrogatepass"))
    assert [json.loads(row.text) for row in parsed] == objects
    assert not any(row.fault for row in parsed)
    whole = text.split("\n")
    assert all("{" in whole[row.line - 1] for row in parsed)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_are_read_to_an_end(tmp_path: Path, data: bytes) -> None:
    """What is no array is a row with a fault, and never an error."""
    for text in (data, b'[{"query": 1}, ' + data, b'[{"query": ' + data):
        for row in read(tmp_path, text):
            assert isinstance(row.line_of("query"), int)
    assert all(isinstance(row.id, str) for row in lines(written(tmp_path, data)))


@pytest.mark.parametrize(
    ("broken", "line", "fault"),
    [
        ('{"id": "b", "query": "2" "x": 1}', 2, "Expecting ','"),
        ('{"id": "b", "query": "2",\n "x": [{"y": 1}, {"z": 2]}', 3, "Expecting ','"),
        ('{"id": "b", "query": "2"', 3, "Expecting"),
        ('{"id": "b", "query": "2\n"}', 2, "Invalid control character"),
        ('{"id": "b", "query": ' + "9" * 5000 + "}", 2, "integer string"),
        ('{"id": "b", "x": ' + "[" * 20_000 + "]" * 20_000 + "}", 2, "recursion"),
    ],
)
def test_behind_a_broken_object_the_next_is_read(tmp_path: Path, broken: str, line: int, fault: str) -> None:
    """The fault is on its line; what was before and comes behind is there."""
    first, last = '{"id": "a", "query": "1"}', '{"id": "c", "query": "3"}'
    parsed = read(tmp_path, f"[{first},\n{broken},\n{last}]")
    assert [row.id for row in parsed if not row.fault] == ["a", "c"]
    bad = next(row for row in parsed if row.fault)
    assert (bad.line, bad.id) == (line, "b")
    assert fault in bad.fault


def test_a_missing_comma_between_objects_is_said(tmp_path: Path) -> None:
    """Both are read, since nothing of them is in doubt."""
    parsed = read(tmp_path, '[{"id": "a", "query": 1}\n{"id": "b", "query": 2}]')
    assert [(row.id, bool(row.fault)) for row in parsed] == [("a", False), ("", True), ("b", False)]
    assert "behind a" in parsed[1].fault


@pytest.mark.parametrize("text", ['[{"query": 1}', '[{"query": 1},', '[{"query": 1}, {"query": "', "[", "{}", ""])
def test_an_array_that_is_cut_is_said(tmp_path: Path, text: str) -> None:
    """Its last row is a fault."""
    assert read(tmp_path, text)[-1].fault


@pytest.mark.parametrize("name", ["q.jsonl.gz", "q.json.gz"])
def test_an_archive_that_is_cut_is_said(tmp_path: Path, name: str) -> None:
    """What was readable comes first."""
    row = '{"id": "%d", "query": "' + "x" * 50 + '"}'
    packed = gzip.compress("\n".join(row % number for number in range(2000)).encode(), 0)
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    parsed = list(lines(tmp_path / name))
    assert parsed[0].id == "0"
    assert "cannot be read any further" in parsed[-1].fault
    (tmp_path / name).write_bytes(gzip.compress(b"[" + row.encode(), 0)[:-12])
    assert "cannot be read any further" in list(array(tmp_path / name, HEAD, "query"))[-1].fault


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is too long is passed over, a file that is too long is read no further."""
    monkeypatch.setattr(rows, "LONGEST", 100)
    long, good = json.dumps({"query": "x" * 500}), '{"query": "1"}'
    parsed = list(lines(written(tmp_path, f"{long}\n{good}\n")))
    assert [(row.line, bool(row.fault)) for row in parsed] == [(1, True), (2, False)]
    parsed = read(tmp_path, f"[{long},\n{good}]")
    assert [(row.line, bool(row.fault)) for row in parsed] == [(1, True), (2, False)]
    monkeypatch.setattr(rows, "MOST", 2_000)
    assert "read no further" in list(lines(written(tmp_path, f"{good}\n" * 900)))[-1].fault
    assert "read no further" in read(tmp_path, "[" + f"{good},\n" * 900)[-1].fault


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Some editors write one at the start of a file, where it is no part of the text."""
    text = b'\xef\xbb\xbf[{"id": 1}]\n'
    file = written(tmp_path, text)
    assert [row.text for row in rows.lines(file)] == [b'[{"id": 1}]\n']
    assert [(row.text, row.fault) for row in rows.array(file, r"^\s*\[", "id")] == [(b'{"id": 1}', "")]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """An error with a hint at --data."""
    for reading in (lines(tmp_path / "none.jsonl"), array(tmp_path / "none.json.gz", HEAD, "query")):
        with pytest.raises(DatasetError, match="none") as caught:
            next(reading)
        assert "--data" in caught.value.hint
