"""Whether an answer's query returns the answers of its document: of questions over all graphs, on several engines.

Each set is asked with `local` and, where a way to the answers is known, with a model that takes it. The graph is in
process while a question is asked; its query is then sent to each engine that serves the same graph. Verdicts and
options rest on a judgement and have no query; they are counted by themselves. Everything else that differs is listed
with its reason, and documents that admit a cut apart from the others. The biomedical pair is asked over two servers:
the query goes to the one, which asks the other.

    python -m eval.quality.queries --limit 50             # questions of each set
    python -m eval.quality.queries --pair --write         # the pair, too, and all kept in eval/results/

Documents, and what was returned for them, are kept in `--out`: the same command goes on from there.
"""

import argparse
import asyncio
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from eval.measure.comunica import DISEASES, DRUGS, KINDS, by_comunica, entities, version
from eval.support import engines
from eval.support.gold import GoldBenchmark, gold_session
from eval.support.report import Report, options, require
from eval.support.runs import timed
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.gold_chains import GoldChains
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask, topics
from fedkg.bench.run.gold import GoldSession
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer
from fedkg.core.caveat import CaveatKind
from fedkg.core.encoding import decode, encode
from fedkg.core.question import JUDGED
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.engine.query_check import QueryCheck, no_query
from fedkg.errors import FedkgError
from fedkg.reasoner.local.model import LocalModel
from fedkg.session import Session

__all__ = ["SETS", "Asked", "Results", "reason"]

OWN = tuple(
    f"{kind}-{graph}-{half}"
    for kind in ("natural", "operators")
    for graph in ("codex-m", "biomed")
    for half in ("tuning", "test")
)
SETS = (
    *(f"metaqa-{hops}hop" for hops in (1, 2, 3)),
    *(f"{name}-{hops}h" for name in ("pathquestion", "pql") for hops in (2, 3)),
    "webqsp-fb15k237",
    "cwq-fb15k237",
    "qald10-codex",
    "crlt-qa",
    *OWN,
)
MEDIATED = "webqsp-fb15k237"
"""The set that is also asked of the graph in which facts have mediators, as Freebase itself."""
CVT = "freebase-fb15k237-cvt.nt.gz"
ASKED = 120
SUPERSET = "cut documents, whose query returns a superset"
"""A document that admits that not all was fetched holds some of the answers, and cannot equal its query."""
T = TypeVar("T")
ENGINES = ("embedded", "oxigraph", "virtuoso")
PAIR = "natural-biomed-test"
FIRST: dict[str, Callable[[Sequence[Path]], AbstractContextManager[str]]] = {
    "Oxigraph": engines.oxigraph,
    "Virtuoso": partial(engines.virtuoso, services=True),
}
"""Who is asked for the pair's queries, and asks the other."""


class Asked(NamedTuple):
    """A question of a set that a model was asked, and the document."""

    place: str
    id: str
    answer: Answer

    @property
    def key(self) -> str:
        """What nothing else is called."""
        return f"{self.place}: {self.id}"


class GraphPlace(NamedTuple):
    """A graph: its file, and its profile."""

    file: Path
    profile: str

    def spec(self, place: object) -> str:
        """What names the graph where it is served."""
        return f"{self.profile}@{place}"


class GraphQuestions(NamedTuple):
    """The questions of a set over one graph; `known`: there is a model that knows the way to their answers."""

    name: str
    graph: GraphPlace
    benchmark: GoldBenchmark
    known: bool


def sets(names: Sequence[str], data: Path, limit: int) -> Iterator[GraphQuestions]:
    """The sets with at most so many questions of each, drawn by the seed 0."""
    chains = GoldChains(data)
    for name in names:
        definition = definitions.find(name)
        yield questions(name, definition, chains, data, limit)
        if name == MEDIATED:
            mediated = msgspec.structs.replace(definition, graph=CVT)
            yield questions(f"{name}, with mediators", mediated, chains, data, limit)


