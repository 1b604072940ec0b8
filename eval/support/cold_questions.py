"""Asks questions of an endpoint with the fedkg that Python finds, each with an empty cache, and prints what each took.

It imports fedkg alone, so that an earlier state of it can be asked in the same way (`eval.measure.own_work`).

    PYTHONPATH=FOLDER python cold_questions.py URL EMBEDDER TASKS.json    # pairs of a question and the IRI of its topic
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fedkg import Session

HOPS = 3


async def asked(url: str, embedder: str, question: str, topic: str) -> dict[str, Any]:
    """Seconds of the processor and of the clock, requests, and the answers of one question."""
    with tempfile.TemporaryDirectory() as folder:
        processor, clock = time.process_time(), time.monotonic()
        options: dict[str, Any] = {"embedder": embedder, "cache_dir": folder, "search.depth": HOPS}
        async with Session(url, model="local", **options) as session:
            answer = await session.ask(question, [topic])
        return {
            "processor": time.process_time() - processor,
            "clock": time.monotonic() - clock,
            "requests": answer.usage.requests,
            "answers": sorted(each.label or each.value for each in answer.answers),
        }


def main() -> None:
    """Prints what each question took, as one line of JSON."""
    url, embedder, file = sys.argv[1:]
    tasks = json.loads(Path(file).read_text(encoding="utf-8"))
    print(json.dumps([asyncio.run(asked(url, embedder, *task)) for task in tasks]))


if __name__ == "__main__":
    main()
