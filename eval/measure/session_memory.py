"""Whether a Session grows: its resident memory after 500 and after 10,000 questions over the bundled sample.

Every question has a text of its own. Nobody is asked over a network, and no weights are loaded: the model is `local`,
the embedder `bm25`, each walk one step long, the cache a folder that is empty at first.
"""

import asyncio
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eval.support.report import Report, options
from fedkg.config.resources import folder
from fedkg.core.terms import Iri, Literal
from fedkg.session import Session
from fedkg.sparql.results import accept
from fedkg.transport import embedded

MARKS = (500, 2_500, 5_000, 10_000)
"""Numbers of questions after which the memory is read."""
TARGET = 20.0
"""Megabytes that lie between the first mark and the last one at most."""
LABELS = """
SELECT ?e ?l WHERE { ?e <http://www.w3.org/2000/01/rdf-schema#label> ?l FILTER(lang(?l) = "en") } ORDER BY ?e
"""
ASKED_FOR = ("spouse", "place of birth", "child", "award received", "educated at", "occupation", "field of work")


def main() -> None:
    """Asks all questions in one session."""
    chosen = options(__doc__ or "").parse_args()
    report = Report("session_memory", write=chosen.write)
    report.add("target, MB", str(TARGET))
    with tempfile.TemporaryDirectory() as cache:
        report.add("resident memory after so many questions, MB", asyncio.run(grown(Path(cache))))
    report.close()


async def grown(cache: Path) -> dict[str, float]:
    """The resident memory at each mark, and by how much it has grown from the first one to the last."""
    entities = await named_entities()
    memory: dict[str, float] = {}
    async with Session("sample", model="local", embedder="bm25", cache_dir=str(cache), depth=1) as session:
        for number, (question, topic) in enumerate(itertools.islice(questions(entities), MARKS[-1]), 1):
            await session.ask(question, [topic])
            if number in MARKS:
                memory[f"{number:,}"] = resident()
    first, *_, last = memory.values()
    return {**memory, "grown": round(last - first, 1)}


async def named_entities() -> list[tuple[str, str]]:
    """IRI and English label of each entity of the sample."""
    transport = embedded.load(folder("sample") / "graph.ttl")
    rows = accept(await transport.send(LABELS), endpoint="sample").rows
    await transport.close()
    pairs = ((row["e"], row["l"]) for row in rows)
    return [
        (iri.value, label.value)
        for iri, label in pairs
        if isinstance(iri, Iri) and isinstance(label, Literal) and "/entity/Q" in iri.value
    ]


def questions(entities: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Questions without end, each with its topic; no text comes twice."""
    for number in itertools.count():
        iri, label = entities[number % len(entities)]
        relation = ASKED_FOR[number // len(entities) % len(ASKED_FOR)]
        yield f"What is the {relation} of {label}? ({number})", iri


def resident() -> float:
    """Resident memory of this process in megabytes, as Linux counts it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


if __name__ == "__main__":
    main()
