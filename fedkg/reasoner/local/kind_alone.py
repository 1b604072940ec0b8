"""Questions that name a topic and a kind and nothing else: "X's films", "which countries are in X".

No word says a relation, so it is the kind of the ends that tells which one is meant.
"""

import functools
import re
from collections.abc import Sequence

from fedkg.common.english import root
from fedkg.common.normalize import without
from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.chains import chain_of
from fedkg.reasoner.local.kinds import WantedKinds, asked
from fedkg.reasoner.local.wording import small

__all__ = ["of_one_kind"]

WORD = re.compile(r"[^\W_]+")
SAYS = frozenset({"play", "plays", "played"})
"""Verbs that say no more of a kind than that something has to do with it: "films that X played in"."""
INSTANCE = frozenset({"instance of", "type"})


def of_one_kind(question: str, paths: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """The paths of one step whose ends are of the kind that the question names, where it says nothing but that.

    None where it says more. Where it names nothing beside its topic, that is the kind: the paths to its instances.
    """
    topics = {other.topic for path in paths for other in (path, *path.also)}
    several = len(topics) > 1
    if several and not any(path.also for path in paths):
        return []
    rest = functools.reduce(without, topics, question)
    wanted = asked(rest)
    words = [word for word in WORD.findall(rest.lower()) if not small(word) and word not in SAYS]
    single = [path for path in paths if _single(path) and bool(path.also) == several]
    if not words and several:
        return []
    if not words:
        return [path for path in single if path.relations[0] in INSTANCE and path.directions == ("in",)]
    if not wanted.roots or any(root(word) not in wanted.roots for word in words):
        return []
    return [path for path in single if _of_kind(wanted, path)]


def _single(path: PromptCandidate) -> bool:
    """Whether it is one step from each of its topics."""
    return all(len(each.relations) == 1 for each in (path, *path.also))


def _of_kind(wanted: WantedKinds, path: PromptCandidate) -> bool:
    """Whether the ends are known to be of the kind, by their types."""
    return bool(any(path.types) and chain_of(path).kinds & (wanted.roots | wanted.narrow))
