"""Whether the first page of candidates has the gold steps, topic by topic: one ranking against another.

The walk is led: at each depth the candidates are those of the gold steps so far. On CR-LT a gold step is a relation
that has one of the facts which the answer rests on ("KG Triples"), each counts, and the keywords are those of a plan
(`eval/plans/crlt-qa.toml`); also shown is what the bare question does. On the other sets, where no model planned,
the query is the question without its topics; a topic counts once at each depth, and any relation that leads from it to
an answer is a gold step.

The questions are split by a hash of their ids. The halves are no clean test: the figures of both were seen while about
forty variants of the ranking were compared, and that `keywords` leaves out the next hop was decided by one gold step of
the half "held out" (4 of 192 outside with it, 3 without). `shown`: share of the gold steps on the first page; `rank`:
the mean rank of each. A topic's short description that is not on the page stands beside the topic's name in the prompt,
whatever the ranking: it is shown, too (`beside a topic alone`).
"""

import asyncio
import hashlib
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from eval.support.report import FOLDER, Report, options, require
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import ANSWERABLE, GoldCase, gold_cases
from fedkg.bench.data.gold_chains import SETS
from fedkg.bench.run.gold_table import Fact, fact_of, gold_table
from fedkg.common.normalize import without
from fedkg.config.settings import SearchSettings
from fedkg.core.descriptions import brief
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Iri
from fedkg.embed.base import Similarity
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph, frontier
from fedkg.retrieval import registry
from fedkg.retrieval.base import RankingRequest, RetrievalContext
from fedkg.session import Session

CRLT = "crlt-qa"
SEARCHES = {"paper": SearchSettings(scoring="lookahead"), "ours": SearchSettings()}
"""The rankings that are compared: as FiDeLiS has it, and the default."""
LIMIT = 80
PAGE = 10
WIDTH = 4
DEPTH = 3


class GoldWalk(Protocol):
    """A question as it is walked: where from, and what a candidate gains."""

    @property
    def id(self) -> str:
        """The question's id."""
        ...

    @property
    def question(self) -> str:
        """Its text."""
        ...

    @property
    def topics(self) -> Mapping[Iri, str]:
        """Its topics with their labels."""
        ...

    @property
    def hops(self) -> int:
        """The most steps that it takes."""
        ...

    def gains(self, path: PartialPath, candidate: Step) -> set[object]:
        """The gold steps that the candidate is."""
        ...


class FactWalk(NamedTuple):
    """A question whose gold facts are known: each is a step of its own."""

    id: str
    question: str
    topics: Mapping[Iri, str]
    facts: tuple[frozenset[Fact], ...]
    hops: int = DEPTH

    def gains(self, path: PartialPath, candidate: Step) -> set[object]:
        """Those of the facts that the candidate has and the path has not."""
        walked = {fact_of(edge) for edge in path.edges}
        here = {fact_of(edge) for edge in candidate.edges}
        return {fact for fact in self.facts if fact & here and not fact & walked}


class ChainWalk(NamedTuple):
    """A question whose gold chains are known: of each topic any of them will do."""

    case: GoldCase
    graph: Facts

    @property
    def id(self) -> str:
        """The question's id."""
        return self.case.id

    @property
    def question(self) -> str:
        """Its text."""
        return self.case.question

    @property
    def topics(self) -> Mapping[Iri, str]:
        """Its topics with their labels."""
        return self.case.topics

    @property
    def hops(self) -> int:
        """The length of the longest chain."""
        return self.case.hops

    def gains(self, path: PartialPath, candidate: Step) -> set[object]:
        """The path's topic, where the candidate goes on along one of its chains to an answer."""
        chain = (*path.chain, candidate.relation)
        rests = {
            whole[len(chain) :]
            for topic, whole in self.case.chains
            if topic == path.topic and whole[: len(chain)] == chain
        }
        ends = {end for rest in rests for end in self.graph.walk(candidate.tails, rest)}
        return {path.topic} if ends & self.case.answers else set()


class Placed(NamedTuple):
    """A gold step at its rank, from 1, `of` so many candidates; `described`: it stands beside the topic as well."""

    rank: int
    of: int
    described: bool = False


def main() -> None:
    """Measures all sets; with --write the table is kept beside the figures."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of each set but CR-LT, by a fixed seed")
    parser.add_argument("--cache", type=Path, help="folder that keeps embeddings from run to run")
    parser.add_argument("--sets", nargs="*", default=[CRLT, *SETS], choices=[CRLT, *SETS], help="sets to measure")
    chosen = parser.parse_args()
    files = (name for key in SETS for name in (f"{SETS[key].questions}.jsonl.gz", SETS[key].graph))
    require(chosen.data, ANSWERABLE, *files, *definitions.find(CRLT).files)
    report = Report("first_page", write=chosen.write)
    kept: dict[str, Any] = {"cache_dir": str(chosen.cache)} if chosen.cache else {"cache": False}
    with Session("none", embedder="minilm", **kept) as session:
        for name in chosen.sets:
            for key, figures in asyncio.run(measured(name, chosen.data, chosen.limit, session.similarity)).items():
                report.add(key, figures)
    report.close()
    text = table(report.figures)
    print(text)
    report.attach("md", text)


async def measured(name: str, data: Path, limit: int, similarity: Similarity) -> dict[str, dict[str, Any]]:
    """The figures of a set by the half of its questions and by ranking; of CR-LT with and without a plan."""
    if name == CRLT:
        definition = definitions.find(CRLT)
        async with Session(f"{definition.profile}@{data / definition.graph}", cache=False) as session:
            graph = await session.graph()
            walks = await fact_walks(graph, data)
            plans = tomllib.loads((FOLDER / "plans" / f"{CRLT}.toml").read_text(encoding="utf-8"))
            planned = await halves(walks, graph, similarity, lambda walk: plans[walk.id])
            bare = await halves(walks, graph, similarity, lambda _: [])
        return {f"{name}, keywords of a plan": planned, f"{name}, bare question": bare}
    questions = SETS[name]
    facts = Facts.read(data / questions.graph, questions.relations)
    cases = [ChainWalk(case, facts) for case in gold_cases(data, questions, facts, limit)]
    async with Session(f"{questions.profile}@{data / questions.graph}", cache=False) as session:
        graph = await session.graph()
        return {name: await halves(cases, graph, similarity, lambda _: [])}


async def fact_walks(graph: Graph, data: Path) -> list[FactWalk]:
    """CR-LT's questions with the facts that the graph has of their gold triples."""
    questions, _ = loaders.read(definitions.find(CRLT), data, skip_bad=True)
    walks = []
    for question in questions:
        topics = {Iri(topic.iri): topic.label for topic in question.topic_entities}
        table = await gold_table(question, graph)
        walks.append(FactWalk(question.id, question.question, topics, table.facts))
    return walks


