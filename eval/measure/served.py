"""What `fedkg serve` adds: time to the first event, time a question over Session's own, throughput, and a crowd.

The server is a process of its own over the bundled sample; Session is asked the same questions in this process, with
the same number at a time. Both are warm: the sample is in memory and what it returned is cached.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from eval.support.report import Report, options, quantiles
from fedkg.session import Session

QUESTION = {"question": "Who are the children of Marie Curie?"}
ALONE, STREAMED, TOGETHER, AT_ONCE, CROWD, CROWDS = 100, 50, 512, 64, 200, 20
SETTINGS: dict[str, Any] = {"embedder": "bm25", "model": "local"}


async def main() -> None:
    """Measures the session first, then the server."""
    chosen = options(__doc__ or "").parse_args()
    report = Report("served", write=chosen.write)
    with TemporaryDirectory() as folder:
        own = await of_session(Path(folder))
        async with served(Path(folder), "--at-once", str(AT_ONCE), "--waiting", "10000") as (client, _):
            theirs = await of_server(client)
        async with served(Path(folder), "--at-once", "8", "--waiting", "16") as (client, pid):
            report.add(f"{CROWD} clients at once, {CROWDS} times; 8 at a time, 16 wait", await crowd(client, pid))
    ratio = theirs["questions a second"] / own["questions a second"]
    more = theirs["median ms"] - own["median ms"]
    report.add("Session", own)
    added = {"median ms over Session's": round(more, 2), "throughput of Session's": round(ratio, 3)}
    report.add("server", {**theirs, **added})
    report.close()


async def of_session(cache: Path) -> dict[str, float]:
    """Milliseconds a question, one at a time, and questions a second, many at a time."""
    async with Session("sample", cache_dir=str(cache), **SETTINGS) as session:
        return await timed(lambda: session.ask(QUESTION["question"]))


async def of_server(client: aiohttp.ClientSession) -> dict[str, float]:
    """The same over HTTP; and the milliseconds to the first event of a stream."""
    figures = await timed(lambda: answered(client))
    first = [await first_event(client) for _ in range(STREAMED)]
    return {**figures, "first event, median ms": round(statistics.median(first) * 1_000, 2)}


async def timed(ask: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    """What a question takes alone, and how many are answered a second, after some to warm up."""
    for _ in range(10):
        await ask()
    alone = [await seconds(ask) for _ in range(ALONE)]
    turns = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with turns:
            await ask()

    whole = await seconds(lambda: asyncio.wait([asyncio.create_task(one()) for _ in range(TOGETHER)]))
    milliseconds = {f"{name} ms": value for name, value in quantiles([each * 1_000 for each in alone], 2).items()}
    return {**milliseconds, "questions a second": round(TOGETHER / whole, 1)}


async def seconds(ask: Callable[[], Awaitable[Any]]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    await ask()
    return time.perf_counter() - started


async def answered(client: aiohttp.ClientSession) -> int:
    """The status of the reply, once it is read."""
    async with client.post("/ask", json=QUESTION) as reply:
        await reply.read()
        return reply.status


async def first_event(client: aiohttp.ClientSession) -> float:
    """Seconds to the first line of a stream, which is read to its end."""
    started = time.perf_counter()
    async with client.post("/ask", json=QUESTION, headers={"accept": "text/event-stream"}) as reply:
        await reply.content.readline()
        first = time.perf_counter() - started
        await reply.read()
    return first


async def crowd(client: aiohttp.ClientSession, pid: int) -> dict[str, object]:
    """Statuses of very many clients at once, and the server's memory after the first, the tenth and the last time."""
    statuses: Counter[int] = Counter()
    memory = []
    for _ in range(CROWDS):
        done, _ = await asyncio.wait([asyncio.create_task(answered(client)) for _ in range(CROWD)])
        statuses.update(task.result() for task in done)
        memory.append(resident(pid))
    return {
        "statuses": dict(sorted(statuses.items())),
        "MB after the first, the tenth and the last": (memory[0], memory[9], memory[-1]),
    }


def resident(pid: int) -> int:
    """Megabytes in memory of a process of this machine."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


@asynccontextmanager
async def served(cache: Path, *arguments: str) -> AsyncIterator[tuple[aiohttp.ClientSession, int]]:
    """The server as a process, and a client with as many connections as it wants."""
    flags = ["--embedder", "bm25", "--cache-dir", str(cache), "--port", "0", *arguments]
    command = [sys.executable, "-m", "fedkg", "serve", "-e", "sample", *flags]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout
    url = (await process.stdout.readline()).decode().split()[-1]
    try:
        async with aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(limit=0)) as client:
            yield client, process.pid
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
