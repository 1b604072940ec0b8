"""`fedkg eval list`."""

import json
from pathlib import Path

from click.testing import CliRunner

from fedkg.bench.data import definitions
from fedkg.cli.eval.list import list_benchmarks


def listed(*words: str) -> str:
    """What is printed."""
    result = CliRunner().invoke(list_benchmarks, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_benchmark_is_listed_with_its_licence_and_files(tmp_path: Path) -> None:
    """What is in --data is there, and what has a checksum can be fetched."""
    known = definitions.find("metaqa-1hop")
    (tmp_path / known.questions).write_bytes(b"")
    text = listed("--data", str(tmp_path))
    assert all(name in text for name in definitions.names())
    assert f"{known.questions}: there" in text
    assert f"{known.graph}: not there" in text
    assert f"licence: {known.source.licence}" in text
    assert "dev_rand_split.jsonl: is fetched" in text


def test_as_json() -> None:
    """The whole definitions; without --data nothing is there."""
    rows = {row["name"]: row for row in json.loads(listed("--json"))}
    assert set(rows) == set(definitions.names())
    assert rows["crlt-qa"]["files"] == {"crlt-qa.json": "is fetched", "crlt-wikidata.nt.gz": "not there"}
    assert rows["webqsp"]["source"]["cite"].startswith("Yih")
    assert "no graph of its own" in listed()
