"""What a hop costs at a distance: 100 neighbourhoods and cold 3-hop questions behind a relay 100 ms away.

All sides run one after the other against the same engine with the same graph: fedkg's batches, one SPARQLWrapper
request per entity in series for the first 20 entities, and Think-on-Graph's shapes (relations out, relations in, then
one request per relation) for the first three. All must find the same edges between entities.

`--engine` and `--questions 0` measure some of it: `--engine virtuoso --questions 0` takes half a minute. On a machine
that has other things to do, the processor seconds of engine and client say more than the clock.

Comunica, which plans no joins, is asked for fewer neighbourhoods, once.
"""

import asyncio
import contextlib
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from SPARQLWrapper import JSON, POST, SPARQLWrapper

from eval.support.distance import Distance, distant
from eval.support.engines import ENGINES, PROGRAMS, missing
from eval.support.graphs import RELATION, entities
from eval.support.processes import processor_seconds
from eval.support.report import Report, options, quantiles, require
from fedkg.__main__ import ALLOCATIONS
from fedkg.bench.data import gold_chains, loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.gold import GoldSession
from fedkg.core.answer import Answer
from fedkg.core.terms import Edge, Iri
from fedkg.embed.base import Similarity
from fedkg.graph.explored import ExploredGraph
from fedkg.session import Session
from fedkg.testing import GoldChain

GRAPH = "wikidata-codex-m.nt.gz"
QUESTIONS, QUESTION_GRAPH = "pathquestion-3h.jsonl", "freebase-pathquestion.nt.gz"
SECONDS = 0.1
ENTITIES, WRAPPER_ENTITIES, TOG_ENTITIES, ASKED, HOPS, REPEATS = 100, 20, 3, 6, 3, 7
FEW: dict[str, int] = {"comunica": 20}
"""Entities of engines that are asked for fewer, and once."""
TARGET, HOPS_TARGET = 1.4, 1.5
"""Times one request that 100 neighbourhoods may take, and that each hop of a question may."""

T = TypeVar("T")
Triples = set[tuple[str, str, str]]
Chains = dict[str, GoldChain]


def main() -> None:
    """Measures all sides on every engine that is installed."""
    parser = options(__doc__ or "")
    parser.add_argument("--engine", nargs="*", choices=list(ENGINES), default=list(ENGINES), help="which engines")
    parser.add_argument("--questions", type=int, default=ASKED, help="how many questions of three hops, 0 for none")
    chosen = parser.parse_args()
    require(chosen.data, GRAPH, QUESTIONS, QUESTION_GRAPH)
    gc.set_threshold(ALLOCATIONS)  # as the command does
    report = Report("latency", write=chosen.write)
    wanted = entities(chosen.data / GRAPH, ENTITIES + REPEATS)
    asked = loaders.questions(chosen.data / QUESTIONS, chosen.questions) if chosen.questions else []
    chains = gold_chains.listed(chosen.data / QUESTIONS)
    gc.freeze()  # what was loaded is no part of what a client holds
    engines = [name for name in chosen.engine if not missing(name)]
    for name in set(chosen.engine) - set(engines):
        report.add(name, f"skipped: {missing(name)}")
    for name in engines:  # all of them before the first question, which loads a model
        with ENGINES[name]([chosen.data / GRAPH]) as url, distant(url, SECONDS) as far:
            report.add(f"{name}: neighbourhoods", neighbourhoods(Distance(url), far, wanted, name))
    for name in engines if asked else ():
        with (
            ENGINES[name]([chosen.data / QUESTION_GRAPH]) as url,
            distant(url, SECONDS) as far,
            profiles(name, "freebase", near=url, far=far.url) as folder,
        ):
            report.add(f"{name}: questions, guided", questions(folder, asked, chains))
            report.add(f"{name}: questions, model local", questions(folder, asked, {}))
    report.close()


# ---- one hop ----


def neighbourhoods(near: Distance, far: Distance, entities: list[Iri], engine: str) -> dict[str, Any]:
    """Seconds and requests of all sides for both directions of ENTITIES entities; those after them tell what one takes.

    What takes as long without a distance is the work of engine and client, which share the machine's cores here.
    """
    wanted, others = entities[: FEW.get(engine, ENTITIES)], entities[ENTITIES:]
    single = asyncio.run(one_request(far, others))
    cold, triples = _fedkg(far, wanted, others[:0], engine)
    kept, _ = _fedkg(far, wanted, others[:1], engine)
    here, _ = _fedkg(near, wanted, others[:1], engine)
    here.pop("requests")  # of the engine itself nobody counts them
    return {
        "entities": len(wanted),
        "edges": len(triples),
        "one request": round(single, 3),
        "fedkg, nothing known": cold | {"times one request": round(cold["seconds"] / single, 2)},
        "fedkg, endpoint known": kept | {"times one request": round(kept["seconds"] / single, 2)},
        "fedkg, endpoint known, no distance": here,
        "waiting, times one request": round((kept["seconds"] - here["seconds"]) / single, 2),
        "target, times one request": TARGET,
        **_others(far, wanted, triples),
    }