async def halves(walks: Sequence[GoldWalk], graph: Graph, similarity: Similarity, plan: Any) -> dict[str, Any]:
    """The figures of each half, for each ranking."""
    placed: dict[str, dict[str, list[Placed]]] = defaultdict(lambda: defaultdict(list))
    for walk in walks:
        for name, search in SEARCHES.items():
            context = retrieval(walk, ExploredGraph(graph), similarity, search, plan(walk))
            placed[half(walk.id)][name] += await places(walk, context)
    return {part: {name: figures(steps) for name, steps in by_name.items()} for part, by_name in sorted(placed.items())}


def half(name: str) -> str:
    """The half of the questions that this id is in."""
    return "tuned" if hashlib.sha256(name.encode()).digest()[0] % 2 else "held out"


def retrieval(
    walk: GoldWalk, explored: ExploredGraph, similarity: Similarity, search: SearchSettings, keywords: Sequence[str]
) -> RetrievalContext:
    """What the product's own retriever works with: the keywords, without any the question without its topics."""
    text = " ".join(keywords) or bare_question(walk)
    return RetrievalContext(explored, similarity, lambda _: text, search, walk.question, tuple(keywords))


def bare_question(walk: GoldWalk) -> str:
    """The question without its topics."""
    text = walk.question
    for label in walk.topics.values():
        text = without(text, label)
    return text


async def places(walk: GoldWalk, context: RetrievalContext) -> list[Placed]:
    """Where the gold steps of each depth stand, each for the path that it goes on from."""
    paths = tuple(PartialPath(topic) for topic in walk.topics)
    left: set[object] = set()
    placed: list[Placed] = []
    for depth in range(1, walk.hops + 1):
        nodes = frontier(paths, context.search.frontier, context.explored)
        await context.explored.fetch(node for row in nodes for node in row)
        expanded = tuple(map(tuple, nodes))
        request = RankingRequest(paths, expanded, "groups", PAGE, lookahead=depth < walk.hops)
        ranking = await registry.find(context.search.retriever).rank(request, context)
        gained = [walk.gains(paths[step.path_index], step) - left for step in ranking.candidates]
        best: dict[object, int] = {}
        for number, items in enumerate(gained, 1):
            for item in items:
                best.setdefault(item, number)
        placed += [
            Placed(rank, len(ranking.candidates), depth == 1 and bool(brief(ranking.candidates[rank - 1].edges)))
            for rank in best.values()
        ]
        left |= best.keys() if isinstance(walk, FactWalk) else set()
        paths = onward(paths, zip(ranking.candidates, gained, strict=True))
        if not paths:
            break
    return placed


def onward(paths: Sequence[PartialPath], gained: Iterable[tuple[Step, set[object]]]) -> tuple[PartialPath, ...]:
    """The paths over the first gold steps, as many as a search keeps."""
    gold = [step for step, items in gained if items][: max(WIDTH, len(paths))]
    return tuple(paths[step.path_index].extend(step) for step in gold)


def figures(placed: Sequence[Placed]) -> dict[str, float]:
    """How many of the steps are on the first page, of those on short pages too."""
    hard = [place for place in placed if place.of > PAGE]
    outside = sum(place.rank > PAGE and not place.described for place in placed)
    return {
        "steps": len(placed),
        "shown": round(1 - outside / len(placed), 4),
        "outside": outside,
        "beside a topic alone": sum(place.rank > PAGE and place.described for place in placed),
        "steps with more candidates than a page": len(hard),
        "rank, mean": round(fmean(place.rank for place in placed), 2),
        "within 40": round(fmean(place.rank <= 40 for place in placed), 4),
    }


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as Markdown."""
    rows = [
        "# Gold steps on the first page",
        "",
        (
            f"A page has {PAGE} candidates; a topic's short description stands beside its name. Both halves were seen "
            "while rankings were compared: see `eval/quality/first_page.py`."
        ),
        "",
    ]
    rows += [
        "| set | half | ranking | gold steps | shown | beside a topic alone | outside | mean rank |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, parts in figures.items():
        for part, rankings in parts.items():
            for ranking, measures in rankings.items():
                steps = f"{measures['steps']} | {measures['shown']:.1%} | {measures['beside a topic alone']}"
                outside = f"{measures['outside']} | {measures['rank, mean']}"
                rows.append(f"| {name} | {part} | {ranking} | {steps} | {outside} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
