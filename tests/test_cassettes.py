"""The recorded exchanges as files: where they come from, and what they must not hold.

What plays them is beside what it tests.
"""

from pathlib import Path

import pytest
from vcr.serializers import yamlserializer

FOLDER = Path(__file__).parent / "cassettes"
PLAYED = {"anthropic", "openai", "sparql"}
"""The cassettes that tests play to their end, each with its own assertion: test_cassettes.py in tests/llm and
tests/transport."""
SECRETS = ("sk-", "authorization", "x-api-key", "bearer", "cookie", "user-agent", "/home/", "/root/", "/tmp/")


def test_each_cassette_is_played() -> None:
    """A file that no test plays is dead weight."""
    assert {path.stem for path in FOLDER.iterdir()} == PLAYED


@pytest.mark.parametrize("name", sorted(PLAYED))
def test_a_cassette_says_where_it_comes_from(name: str) -> None:
    """Its first line names a server on loopback, and each of its requests went there."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Recorded from a server on loopback")
    exchanges = yamlserializer.deserialize(text)["interactions"]
    assert exchanges
    for exchange in exchanges:
        assert exchange["request"]["uri"].startswith("http://127.0.0.1/")
        assert exchange["request"]["method"] == "POST"
        assert exchange["request"]["body"]
        assert 200 <= exchange["response"]["status"]["code"] < 300


@pytest.mark.parametrize("name", sorted(PLAYED))
def test_a_cassette_holds_no_secret(name: str) -> None:
    """Neither keys and the headers that carry them, nor anything of the machine that recorded it."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").lower()
    assert [secret for secret in SECRETS if secret in text] == []