def _others(far: Distance, wanted: Sequence[Iri], triples: Triples) -> dict[str, Any]:
    """The other sides' figures, and whether they find the same edges."""
    wrapper, by_wrapper = _timed(far, lambda: one_by_one(far.url, wanted[:WRAPPER_ENTITIES]))
    tog, by_tog = _timed(far, lambda: think_on_graph(far.url, wanted[:TOG_ENTITIES]))
    return {
        "SPARQLWrapper, one by one": wrapper
        | _compared(by_wrapper, triples, wanted, WRAPPER_ENTITIES, wrapper["seconds"]),
        "Think-on-Graph's requests": tog | _compared(by_tog, triples, wanted, TOG_ENTITIES, tog["seconds"]),
    }


def _compared(triples: Triples, every: Triples, wanted: Sequence[Iri], number: int, seconds: float) -> dict[str, Any]:
    """Whether the edges of so many entities are those that fedkg found, and what all entities would take."""
    some = {iri.value for iri in wanted[:number]}
    return {
        "entities": number,
        "same edges": triples == {edge for edge in every if edge[0] in some or edge[2] in some},
        "seconds for all (scaled)": round(seconds * len(wanted) / number, 1),
    }


async def one_request(far: Distance, others: Sequence[Iri]) -> float:
    """The median seconds of a request for one neighbourhood, over a connection that stands."""
    async with Session(f"wikidata@{far.url}", cache=False, embedder="bm25") as session:
        graph, seconds = await session.graph(), []
        await graph.neighbours([others[0]], "in")
        for entity in others:
            started = time.monotonic()
            await graph.neighbours([entity], "out")
            seconds.append(time.monotonic() - started)
    return statistics.median(seconds)


def _timed(far: Distance, work: Callable[[], T]) -> tuple[dict[str, Any], T]:
    """Seconds and requests of the work, and what it returns."""
    before, started = far.requests, time.monotonic()
    done = work()
    return {"seconds": round(time.monotonic() - started, 3), "requests": far.requests - before}, done


def _fedkg(far: Distance, wanted: Sequence[Iri], first: Sequence[Iri], engine: str) -> tuple[dict[str, Any], Triples]:
    """The medians of some runs, each with a new cache, and the edges; `first` is asked for before, and not counted.

    The client's processor seconds include the opening of a session.
    """
    runs: list[dict[str, float]] = []
    programs, place = PROGRAMS[engine], f"wikidata@{far.url}"
    for _ in range(1 if engine in FEW else REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            if first:
                asyncio.run(fetched(place, first, folder))
            before, server, client = far.requests, processor_seconds(*programs), time.process_time()
            seconds, edges = asyncio.run(fetched(place, wanted, folder))
        runs.append(
            {
                "seconds": round(seconds, 3),
                "requests": far.requests - before,
                "processor seconds of the engine": round(processor_seconds(*programs) - server, 3),
                "processor seconds of the client": round(time.process_time() - client, 3),
            }
        )
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}, _triples(edges)


async def fetched(endpoint: str, wanted: Sequence[Iri], folder: str) -> tuple[float, list[Edge]]:
    """The edges of all entities in both directions, as a walk fetches them through a new session, and the seconds.

    As for one request, the time in which the session opens its cache is not counted.
    """
    async with Session(endpoint, cache_dir=folder, embedder="bm25") as session:
        explored = ExploredGraph(await session.graph())
        started = time.monotonic()
        await explored.fetch(wanted)
        return time.monotonic() - started, [edge for near in explored.all() for edge in near.edges]


def one_by_one(url: str, wanted: Iterable[Iri]) -> Triples:
    """The edges between entities, one request per entity in series."""
    triples: Triples = set()
    for entity in wanted:
        out, into = f"{entity.n3()} ?p ?o", f"?s ?p {entity.n3()}"
        for row in _select(url, f"SELECT ?s ?p ?o WHERE {{ {{ {out} }} UNION {{ {into} }} }}"):
            triples.add((row.get("s", entity.value), row["p"], row.get("o", entity.value)))
    return {edge for edge in triples if _is_edge(edge)}


