"""Questions with the chains of relations that lead from their topics to the answers, where their set names none as well."""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.core.terms import DirectedRelation, Iri, Term, parse_term

__all__ = ["ANSWERABLE", "SETS", "Case", "Chain", "Facts", "Set", "cases", "facts", "way"]

Row = Mapping[str, Any]
Chain = tuple[DirectedRelation, ...]

ANSWERABLE = "answerable.json"
NAMES = ("<http://www.w3.org/2000/01/rdf-schema#label>", "<http://rdf.freebase.com/ns/common.topic.alias>")
FREEBASE_ID, FREEBASE_IRI = "<http://www.wikidata.org/prop/direct/P646>", "http://rdf.freebase.com/ns"


class Set(NamedTuple):
    """The questions of a file on one graph, which has this `profile`; a fact's relation begins with `relations`."""

    questions: str
    graph: str
    relations: str
    profile: str


FREEBASE = ("freebase-fb15k237.nt.gz", "<http://rdf.freebase.com/ns/", "freebase")
SETS = {
    "WebQSP": Set("webqsp-test", *FREEBASE),
    "CWQ": Set("cwq-test", *FREEBASE),
    "MetaQA, 3 hops": Set("metaqa-3hop-test", "metaqa.nt.gz", "<http://metaqa.invalid/relation/", "generic"),
    "WebQSP on CoDEx-M": Set(
        "webqsp-test", "wikidata-codex-m.nt.gz", "<http://www.wikidata.org/prop/direct/", "wikidata"
    ),
}


class Case(NamedTuple):
    """A question with its topics (by label), the answers that the graph has, and the chains that lead to one, by topic."""

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
    """The facts of a graph, to be walked in both directions, and the entities of a name."""

    def __init__(self) -> None:
        self._near: dict[Term, dict[DirectedRelation, set[Term]]] = {}
        self._named: dict[str, set[Iri]] = defaultdict(set)

    def add(self, subject: Iri, relation: Iri, target: Iri) -> None:
        """One more fact."""
        for node, walked, end in (
            (subject, DirectedRelation(relation, "out"), target),
            (target, DirectedRelation(relation, "in"), subject),
        ):
            self._near.setdefault(node, {}).setdefault(walked, set()).add(end)

    def name(self, entity: Iri, name: str) -> None:
        """One more name of an entity."""
        self._named[name.casefold()].add(entity)

    def __contains__(self, entity: Term) -> bool:
        return entity in self._near

    def named(self, name: str) -> set[Iri]:
        """The entities of that name that a fact is about."""
        return {entity for entity in self._named.get(name.casefold(), ()) if entity in self}

    def walk(self, starts: Iterable[Term], chain: Sequence[DirectedRelation]) -> set[Term]:
        """Where the relations lead to, one after the other."""
        ends = set(starts)
        for relation in chain:
            ends = {end for node in ends for end in self._near.get(node, {}).get(relation, ())}
        return ends

    def to(self, topic: Term, answers: frozenset[Term]) -> list[Chain]:
        """The relations that lead from the topic to one of the answers."""
        near = self._near.get(topic, {})
        return [(relation,) for relation, ends in near.items() if not ends.isdisjoint(answers)]

    def through(self, topic: Term, answers: frozenset[Term]) -> set[Chain]:
        """The pairs of relations that lead from the topic to one of the answers."""
        last: dict[Term, set[DirectedRelation]] = defaultdict(set)
        for answer in answers:
            for relation, nodes in self._near.get(answer, {}).items():
                for node in nodes:
                    last[node].add(relation.inverse)
        near = self._near.get(topic, {})
        return {
            (relation, step) for relation, ends in near.items() for node in ends & last.keys() for step in last[node]
        }


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
    rows = _rows(data, chosen)
    random.Random(seed).shuffle(rows)  # a reproducible sample, not a secret
    found: list[Case] = []
    for row in rows:
        case = _case(row, graph)
        if case.chains and len(found) < limit:
            found.append(case)
    return found


def way(question: BenchmarkQuestion, graph: Facts) -> Chain:
    """Of the shortest relations, one or two, from a topic to an answer those whose ends are most like the answers; else none."""
    topics = [iri for topic in question.topic_entities for iri in _topic(topic.iri, graph)]
    named = ({"iri": answer.iri, "label": answer.label} for answer in question.answers)
    answers = frozenset(end for one in named for end in _entities(one, graph)) - set(topics)
    for lead in (graph.to, graph.through):
        if found := [(topic, chain) for topic in topics for chain in lead(topic, answers)]:
            return max(found, key=lambda one: (_alike(graph.walk([one[0]], one[1]), answers), one[1]))[1]
    return ()


def _alike(ends: set[Term], answers: frozenset[Term]) -> float:
    """F1."""
    return 2 * len(ends & answers) / (len(ends) + len(answers))


def _rows(data: Path, chosen: Set) -> list[Row]:
    """The questions; on FB15k-237 those whose answer is known to be one hop away."""
    with gzip.open(data / f"{chosen.questions}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "fb15k237" not in chosen.graph:
        return rows
    known = json.loads((data / ANSWERABLE).read_text(encoding="utf-8"))["answer_within_hops_on_fb15k237"]
    return [row for row in rows if known[chosen.questions].get(row["id"]) == 1]


def _case(row: Row, graph: Facts) -> Case:
    topics = {iri: topic["label"] for topic in row["topic_entities"] for iri in _topic(topic["iri"], graph)}
    answers = frozenset(end for answer in row["answers"] for end in _entities(answer, graph)) - topics.keys()
    chains = tuple((topic, chain) for topic in topics for chain in _chains(row, topic, answers, graph))
    reached = {end for topic, chain in chains for end in graph.walk([topic], chain)}
    return Case(row["id"], row["question"], topics, answers & reached, chains)


def _topic(iri: str, graph: Facts) -> list[Iri]:
    """The entity, or the one that has this IRI as its identifier in Freebase."""
    return [Iri(iri)] if Iri(iri) in graph else sorted(graph.named(iri))[:1]


def _entities(answer: Mapping[str, str], graph: Facts) -> set[Iri]:
    """The entities that an answer means: by its IRI or, where it has none, by its name."""
    if iri := answer.get("iri"):
        return {Iri(iri)} if Iri(iri) in graph else set()
    return graph.named(str(answer.get("label") or ""))


def _chains(row: Row, topic: Iri, answers: frozenset[Term], graph: Facts) -> list[Chain]:
    """The relations that the set names, as far as they lead to an answer; where it names none, all that do at one hop."""
    if "gold_relations" not in row:
        return graph.to(topic, answers)
    chain = tuple(_directed(text) for text in row["gold_relations"])
    return [chain] if answers & graph.walk([topic], chain) else []


def _directed(text: str) -> DirectedRelation:
    """A relation as MetaQA's rows name it: with `^` it is walked backwards."""
    return DirectedRelation(Iri(text.removeprefix("^")), "in" if text.startswith("^") else "out")
