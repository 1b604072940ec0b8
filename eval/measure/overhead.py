"""What one model call costs beyond the vendor's time: 1,000 choices among 30 offers each, in milliseconds.

First the project's own part, with a model that answers at once: the prompt is rendered and estimated, the reply read
and checked, the ledger kept, and, where replies are kept, the store asked and filled. Then the SDKs against a server on
loopback, which answers at once: what a call takes more than a bare HTTP POST of the same size does.
"""

import asyncio
import contextlib
import json
import multiprocessing
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from eval.support.report import Report, options, quantiles
from fedkg.cache.disk import DiskStore
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.llm.anthropic import AnthropicModel
from fedkg.llm.base import Capability, ChatModel
from fedkg.llm.cached import CachedModel
from fedkg.llm.ledger import Ledger
from fedkg.llm.openai import OpenAIModel
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.testing import ScriptedModel

CALLS, OFFERS, WARM_UP = 1_000, 30, 20
TARGET = 5.0
PICKS = json.dumps({"picks": [{"offer": number, "ends": []} for number in (1, 7, 30)], "decides": False, "more": False})
TEXT = "Ludwig van Beethoven → notable work → Symphony No. {} → dedicated to → Archduke Rudolf of Austria"
ASKED = [PromptCandidate(number, TEXT.format(number)) for number in range(1, OFFERS + 1)]
PLAN = Plan(("work",), ("Beethoven → notable work → work",), "*placeholder* is a work of Beethoven.")
REPLIES = {
    "/v1/chat/completions": {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": PICKS}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 40},
    },
    "/v1/messages": {
        "content": [{"type": "text", "text": PICKS}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1_000, "output_tokens": 40},
    },
}


def main() -> None:
    """Measures both parts."""
    chosen = options(__doc__ or "").parse_args()
    report = Report("overhead", write=chosen.write)
    report.add("target, ms", str(TARGET))
    report.add("own part, ms", asyncio.run(own_part()))
    with serving() as port:
        report.add("with the SDK, ms", asyncio.run(with_sdks(f"http://127.0.0.1:{port}")))
    report.close()


async def own_part() -> dict[str, Any]:
    """The time of a call whose model takes none: replies not kept, a new one each time, and a known one."""
    model = ScriptedModel(lambda _messages, _call: PICKS, Capability(context=200_000))
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(DiskStore(Path(folder))) as store:
        return {
            "replies not kept": await choices(model),
            "replies kept, all new": await choices(CachedModel(model, store)),
            "replies kept, all known": await choices(CachedModel(model, store)),
        }


async def with_sdks(url: str) -> dict[str, Any]:
    """A call over each SDK, and a bare POST to the same server."""
    key, can = "none", Capability("native", context=200_000)
    models = {
        "/v1/chat/completions": OpenAIModel("m", key, f"{url}/v1", capability=can),
        "/v1/messages": AnthropicModel("m", key, url, capability=can),
    }
    figures: dict[str, Any] = {}
    for path, model in models.items():
        bare, over = await posts(url + path), await choices(model)
        figures[model.name.partition(":")[0]] = {
            "bare POST": bare,
            "call": over,
            "difference of the medians": round(over["median"] - bare["median"], 3),
            "difference of the p99": round(over["p99"] - bare["p99"], 3),
            "difference of the processor": round(over["processor, mean"] - bare["processor, mean"], 3),
        }
        await model.close()
    return figures


async def choices(chat: ChatModel) -> dict[str, float]:
    """Milliseconds of a choice, each with a question of its own and, as in a session, a ledger per question."""
    prompts = PromptLibrary()

    async def choose(number: int) -> None:
        model = PromptedModel(chat, Ledger(), None, prompts)
        chosen = await model.ask(ChooseCall(f"Which work number {number}?", PLAN, ASKED, 4))
        assert chosen.picks == (1, 7, 30), "the reply is read"

    return await timed(choose)


async def posts(url: str) -> dict[str, float]:
    """Milliseconds of a POST of about a choice's size, over a connection that stands."""
    body = {"messages": [{"role": "user", "content": " ".join(candidate.text for candidate in ASKED)}]}
    async with aiohttp.ClientSession() as client:

        async def post(_number: int) -> None:
            async with client.post(url, json=body) as reply:
                await reply.read()

        return await timed(post)


async def timed(work: Callable[[int], Awaitable[None]]) -> dict[str, float]:
    """The spread of the milliseconds, and those of the processor, which a busy machine changes less.

    Without the first few.
    """
    taken, processor = [], 0.0
    for number in range(-WARM_UP, CALLS):
        if number == 0:
            processor = time.process_time()
        started = time.perf_counter()
        await work(number)
        taken.append((time.perf_counter() - started) * 1_000)
    used = (time.process_time() - processor) * 1_000 / CALLS
    return {**quantiles(taken[WARM_UP:]), "processor, mean": round(used, 3)}


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The port of a server that answers both wires at once, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = multiprocessing.Process(target=serve, args=(listening,), daemon=True)
        server.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.terminate()
            server.join()


def serve(listening: socket.socket) -> None:
    """Answers until the process is ended."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(REPLIES[request.path])

    app = web.Application()
    app.add_routes([web.post(path, answer) for path in REPLIES])
    web.run_app(app, sock=listening, print=None, access_log=None)


if __name__ == "__main__":
    main()
