"""What the vendors' wires have in common: keys and URLs, requests with their retries, replies read from their bytes.

The SDKs send and retry nothing by themselves here. Their replies are checked, because they would hand on whatever came
with status 200; what their exceptions become stands in `sdk_errors`.
"""

import asyncio
import contextlib
import importlib
import logging
import os
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

import msgspec

from fedkg.common.one_line import line
from fedkg.common.per_loop import PerLoop
from fedkg.common.retry import LONGEST, retrying
from fedkg.config.settings import masked
from fedkg.core import deadline
from fedkg.errors import (
    MissingExtraError,
    ModelAuthError,
    ModelError,
    ModelNameError,
    ModelRefusedError,
    ModelReplyError,
)
from fedkg.llm import capability, sdk_errors
from fedkg.llm.base import Capability, Completion, Message, Request
from fedkg.llm.json_grammar import bounded

__all__ = ["CUT", "MODEL_KEY", "RUNS_ON", "THOUGHT", "Count", "Vendor", "WireModel", "headed", "shown"]

TIMEOUT = 120.0  # seconds for one try
TRIES = 3
SLOW = "a slow server has less to read with --candidates and less to do at once with --model-concurrency 1"
PATIENCE = 30.0  # seconds; a service that asks for a longer wait is not waited for
CONCURRENCY = 4  # requests to one model at once, where nothing else is set: more may meet the vendor's rate limit
MODEL_KEY = "FEDKG_MODEL_KEY"
"""The variable of the key for a server that is named by @URL: the vendor's own key goes to the vendor alone."""
CUT = "raise `output` in your capabilities.toml, or use a model that writes less"
RUNS_ON = "the model writes on beyond what such a reply can need: a stronger one does not"
THOUGHT = "<think>"
"""How the reply of a model begins that thinks aloud."""
URL = re.compile(r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d{1,5}))?(/[\x21\x22\x24-\x3e\x40-\x7e]*)?")
PORTS = 65_536
NOT_FOUND = 404
UNFIT = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 32)]
"""Tokens on a wire: a service that counts below zero would never reach a budget."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Vendor:
    """A vendor's SDK and what it calls things.

    `name` is that of its package and extra, `home` the URL of its own service, `key` and `url` the variables of its key
    and of another URL; `client` and `resource` lead to the requests. `base` is the SDK's most general exception,
    `classes` what exceptions without an HTTP status become, by class name, since the SDK may not be installed.
    `optional` are arguments that a service may not know, with the words by which its complaint is recognised.
    """

    name: str
    home: str
    key: str
    url: str
    client: str
    resource: str
    base: str
    classes: Mapping[str, type[ModelError]]
    optional: Mapping[str, Sequence[str]]

    @property
    def example(self) -> str:
        """What the base URL of another server looks like on this wire."""
        return f"http://127.0.0.1:8000{urlsplit(self.home).path}"

    def sdk(self) -> ModuleType:
        """The SDK. Raises MissingExtraError, naming the extra."""
        try:
            return importlib.import_module(self.name)
        except ImportError as error:
            raise MissingExtraError(
                f"models named {self.name}:… need a further package", hint=f"pip install 'fedkg[{self.name}]'"
            ) from error

    def called(self, model: str, base_url: str) -> str:
        """The model's name: VENDOR:MODEL, with @URL where it is served elsewhere, without anything secret."""
        where = "" if base_url.rstrip("/") in ("", self.home) else f"@{base_url.rstrip('/')}"
        return masked(f"{self.name}:{model}{where}")

    def checked(self, model: str, key: str, base_url: str) -> str:
        """The key without white space around it. Raises ModelNameError where model, key or URL cannot be used."""
        key = key.strip()
        if not model.strip():
            raise ModelNameError(f"{self.name}: names no model")
        if not (key or base_url):
            raise ModelNameError(f"{self.name}:{model} needs a key: {self.key} is not set", hint=f"export {self.key}=…")
        if not (key.isascii() and key.isprintable()):
            raise ModelNameError(
                f"{self.key} or {MODEL_KEY} holds characters that no key has", hint="copy the key once more, whole"
            )
        match = URL.fullmatch(base_url)
        if base_url and not (match and 0 < int(match["port"] or 80) < PORTS):
            raise ModelNameError(
                "the base URL of a model must be a plain http or https URL, without user, password or query",
                hint=f"write it as in {self.example}, behind the @ of the model's name or in {self.url}",
            )
        return key

    @contextlib.contextmanager
    def mapped(self, asked: str, mask: str, variable: str = "") -> Iterator[None]:
        """Turns the SDK's exceptions into ours, with what the service said, bounded and without the key.

        `variable` is where the key comes from, for the hint.
        """
        try:
            yield
        except (TimeoutError, getattr(self.sdk(), self.base)) as error:
            from fedkg.transport.sdk_http import fatal  # noqa: PLC0415  # imports what comes with the SDK

            unusable = fatal(error)
            message = str(unusable or sdk_errors.service_message(error))
            secret = bool(mask) and mask in f"{error} {message}"
            kind = unusable.kind if unusable else sdk_errors.kind(error, self.classes)
            hint = unusable.hint if unusable else self._hint(kind, error, variable)
            raised = kind(f"{asked}: {shown(message, mask)}", asked=asked, hint=hint)
            raised.wait = sdk_errors.wait(error)
            # an error that quotes the key must not appear in a traceback either
            raise raised from (None if secret else error)

    def _hint(self, kind: type[ModelError], error: Exception, variable: str) -> str:
        """What helps with this model, where more can be said than of the error's class; else ""."""
        if isinstance(error, TimeoutError):
            return SLOW
        if kind is ModelAuthError and variable:
            return f"check the key: it is taken from the variable {variable}"
        if kind is ModelRefusedError and getattr(error, "status_code", 0) == NOT_FOUND:
            return f"check the model's name and the base URL, which looks like {self.example} for {self.name} models"
        return ""


