"""Embeddings from OpenAI's service, or from any server that speaks its /v1/embeddings."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from fedkg.core import deadline
from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.offline import OfflineEmbedder
from fedkg.errors import (
    MissingExtraError,
    ModelError,
    ModelNameError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)

if TYPE_CHECKING:
    import stamina

__all__ = ["OpenAIEmbedder", "connect", "unasked"]

KEY = "OPENAI_API_KEY"
SERVER_KEY = "FEDKG_MODEL_KEY"
"""The key for a server that is named by its URL: OpenAI's is for OpenAI."""
HINT = f"set {KEY}, or choose another embedder, such as minilm or bm25"
URL = "https://api.openai.com/v1"
BATCH = 256
LONGEST = 32_000_000
"""Bytes of a reply: a batch of vectors of 4,096 dimensions, and room."""
LONGEST_VECTOR = 1_000_000
"""Bytes of one vector: it is made of objects that take many times as much while it is read."""
LONGEST_WAIT = 60.0
LEAST_SECONDS = 0.01
ATTEMPTS = 4


class _Embedding(msgspec.Struct):
    index: int
    embedding: msgspec.Raw


class _Reply(msgspec.Struct):
    data: list[_Embedding]


class OpenAIEmbedder:
    """An Embedder over one embedding model of OpenAI, or of a server of that kind at `base_url`.

    `key` is required by OpenAI itself only. `timeout` is in seconds for one batch of 256 texts; a batch is tried 4
    times where the service is overloaded or unreachable, with the wait that it asks for (up to a minute), and never
    after the deadline of the caller: a thread cannot be cancelled.
    """

    def __init__(
        self, model: str = "text-embedding-3-small", key: str = "", base_url: str = "", timeout: float = 60.0
    ) -> None:
        key = key.strip()
        if not key and base_url.rstrip("/") in ("", URL):
            raise ModelNameError(f"embedder openai:{model} needs a key: {KEY} is not set", asked=model, hint=HINT)
        if not (key.isascii() and key.isprintable()):
            raise ModelNameError(f"{KEY} holds characters that no key has", asked=model, hint=HINT)
        self.name = _name(model, base_url)
        self._model = model
        self._timeout = timeout
        self._key = key or "none"
        sdk, http = _openai(), _sdk_http()
        self._client = sdk.OpenAI(
            api_key=self._key,
            base_url=base_url or URL,
            max_retries=0,
            http_client=http.sync_client(sdk, self.name, base_url, LONGEST),
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; a text that occurs twice is sent once.

        Raises ModelUnreachableError, ModelRefusedError, ModelReplyError, or ModelNameError for an unknown model.
        """
        sent = [text or " " for text in texts]  # the service refuses empty texts
        places = {text: place for place, text in enumerate(dict.fromkeys(sent))}
        if not places:
            return np.zeros((0, 0), dtype=np.float32)
        unique = list(places)
        parts = [self._batch(unique[start : start + BATCH]) for start in range(0, len(unique), BATCH)]
        if len({part.shape[1] for part in parts}) > 1:
            raise self._unfit("vectors of different lengths")
        return unit_rows(np.concatenate(parts))[[places[text] for text in sent]]

    def close(self) -> None:
        """Frees connections."""
        self._client.close()

    def _batch(self, texts: Sequence[str]) -> Matrix:
        with self._mapped():
            raw = _patient()(_worth_waiting, self._create, list(texts))
            matrix = self._rows(msgspec.json.decode(raw.http_response.content, type=_Reply), len(texts))
        if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
            raise self._unfit("no finite vectors")
        return matrix

    def _create(self, texts: list[str]) -> Any:
        seconds = max(LEAST_SECONDS, min(self._timeout, deadline.left()))
        create = self._client.embeddings.with_raw_response.create
        with deadline.within(seconds):  # the client's own timeout starts anew with each byte
            return create(model=self._model, input=texts, encoding_format="float", timeout=seconds)

    def _rows(self, reply: "_Reply", count: int) -> Matrix:
        """The vectors in the order of the texts; the reply tells by `index` which is which."""
        rows = {item.index: item.embedding for item in reply.data}
        if sorted(rows) != list(range(count)) or len(reply.data) != count:
            raise self._unfit(f"{len(reply.data)} vectors for {count} texts")
        with np.errstate(over="ignore"):
            return np.array([_vector(rows[place]) for place in range(count)], dtype=np.float32)

    def _unfit(self, content: str) -> ModelReplyError:
        return ModelReplyError(f"{self.name} sent {content}", asked=self.name, hint="does the server embed texts?")

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[None]:
        openai = _openai()
        try:
            yield
        except openai.APIStatusError as error:
            raise self._status(error.status_code, str(error)) from None  # the cause may repeat the key
        except openai.APIConnectionError as error:
            if fatal := _sdk_http().fatal(error):
                raise fatal.kind(f"{self.name}: {fatal}", asked=self.name, hint=fatal.hint) from error
            raise ModelUnreachableError(f"{self.name} cannot be reached", asked=self.name) from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise self._unfit("a reply that is no list of embeddings") from error

    def _status(self, status: int, reason: str) -> ModelError | ModelNameError:
        message = f"{self.name} answered {status}: {reason.replace(self._key, '…')[:300]}"
        if status == 404:
            return ModelNameError(message, asked=self.name)
        kind = ModelUnreachableError if status in (408, 409) or status >= 500 else ModelRefusedError
        return kind(message, asked=self.name)


def unasked(model: str, base_url: str = "", environ: Mapping[str, str] = os.environ) -> OfflineEmbedder:
    """What stands for the embedder that `connect` makes where nothing may be sent; it needs no key."""
    return OfflineEmbedder(_name(model, base_url or environ.get("OPENAI_BASE_URL", "")))


def connect(model: str, base_url: str = "", environ: Mapping[str, str] = os.environ) -> OpenAIEmbedder:
    """The embedder of that model, of OpenAI's or of the server at `base_url`.

    With `base_url` the key is FEDKG_MODEL_KEY, if any; without, OPENAI_API_KEY and OPENAI_BASE_URL tell key and URL.
    Raises ModelNameError where the key is not set, MissingExtraError where the package is not installed.
    """
    if base_url:
        return OpenAIEmbedder(model, environ.get(SERVER_KEY, ""), base_url)
    return OpenAIEmbedder(model, environ.get(KEY, ""), environ.get("OPENAI_BASE_URL", ""))


def _name(model: str, base_url: str) -> str:
    """The server is part of the name, since stored vectors are kept by it; credentials in a URL are not."""
    where = re.sub(r"(?<=//)[^/@]*@", "", base_url.rstrip("/"))
    return f"openai:{model}" + (f"@{where}" if where not in ("", URL) else "")


def _vector(raw: msgspec.Raw) -> Matrix:
    """One vector; together they would be objects of some 30 bytes a number. Raises ValueError."""
    if len(bytes(raw)) > LONGEST_VECTOR:
        raise ValueError("a vector of very many numbers")
    return np.array(msgspec.json.decode(raw, type=list[float]), dtype=np.float32)


def _patient() -> "stamina.RetryingCaller":
    import stamina  # noqa: PLC0415  # other embedders do without

    return stamina.RetryingCaller(attempts=ATTEMPTS, timeout=3 * LONGEST_WAIT)


def _worth_waiting(error: Exception) -> bool | float:
    """Whether the same request may work soon; the seconds to wait where the service said so."""
    openai = _openai()
    if isinstance(error, openai.APIConnectionError):
        return _sdk_http().fatal(error) is None and deadline.left() > 0
    if not isinstance(error, openai.APIStatusError) or error.code == "insufficient_quota":
        return False
    if error.status_code not in (408, 409, 429) and error.status_code < 500:
        return False
    asked = error.response.headers.get("retry-after", "")
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", asked):
        return True
    return float(asked) if float(asked) <= min(LONGEST_WAIT, deadline.left()) else False


def _sdk_http() -> ModuleType:
    from fedkg.transport import sdk_http  # noqa: PLC0415  # imports what comes with the SDK

    return sdk_http


def _openai() -> Any:
    try:
        import openai  # noqa: PLC0415  # optional, and slow to import
    except ImportError as error:
        install = "pip install 'fedkg[openai]'"
        raise MissingExtraError(
            f"this embedder needs fedkg[openai]: {install}", asked="openai", hint=install
        ) from error
    return openai
