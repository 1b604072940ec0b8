"""A real HTTP server on loopback that says what a test tells it, and the two vendors that are tried against it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import stamina
from aiohttp import web

from fedkg.llm import anthropic, capability, openai
from fedkg.llm.base import ChatModel
from fedkg.llm.sdk import WireModel

KEY = "sk-test-0123456789abcdef"


@dataclass
class Said:
    """A reply that the server is to give; `body` is JSON unless it is bytes; `held` keeps it back until the end."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    held: bool = False


@dataclass
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Wire:
    """The server: gives the replies in their order, the last one again and again, and keeps the requests.

    `came` has the path of each request as it comes; `most` is how many were under way at once; `peers` are the
    addresses that they came from, one for each connection.
    """

    def __init__(self) -> None:
        self.replies: list[Said] = []
        self.asked: list[Asked] = []
        self.url = ""
        self.said = Said
        self.came: asyncio.Queue[str] = asyncio.Queue()
        self.most = 0
        self.peers: set[tuple[str, int]] = set()
        self._under_way = 0
        self._end = asyncio.Event()

    async def handle(self, request: web.Request) -> web.Response:
        """The next reply."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.path, headers, json.loads(await request.read())))
        self.came.put_nowait(request.path)
        self.peers.add(request.get_extra_info("peername"))
        answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        if answer.held:
            await self._end.wait()
        self._under_way -= 1
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        return web.Response(
            status=answer.status, body=body, headers={"content-type": "application/json", **answer.headers}
        )

    async def start(self) -> web.AppRunner:
        """Serves on a free port."""
        app = web.Application()
        app.router.add_post("/{path:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def release(self) -> None:
        """Lets held replies go."""
        self._end.set()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A running server."""
    server = Wire()
    runner = await server.start()
    yield server
    server.release()
    await runner.cleanup()


@pytest.fixture(autouse=True)
def no_waits() -> Iterator[None]:
    """Retries happen, their waits do not."""
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's environment reaches the SDKs."""
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "FEDKG_MODEL_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def anthropic_reply(text: str, stop: str = "end_turn") -> dict[str, Any]:
    """A reply on Anthropic's wire."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": None,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def openai_reply(text: str | None, stop: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    """A reply on OpenAI's wire."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 90},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    choice = {"index": 0, "finish_reason": stop, "message": message}
    return {"id": "c_1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@dataclass
class Vendor:
    """What the two wires have in common: how to make a model at a URL, a good reply, and others."""

    name: str
    kind: type[WireModel]
    path: str
    reply: Callable[[str], dict[str, Any]]
    cut: dict[str, Any]
    declined: dict[str, Any]
    variable: str
    module: Any

    def make(self, url: str, **more: Any) -> ChatModel:
        """A model `m` that can what its vendor's models can, with the key, at that server."""
        more.setdefault("capability", capability.find(f"{self.name}:m"))
        return self.kind("m", KEY, f"{url}{self.path}", **more)


VENDORS = (
    Vendor(
        "anthropic",
        anthropic.AnthropicModel,
        "",
        anthropic_reply,
        anthropic_reply('{"n"', "max_tokens"),
        anthropic_reply("", "refusal"),
        "ANTHROPIC_API_KEY",
        anthropic,
    ),
    Vendor(
        "openai",
        openai.OpenAIModel,
        "/v1",
        openai_reply,
        openai_reply('{"n"', "length"),
        openai_reply(None, refusal="I cannot help with that."),
        "OPENAI_API_KEY",
        openai,
    ),
)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.name)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    """Each vendor in turn."""
    chosen: Vendor = request.param
    pytest.importorskip(chosen.name, reason=f"needs fedkg[{chosen.name}]")
    return chosen


@pytest.fixture
def key() -> str:
    """The key that the models are made with."""
    return KEY


@pytest.fixture
def vendors() -> dict[str, Vendor]:
    """Both vendors by name."""
    for vendor in VENDORS:
        pytest.importorskip(vendor.name, reason=f"needs fedkg[{vendor.name}]")
    return {vendor.name: vendor for vendor in VENDORS}
