"""Benchmark definitions and question files."""

import gzip
import json
from pathlib import Path

import pytest

from fedkg import profiles
from fedkg.bench import datasets
from fedkg.bench.datasets import Gold
from fedkg.errors import DatasetError

ROW = {
    "id": "1",
    "question": "who?",
    "topic_entities": [{"iri": "http://x/a", "label": "a"}],
    "answers": [{"label": "b"}],
}


def written(folder: Path, *lines: str, name: str = "q.jsonl") -> Path:
    """A question file."""
    file = folder / name
    text = "\n".join(lines).encode()
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return file


@pytest.mark.parametrize("name", datasets.names())
def test_every_definition_fits(name: str) -> None:
    """Each names a known profile and at least one hop."""
    definition = datasets.find(name)
    assert definition.profile in profiles.names()
    assert definition.depth >= 1


@pytest.mark.parametrize("name", datasets.names())
def test_the_questions_of_every_benchmark_can_be_read(name: str, data: Path) -> None:
    """All rows of the public files are questions with topic and answers."""
    found = datasets.questions(data / datasets.find(name).questions)
    assert len(found) > 900
    assert all(question.topic_entities and question.answers for question in found)


def test_an_unknown_benchmark_is_said_with_the_known_ones() -> None:
    """A typing error costs no search."""
    with pytest.raises(DatasetError, match="metaqa-1hop"):
        datasets.find("metaqa")


@pytest.mark.parametrize("name", ["q.jsonl", "q.jsonl.gz"])
def test_a_sample_is_drawn_by_its_seed(tmp_path: Path, name: str) -> None:
    """The same seed draws the same questions, another seed others; no limit keeps the file's order."""
    file = written(tmp_path, *(json.dumps({**ROW, "id": str(n)}) for n in range(50)), name=name)
    ids = [[question.id for question in datasets.questions(file, 5, seed)] for seed in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]
    assert [question.id for question in datasets.questions(file)] == [str(n) for n in range(50)]


@pytest.mark.parametrize("bad", ["{", '{"id": "2"}', json.dumps({**ROW, "answers": 3})])
def test_a_broken_line_is_named(tmp_path: Path, bad: str) -> None:
    """File and line, since these files are edited by hand."""
    with pytest.raises(DatasetError, match=r"q\.jsonl, line 2"):
        datasets.questions(written(tmp_path, json.dumps(ROW), bad))


def test_a_missing_file_and_a_broken_archive_are_said(tmp_path: Path) -> None:
    """With a hint at --data."""
    with pytest.raises(DatasetError, match="none"):
        datasets.questions(tmp_path / "none.jsonl")
    broken = tmp_path / "q.jsonl.gz"
    broken.write_bytes(gzip.compress(b"x" * 100)[:20])
    with pytest.raises(DatasetError):
        datasets.questions(broken)


def test_gold_is_compared_by_iri_before_label() -> None:
    """Literals have no IRI."""
    assert (Gold("a", "http://x/a").key, Gold("1999").key) == ("http://x/a", "1999")
