"""The evidence for answers of `local`, and how right each is: what the weights of a confidence are fitted on.

Asked are our natural questions and public sets, with no depth told, in two halves; those of a public set share no topic
(by a hash of its IRI). A third of the public questions are robbed of their answers: the graph returns no edge to one,
so that any answer is wrong. Kept in `eval/results/calibration/`, a file for each embedder.

    python -m eval.quality.evidence --ask 40 -e minilm    # of each half of each set
"""

import argparse
import asyncio
import gzip
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval.support.report import FOLDER, options
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask, asked
from fedkg.bench.run.gold_table import gold_table
from fedkg.bench.scoring.scores import score
from fedkg.cache.disk import DiskStore
from fedkg.common.english import english
from fedkg.config.settings import Settings
from fedkg.core.choice import ChainEvidence, Conclusion
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import DirectedRelation, Direction, Edge, Iri, Literal, Term
from fedkg.embed.base import Similarity
from fedkg.graph.base import Graph
from fedkg.reasoner.base import Call
from fedkg.reasoner.local.chains import outwards
from fedkg.reasoner.local.model import LocalModel
from fedkg.session import Session
from fedkg.wiring.adapters import text_similarity

HALVES = ("tuning", "test")
OURS = ("natural-codex-m", "natural-biomed")
PUBLIC = ("metaqa-1hop", "metaqa-2hop", "metaqa-3hop", "pathquestion-2h", "pathquestion-3h", "webqsp-fb15k237")
EMBEDDERS = ("minilm", "bm25", "hashing")
KEPT = FOLDER / "results" / "calibration"
VECTORS = Path("build/calibration")
"""Folder of what has been embedded."""
READ = 201
"""From this number on our questions of the tuning halves are those that the reading was learned from: it reads nearly
all of them right, and weights fitted on them would trust it too much."""
ROBBED = 3
"""One of so many public questions is robbed of its answers."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One question that was asked: the evidence for its answer, and how right that is, in 0..1.

    `hit` tells whether any part of it is right. `lacking` is what the graph lacks, `answered` whether there was an
    answer that was not refused whatever the weights, `marked` whether it had a caveat already.
    """

    set: str
    half: str
    id: str
    lacking: str = ""
    answered: bool = True
    marked: bool = False
    right: float = 0.0
    hit: bool = False
    evidence: ChainEvidence | None = None


class Part(msgspec.Struct, frozen=True):
    """A half of a set."""

    set: str
    half: str


class Noting(LocalModel):
    """The model `local`, which keeps its latest conclusion."""

    latest: Conclusion = Conclusion()

    async def ask(self, call: Call[Any]) -> Any:
        """The reply of `local`."""
        reply = await super().ask(call)
        if isinstance(reply, Conclusion):
            self.latest = reply
        return reply


