"""The one fact that a published query over Wikidata asks for, or asks about."""

import re
from typing import NamedTuple

from fedkg.core.terms import DirectedRelation, Direction, Iri

__all__ = ["GoldFact", "gold_fact"]

ENTITY, PROPERTY = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
BODY = re.compile(r"\b(?P<form>SELECT|ASK)\b[^{]*\{(?P<body>[^{}]*)\}\s*$", re.IGNORECASE)
ONE = r"\s*{start}\s+(?:wdt:|p:P\d+/ps:)(P\d+)\s+{end}\s*\.?\s*"
FORWARDS = re.compile(ONE.format(start=r"wd:(Q\d+)", end=r"\?\w+"))
BACKWARDS = re.compile(ONE.format(start=r"\?\w+", end=r"wd:(Q\d+)"))
STATED = re.compile(ONE.format(start=r"wd:(Q\d+)", end=r"wd:(Q\d+)(?:\s*,\s*wd:Q\d+)*"))


class GoldFact(NamedTuple):
    """A step from a topic, and what it has to lead to for a yes; None where what it leads to is asked for."""

    topic: Iri
    step: DirectedRelation
    value: Iri | None = None


def gold_fact(query: str) -> GoldFact | None:
    """The fact; None where the query has more than one triple, or is of another form."""
    match = BODY.search(query)
    if match is None:
        return None
    body = match["body"]
    if match["form"].upper() == "ASK":
        stated = STATED.fullmatch(body)
        return _fact(stated.group(1), stated.group(2), "out", stated.group(3)) if stated else None
    if forwards := FORWARDS.fullmatch(body):
        return _fact(forwards.group(1), forwards.group(2), "out")
    backwards = BACKWARDS.fullmatch(body)
    return _fact(backwards.group(2), backwards.group(1), "in") if backwards else None


def _fact(topic: str, relation: str, direction: Direction, value: str = "") -> GoldFact:
    step = DirectedRelation(Iri(PROPERTY + relation), direction)
    return GoldFact(Iri(ENTITY + topic), step, Iri(ENTITY + value) if value else None)
