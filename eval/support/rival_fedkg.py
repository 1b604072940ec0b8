"""fedkg's side of the comparison with what a user would write instead, as a program of its own.

`python -m eval.support.rival_fedkg EMBEDDER URL FILE`: FILE has the tasks. A model that is never wrong picks the
relations, as it does for the others; all else is what any session does.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.support.rivals import ended
from fedkg.bench.run.gold import GoldSession
from fedkg.core.answer import Answer
from fedkg.testing import GoldChain


async def asked(embedder: str, url: str, tasks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answers of one session with an empty cache, then of the same again, with the seconds of both rounds."""
    with tempfile.TemporaryDirectory() as cache:
        options: dict[str, Any] = {"embedder": embedder, "cache_dir": cache, "depth": len(tasks[0]["hops"])}
        async with GoldSession(url, **options) as session:
            answers = [await _ask(session, tasks[0])]
            first = time.time()
            answers += [await _ask(session, task) for task in tasks[1:]]
            between, requests = time.time(), session.meter.usage().requests
            for task in tasks:
                await _ask(session, task)
            return ended([_ends(answer) for answer in answers], first, between, requests)


async def _ask(session: GoldSession, task: dict[str, Any]) -> Answer:
    session.tell(task["question"], GoldChain(tuple(map(tuple, task["chain"])), tuple(task["answers"]), id=task["id"]))
    return await session.ask(task["question"], [task["topic"]])


def _ends(answer: Answer) -> list[str]:
    return sorted(value.iri or value.value for value in answer.answers)


if __name__ == "__main__":
    similarity, endpoint, file = sys.argv[1:]
    json.dump(asyncio.run(asked(similarity, endpoint, json.loads(Path(file).read_text()))), sys.stdout)