def questions(name: str, definition: Definition, chains: GoldChains, data: Path, limit: int) -> GraphQuestions:
    """The questions of one set."""
    search = msgspec.structs.replace(Settings().search, depth=definition.depth)
    settings = runner.with_graph(Settings(search=search, cache=False, embedder="bm25"), definition, data)
    readable, _ = loaders.read(definition, data, skip_bad=True)
    sample, known = drawn(readable, limit or None, 0), chains.known(definition)
    ways = {question.id: chains.of(definition, question) for question in sample} if known else {}
    benchmark = GoldBenchmark(AskingTask(settings, definition, verify=False), sample, ways)
    return GraphQuestions(name, GraphPlace(data / definition.graph, definition.profile), benchmark, known)


class Kept(Generic[T]):
    """What was made, by its key; in a file of the folder, if there is one, to which each is added as it comes."""

    def __init__(self, folder: Path | None, name: str, kind: type[T]) -> None:
        self._file = folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.jsonl" if folder else None
        lines = self._file.read_bytes().splitlines() if self._file and self._file.is_file() else []
        self.there: dict[str, T | None] = dict(decode(line, tuple[str, kind | None]) for line in lines)  # type: ignore[valid-type]

    def add(self, key: str, made: T | None) -> None:
        """One more, kept at once."""
        self.there[key] = made
        if self._file:
            with self._file.open("ab") as file:
                file.write(encode((key, made)) + b"\n")


def documents(asked: GraphQuestions, folder: Path | None = None) -> list[Asked]:
    """What the questions came to, with `local` and with the model that knows the way; those of the folder are there."""
    settings = msgspec.structs.replace(asked.benchmark.task.settings, model=LocalModel.name)
    sessions: dict[str, Callable[[], Session]] = {
        LocalModel.name: lambda: Session(settings=settings, similarity=Bm25Similarity())
    }
    if asked.known:
        sessions["gold"] = lambda: gold_session(asked.benchmark, Bm25Similarity())
    made: list[Asked] = []
    for model, opened in sessions.items():
        made += asyncio.run(_documents(opened, asked, model, folder))
    return made


async def _documents(
    opened: Callable[[], Session], asked: GraphQuestions, model: str, folder: Path | None = None
) -> list[Asked]:
    """The documents that were kept, and those that are missing, of a session that is opened for them."""
    kept = Kept(folder, f"{asked.name} {model}", Answer)
    questions = asked.benchmark.questions
    if missing := [question for question in questions if question.id not in kept.there]:
        async with opened() as session:
            for question in missing:
                if isinstance(session, GoldSession):
                    session.tell(question.question, asked.benchmark.chains[question.id])
                kept.add(question.id, await _asked(session, asked.benchmark.task, question))
    answers = [(question.id, kept.there[question.id]) for question in questions]
    return [Asked(f"{asked.name}, {model}", name, answer) for name, answer in answers if answer]


async def _asked(session: Session, work: AskingTask, question: BenchmarkQuestion) -> Answer | None:
    """The document; None where the question has no topic in the graph."""
    kind = question.kind or work.definition.kind
    try:
        return await session.ask(question.question, topics(work, question), kind=kind, options=question.options)
    except FedkgError:
        return None


async def checks(made: Sequence[Asked], *endpoints: str) -> list[QueryCheck | None]:
    """What the queries of the documents return at these endpoints; None for a document without."""
    async with Session(*endpoints, cache=False, model=LocalModel.name, similarity=Bm25Similarity()) as session:
        return [await session.check_query(asked.answer) for asked in made]


