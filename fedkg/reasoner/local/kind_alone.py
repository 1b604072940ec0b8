"""Questions that name a topic and a kind and nothing else: "X's films", "which countries are in X".

No word says a relation, so it is the kind of the ends that tells which one is meant.
"""

import functools
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from fedkg.common.english import root
from fedkg.common.normalize import without
from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.chains import chain_of
from fedkg.reasoner.local.kinds import WantedKinds, asked
from fedkg.reasoner.local.wording import kind_noun, plain, small

__all__ = ["of_one_kind"]

WORD = re.compile(r"[^\W_]+")
SAYS = frozenset({"belong", "belongs", "involved", "part", "play", "plays", "played"})
"""Words that say no more of a kind than that something has to do with it: "films that X played in"."""
NOT_ACTING = "".join(rf"(?<!\b{word} )" for word in ("did", "does", "do", "has", "have", "had", "can", "that", "whom"))
"""What follows the topic after these is a verb: "which albums did X record"."""
INSTANCE = frozenset({"instance of", "type"})
EVERY = re.compile(r"\b(?:all|every|each|list)\b", re.IGNORECASE)
MEMBERS = re.compile(
    r"(?:includes?|has|have) (?:\w+ )?(?:members?|parts?|instances?)|includes?(?: \w+)?|members?", re.IGNORECASE
)
"""Names of relations from a class to what belongs to it."""


def of_one_kind(question: str, paths: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """The paths of one step whose ends are of the kind that the question names, where it says nothing but that.

    None where it says more. Where it names nothing beside its topic, that is the kind: the paths to its instances.
    """
    topics = {other.topic for path in paths for other in (path, *path.also)}
    several = len(topics) > 1
    if several and not any(path.also for path in paths):
        return []
    named = asked(functools.reduce(without, topics, question)).roots
    for topic in topics:
        question = _unapposed(question, topic, named)
    rest = functools.reduce(without, topics, plain(question))
    wanted = asked(rest)
    words = {root(word) for word in WORD.findall(rest.lower()) if not small(word) and word not in SAYS}
    single = [path for path in paths if _single(path) and bool(path.also) == several]
    if not words and several:
        return []
    if not words:
        found = [path for path in single if path.relations[0] in INSTANCE and path.directions == ("in",)]
        return found or [path for path in single if EVERY.search(rest) and _lists(path)]
    if not wanted.roots & words:
        return []
    fitting = [path for path in single if _of_kind(wanted, path)]
    return [path for path in fitting if words <= wanted.roots | chain_of(path).kinds]


def _unapposed(question: str, topic: str, wanted: AbstractSet[str]) -> str:
    """The question without the noun beside its topic that tells what it is: "the ABC gene", and is not `wanted`."""
    name = rf"(?<!\w){re.escape(topic)}(?!\w)"
    for beside in (rf"(?<=\bthe )([\w-]+) (?={name})", rf"{NOT_ACTING}{name} ([\w-]+)"):
        match = re.search(beside, question, re.IGNORECASE)
        word = match.group(1).lower() if match else ""
        if match and kind_noun(word) and not word.endswith("ed") and root(word) not in wanted:
            question = question[: match.start(1)] + question[match.end(1) :]
    return question


def _lists(path: PromptCandidate) -> bool:
    """Whether the relation leads from a class to what belongs to it."""
    return path.directions == ("out",) and MEMBERS.fullmatch(path.relations[0]) is not None


def _single(path: PromptCandidate) -> bool:
    """Whether it is one step from each of its topics."""
    return all(len(each.relations) == 1 for each in (path, *path.also))


def _of_kind(wanted: WantedKinds, path: PromptCandidate) -> bool:
    """Whether the ends are known to be of the kind, by their types."""
    return bool(any(path.types) and chain_of(path).kinds & (wanted.roots | wanted.narrow))
