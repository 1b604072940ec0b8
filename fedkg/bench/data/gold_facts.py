"""Gold facts that a question set states in words, as CR-LT does: "1- (Horsens, population, 59,449), 2- (…)"."""

import re
from collections.abc import Iterator

from fedkg.bench.data.questions import WordedFact

__all__ = ["readings", "worded_facts"]

BODY = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
QUALIFIERS = re.compile(r"\s*\{[^{}]*\}")
"""What some facts state beside their value: "(Pavlo Khazan, occupation, deputy {employer, …})"."""


def worded_facts(text: str) -> tuple[WordedFact, ...]:
    """The facts of a text, each cut at its first two commas; what is no subject, relation and object is left out."""
    bodies = (QUALIFIERS.sub("", body).strip("( ") for body in BODY.findall(text))
    parts = ([part.strip() for part in body.split(",", 2)] for body in bodies)
    return tuple((part[0], part[1], part[2]) for part in parts if len(part) == 3 and all(part))


def readings(fact: WordedFact) -> Iterator[WordedFact]:
    """Every way to cut the fact at two of its commas, the first two first: names have commas of their own."""
    parts = [part.strip() for part in ",".join(fact).split(",")]
    for first in range(1, len(parts) - 1):
        for second in range(first + 1, len(parts)):
            yield ", ".join(parts[:first]), ", ".join(parts[first:second]), ", ".join(parts[second:])
