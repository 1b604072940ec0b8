"""Tests of the bodies of POST forms."""

from urllib.parse import urlencode

import pytest

from fedkg.transport.forms import encoded

TEXTS = ("", "".join(map(chr, range(128))), "SELECT ?s { ?s ?p 'é' }", "%25 %", "a+b  c", "日本 语", "a&b=c;d")


@pytest.mark.parametrize("text", TEXTS)
def test_bytes(text: str) -> None:
    """A form is what the standard library makes of the same fields, byte by byte."""
    fields = {"query": text, text: "x"}
    assert encoded(fields) == urlencode(fields).encode()
