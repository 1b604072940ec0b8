import inspect
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fedkg.core import deadline
from fedkg.embed.openai import OpenAIEmbedder, connect
from fedkg.errors import (
    FedkgError,
    MissingExtraError,
    ModelNameError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.testing import HashingEmbedder
from tests.support.extras import needs
from tests.support.raw_server import raw_server

KEY = "sk-very-secret"
pytestmark = needs("openai", "openai")


def status(code: int, headers: dict[str, str] | None = None, error: dict[str, Any] | None = None) -> Any:
    """An answer with that status and an error that repeats the key."""
    body = json.dumps({"error": error or {"message": f"no, {KEY}", "code": None}}).encode()
    return lambda _: (code, headers or {}, body)


def body(value: object) -> Any:
    """An answer with status 200 and that body."""
    return lambda _: (200, {}, value if isinstance(value, bytes) else json.dumps(value).encode())


def embedder(server: Any) -> OpenAIEmbedder:
    """The embedder that talks to the server."""
    return OpenAIEmbedder("small", KEY, server.url)


def test_vectors_come_in_the_order_of_the_texts(server: Any) -> None:
    """Rows are unit vectors, put in order by the reply's index; model and key go out as OpenAI wants them."""
    texts = ["place of birth", "capital", "Zürich 東京"]
    made = embedder(server)
    assert np.allclose(made.embed(texts), HashingEmbedder(16).embed(texts), atol=1e-6)
    assert made.embed(texts).dtype == np.float32
    headers, asked = server.requests[0]
    assert (asked["model"], headers["authorization"]) == ("small", f"Bearer {KEY}")


def test_repeated_and_empty_texts(server: Any) -> None:
    """A repeated text is sent once, an empty one as a blank (the service refuses empty ones), none as no request."""
    matrix = embedder(server).embed(["a", "", "a"])
    assert server.inputs == [["a", " "]]
    assert matrix.shape == (3, 16)
    assert np.array_equal(matrix[0], matrix[2])
    assert embedder(server).embed([]).shape[0] == 0
    assert len(server.requests) == 1


def test_batches_of_256(server: Any) -> None:
    """Many texts go out in batches and come back as one matrix."""
    texts = [f"label {number}" for number in range(600)]
    matrix = embedder(server).embed(texts)
    assert [len(sent) for sent in server.inputs] == [256, 256, 88]
    assert np.allclose(matrix, HashingEmbedder(16).embed(texts), atol=1e-6)


@pytest.mark.parametrize("trouble", [status(429, {"retry-after": "0"}), status(503), status(500), status(408)])
def test_passing_trouble_is_waited_out(server: Any, quick_retries: None, trouble: Any) -> None:
    """Throttling and overload are tried again, and the answer is whole."""
    server.answers = [trouble, trouble, server.answers[0]]
    assert embedder(server).embed(["a"]).shape == (1, 16)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("trouble", "error", "requests"),
    [
        (status(401), ModelRefusedError, 1),
        (status(403), ModelRefusedError, 1),
        (status(400), ModelRefusedError, 1),
        (status(404), ModelNameError, 1),
        (status(429), ModelRefusedError, 4),
        (status(429, error={"message": "pay", "code": "insufficient_quota"}), ModelRefusedError, 1),
        (status(429, {"retry-after": "3600"}), ModelRefusedError, 1),
        (status(503), ModelUnreachableError, 4),
    ],
)
def test_status_errors(server: Any, quick_retries: None, trouble: Any, error: type[FedkgError], requests: int) -> None:
    """Each status is one typed error, retried only where that may help, and never repeats the key."""
    server.answers = [trouble]
    with pytest.raises(error) as caught:
        embedder(server).embed(["a"])
    assert len(server.requests) == requests
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    assert caught.value.__suppress_context__


def test_a_slow_reply_ends_with_the_callers_time(quick_retries: None) -> None:
    """One that goes on for ever keeps no thread: the program would wait for it at its end."""

    def slowly() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while True:
            time.sleep(0.02)
            yield b" "

    with raw_server(lambda _: slowly()) as server, deadline.within(0.3), pytest.raises(ModelUnreachableError):
        OpenAIEmbedder("small", KEY, f"{server.origin}/v1").embed(["a"])


