"""Who does something, as what is asked for: "which actors were born in X" asks for people, and for no cast."""

import re
from functools import lru_cache

from fedkg.common.english import english, root
from fedkg.reasoner.local.likeness import expressed

__all__ = ["as_people"]

DOER = re.compile(
    r"\b(which|what) ([\w-]+) (?=(?:(?:is|are|was|were|has|have|had) (?:been )?)?([\w-]+))", re.IGNORECASE
)


@lru_cache(maxsize=1 << 12)
def as_people(question: str) -> str:
    """The question with "who" for a noun of who does something, where the verb after it says another relation."""
    return DOER.sub(_people, question)


def _people(match: re.Match[str]) -> str:
    noun, verb = match.group(2).lower(), match.group(3).lower()
    said = expressed(verb)
    other = root(noun) in english().agents and root(noun) != root(verb) and said and not said & expressed(noun)
    return "who " if other and noun not in english().sexed else match.group()
