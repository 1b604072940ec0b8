"""Who does something, as what is asked for: "which actors were born in X" asks for people, and for no cast."""

import re
from functools import lru_cache

from fedkg.common.english import english, root
from fedkg.reasoner.local.likeness import expressed

__all__ = ["as_people", "doer"]

DOER = re.compile(
    r"\b(which|what) ([\w-]+) "
    r"(?=(?:(?:is|are|was|were|has|have|had) (?:been )?)?([\w-]+)((?: (?:at|for|in|on|to|with)\b)?))",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 12)
def as_people(question: str) -> str:
    """The question with "who" for a noun of who does something, where the verb after it says another relation."""
    return DOER.sub(lambda match: "who " if _is_people(match) else match.group(), question)


@lru_cache(maxsize=1 << 12)
def doer(question: str) -> str:
    """The first noun that `as_people` leaves out; "" where there is none."""
    return next((match.group(2) for match in DOER.finditer(question) if _is_people(match)), "")


def _is_people(match: re.Match[str]) -> bool:
    """Whether the verb says another relation than the noun."""
    noun, verb, preposition = (match.group(part).lower() for part in (2, 3, 4))
    said = expressed(verb + preposition)
    other = root(noun) in english().agents and root(noun) != root(verb) and said and not said & expressed(noun)
    return bool(other) and noun not in english().sexed