def row(values: object, index: object = 0) -> dict[str, Any]:
    """A reply with one embedding."""
    return {"data": [{"index": index, "embedding": values}]}


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>hello</html>",
        b"",
        b"null",
        [],
        {},
        {"data": None},
        {"data": []},
        {"data": [1]},
        {"data": [{"embedding": [1.0]}]},
        row([1.0], index=1),
        row([1.0], index="zero"),
        row([]),
        row(None),
        row("text"),
        row([[1.0]]),
        row(["a"]),
        row([1e300]),
        {"data": [{"index": 0, "embedding": [1.0]}] * 2},
    ],
)
def test_replies_that_are_no_embeddings(server: Any, reply: object) -> None:
    """Whatever else a server sends is a typed error, not a crash and not a wrong vector."""
    server.answers = [body(reply)]
    with pytest.raises(ModelReplyError, match="openai:small"):
        embedder(server).embed(["a"])


def test_a_reply_with_an_html_content_type(server: Any) -> None:
    """A web page with status 200 is no reply."""
    server.answers = [lambda _: (200, {"content-type": "text/html"}, b"<html>")]
    with pytest.raises(ModelReplyError):
        embedder(server).embed(["a"])


def test_batches_must_agree_in_size(server: Any) -> None:
    """A server that changes its vector length between batches is refused."""
    server.answers = [server.answers[0], body(row([1.0]))]
    with pytest.raises(ModelReplyError, match="different lengths"):
        embedder(server).embed([f"label {number}" for number in range(257)])


def test_nobody_there(server: Any, quick_retries: None) -> None:
    """A refused connection is a retryable error."""
    made = embedder(server)
    server.server.server_close()
    with pytest.raises(ModelUnreachableError) as caught:
        made.embed(["a"])
    assert caught.value.retryable


def test_a_missing_key_names_its_variable() -> None:
    """OpenAI itself needs a key; the error says which variable to set."""
    with pytest.raises(ModelNameError, match="OPENAI_API_KEY"):
        OpenAIEmbedder()


@pytest.mark.parametrize("key", ["sk-ä", "sk-\n-x"])
def test_a_key_that_is_none(key: str) -> None:
    """A key that no header can carry is told as such, and not shown."""
    with pytest.raises(ModelNameError, match="OPENAI_API_KEY") as caught:
        OpenAIEmbedder("m", key)
    assert key not in str(caught.value)


def test_connect_reads_the_environment(server: Any) -> None:
    """Key and server come from their variables; a URL that is given wins; without a key the variable is named."""
    environ = {"OPENAI_API_KEY": f" {KEY}\n", "OPENAI_BASE_URL": server.url}
    connect("small", environ=environ).embed(["a"])
    assert server.requests[0][0]["authorization"] == f"Bearer {KEY}"
    assert connect("m", "http://127.0.0.1:1/v1", environ).name == "openai:m@http://127.0.0.1:1/v1"
    with pytest.raises(ModelNameError, match="OPENAI_API_KEY"):
        connect("m", environ={})


def test_a_server_of_ones_own_needs_no_key(server: Any) -> None:
    """With a base URL an empty key is fine, and the environment's key is not handed to that server."""
    made = OpenAIEmbedder("small", base_url=server.url)
    made.embed(["a"])
    assert server.requests[0][0]["authorization"] == "Bearer none"
    made.close()


def test_names_tell_model_and_server_apart() -> None:
    """Stored vectors are kept by name, so another server is another name; credentials are no part of it."""
    assert OpenAIEmbedder("m", KEY).name == "openai:m"
    assert OpenAIEmbedder("m", KEY, "https://api.openai.com/v1/").name == "openai:m"
    made = OpenAIEmbedder("m", KEY, f"http://user:{KEY}@127.0.0.1:1/v1")
    assert made.name == "openai:m@http://127.0.0.1:1/v1"
    assert KEY not in repr(made)


def test_every_error_of_the_library_is_mapped(server: Any) -> None:
    """No exception class of the openai package passes unmapped."""
    made = embedder(server)
    openai = pytest.importorskip("openai", reason="needs fedkg[openai]")
    kinds = [kind for _, kind in inspect.getmembers(openai, inspect.isclass) if issubclass(kind, openai.OpenAIError)]
    assert len(kinds) > 10
    for kind in kinds:
        raised: Any = kind.__new__(kind)  # without its arguments, which differ
        raised.status_code = 418
        with pytest.raises(FedkgError), made._mapped():
            raise raised


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the openai package the error says what to install."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fedkg\[openai\]'"):
        OpenAIEmbedder("m", KEY)


def test_a_server_by_its_url_has_a_key_of_its_own(server: Any) -> None:
    """OpenAI's key is not sent to a server that a URL names; that may have FEDKG_MODEL_KEY, or none."""
    for environ, sent in (({}, "none"), ({"FEDKG_MODEL_KEY": "sk-own"}, "sk-own")):
        connect("small", server.url, {"OPENAI_API_KEY": KEY} | environ).embed(["a"])
        assert server.requests[-1][0]["authorization"] == f"Bearer {sent}"
