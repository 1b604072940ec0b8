"""What two endpoints cost against one: the same questions of one biomedical graph, and of its halves on two engines.

The halves meet in identifiers only: a disease on one side is `skos:exactMatch` an identifier that the drugs of the
other side treat. Each endpoint is 100 ms away. Every question is asked twice: by a new session that knows nothing, and
by one session that is asked all of them.
"""

import asyncio
import gzip
import random
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from eval.support.distance import Distance, distant
from eval.support.engines import ENGINES, missing
from eval.support.report import Report, options, quantiles, require
from fedkg.core.answer import Answer
from fedkg.core.terms import Iri
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.session import Session

WHOLE, DISEASES, DRUGS = "biomed.nt.gz", "biomed-disease.nt.gz", "biomed-drug.nt.gz"
TREATS, DISEASE = "<http://het.io/schema/treats>", "<http://purl.obolibrary.org/obo/DOID_"
SECONDS, ASKED, DEPTH = 0.1, 20, 1
QUESTION = "Which compound treats it?"


def main() -> None:
    """Asks one endpoint, then two."""
    chosen = options(__doc__ or "").parse_args()
    require(chosen.data, WHOLE, DISEASES, DRUGS)
    report = Report("federation", write=chosen.write)
    topics = treated(chosen.data / WHOLE)
    second = "oxigraph" if missing("virtuoso") else "virtuoso"
    report.add("questions", {"asked": len(topics), "question": QUESTION, "depth": DEPTH, "second engine": second})
    answers = {}
    for name, parts in {"one": [("oxigraph", WHOLE)], "two": [("oxigraph", DISEASES), (second, DRUGS)]}.items():
        with ExitStack() as running:
            urls = [running.enter_context(ENGINES[engine]([chosen.data / file])) for engine, file in parts]
            far = [running.enter_context(distant(url, SECONDS)) for url in urls]
            cold, answers[name] = asyncio.run(asked(far, topics, together=False))
            warm, _ = asyncio.run(asked(far, topics, together=True))
        report.add(f"{name}: a new session each", cold)
        report.add(f"{name}: one session", warm)
    same = [_values(first) == _values(second) for first, second in zip(*answers.values(), strict=True)]
    report.add("agreement", {"same answers": sum(same), "of": len(same)})
    report.close()


def treated(file: Path) -> list[Iri]:
    """Some of the diseases that something treats, drawn by a fixed seed."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        ends = {parts[2] for line in lines if (parts := line.split(" "))[1] == TREATS and parts[2].startswith(DISEASE)}
    return [Iri(end[1:-1]) for end in random.Random(0).sample(sorted(ends), ASKED)]


async def asked(
    far: Sequence[Distance], topics: Sequence[Iri], *, together: bool
) -> tuple[dict[str, Any], list[Answer]]:
    """Requests, waves and seconds per question, the requests of each endpoint in all, and the answers."""
    before = [end.requests for end in far]
    done: list[tuple[float, Answer]] = []
    if together:
        async with _session(far) as session:
            done = [await _ask(session, topic) for topic in topics]
    else:
        for topic in topics:
            async with _session(far) as session:
                done.append(await _ask(session, topic))
    usages = [answer.usage for _, answer in done]
    figures = {
        "requests": quantiles([usage.requests for usage in usages]),
        "mean requests": round(statistics.mean(usage.requests for usage in usages), 1),
        "round trips": quantiles([usage.round_trips for usage in usages]),
        "seconds": quantiles([seconds for seconds, _ in done]),
        "requests by endpoint": [end.requests - number for end, number in zip(far, before, strict=True)],
        "answered": sum(answer.status == "answered" for _, answer in done),
        "with gaps": sum(bool(answer.gaps) for _, answer in done),
    }
    return figures, [answer for _, answer in done]


def _session(far: Sequence[Distance]) -> Session:
    options: dict[str, Any] = {"cache": False, "similarity": Bm25Similarity(), "search.depth": DEPTH}
    return Session(*(end.url for end in far), **options)


async def _ask(session: Session, topic: Iri) -> tuple[float, Answer]:
    started = time.monotonic()
    answer = await session.ask(QUESTION, [topic.value])
    return time.monotonic() - started, answer


def _values(answer: Answer) -> list[str]:
    return sorted(value.iri or value.value for value in answer.answers)


if __name__ == "__main__":
    main()