class Robbed:
    """A graph that returns no edge to the entities that are `gone`, nor another by the same relation from there.

    What else that relation leads to would be an answer, too: MetaQA has one node for all films of a name, and the
    answers of one of them. So would what it leads to by its other name, the parents of a child backwards.
    """

    def __init__(self, graph: Graph) -> None:
        self.name = graph.name
        self.gone: Collection[str] = ()
        self._graph = graph

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The neighbourhoods without those edges."""
        every = await self._graph.neighbours(entities, direction)
        if not self.gone:
            return every
        other = await self._graph.neighbours(entities, "in" if direction == "out" else "out")
        names = await self._graph.labels({edge.relation for near in (*every, *other) for edge in near.edges})
        return [self._robbed(near, back, names) for near, back in zip(every, other, strict=True)]

    def _robbed(self, near: Neighbourhood, other: Neighbourhood, names: Mapping[Term, str]) -> Neighbourhood:
        edges = (*near.edges, *other.edges)
        gone = {_way(edge.walked, names) for edge in edges if _key(edge.end) in self.gone}
        kept = tuple(edge for edge in near.edges if _way(edge.walked, names) not in gone)
        return near if len(kept) == len(near.edges) else msgspec.structs.replace(near, edges=kept)

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """The graph's."""
        return await self._graph.labels(terms)

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The graph's."""
        return await self._graph.search(texts, limit)

    async def lookup(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The graph's."""
        return await self._graph.lookup(texts, limit)

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The graph's."""
        return await self._graph.describe(matches)

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """The graph's."""
        return await self._graph.nearest(text, limit)

    async def links(self, entities: Sequence[Iri]) -> list[Edge]:
        """The graph's."""
        return await self._graph.links(entities)

    async def holds(self, edges: Sequence[Edge]) -> list[bool | None]:
        """The graph's."""
        return await self._graph.holds(edges)

    async def close(self) -> None:
        """Left to the session that opened the graph."""


def _way(walked: DirectedRelation, names: Mapping[Term, str]) -> tuple[str, Direction] | DirectedRelation:
    """What a step is called along its direction, where it is one that has a name either way; else the step itself."""
    name, direction = outwards(names.get(walked.relation, ""), walked.direction)
    return (name, direction) if name in english().inverses and direction == "out" and not walked.via else walked


def _key(term: Term) -> str:
    return term.value if isinstance(term, Iri | Literal) else term.text


class Asking(msgspec.Struct, frozen=True):
    """What questions of one set are asked with."""

    session: Session
    graph: Robbed
    model: Noting

    async def sample(self, question: BenchmarkQuestion, definition: Definition, part: Part) -> Sample:
        """What came of one question; one that is to be robbed is."""
        taken = part.set not in OURS and number(question.id) % ROBBED == 0
        self.graph.gone, self.model.latest = (), Conclusion()
        if taken:
            self.graph.gone = await self._answers(question)
        record = await asked(self.session, AskingTask(self.session.settings, definition, verify=False), question)
        if record.error and not record.error.startswith("TopicError"):
            print(record.id, record.error)
        lacking = "answer" if taken else question.unanswerable
        scored = score(record)
        return Sample(
            set=part.set,
            half=part.half,
            id=question.id,
            lacking=lacking,
            answered=bool(record.answers) and self.model.latest.confidence != 0.0,
            marked=bool(record.caveats),
            right=0.0 if lacking else scored.accuracy,
            hit=not lacking and scored.hit > 0,
            evidence=self.model.latest.evidence,
        )

    async def _answers(self, question: BenchmarkQuestion) -> frozenset[str]:
        """What its answers are in the graph: IRIs and values."""
        golds = (await gold_table(question, await self.session.graph())).answers
        return frozenset({gold.key for gold in golds} | {iri for gold in golds for iri in gold.entities})


def parts(name: str, data: Path, most: int) -> Iterator[tuple[Part, Definition, list[BenchmarkQuestion]]]:
    """At most `most` questions of each half of a set; a public one is halved by the questions' first topics."""
    for place, half in enumerate(HALVES):
        part = Part(name, half)
        definition = definitions.find(f"{name}-{half}" if name in OURS else name)
        read = loaders.read(definition, data, skip_bad=True)[0]
        mine = [one for one in read if (_fits(one) if name in OURS else number(_topic(one)) % len(HALVES) == place)]
        yield part, definition, drawn(mine, most, 0)


def _fits(question: BenchmarkQuestion) -> bool:
    """Whether weights may be fitted on this question of ours, or measured."""
    return int(question.id.rpartition("-")[2]) < READ


def _topic(question: BenchmarkQuestion) -> str:
    return question.topic_entities[0].key.casefold() if question.topic_entities else question.id


def number(text: str) -> int:
    """A number that a text always has."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


async def collected(name: str, data: Path, most: int, similarity: Similarity) -> list[Sample]:
    """The samples of both halves of a set, all asked with the default depth and without thresholds."""
    asking = list(parts(name, data, most))
    plain = Settings(cache=False, replies=False, refuse_below=0.0, guess_below=0.0)
    settings = runner.with_graph(plain, asking[0][1], data)
    async with Session(settings=settings, similarity=similarity) as source:
        graph, model = Robbed(await source.graph()), Noting(similarity)
        async with Session(settings=plain, graph=graph, similarity=similarity, reasoner=model) as session:
            task = Asking(session, graph, model)
            return [await task.sample(one, definition, part) for part, definition, all_ in asking for one in all_]


def ask(chosen: argparse.Namespace) -> None:
    """Keeps the samples of each set, which replace older ones of that set."""
    similarity = text_similarity(Settings(embedder=chosen.embedder), DiskStore(VECTORS))
    file = chosen.kept / f"{chosen.embedder}.jsonl.gz"
    for name in chosen.sets:
        samples = [one for one in samples_of(file) if one.set != name]
        samples += asyncio.run(collected(name, chosen.data, chosen.ask, similarity))
        chosen.kept.mkdir(parents=True, exist_ok=True)
        lines = b"".join(msgspec.json.encode(one) + b"\n" for one in samples)
        file.write_bytes(gzip.compress(lines, mtime=0))
        print(name, len(samples), flush=True)


def samples_of(file: Path) -> list[Sample]:
    """The kept samples; none where there is no such file."""
    lines = gzip.decompress(file.read_bytes()).splitlines() if file.is_file() else []
    return [msgspec.json.decode(line, type=Sample) for line in lines]


def main() -> None:
    """Asks, and keeps the samples of each set, which replace older ones of that set."""
    parser = options(__doc__ or "")
    parser.add_argument("--ask", type=int, default=40, metavar="N", help="questions of each half of a set")
    parser.add_argument("-e", "--embedder", choices=EMBEDDERS, default="minilm")
    parser.add_argument("--sets", nargs="*", default=[*OURS, *PUBLIC])
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of the samples")
    ask(parser.parse_args())


if __name__ == "__main__":
    main()
