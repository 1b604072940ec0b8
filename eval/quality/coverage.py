"""What the retrievers keep of the gold steps, per depth: the coverage ratio of FiDeLiS v4, Table 4, where that is hard.

The walk is led: at each depth the candidates are those of the gold steps so far, at most as many as a search keeps
beams. A candidate is worth the share of the gold answers that the gold relations lead to from it, so that one of
several directors counts for their films only; a group stands for all of its tails, since an answer is completed along
its relation.

FB15k-237 has the questions of WebQSP and CWQ without their paths: every edge from a topic to an answer is gold, at one
hop only (of CWQ's published two-hop paths it has none but seven, six of them by way of "Male"). MetaQA names the
relations. CoDEx has no questions of its own: WebQSP's are asked there by the Freebase identifiers that Wikidata has,
answers found by their labels.

No model plans here. The query is the question without its topics, or its content words as a plan without a model has
them; "gold names", the names of the relations to be found, are an upper bound of what a plan could say, and no result.
`tokens` are those of the offers of one step, `embedded` the distinct texts that it compares: an empty cache would have
the embedder read so many. `embedded, set` are those of all steps of a set together: what a cache that fills as it goes
has it read.
"""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from eval.support.report import FOLDER, Report, options, require
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import ANSWERABLE, GoldCase, gold_cases
from fedkg.bench.data.gold_chains import SETS
from fedkg.bench.report.plots import curves
from fedkg.common.normalize import content_words, without
from fedkg.common.tokens import estimate
from fedkg.config.settings import Form, Scoring, SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Term, relation_text
from fedkg.embed.base import Matrix, Similarity
from fedkg.engine.presentation import step_candidates
from fedkg.graph.explored import ExploredGraph, frontier
from fedkg.retrieval import registry
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import expand
from fedkg.session import Session

OFFERED = (5, 8, 10, 30)
FORMS: tuple[Form, Form] = ("groups", "pairs")
LIMIT = 40
WIDTH = 4
ALPHA = 0.3


class Variant(NamedTuple):
    """A retriever with the form of its candidates, whether it looks ahead, and what it compares them with.

    `default`: a page as the default call plan puts it together, which looks not ahead.
    """

    retriever: str
    form: Form
    ahead: bool = False
    query: str = "question"
    default: bool = False

    @property
    def name(self) -> str:
        """As the table calls it."""
        kind = f"Path-RAG {self.form}" if self.retriever == "path-rag" else self.retriever
        kind += " groups" if self.retriever != "path-rag" and self.form == "groups" else ""
        ways = {"default": self.default, "lookahead": self.ahead, self.query: self.query != "question"}
        return ", ".join([kind, *(way for way, applies in ways.items() if applies)])

    @property
    def search(self) -> SearchSettings:
        """The settings of it."""
        scoring: Scoring = "keywords" if self.default else "lookahead"
        alpha = ALPHA if self.ahead else 0.0
        return SearchSettings(alpha=alpha, form=self.form, retriever=self.retriever, scoring=scoring)


