"""The client that the SDKs send through: what cannot be reached from here, and replies without an end."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx2", reason="needs fedkg[openai] or fedkg[anthropic]")

from fedkg.errors import ModelNameError, ModelUnreachableError
from fedkg.llm.base import Message, Request
from fedkg.llm.http import LONGEST, PACKED, _certificates

ASK = Request("plan", (Message("user", "Which?"),), {})
PACK = {"content-encoding": "gzip"}


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1", "SOCKS"),
        ("HTTPS_PROXY", "ftp://ada:pa55@127.0.0.1:1", "proxy"),
        ("SSL_CERT_FILE", "/nowhere/at/all.pem", "No such file"),
    ],
)
def test_proxies_and_certificates_that_allow_no_client_are_named(
    vendor: Any, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    """What a machine's variables make impossible is bad input with a hint, and without a proxy's password."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ModelNameError, match=message) as caught:
        vendor.kind("m", "k")
    assert variable in caught.value.hint
    assert "pa55" not in str(caught.value)


def test_certificates_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than all else that a client needs; other variables mean others."""
    usual = _certificates()
    assert _certificates() is usual
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert _certificates() is not usual


def test_a_host_that_is_none_is_bad_input(vendor: Any) -> None:
    """Digits that look like an address and are none are refused before anything is sent."""
    with pytest.raises(ModelNameError, match="Invalid IPv4 address"):
        vendor.kind("m", "k", "http://256.1.1.1/v1")


@pytest.mark.parametrize("status", [200, 500])
async def test_a_reply_without_an_end_is_given_up(vendor: Any, wire: Any, status: int) -> None:
    """Beyond what any reply has it is not read on, whatever its status: memory is not the server's to fill."""
    wire.replies = [wire.said(b" " * (LONGEST + 1), status)]
    model = vendor.make(wire.url)
    with pytest.raises(ModelUnreachableError, match=f"longer than {LONGEST:,} bytes"):
        await model.complete(ASK)
    await model.close()


async def test_a_packed_reply_may_be_shorter_only(vendor: Any, wire: Any) -> None:
    """None is asked for; a small one is taken all the same, and one that could unpack to anything is not."""
    bomb = gzip.compress(b" " * (PACKED * 1_100), 1)
    assert len(bomb) < LONGEST
    good = gzip.compress(json.dumps(vendor.reply("{}")).encode())
    wire.replies = [wire.said(good, headers=PACK), wire.said(bomb, headers=PACK)]
    model = vendor.make(wire.url)
    assert (await model.complete(ASK)).text == "{}"
    assert wire.asked[0].headers["accept-encoding"] == "identity"
    with pytest.raises(ModelUnreachableError, match=f"longer than {PACKED:,} bytes"):
        await model.complete(ASK)
    await model.close()
