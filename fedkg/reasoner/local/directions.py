"""Which way a relation leads, by its name, and which way a question means it.

"Directed by" and "director" lead from a work to who made it, "treats" and "member of" from who does it, and all others
from what has them. "Who directed X" and "which films did X direct" say the same of different ends.
"""

from functools import lru_cache
from typing import Literal

from fedkg.common.english import english, root
from fedkg.core.terms import Direction
from fedkg.embed.bm25 import words
from fedkg.reasoner.local.wording import Role

__all__ = ["agrees", "clash", "leads"]

Lead = Literal["to the agent", "from the agent", "to the whole", "from the owner"]
VERBS = frozenset("treats causes binds affects presents participates includes owns contains produces regulates".split())
"""Verbs that begin the names of relations."""
MEANT: dict[Lead, dict[Role, Direction]] = {
    "to the agent": {"agent": "in", "patient": "out", "owner": "out", "subject": "out"},
    "from the agent": {"agent": "out", "patient": "in"},
    "to the whole": {"agent": "out", "patient": "in", "owner": "in", "subject": "out"},
    "from the owner": {},
}
"""The way of the first step, by what the topic does; what is not listed may go either way."""


@lru_cache(maxsize=1 << 14)
def leads(relation: str) -> Lead:
    """From whom to whom a relation leads."""
    listed = words(relation)
    if not listed:
        return "from the owner"
    if listed[0] in VERBS:
        return "from the agent"
    if "by" in listed or root(listed[-1]) in english().agents:
        return "to the agent"
    if listed[-1] == "of":
        return "to the whole"
    verb = len(listed) == 1 and listed[0].endswith("s") and not listed[0].endswith("ss")
    return "from the agent" if verb else "from the owner"


def agrees(role: Role, relation: str, direction: Direction, done: str = "") -> bool:
    """Whether a first step goes the way that what its topic does, or what is `done` to it, says."""
    return _meant(role, relation, done) == direction


def clash(role: Role, relation: str, direction: Direction, done: str = "") -> bool:
    """Whether a first step goes the other way; never where the relation holds both ways."""
    meant = _meant(role, relation, done)
    return meant is not None and meant != direction and relation not in english().symmetric


def _meant(role: Role, relation: str, done: str) -> Direction | None:
    """The way that is meant, where that is told: what "is regulated" is what another one regulates."""
    if role == "subject" and done and leads(relation) == "from the agent" and root(words(relation)[0]) == root(done):
        return "in"
    return MEANT[leads(relation)].get(role) if role else None
