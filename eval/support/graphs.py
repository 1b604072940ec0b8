"""What measurements take from the public graphs: entities of an ordinary degree."""

import gzip
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fedkg.core.terms import Iri

__all__ = ["ENTITY", "RELATION", "edges", "entities"]

ENTITY, RELATION = "http://www.wikidata.org/entity/Q", "http://www.wikidata.org/prop/direct/"
LEAST, MOST = 5, 60


def entities(file: Path, count: int) -> list[Iri]:
    """Entities of a graph in Wikidata's shape with 5 to 60 edges, drawn by a fixed seed: neither loners nor hubs."""
    degree = Counter(end for edge in edges(file) for end in set(edge))
    ordinary = sorted(iri for iri, number in degree.items() if LEAST <= number <= MOST)
    return [Iri(iri) for iri in random.Random(0).sample(ordinary, count)]


def edges(file: Path) -> Iterator[tuple[str, str]]:
    """Both ends of each edge between entities."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            subject, relation, target = line.split(" ", 2)
            if relation.startswith(f"<{RELATION}") and target.startswith(f"<{ENTITY}"):
                yield subject[1:-1], target.split(">")[0][1:]