class Results(NamedTuple):
    """Documents, and what the query of each returned."""

    made: tuple[Asked, ...] = ()
    checked: tuple[QueryCheck | None, ...] = ()

    def joined(self, other: "Results") -> "Results":
        """Both together."""
        return Results(self.made + other.made, self.checked + other.checked)

    def figures(self) -> dict[str, Any]:
        """Of how many answered documents the query returns the same, by set too; the others with their reasons."""
        pairs = [pair for pair in zip(self.made, self.checked, strict=True) if pair[0].answer.answers]
        answered = [(asked, check) for asked, check in pairs if asked.answer.kind not in JUDGED]
        others = [(asked, check, why) for asked, check in answered if (why := reason(asked.answer, check))]
        different = Counter(asked.place for asked, _, _ in others)
        cut = sum(why == SUPERSET for _, _, why in others)
        same = len(answered) - len(others)
        return {
            "answered": len(answered),
            "same": same,
            "share": round(same / len(answered), 4) if answered else None,
            SUPERSET: cut,
            "share without these": round(same / (len(answered) - cut), 4) if len(answered) > cut else None,
            "judgements, which have no query": len(pairs) - len(answered),
            "reasons": dict(Counter(why for _, _, why in others).most_common()),
            "by set": {
                place: f"{number - different[place]} of {number}"
                for place, number in Counter(asked.place for asked, _ in answered).items()
            },
            "different": [
                {"set": asked.place, "id": asked.id, "why": why, "detail": _detail(check)}
                for asked, check, why in others
            ],
        }


def reason(answer: Answer, check: QueryCheck | None) -> str:
    """Why the query does not give the document's answers; "" where it does."""
    if check is None:
        return f"no query: {no_query(answer)}"
    if check.outcome == "same":
        return ""
    admitted = any(caveat.kind is CaveatKind.CUT for caveat in answer.caveats)
    return SUPERSET if admitted and check.outcome == "more" else check.outcome


def _detail(check: QueryCheck | None) -> str:
    if check is None:
        return ""
    return check.why[:200] or f"missing {', '.join(check.missing[:3])[:150]}; further {check.further}"


def served(engine: str, graph: GraphPlace) -> AbstractContextManager[str]:
    """What `-e` names the graph by: in process, or on a server."""
    return nullcontext(graph.spec(graph.file)) if engine == "embedded" else _served(engine, graph)


@contextmanager
def _served(engine: str, graph: GraphPlace) -> Iterator[str]:
    with engines.ENGINES[engine]([graph.file]) as url:
        yield graph.spec(url)


def compare(report: Report, chosen: argparse.Namespace) -> None:
    """Asks all sets, and sends the queries to all engines: graph by graph, since a server takes seconds to load one."""
    results = {engine: Results() for engine in chosen.engines}
    asked = list(sets(chosen.sets, chosen.data, chosen.limit))
    for graph in dict.fromkeys(questions.graph for questions in asked):
        made = [one for questions in asked if questions.graph == graph for one in documents(questions, chosen.out)]
        print(graph.file.name, len(made), "documents", flush=True)
        for engine in chosen.engines:
            part = _share(made, chosen.share if engine == "virtuoso" else 0)
            if chosen.kept:
                part = returned(engine, graph, part, chosen.out)
            results[engine] = results[engine].joined(checked(engine, graph, part, chosen.out))
            print(engine, results[engine].figures()["reasons"], flush=True)
    for engine, result in results.items():
        report.add(engine, result.figures())


def checked(engine: str, graph: GraphPlace, made: Sequence[Asked], folder: Path | None = None) -> Results:
    """What the engine returns for the documents' queries, or has returned."""
    kept = Kept(folder, f"{engine} {graph.profile} {graph.file.name}", QueryCheck)
    if missing := [asked for asked in made if asked.key not in kept.there]:
        with served(engine, graph) as place:
            for asked, check in zip(missing, asyncio.run(checks(missing, place)), strict=True):
                kept.add(asked.key, check)
    return Results(tuple(made), tuple(kept.there[asked.key] for asked in made))


def returned(engine: str, graph: GraphPlace, made: Sequence[Asked], folder: Path | None) -> list[Asked]:
    """Those that the engine was asked for already."""
    kept = Kept(folder, f"{engine} {graph.profile} {graph.file.name}", QueryCheck)
    return [asked for asked in made if asked.key in kept.there]