VARIANTS = (
    Variant("vanilla", "pairs"),
    Variant("kaping", "pairs"),
    *(
        Variant("path-rag", form, ahead, query)
        for form in ("pairs", "groups")
        for query, ahead in (("question", False), ("question", True), ("content words", False), ("content words", True))
    ),
    *(Variant("path-rag", form, query="gold names") for form in ("pairs", "groups")),
)
DEFAULT = (Variant("path-rag", "groups", default=True),)
"""What the default call plan offers, measured by itself (--default): the paper's take an hour."""
GROUPED = (Variant("vanilla", "groups"), Variant("kaping", "groups"))
"""The papers' other retrievers over our candidates, measured by themselves (--groups): what the form alone gives."""
FILES = {DEFAULT: "coverage_default", GROUPED: "coverage_groups", VARIANTS: "coverage"}
HEAD = (
    "| retriever | at 5 | tokens | at 8 | tokens | at 10 | tokens | at 30 | tokens | embedded | in the set |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)
LEGEND = (
    "Share of the gold answers that 5, 8, 10 and 30 candidates lead to, tokens of the offers, and texts to be embedded "
    "at 10: by a\nstep with an empty cache, and by all steps of the set. Written by `eval/quality/coverage.py`, where "
    "the terms are explained."
)
PLOTTED = ("vanilla", "kaping", "Path-RAG pairs", "Path-RAG groups")


class Cold:
    """A Similarity that hands everything on, and keeps which texts an empty cache would have had to embed."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity
        self.name, self.unrelated, self.weak = similarity.name, similarity.unrelated, similarity.weak
        self.texts: set[str] = set()
        self.embedded = 0

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The scores."""
        self.texts.update(texts)
        self.embedded = len(self.texts)
        return await self._similarity.scores(query, texts)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """The scores of many queries."""
        self.texts.update(texts)
        return await self._similarity.table(queries, texts)


class WalkStep(NamedTuple):
    """One depth of a led walk: the beams with the nodes that they expand, and the gold answers that they lead to."""

    depth: int
    beams: tuple[PartialPath, ...]
    nodes: list[list[Iri]]
    within: set[Term]


class Kept(NamedTuple):
    """What was offered at one step: the share of the answers that it leads to, and what that cost."""

    share: float
    tokens: int
    texts: set[str]


def main() -> None:
    """Measures all sets; with --write the table and the plot are kept beside the figures."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of each set, drawn by a fixed seed")
    parser.add_argument("--cache", type=Path, help="folder that keeps embeddings from run to run")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS), help="sets to measure")
    parser.add_argument("--default", action="store_true", help="measure the default call plan's page alone")
    parser.add_argument("--groups", action="store_true", help="measure vanilla and KAPING over groups alone")
    chosen = parser.parse_args()
    require(
        chosen.data,
        ANSWERABLE,
        *(name for key in SETS for name in (f"{SETS[key].questions}.jsonl.gz", SETS[key].graph)),
    )
    variants = DEFAULT if chosen.default else GROUPED if chosen.groups else VARIANTS
    report = Report(FILES[variants], write=chosen.write)
    kept: dict[str, Any] = {"cache_dir": str(chosen.cache)} if chosen.cache else {"cache": False}
    with Session("none", embedder="minilm", **kept) as session:
        for name in chosen.sets:
            questions = SETS[name]
            facts = Facts.read(chosen.data / questions.graph, questions.relations)
            cases = gold_cases(chosen.data, questions, facts, chosen.limit)
            endpoint = f"{questions.profile}@{chosen.data / questions.graph}"
            report.add(name, asyncio.run(measured(endpoint, cases, facts, session.similarity, variants)))
    report.close()
    if variants is not VARIANTS:
        return
    text = table(report.figures)
    print(text)
    if chosen.write:
        (FOLDER / "results" / "coverage.md").write_text(text, encoding="utf-8")
        (FOLDER / "results" / "coverage.svg").write_text(plot(report.figures), encoding="utf-8")


async def measured(
    endpoint: str,
    cases: Sequence[GoldCase],
    facts: Facts,
    similarity: Similarity,
    variants: Sequence[Variant] = VARIANTS,
) -> dict[str, Any]:
    """The means over all steps of a set, by depth, variant and number of candidates."""
    kept: dict[tuple[str, str, str], list[Kept]] = defaultdict(list)
    edges: dict[str, list[int]] = defaultdict(list)
    async with Session(endpoint, similarity=similarity, cache=False) as session:
        for case in cases:
            explored = ExploredGraph(await session.graph())
            texts = await queries(case, explored)
            walks = {form: await led(case, facts, explored, form) for form in FORMS}
            for step in walks["groups"]:
                edges[f"depth {step.depth}"].append(len(expanded(step, explored, "pairs")))
            for variant, offered in itertools.product(variants, OFFERED):
                for step in walks[variant.form]:
                    cold = Cold(similarity)
                    ranking = await ranked(variant, step, offered, context(variant, explored, cold, texts))
                    offered_candidates = Kept(*worth(case, step, ranking, offered, facts), cold.texts)
                    kept[f"depth {step.depth}", variant.name, str(offered)].append(offered_candidates)
    figures: dict[str, Any] = {"questions": len(cases)}
    for depth, counts in edges.items():
        figures[depth] = {"steps": len(counts), "edges, mean": round(fmean(counts), 1)}
    for (depth, name, candidates), steps in kept.items():
        figures[depth].setdefault(name, {})[candidates] = means(steps)
    return figures


def means(kept: Sequence[Kept]) -> dict[str, float]:
    """Coverage and cost over the steps of one depth."""
    return {
        "coverage": round(fmean(step.share for step in kept), 3),
        "tokens": round(fmean(step.tokens for step in kept)),
        "embedded": round(fmean(len(step.texts) for step in kept)),
        "embedded, set": len({text for step in kept for text in step.texts}),
    }


async def led(case: GoldCase, facts: Facts, explored: ExploredGraph, form: Form) -> list[WalkStep]:
    """The gold steps from depth to depth: the paths of a search that always takes those that lead to most answers."""
    paths = tuple(PartialPath(topic) for topic in case.topics)
    steps: list[WalkStep] = []
    for depth in range(1, case.hops + 1):
        nodes = frontier(paths, SearchSettings().frontier, explored)
        await explored.fetch(node for row in nodes for node in row)
        within = {end for path in paths for end in leads(case, facts, path, path.tails)}
        if not within:
            break
        step = WalkStep(depth, paths, nodes, within)
        steps.append(step)
        gold = [(candidate, gains(case, facts, paths, candidate)) for candidate in expanded(step, explored, form)]
        best = sorted((gained for gained in gold if gained[1]), key=lambda gained: -len(gained[1]))[:WIDTH]
        paths = tuple(paths[candidate.path_index].extend(candidate) for candidate, _ in best)
    return steps


def expanded(step: WalkStep, explored: ExploredGraph, form: Form) -> list[Step]:
    """All candidates of a step."""
    return [
        candidate
        for number, (path, nodes) in enumerate(zip(step.beams, step.nodes, strict=True))
        for candidate in expand(explored, form, number, path, nodes)
    ]


def leads(case: GoldCase, facts: Facts, path: PartialPath, ends: Iterable[Term]) -> set[Term]:
    """The answers that the gold relations lead to from these ends, after what the beam has walked."""
    ends = list(ends)
    done = len(path.steps)
    rests = {chain[done:] for topic, chain in case.chains if topic == path.topic and chain[:done] == path.chain}
    return {end for rest in rests for end in facts.walk(ends, rest)} & case.answers


def gains(case: GoldCase, facts: Facts, paths: Sequence[PartialPath], candidate: Step) -> set[Term]:
    """The answers that a candidate leads to. A group stands for all of its tails, also those beyond the frontier."""
    path = paths[candidate.path_index].extend(candidate)
    ends = (
        facts.walk(paths[candidate.path_index].tails, [candidate.relation])
        if len(candidate.edges) > 1
        else candidate.tails
    )
    return leads(case, facts, path, ends)


def context(variant: Variant, explored: ExploredGraph, cold: Cold, queries: Mapping[str, str]) -> RetrievalContext:
    """What the product's own retriever works with, set to the variant."""
    return RetrievalContext(explored, cold, lambda _: queries[variant.query], variant.search, queries["whole question"])


async def ranked(variant: Variant, step: WalkStep, offered: int, context: RetrievalContext) -> Ranking:
    """The product's own ranking of a step."""
    nodes = tuple(map(tuple, step.nodes))
    request = RankingRequest(tuple(step.beams), nodes, variant.form, offered, variant.ahead)
    return await registry.find(variant.retriever).rank(request, context)


def worth(case: GoldCase, step: WalkStep, ranking: Ranking, offered: int, facts: Facts) -> tuple[float, int]:
    """The share of the answers that the first candidates lead to, and the tokens of their offers."""
    page = ranking.candidates[:offered]
    won = {end for candidate in page for end in gains(case, facts, step.beams, candidate)}
    topics = [Match(iri, label, 1.0, mention=label) for iri, label in case.topics.items()]
    shown = step_candidates(step.beams, page, ranking.labels, topics, SearchSettings().tails)
    text = "\n".join(f"{candidate.number}. {candidate.text}" for candidate in shown)
    return len(won & step.within) / len(step.within), estimate(text)


async def queries(case: GoldCase, explored: ExploredGraph) -> dict[str, str]:
    """What the variants compare candidates with, by name."""
    question = case.question
    for label in case.topics.values():
        question = without(question, label)
    gold = list(dict.fromkeys(relation for _, chain in case.chains for relation in chain))
    names = await explored.graph.labels(relation.relation for relation in gold)
    names_of_gold = " ".join(relation_text(relation, names) for relation in gold)
    return {
        "whole question": case.question,
        "question": question,
        "content words": " ".join(content_words(question)),
        "gold names": names_of_gold,
    }


def table(figures: Mapping[str, Any]) -> str:
    """The coverage, and what it costs, as Markdown: a table for each set and depth."""
    parts = ["# Coverage of the retrievers", LEGEND]
    for name, measured in figures.items():
        for depth in (key for key in measured if key.startswith("depth")):
            steps, edges, *_ = measured[depth].values()
            rows = [_row(variant.name, measured[depth][variant.name]) for variant in VARIANTS]
            parts += [f"## {name}, {depth} ({steps} steps of {edges} edges)", "\n".join([*HEAD, *rows])]
    return "\n\n".join(parts) + "\n"


def _row(name: str, figures: Mapping[str, Mapping[str, float]]) -> str:
    """A line of the table.

    The texts embedded are those for ten candidates, which without lookahead are those for any.
    """
    cells = [f"{figures[str(n)]['coverage']:.1%} | {figures[str(n)]['tokens']}" for n in OFFERED]
    return f"| {name} | {' | '.join(cells)} | {figures['10']['embedded']} | {figures['10']['embedded, set']} |"


def plot(figures: Mapping[str, Any]) -> str:
    """Coverage against the tokens of the offers, at the first hop of WebQSP."""
    shown = figures["WebQSP"]["depth 1"]
    lines = {
        name: [(shown[name][str(n)]["tokens"], 100 * shown[name][str(n)]["coverage"]) for n in OFFERED]
        for name in PLOTTED
    }
    return curves(
        "WebQSP on FB15k-237, first hop: 5, 8, 10 and 30 candidates", "tokens of the offers", "coverage in %", lines
    )


if __name__ == "__main__":
    main()
