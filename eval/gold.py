"""The gold paths of questions whose set names none, or relations only: chains of relations from a topic to the answers."""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fedkg.terms import DirectedRelation, Iri, Term, parse_term

__all__ = ["SETS", "Case", "Chain", "Facts", "Set", "cases", "facts"]

Row = Mapping[str, Any]
Chain = tuple[DirectedRelation, ...]

ANSWERABLE = "answerable.json"
NAMES = ("<http://www.w3.org/2000/01/rdf-schema#label>", "<http://rdf.freebase.com/ns/common.topic.alias>")
FREEBASE_ID, FREEBASE_IRI = "<http://www.wikidata.org/prop/direct/P646>", "http://rdf.freebase.com/ns"
FITS = 0.5
"""A chain is gold where at least this much of it is answers (F1): others lead to one by accident."""


class Set(NamedTuple):
    """Questions on one graph: the files they come from, how many hops away their answers are, and what says so.

    `relations` is the prefix of what counts as a fact in that graph, `profile` how it is read.
    """

    questions: tuple[str, ...]
    graph: str
    relations: str
    profile: str
    hops: tuple[int, ...]
    gold: Literal["edges", "chains", "relations"]

    @property
    def files(self) -> tuple[str, ...]:
        """What it needs of the data folder."""
        return (*(f"{name}.jsonl.gz" for name in self.questions), self.graph)


FREEBASE = ("freebase-fb15k237.nt.gz", "<http://rdf.freebase.com/ns/", "freebase")
CODEX = ("wikidata-codex-m.nt.gz", "<http://www.wikidata.org/prop/direct/", "wikidata")
SETS = {
    "WebQSP, 1 hop": Set(("webqsp-test",), *FREEBASE, (1,), "edges"),
    "CWQ, 1 hop": Set(("cwq-test",), *FREEBASE, (1,), "edges"),
    "WebQSP and CWQ, 2 hops": Set(("webqsp-test", "cwq-test"), *FREEBASE, (2,), "chains"),
    "MetaQA, 3 hops": Set(
        ("metaqa-3hop-test",), "metaqa.nt.gz", "<http://metaqa.invalid/relation/", "generic", (3,), "relations"
    ),
    "WebQSP on CoDEx-M, 1 hop": Set(("webqsp-test",), *CODEX, (1,), "edges"),
    "WebQSP, CWQ, QALD-10 on CoDEx-M": Set(
        ("webqsp-test", "cwq-test", "qald10-wikidata-en"), *CODEX, (2,), "chains"
    ),
}


class Case(NamedTuple):
    """A question with its topics (by label), the answers that the graph has, and by topic the chains that lead to them."""

    id: str
    question: str
    topics: dict[Iri, str]
    answers: frozenset[Term]
    chains: tuple[tuple[Iri, Chain], ...]

    @property
    def hops(self) -> int:
        """How many steps it takes."""
        return max(len(chain) for _, chain in self.chains)


class Facts:
    """The facts of a graph file, to be walked in both directions, and the entities of a name."""

    def __init__(self) -> None:
        self._near: dict[Term, dict[DirectedRelation, set[Term]]] = defaultdict(lambda: defaultdict(set))
        self._named: dict[str, set[Term]] = defaultdict(set)

    def add(self, subject: Term, relation: Iri, target: Term) -> None:
        """One more fact."""
        self._near[subject][DirectedRelation(relation, "out")].add(target)
        self._near[target][DirectedRelation(relation, "in")].add(subject)

    def name(self, entity: Term, name: str) -> None:
        """One more name of an entity."""
        self._named[name.casefold()].add(entity)

    def __contains__(self, entity: Term) -> bool:
        return entity in self._near

    def named(self, name: str) -> set[Term]:
        """The entities of that name that a fact is about."""
        return {entity for entity in self._named.get(name.casefold(), ()) if entity in self}

    def walk(self, starts: Iterable[Term], chain: Sequence[DirectedRelation]) -> set[Term]:
        """Where the relations lead to, one after the other."""
        ends = set(starts)
        for relation in chain:
            ends = {end for node in ends for end in self._near.get(node, {}).get(relation, ())}
        return ends

    def chains(self, topic: Term, answers: Iterable[Term], hops: int) -> list[Chain]:
        """The chains of one or two relations that lead from the topic to one of the answers."""
        if hops == 1:
            return [(relation,) for relation, ends in self._near.get(topic, {}).items() if not ends.isdisjoint(answers)]
        found: dict[Chain, None] = {}
        for answer in answers:
            for back, middles in self._near.get(answer, {}).items():
                for first, ends in self._near.get(topic, {}).items():
                    if not (ends & middles) - {topic, answer}:
                        continue
                    found[first, back.inverse] = None
        return sorted(found)