def _share(made: list[Asked], most: int) -> list[Asked]:
    """The first of those that have a query; all for 0."""
    return [asked for asked in made if asked.answer.query][:most] if most else made


async def crossing(urls: Sequence[str], data: Path, limit: int) -> list[Asked]:
    """What `local` answers over both servers: questions whose answers lie across a link, and some of our own."""
    settings = Settings(endpoints=tuple(urls), model=LocalModel.name, cache=False, embedder="bm25")
    made = []
    async with Session(settings=settings, similarity=Bm25Similarity()) as session:
        for kind in KINDS:
            for entity in entities(kind, data):
                answer = await session.ask(f"{kind.name.capitalize()}?", [entity], kind="entities")
                made.append(Asked("across a link", f"{kind.name}: {entity}", answer))
    own = questions(PAIR, definitions.find(PAIR), GoldChains(data), data, limit)
    return made + await _documents(
        lambda: Session(settings=settings, similarity=Bm25Similarity()), own, LocalModel.name
    )


def compare_pair(report: Report, chosen: argparse.Namespace) -> None:
    """The pair on two servers each of which may be the first: Oxigraph and Virtuoso, then Comunica asks both."""
    kept = Kept(chosen.out, "pair", dict[str, Any])
    if not kept.there and not chosen.kept:
        for name, figures in pair(chosen):
            kept.add(name, figures)
    for name, made in kept.there.items():
        report.add(name, made or {})


def pair(chosen: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """The figures of each who asks, by name."""
    diseases, drugs = [chosen.data / DISEASES], [chosen.data / DRUGS]
    with engines.oxigraph(drugs) as second:
        for name, first in FIRST.items():
            with first(diseases) as url:
                made = asyncio.run(crossing((url, second), chosen.data, chosen.limit))
                result = Results(tuple(made), tuple(asyncio.run(checks(made, url, second))))
                yield f"pair, {name} first", result.figures() | _services(made)
                if chosen.comunica and name == "Oxigraph":
                    yield "pair, Comunica", by_both(chosen.comunica, url, made)


def _services(made: Sequence[Asked]) -> dict[str, int]:
    return {"over both endpoints": sum("SERVICE" in asked.answer.query for asked in made)}


def by_both(program: Path, url: str, made: Sequence[Asked]) -> dict[str, Any]:
    """What Comunica returns for the queries that name a second endpoint, beside the documents' answers."""
    rows = {}
    for asked in (asked for asked in made if "SERVICE" in asked.answer.query):
        returned = by_comunica(program, [url], asked.answer.query)
        rows[asked.id] = returned == {value.iri or value.value for value in asked.answer.answers}
    different = [name for name, same in rows.items() if not same]
    return {"version": version(program), "queries": len(rows), "same": sum(rows.values()), "different": different}


def main() -> None:
    """Compares the queries with the documents."""
    parser = options(__doc__ or "")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument("--engines", nargs="*", default=ENGINES, choices=ENGINES)
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set, 0 for all")
    parser.add_argument("--share", type=int, default=0, help="queries of each graph that Virtuoso is sent, 0 for all")
    parser.add_argument("--pair", action="store_true", help="ask the biomedical pair, too")
    parser.add_argument("--out", type=Path, help="folder of what was made, from which the same command goes on")
    parser.add_argument("--kept", action="store_true", help="ask nothing further: the figures of what is in --out")
    parser.add_argument("--comunica", type=Path, help="the program comunica-sparql, which then asks the pair, too")
    chosen = parser.parse_args()
    require(chosen.data, *(definitions.find(name).graph for name in chosen.sets), DISEASES, DRUGS, CVT)
    for engine in {*chosen.engines} - {"embedded"}:
        if why := engines.missing(engine):
            sys.exit(f"{engine}: {why}")
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
    report = Report("queries", write=chosen.write)
    with timed():
        compare(report, chosen)
        if chosen.pair:
            compare_pair(report, chosen)
    report.close()


if __name__ == "__main__":
    main()
