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
    if "by" in listed or root(listed[-1]) in english().agents:
        return "to the agent"
    if listed[-1] == "of":
        return "to the whole"
    verb = len(listed) == 1 and listed[0].endswith("s") and not listed[0].endswith("ss")
    return "from the agent" if verb or listed[0] in VERBS else "from the owner"


def agrees(role: Role, relation: str, direction: Direction) -> bool:
    """Whether a first step goes the way that what its topic does says."""
    return role != "" and MEANT[leads(relation)].get(role) == direction


def clash(role: Role, relation: str, direction: Direction) -> bool:
    """Whether a first step goes the other way than what its topic does says."""
    meant = MEANT[leads(relation)].get(role) if role else None
    return meant is not None and meant != direction