def think_on_graph(url: str, wanted: Iterable[Iri]) -> Triples:
    """The same edges by Think-on-Graph's requests: relations of either direction, then the tails of each relation."""
    triples: Triples = set()
    for entity in wanted:
        known = entity.n3()
        for row in _select(url, f"SELECT DISTINCT ?p WHERE {{ {known} ?p ?x }}"):
            if row["p"].startswith(RELATION):
                tails = _select(url, f"SELECT ?x WHERE {{ {known} <{row['p']}> ?x }}")
                triples |= {(entity.value, row["p"], tail["x"]) for tail in tails}
        for row in _select(url, f"SELECT DISTINCT ?p WHERE {{ ?x ?p {known} }}"):
            if row["p"].startswith(RELATION):
                heads = _select(url, f"SELECT ?x WHERE {{ ?x <{row['p']}> {known} }}")
                triples |= {(head["x"], row["p"], entity.value) for head in heads}
    return {edge for edge in triples if _is_edge(edge)}


def _select(url: str, query: str) -> Iterator[dict[str, str]]:
    wrapper = SPARQLWrapper(url)
    wrapper.setMethod(POST)
    wrapper.setReturnFormat(JSON)
    wrapper.addCustomHttpHeader("Accept", "application/sparql-results+json")  # to "any JSON" Comunica sends its own
    wrapper.setQuery(query)
    for row in wrapper.queryAndConvert()["results"]["bindings"]:
        yield {name: value["value"] for name, value in row.items()}


def _triples(edges: Iterable[Edge]) -> Triples:
    return {
        (edge.subject.value, edge.relation.value, edge.object.value)
        for edge in edges
        if isinstance(edge.subject, Iri) and isinstance(edge.object, Iri)
    }


def _is_edge(edge: tuple[str, str, str]) -> bool:
    return edge[1].startswith(RELATION) and edge[2].startswith("http")


# ---- three hops ----


@contextlib.contextmanager
def profiles(engine: str, like: str, /, **urls: str) -> Iterator[str]:
    """A folder with a profile for each URL, which says what runs there: nobody has to find that out."""
    with tempfile.TemporaryDirectory() as folder:
        for name, url in urls.items():
            text = f'urls = ["{url}"]\nengine = "{engine}"\nlike = "{like}"\n'
            (Path(folder) / f"{name}.toml").write_text(text)
        yield folder


def questions(folder: str, asked: Sequence[BenchmarkQuestion], chains: Chains) -> dict[str, Any]:
    """What cold questions wait for: their seconds at a distance less those of the same walk without one.

    The texts are embedded before, by a walk of its own, so that both sides compute the same.
    """
    with Session("near", profiles_dir=folder, cache=False) as session:
        similarity = session.similarity
        sides = [
            [answered(folder, end, question, chains, similarity) for question in asked]
            for end in ("near", "near", "far")
        ]
    new, here, there = sides
    waits = [far - near for (near, _), (far, _) in zip(here, there, strict=True)]
    walks = [answer.usage for _, answer in there]
    return {
        "questions": len(asked),
        "similarity": similarity.name,
        "target": round((HOPS + 1) * SECONDS * HOPS_TARGET, 2),
        "waiting": quantiles(waits),
        "within target": sum(wait <= (HOPS + 1) * SECONDS * HOPS_TARGET for wait in waits),
        "seconds at a distance": quantiles([seconds for seconds, _ in there]),
        "seconds without, texts embedded": quantiles([seconds for seconds, _ in here]),
        "seconds without, texts new": quantiles([seconds for seconds, _ in new]),
        "requests": quantiles([usage.requests for usage in walks]),
        "round trips": quantiles([usage.round_trips for usage in walks]),
        "right answers": sum(_right(answer, question) for (_, answer), question in zip(there, asked, strict=True)),
        "same answers": [_values(answer) for _, answer in here] == [_values(answer) for _, answer in there],
    }


def answered(
    folder: str, endpoint: str, question: BenchmarkQuestion, chains: Chains, similarity: Similarity
) -> tuple[float, Answer]:
    """The answer of a new session that knows nothing but embeddings, and its seconds.

    `chains` are those of the model.
    """

    async def ask() -> tuple[float, Answer]:
        options: dict[str, Any] = {"profiles_dir": folder, "cache": False, "search.depth": HOPS}
        opened = GoldSession if chains else Session
        async with opened(endpoint, similarity=similarity, **options) as session:
            if isinstance(session, GoldSession):
                session.tell(question.question, chains[question.id])
            started = time.monotonic()
            answer = await session.ask(question.question, [topic.iri for topic in question.topic_entities])
            return time.monotonic() - started, answer

    return asyncio.run(ask())


def _right(answer: Answer, question: BenchmarkQuestion) -> bool:
    return {gold.key for gold in question.answers} <= set(_values(answer))


def _values(answer: Answer) -> list[str]:
    return sorted(value.iri or value.value for value in answer.answers)


if __name__ == "__main__":
    main()