def facts(file: Path, relations: str) -> Facts:
    """The facts between entities of a gzipped N-Triples file, and the names."""
    found = Facts()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            subject, relation, rest = line.split(" ", 2)
            target = rest.strip().removesuffix(".").strip()
            if relation in NAMES:
                found.name(Iri(subject[1:-1]), getattr(parse_term(target), "value", ""))
            elif relation == FREEBASE_ID:
                found.name(Iri(subject[1:-1]), FREEBASE_IRI + target[1:-1].replace("/m/", "/m.", 1))
            elif relation.startswith(relations) and target.startswith("<"):
                found.add(Iri(subject[1:-1]), Iri(relation[1:-1]), Iri(target[1:-1]))
    return found


def cases(data: Path, chosen: Set, graph: Facts, limit: int, seed: int = 0) -> list[Case]:
    """At most `limit` questions of the set, drawn by `seed`, that have a topic, an answer and a path in the graph."""
    known = json.loads((data / ANSWERABLE).read_text(encoding="utf-8"))["answer_within_hops_on_fb15k237"]
    reach = known if "fb15k237" in chosen.graph else {}
    rows = [row for name in chosen.questions for row in _rows(data / f"{name}.jsonl.gz", reach.get(name), chosen.hops)]
    random.Random(seed).shuffle(rows)  # noqa: S311  # a reproducible sample, not a secret
    found: list[Case] = []
    for row in rows:
        case = _case(row, chosen, graph)
        if case.chains and len(found) < limit:
            found.append(case)
    return found


def _rows(file: Path, reach: Mapping[str, int] | None, hops: Sequence[int]) -> list[Row]:
    """The questions, of those whose distance is known the ones that are as many hops away."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if reach is None or reach.get(row["id"]) in hops]


def _case(row: Row, chosen: Set, graph: Facts) -> Case:
    topics = {iri: topic["label"] for topic in row["topic_entities"] for iri in _topic(topic["iri"], graph)}
    answers = frozenset(end for answer in row["answers"] for end in _entities(answer, graph)) - frozenset(topics)
    chains = _chains(row, topics, answers, chosen, graph) if topics and answers else []
    reached = [end for topic, chain in chains for end in graph.walk([topic], chain)]
    return Case(row["id"], row["question"], topics, answers & set(reached), tuple(chains))


def _topic(iri: str, graph: Facts) -> list[Iri]:
    """The entity, or the one that has this IRI as its identifier in Freebase."""
    return [Iri(iri)] if Iri(iri) in graph else [end for end in graph.named(iri) if isinstance(end, Iri)][:1]


def _entities(answer: Mapping[str, str], graph: Facts) -> set[Term]:
    """The entities that an answer means: by its IRI or, where it has none, by its name."""
    if iri := answer.get("iri"):
        return {Iri(iri)} if Iri(iri) in graph else set()
    return graph.named(str(answer.get("label") or ""))


def _chains(
    row: Row, topics: Iterable[Iri], answers: frozenset[Term], chosen: Set, graph: Facts
) -> list[tuple[Iri, Chain]]:
    """The gold chains: those that the set names, else all that lead to an answer, or of these the ones that fit best."""
    if chosen.gold == "relations":
        chain = tuple(_directed(text) for text in row["gold_relations"])
        return [(topic, chain) for topic in topics if answers & graph.walk([topic], chain)]
    for hops in chosen.hops:
        found = [(topic, chain) for topic in topics for chain in graph.chains(topic, answers, hops)]
        if found:
            return found if chosen.gold == "edges" else _fitting(found, answers, graph)
    return []


def _fitting(found: Sequence[tuple[Iri, Chain]], answers: frozenset[Term], graph: Facts) -> list[tuple[Iri, Chain]]:
    """The chains whose ends fit the answers best (F1)."""
    fits = [_f1(graph.walk([topic], chain) - {topic}, answers) for topic, chain in found]
    return [one for one, fit in zip(found, fits, strict=True) if fit == max(fits) and fit >= FITS]


def _f1(ends: set[Term], answers: frozenset[Term]) -> float:
    return 2 * len(ends & answers) / (len(ends) + len(answers))


def _directed(text: str) -> DirectedRelation:
    """A relation as MetaQA's rows name it: with `^` it is walked backwards."""
    return DirectedRelation(Iri(text.removeprefix("^")), "in" if text.startswith("^") else "out")
