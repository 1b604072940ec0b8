"""Secrets of the environment, of URLs and of the contact are masked wherever they stand."""

import pytest

from fedkg.config.settings import Settings
from fedkg.engine.redaction import MASK, Redaction

KEY = "sk-proj-abcdefghijklmnop0123"


@pytest.mark.parametrize(
    ("environ", "settings", "secret"),
    [
        ({"OPENAI_API_KEY": "a-key-of-mine"}, Settings(), "a-key-of-mine"),
        ({"FEDKG_MODEL_KEY": "a-key-of-mine"}, Settings(), "a-key-of-mine"),
        ({"ANTHROPIC_AUTH_TOKEN": "a.token+mine"}, Settings(), "a.token+mine"),
        ({"AWS_SECRET_ACCESS_KEY": "aws/secret"}, Settings(), "aws/secret"),
        ({"DB_PASSWORD": "hunter2"}, Settings(), "hunter2"),
        ({"HTTPS_PROXY": "http://me:hunter2@proxy:80"}, Settings(), "hunter2"),
        ({}, Settings(contact="me@example.org"), "me@example.org"),
        ({}, Settings(endpoints=("https://me:hunter2@example.org/sparql",)), "hunter2"),
        ({}, Settings(endpoints=("p@https://example.org/sparql?apikey=hunter2",)), "hunter2"),
        ({}, Settings(model="openai:m@https://me:hunter%232@example.org/v1"), "hunter#2"),
        ({}, Settings(cache_url="redis://:hunter2@example.org/0"), "hunter2"),
        ({}, Settings(), KEY),
        ({}, Settings(), "hf_abcdefghijklmnopqrstuv"),
    ],
)
def test_a_secret_is_masked(environ: dict[str, str], settings: Settings, secret: str) -> None:
    """In texts, in lists and dicts, and as a key of a dict."""
    record = {"text": f"before {secret} after", "parts": [secret, {secret: 1}]}
    masked = {"text": f"before {MASK} after", "parts": [MASK, {MASK: 1}]}
    assert Redaction(settings, environ).applied(record) == masked


def test_what_is_no_secret_stays() -> None:
    """Ordinary variables, short values, the graph's own IRI in a query, numbers and nothing."""
    environ = {"HOME": "/home/someone", "A_KEY": "short", "KEYBOARD": "german-qwertz", "EMPTY_KEY": ""}
    settings = Settings(endpoints=("https://example.org/sparql?default-graph-uri=http://example.org/g",))
    record = ["/home/someone", "short", "german-qwertz", "http://example.org/g", 1.5, None, True, ""]
    assert Redaction(settings, environ).applied(record) == record


def test_the_longer_secret_is_masked_first() -> None:
    """Nothing is left of a secret that begins with another one."""
    environ = {"A_KEY": "abcdef", "B_KEY": "abcdefghi"}
    assert Redaction(Settings(), environ).applied("abcdefghi abcdef") == f"{MASK} {MASK}"
