"""Relations whose names say domain and type, as Freebase's do: `film.actor.film..film.performance.film`.

Its labels are short: that one's is "film", and a student, a degree and a subject are all "student" of something. What
the whole name says beside the label tells these apart, and the type tells what the relation starts from.
"""

import re
from functools import lru_cache

__all__ = ["beside", "owner", "passed"]

WORD = re.compile(r"[a-z0-9]+")
PARTICIPLE = re.compile(r"^.*(?:ed|ing) (?=\w)")
GENERAL = frozenset("base common user topic type object s".split())
"""Parts of names that say nothing: domains of users, and of everything."""


@lru_cache(maxsize=1 << 14)
def beside(label: str, typed: str) -> str:
    """The words of the whole name that the label lacks, each once."""
    known = set(WORD.findall(label.lower())) | GENERAL
    return " ".join(word for word in dict.fromkeys(WORD.findall(typed)) if word not in known)


@lru_cache(maxsize=1 << 14)
def owner(typed: str) -> str:
    """What the relation starts from, by its name: "educational institution"; "" where that is not said.

    An "award winning work" is a work, and no award.
    """
    parts = typed.split("..", maxsplit=1)[0].split(".")
    return PARTICIPLE.sub("", parts[-2].replace("_", " ")) if len(parts) > 1 else ""


@lru_cache(maxsize=1 << 14)
def passed(typed: str) -> str:
    """What a relation that stands for two leads through: "regular cast" before the actor; "" for a plain one."""
    first, way, _ = typed.partition("..")
    return first.rpartition(".")[2].replace("_", " ") if way else ""