class WireModel(ABC):
    """A ChatModel over a vendor's service, or over another server of its wire at `base_url`, which needs no key.

    `capability` says what is asked for; what the server complains of is left out from then on. `timeout` is in seconds
    for one try. `variable` is where the key comes from, for hints; with FEDKG_MODEL_KEY nothing is sent that the SDK
    takes from the vendor's variables. Each event loop has connections of its own, and at most `concurrency` requests
    under way at once.
    """

    vendor: ClassVar[Vendor]
    reply: ClassVar[type]

    def __init__(
        self,
        model: str,
        key: str = "",
        base_url: str = "",
        timeout: float = TIMEOUT,
        capability: Capability | None = None,
        *,
        variable: str = "",
        concurrency: int = CONCURRENCY,
    ) -> None:
        self._key = self.vendor.checked(model, key, base_url)
        self.name = self.vendor.called(model, base_url)
        self.capability = capability or Capability()
        self.concurrency = concurrency
        self._model, self._elsewhere, self._timeout = model, "@" in self.name, timeout
        self._variable = variable
        self._left_out: set[str] = set()
        self._thinks, self._runs_on = self.capability.thinks, False
        self._slots = PerLoop(lambda: asyncio.Semaphore(concurrency))
        make = partial(_client, self.vendor, self.name, self._key, base_url, timeout, bare=variable == MODEL_KEY)
        self._clients = PerLoop(partial(_kept_open, make, [make()]))

    @classmethod
    def connect(
        cls,
        model: str,
        base_url: str = "",
        environ: Mapping[str, str] = os.environ,
        find: Callable[[str], Capability] = capability.find,
        concurrency: int = CONCURRENCY,
    ) -> Self:
        """The model of that name; `find` says what it can do, `concurrency` how many requests are under way at once.

        With `base_url` the key is FEDKG_MODEL_KEY; without, the vendor's own variables say key and URL. Raises
        ModelNameError where the key is not set, MissingExtraError where the SDK is not installed.
        """
        variable = MODEL_KEY if base_url else cls.vendor.key
        key = environ.get(variable, "")
        url = base_url or environ.get(cls.vendor.url, "")
        cls.vendor.checked(model, key, url)
        can = find(cls.named(model, url))
        return cls(model, key, url, capability=can, variable=variable, concurrency=concurrency)

    @classmethod
    def named(cls, model: str, base_url: str = "", environ: Mapping[str, str] = os.environ) -> str:
        """What the model that `connect` would make is called; nothing is needed for it, neither key nor SDK."""
        return cls.vendor.called(model, base_url or environ.get(cls.vendor.url, ""))

    async def complete(self, request: Request) -> Completion:
        """The reply to the request, held to its schema by the service where the model's record says so.

        Raises ModelError: the class below it says what is the matter, `retries` how often it was tried again.
        """
        asked, again = f"{self.name}: {request.call}", 0
        try:
            async for attempt in retrying(_worth_it, TRIES):
                with attempt:
                    again = attempt.num - 1
                    completion = await self._once(request, asked)
        except ModelError as error:
            error.retries = again
            raise
        return msgspec.structs.replace(completion, retries=again)

    async def close(self) -> None:
        """Frees the connections of the running event loop; those of others go with their loops."""
        if opened := self._clients.pop():
            await opened.aclose()

    @abstractmethod
    def _arguments(self, request: Request) -> dict[str, Any]:
        """What is sent."""

    @abstractmethod
    def _completion(self, reply: Any) -> Completion:
        """What came, with its tokens."""

    @abstractmethod
    def _fault(self, reply: Any, asked: str) -> ModelError | None:
        """Why the reply is of no use; None where it is."""

    def _messages(self, request: Request) -> Sequence[Message]:
        return request.messages if self.capability.system else headed(request.messages)

    def _schema(self, request: Request) -> dict[str, Any]:
        """What the service holds the reply to; of a model that has run on with as many entries as lists can need."""
        return bounded(request.schema, request.lengths) if self._runs_on else request.schema

    def _most(self, request: Request) -> int:
        """Tokens that the reply may have: what its call can need; all of `output` of a model that thinks first."""
        whole = self.capability.output
        return whole if self._thinks or not request.most else min(request.most, whole)

    def _thought(self, reply: Any, completion: Completion) -> bool:  # wires have signs of their own
        """Whether the model thought before it replied."""
        return completion.reasoning > 0 or completion.text.lstrip().startswith(THOUGHT)

    async def _once(self, request: Request, asked: str) -> Completion:
        most = self._most(request)
        async with self._slots.here():
            with self.vendor.mapped(asked, self._key, self._variable):
                body = await self._send(request)
        reply = self._decoded(body, asked)
        completion = self._completion(reply)
        self._thinks = self._thinks or self._thought(reply, completion)
        if fault := self._fault(reply, asked):
            paid = completion.counted(request)
            fault.tokens_in, fault.tokens_out = paid.tokens_in, paid.tokens_out
            if fault.hint == CUT and most < self.capability.output:
                return await self._again(request, fault, asked)
            raise fault
        return completion

    async def _again(self, request: Request, cut: ModelError, asked: str) -> Completion:
        """The reply of a model whose thoughts took the tokens of its reply, with what both cost.

        One that does not think ran on, and on a server of one's own lists of its replies are bounded from then on.
        Raises the fault `cut` of one that runs on all the same.
        """
        holds = self._elsewhere and self.capability.structured == "native" and request.lengths
        if not self._thinks and (self._runs_on or not holds):
            cut.hint = RUNS_ON
            raise cut
        self._runs_on = self._runs_on or not self._thinks
        how = "runs on: asked again with its lists bounded" if self._runs_on else "thinks: asked again with all output"
        log.debug("%s %s", self.name, how)
        try:
            whole = await self._once(request, asked)
        except ModelError as error:
            error.tokens_in, error.tokens_out = error.tokens_in + cut.tokens_in, error.tokens_out + cut.tokens_out
            raise
        tokens = {"tokens_in": whole.tokens_in + cut.tokens_in, "tokens_out": whole.tokens_out + cut.tokens_out}
        return msgspec.structs.replace(whole, **tokens)

    async def _send(self, request: Request) -> bytes:
        """The body of a reply with a good status; what the service does not know is left out of a further request."""
        sent = {part: value for part, value in self._arguments(request).items() if part not in self._left_out}
        sdk, client = self.vendor.sdk(), await anext(self._clients.here())
        try:
            async with asyncio.timeout(self._timeout):
                raw = await attrgetter(self.vendor.resource)(client).with_raw_response.create(**sent)
                return bytes(raw.http_response.content)
        except TimeoutError:
            raise TimeoutError(f"no reply within {self._timeout:g} seconds") from None
        except (sdk.BadRequestError, sdk.UnprocessableEntityError) as error:
            unknown = self._unknown(sent, sdk_errors.service_message(error))
            if not unknown or sdk_errors.kind(error, self.vendor.classes) is not ModelRefusedError:
                raise
            log.debug("%s does not know %s: asked again without", self.name, ", ".join(sorted(unknown)))
            self._left_out |= unknown
        return await self._send(request)

    def _unknown(self, sent: Mapping[str, Any], complaint: str) -> set[str]:
        """Which optional arguments the service complains of."""
        optional = self.vendor.optional
        return {part for part in sent if any(word in complaint for word in optional.get(part, ()))}

    def _decoded(self, body: bytes, asked: str) -> Any:
        try:
            return msgspec.json.decode(body, type=self.reply)
        except UNFIT as error:
            # some servers send their errors with status 200
            raised = sdk_errors.worded(body[:1_000].decode(errors="replace")) or ModelReplyError
            raise raised(f"{asked}: the reply is none of this wire: {error}", asked=asked) from error


