"""Question files, read strictly."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition, Only
from fedkg.bench.data.questions import Bad
from fedkg.errors import DatasetError

ROW = {"question": "who?", "topic_entities": [{"iri": "http://x/a", "label": "a"}], "answers": [{"label": "b"}]}
PLAIN = Definition(title="mine", questions="q.jsonl", depth=1)
LEFT_OUT = {"crlt-qa": 1, "qald10": 1, "qald9plus": 35, "webqsp": 58}
"""Rows of the public files that are no questions: an answer that is no truth value, and no answer."""
READ = {
    "crlt-claims": 150,
    "cwq": 3531,
    "cwq-fb15k237": 998,
    "medqa-usmle": 636,
    "qald10-codex": 50,
    "webqsp-fb15k237": 604,
}


def written(folder: Path, *rows: Any, name: str = "q.jsonl") -> Path:
    """A question file; a row that is a text stands in it as it is. Gives its folder."""
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return folder


def refused(definition: Definition, data: Path) -> str:
    """What is said of a file that cannot be read."""
    with pytest.raises(DatasetError) as caught:
        loaders.read(definition, data)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted({*definitions.names()} - {"commonsenseqa"}))
def test_the_questions_of_every_benchmark_can_be_read(name: str, data: Path) -> None:
    """All rows of the public files but those few, which are listed, each with file, line and id."""
    questions, bad = loaders.read(definitions.find(name), data, skip_bad=True)
    assert len(bad) == LEFT_OUT.get(name, 0)
    assert len(questions) == READ.get(name, len(questions))
    assert all((question.answers or question.unanswerable) and question.id for question in questions)
    assert all(", line " in row.place and row.id and str(data) not in row.place for row in bad)


def test_the_published_file_that_is_broken(data: Path) -> None:
    """A missing comma and an answer that is no truth value, each on its line; all else is read."""
    broken = msgspec.structs.replace(definitions.find("crlt-qa"), questions="crlt-qa-upstream-broken.json")
    assert "crlt-qa-upstream-broken.json, line 644 (S33)" in refused(broken, data)
    questions, bad = loaders.read(broken, data, skip_bad=True)
    assert [(row.place.partition(", ")[2], row.id) for row in bad] == [("line 644", "S33"), ("line 823", "S39")]
    assert len(questions) == 138


def test_topics_and_kinds_of_the_public_files(data: Path) -> None:
    """Anchors as Wikidata's items, verdicts and options as they are told."""
    (first, *_), _ = loaders.read(definitions.find("crlt-qa"), data, skip_bad=True)
    assert first.topic_entities[0].iri == "http://www.wikidata.org/entity/Q190235"
    assert (first.kind, first.answers[0].label) == ("yesno", "yes")
    cases, _ = loaders.read(definitions.find("medqa-usmle"), data)
    assert all(case.answers[0].label in case.options for case in cases)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", "line 3: "),
        ('{"id": "x", "question": ', "line 3 (x): "),
        ({"id": "x", "answers": ["b"]}, "missing required field `question`"),
        ({**ROW, "id": "x", "answers": 3}, "line 3 (x): "),
        ({**ROW, "id": "x", "answers": []}, "line 3 (x): there is no gold answer"),
        ({**ROW, "id": "x", "unanswerable": "fact"}, "line 3 (x): an unanswerable question has a gold answer"),
        ({**ROW, "id": "x", "question": " "}, "line 3 (x): the question is empty"),
        ({**ROW, "id": "1"}, "line 3 (1): the id of line 1 again"),
        ({**ROW, "id": "2"}, "line 3 (2): the id of line 2 again"),
        ("[1]", "line 3: "),
        ("\udcff", "line 3: "),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, bad: Any, message: str) -> None:
    """File, line and id, since these files are edited by hand; skipped, it is listed, and the rest is read."""
    rows = [
        json.dumps(ROW | {"id": "1"}),
        json.dumps(ROW),
        bad if isinstance(bad, str) else json.dumps(bad),
        json.dumps(ROW),
    ]
    (tmp_path / "q.jsonl").write_bytes("\n".join(rows).encode(errors="surrogateescape"))
    assert message in refused(PLAIN, tmp_path)
    assert refused(PLAIN, tmp_path).startswith("q.jsonl, line 3")
    questions, (unread,) = loaders.read(PLAIN, tmp_path, skip_bad=True)
    assert [question.id for question in questions] == ["1", "2", "4"]
    assert unread.place == "q.jsonl, line 3"


def test_a_bad_row_is_told_in_one_line() -> None:
    """Also where it has no id."""
    assert str(Bad("q.jsonl, line 2", "S1", "no answer")) == "q.jsonl, line 2 (S1): no answer"
    assert str(Bad("q.jsonl, line 2", "", "no answer")) == "q.jsonl, line 2: no answer"


def test_a_row_without_an_id_is_found_by_the_one_before(tmp_path: Path) -> None:
    """Where it breaks before its id."""
    assert "behind S7" in refused(PLAIN, written(tmp_path, ROW | {"id": "S7"}, "{"))


