"""How much of what a model is offered leads over or to entities without a name: of WebQSP's questions, on FB15k-237.

The offers are all groups around the topics of each question, in the words in which a model sees them. An entity without
a name is an IRI of Freebase that has no label and was not minted for a two-step fact (`m.cvt…`). `shares` are by
characters: of offers that pass over such an entity as if it were a mediator, and of those that end at one.
"""

import asyncio
from collections import Counter
from pathlib import Path

from eval.support.report import Report, options, require
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import ANSWERABLE, GoldCase, gold_cases
from fedkg.bench.data.gold_chains import SETS
from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Iri, Term
from fedkg.engine.presentation import path_candidate, shown_terms
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.retrieval.candidates import around
from fedkg.session import Session

SET = SETS["WebQSP"]
GRAPHS = ("freebase-fb15k237", "freebase-fb15k237-cvt")
LIMIT = 40
MINTED = "http://rdf.freebase.com/ns/m.cvt"
ENTITY = "http://rdf.freebase.com/ns/m."


def main() -> None:
    """Measures both graphs, the one with relations for two-step facts and the one with nodes for them."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions, by a fixed seed")
    chosen = parser.parse_args()
    require(chosen.data, ANSWERABLE, f"{SET.questions}.jsonl.gz", *(f"{name}.nt.gz" for name in GRAPHS))
    report = Report("nameless", write=chosen.write)
    cases = gold_cases(chosen.data, SET, Facts.read(chosen.data / SET.graph, SET.relations), chosen.limit)
    for name in GRAPHS:
        report.add(name, asyncio.run(measured(chosen.data / f"{name}.nt.gz", cases)))
    report.close()


async def measured(file: Path, cases: list[GoldCase]) -> dict[str, float]:
    """The shares of all offers around the topics of these questions."""
    counts: Counter[str] = Counter()
    async with Session(f"{SET.profile}@{file}", cache=False) as session:
        graph = await session.graph()
        for case in cases:
            counts += await offered(graph, list(case.topics))
    total = counts["characters"] or 1
    over, to = (round(counts[part] / total, 4) for part in ("over", "to"))
    return {"questions": len(cases), "offers": counts["offers"], "characters": total, "over": over, "to": to}


async def offered(graph: Graph, topics: list[Iri]) -> Counter[str]:
    """The characters of the offers around these topics, by where they lead."""
    explored = ExploredGraph(graph)
    await explored.fetch(topics)
    paths = [PartialPath(topic).extend(step) for topic in topics for step in around(explored, topic)]
    labels = await graph.labels(term for path in paths for term in shown_terms(path))
    ends = [edge.end for path in paths for edge in path.edges]
    nodes = [edge.through.node for path in paths for edge in path.edges if edge.through]
    names = await graph.labels([*ends, *nodes])
    nameless = {node for node in (*ends, *nodes) if _nameless(node, names[node])}
    counts: Counter[str] = Counter(offers=len(paths))
    for path in paths:
        size = len(path_candidate(1, path, labels, (), SearchSettings().tails).text)
        over, to = _shares(path.steps[-1], nameless)
        counts += Counter(characters=size, over=round(over * size), to=round(to * size))
    return counts


def _shares(step: Step, nameless: set[Term]) -> tuple[float, float]:
    """The share of the step's edges that pass over an entity without a name, and of those that end at one."""
    over = sum(edge.through is not None and edge.through.node in nameless for edge in step.edges)
    return over / len(step.edges), sum(edge.end in nameless for edge in step.edges) / len(step.edges)


def _nameless(node: Term, name: str) -> bool:
    """Whether it is an entity of Freebase that has only its identifier for a name."""
    return (
        isinstance(node, Iri)
        and node.value.startswith(ENTITY)
        and not node.value.startswith(MINTED)
        and (name == node.local_name)
    )


if __name__ == "__main__":
    main()