def _client(vendor: Vendor, name: str, key: str, base_url: str, timeout: float, *, bare: bool) -> Any:
    """A client of the vendor's SDK for the model of that name; a `bare` one sends nothing of the vendor's variables.

    Raises MissingExtraError, and ModelNameError where URL, proxies or certificates allow none.
    """
    sdk = vendor.sdk()
    from fedkg.transport.sdk_http import client  # noqa: PLC0415  # imports what comes with the SDK

    made = getattr(sdk, vendor.client)(
        api_key=key or "none",  # the SDKs insist on a key, or look for one themselves
        base_url=base_url or vendor.home,
        timeout=timeout,
        max_retries=0,
        http_client=client(sdk, name, base_url),
    )
    if bare:
        # headers, organisation and project that the SDKs take from the vendor's variables go to the vendor alone
        vars(made).update(_custom_headers={}, organization=None, project=None)
    return made


async def _kept_open(make: Callable[[], Any], unused: list[Any]) -> AsyncGenerator[Any]:
    """The same client as often as it is asked for, until the generator is closed; an `unused` one before a new one."""
    # a suspended async generator is closed by its event loop when that shuts down
    async with unused.pop() if unused else make() as client:
        while True:
            yield client


def shown(message: str, key: str) -> str:
    """What a service said, in one bounded line, and without the key."""
    return line(message.replace(key, "…") if key else message, 300)


def headed(messages: Sequence[Message]) -> list[Message]:
    """The messages for a model without a system role.

    What the system says stands at the head of the first user turn.
    """
    system = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    first = next((place for place, turn in enumerate(turns) if turn.role == "user"), None)
    if not system or first is None:
        return turns
    turns[first] = Message("user", "\n\n".join([*system, turns[first].content]))
    return turns


def _worth_it(error: Exception) -> bool | float:
    """Whether to try again, or after how many seconds: no wait is begun that the question's time does not cover."""
    if not isinstance(error, ModelError) or not error.retryable:
        return False
    wait = error.wait or LONGEST
    if wait > PATIENCE or wait >= deadline.left():
        return False
    log.debug("it is asked again: %s", error)
    return error.wait or True