def test_a_misfit_is_found_on_its_line(tmp_path: Path) -> None:
    """In an array that is laid out over many lines, the line of the key that does not fit."""
    claim = {"id": "S1", "query": "Is it?", "answer": "Is it?", "KG Entities": {"a": "Q1"}}
    for wrong, line in ((claim, 5), (claim | {"answer": True, "KG Entities": {"a": "x"}}, 6)):
        (tmp_path / "q.json").write_text(json.dumps([wrong], indent=1))
        definition = msgspec.structs.replace(PLAIN, questions="q.json", loader="crlt")
        assert refused(definition, tmp_path).startswith(f"q.json, line {line} (S1)")


def test_official_qald_files_are_read(tmp_path: Path) -> None:
    """Their array lies in an object."""
    question = {
        "id": 1,
        "question": [{"language": "en", "string": "Who?"}],
        "answers": [{"boolean": True}],
    }
    (tmp_path / "q.json").write_text(
        json.dumps({"dataset": {"id": "qald"}, "questions": [question, question | {"id": 2}]})
    )
    questions, _ = loaders.read(msgspec.structs.replace(PLAIN, questions="q.json", loader="qald"), tmp_path)
    assert [question.id for question in questions] == ["1", "2"]


def test_a_file_that_is_cut_is_said(tmp_path: Path) -> None:
    """Also where bad rows are skipped: it is listed, and what was readable is there."""
    written(
        tmp_path, *(ROW | {"id": str(number), "note": str(number) * 99} for number in range(500)), name="q.jsonl.gz"
    )
    file = tmp_path / "q.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-500])
    definition = msgspec.structs.replace(PLAIN, questions="q.jsonl.gz")
    assert "cannot be read any further" in refused(definition, tmp_path)
    questions, (unread,) = loaders.read(definition, tmp_path, skip_bad=True)
    assert questions
    assert "behind" in unread.reason


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{\n{\n"])
def test_a_file_without_questions_is_no_benchmark(tmp_path: Path, content: bytes) -> None:
    """Also where bad rows are skipped: nothing would be left to ask."""
    (tmp_path / "q.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match="there is no question"):
        loaders.read(PLAIN, tmp_path, skip_bad=True)


def test_numbers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of questions, and of rows that are none: then it is the wrong file."""
    written(tmp_path, *[ROW] * 6, *["{"] * 6)
    monkeypatch.setattr(loaders, "MOST_BAD", 5)
    with pytest.raises(DatasetError, match="more than 5 rows are no questions"):
        loaders.read(PLAIN, tmp_path, skip_bad=True)
    monkeypatch.setattr(loaders, "MOST_QUESTIONS", 5)
    assert "more than 5 questions" in refused(PLAIN, tmp_path)


@pytest.mark.parametrize(("values", "ids"), [((), ["1", "3"]), (("exact",), ["3"])])
def test_only_what_a_graph_answers_is_asked(tmp_path: Path, values: tuple[str, ...], ids: list[str]) -> None:
    """A bad row among the others does not matter."""
    written(tmp_path, *(ROW | {"id": str(number)} for number in range(4)), ROW | {"id": "x", "answers": []})
    (tmp_path / "known.json").write_text(json.dumps({"sparql": {"mine": {"1": "result", "3": "exact"}}}))
    definition = msgspec.structs.replace(PLAIN, only=Only("known.json", ("sparql", "mine"), values))
    questions, bad = loaders.read(definition, tmp_path)
    assert ([question.id for question in questions], bad) == (ids, [])


def test_each_question_says_whether_the_graph_has_its_conditions(tmp_path: Path) -> None:
    """By the ids that the definition names; without any it is not known."""
    written(tmp_path, *(ROW | {"id": str(number)} for number in range(3)))
    (tmp_path / "known.json").write_text(json.dumps({"sparql": {"1": "result", "2": "exact"}}))
    definition = msgspec.structs.replace(PLAIN, conditions=Only("known.json", ("sparql",), ("exact",)))
    assert [question.supported for question in loaders.read(definition, tmp_path)[0]] == [False, False, True]
    assert [question.supported for question in loaders.read(PLAIN, tmp_path)[0]] == [None, None, None]


def test_the_conditions_of_cwq_that_freebase_has(data: Path) -> None:
    """A few of the questions with an answer near the topic, and not all."""
    questions, _ = loaders.read(definitions.find("cwq-fb15k237"), data)
    assert sum(question.supported is True for question in questions) == 37
    assert all(question.supported is not None for question in questions)


@pytest.mark.parametrize("text", ["{", "[]", '{"sparql": 3}', '{"sparql": {"mine": [1]}}', "{}"])
def test_a_list_of_ids_that_is_none(tmp_path: Path, text: str) -> None:
    """Is said, with its file."""
    written(tmp_path, ROW)
    (tmp_path / "known.json").write_text(text)
    definition = msgspec.structs.replace(PLAIN, only=Only("known.json", ("sparql", "mine")))
    assert "known.json: no ids under sparql.mine" in refused(definition, tmp_path)


def test_one_file_alone(tmp_path: Path) -> None:
    """For measurements that need no definition."""
    file = written(tmp_path, *(ROW | {"id": str(number)} for number in range(50))) / "q.jsonl"
    assert [question.id for question in loaders.questions(file)] == [str(number) for number in range(50)]
    assert loaders.questions(file, 5, 1) == loaders.questions(file, 5, 1) != loaders.questions(file, 5, 0)
    with pytest.raises(DatasetError, match="none"):
        loaders.questions(tmp_path / "none.jsonl")
