"""The facts of a graph file in memory: walked without an endpoint, where question sets name no way to their answers."""

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from fedkg.bench.data.questions import written
from fedkg.common.normalize import spellings
from fedkg.core.terms import DirectedRelation, Iri, Literal, Term, parse_term

__all__ = ["Facts", "Walked"]

Walked = tuple[DirectedRelation, ...]

NAMES = (
    "<http://www.w3.org/2000/01/rdf-schema#label>",
    "<http://www.w3.org/2004/02/skos/core#altLabel>",
    "<http://rdf.freebase.com/ns/type.object.name>",
    "<http://rdf.freebase.com/ns/common.topic.alias>",
)
FREEBASE_ID, FREEBASE_IRI = "<http://www.wikidata.org/prop/direct/P646>", "http://rdf.freebase.com/ns"


class Facts:
    """The facts of a graph, to be walked in both directions, and the entities of a name."""

    def __init__(self) -> None:
        self._neighbours: dict[Term, dict[DirectedRelation, set[Term]]] = {}
        self._named: dict[str, set[Iri]] = defaultdict(set)
        self._names: dict[Iri, set[str]] = defaultdict(set)
        self._labels: dict[Iri, str] = {}

    @classmethod
    def read(cls, file: Path, relations: str) -> "Facts":
        """The facts between entities of a gzipped N-Triples file, of relations that begin with that, and the names."""
        facts = cls()
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                subject, relation, rest = line.split(" ", 2)
                target = rest.strip().removesuffix(".").strip()
                if relation in NAMES:
                    facts.name(Iri(subject[1:-1]), _value(target), label=relation == NAMES[0])
                elif relation == FREEBASE_ID:
                    facts.name(Iri(subject[1:-1]), FREEBASE_IRI + target[1:-1].replace("/m/", "/m.", 1))
                elif relation.startswith(relations) and target.startswith("<"):
                    facts.add(Iri(subject[1:-1]), Iri(relation[1:-1]), Iri(target[1:-1]))
        return facts

    def add(self, subject: Iri, relation: Iri, target: Iri) -> None:
        """One more fact."""
        for node, directed, end in (
            (subject, DirectedRelation(relation, "out"), target),
            (target, DirectedRelation(relation, "in"), subject),
        ):
            self._neighbours.setdefault(node, {}).setdefault(directed, set()).add(end)

    def name(self, entity: Iri, name: str, *, label: bool = False) -> None:
        """One more name of an entity; its first `label` is what it is shown as."""
        if label:
            self._labels.setdefault(entity, name)
        self._named[name].add(entity)
        self._names[entity].add(name)

    def __contains__(self, entity: Term) -> bool:
        return entity in self._neighbours

    def named(self, name: str) -> set[Iri]:
        """The entities in facts that have this label or alias, in a spelling that a search tries too."""
        forms = dict.fromkeys(form for text in written(name) for form in spellings(text))
        return {entity for form in forms for entity in self._named.get(form, ()) if entity in self}

    def names(self, entity: Iri) -> tuple[str, ...]:
        """The labels and aliases of an entity."""
        return tuple(sorted(self._names.get(entity, ())))

    def label(self, entity: Iri) -> str:
        """The label of an entity; "" where it has none."""
        return self._labels.get(entity, "")

    def topic(self, iri: str) -> list[Iri]:
        """The entity, or the one that has this IRI as its identifier in Freebase; none where no fact is about it."""
        return [Iri(iri)] if Iri(iri) in self else sorted(self.named(iri))[:1]

    def answers(self, iri: str, label: str) -> set[Iri]:
        """The entities that an answer means: by its IRI or, where it has none, by its name."""
        if iri:
            return {Iri(iri)} if Iri(iri) in self else set()
        return self.named(label)

    def walk(self, starts: Iterable[Term], chain: Sequence[DirectedRelation]) -> set[Term]:
        """Where the relations lead to, one after the other."""
        ends = set(starts)
        for relation in chain:
            ends = {end for node in ends for end in self._neighbours.get(node, {}).get(relation, ())}
        return ends

    def single_steps(self, topic: Term, answers: Collection[Term]) -> list[Walked]:
        """The relations that lead from the topic to one of the answers."""
        near = self._neighbours.get(topic, {})
        return [(relation,) for relation, ends in near.items() if not ends.isdisjoint(answers)]

    def double_steps(self, topic: Term, answers: Collection[Term]) -> set[Walked]:
        """The pairs of relations that lead from the topic to one of the answers."""
        last: dict[Term, set[DirectedRelation]] = defaultdict(set)
        for answer in answers:
            for relation, nodes in self._neighbours.get(answer, {}).items():
                for node in nodes:
                    last[node].add(relation.inverse)
        near = self._neighbours.get(topic, {})
        return {
            (relation, step) for relation, ends in near.items() for node in ends & last.keys() for step in last[node]
        }


def _value(literal: str) -> str:
    term = parse_term(literal)
    return term.value if isinstance(term, Literal) else ""
