"""The clause of a message that asks: what people say beside it, and how they begin politely, says no relation.

"My aunt has gout, is there a drug for it?" asks "is there a drug for gout?". Pronouns are those of `follow_ups.toml`.
"""

import re
from functools import lru_cache

from fedkg.common.english import english
from fedkg.common.follow_ups import follow_up_words
from fedkg.common.normalize import mentioned
from fedkg.common.sentences import sentences
from fedkg.core.question import evident, guessed

__all__ = ["asking"]

ASIDE = re.compile(r"\s+[-–—]+\s+|[;,]\s+")
"""What may stand between what is said and what is asked."""
POLITE = re.compile(
    r"^\W*(?:(?:hi|hello|hey|please|so|well|ok|okay|just curious|quick question)\b\W*)*"
    r"(?:(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody) (?:please |kindly |possibly )?"
    r"(?=(?:tell|give|show|name|list|find|remind)\b)"
    r"|(?:do you(?: happen to)?|does (?:anyone|anybody|someone)|who) know (?=(?:who|what|which|when|where|how)\b)"
    r"|(?:have you )?any idea (?=(?:who|what|which|when|where|how)\b)"
    r"|i(?: was|['’]m| am)? (?:wonder(?:ing)?|curious) (?=(?:who|what|which|when|where|how)\b)"
    r"|i(?: would|['’]d)? (?:like|want|need) to know (?=(?:who|what|which|when|where|how)\b))?",
    re.IGNORECASE,
)
TELLING = re.compile(r"^(?:tell|remind) (?:me|us) (?=(?:who|what|which|when|where|how)\b)", re.IGNORECASE)
REQUEST = re.compile(r"^(?:tell|give|show|name|list|find)\b", re.IGNORECASE)
PLACED = frozenset({"there"})
FEW = 3
"""Words of a clause that may begin a further one, and are no statement: "in that film, who …"."""
OTHER = re.compile(
    r"\b(?:an?|the|this|that|some|another|same) (?!(?:[\w-]+ )?(?:attack|bout|case|fan|form) of)(?:[\w-]+ ){1,3}"
    r"(?:of|with|by|like|from|in|for|against|to|as)(?: the)?\s*$|\b(?:an?|this|that|another)\s*$",
    re.IGNORECASE,
)
"""Before a topic: something else is told of, "a movie with X", "the son of X", "an X movie"; not "a case of X"."""
OWNING = re.compile(r"['’]s?\s+\w")
"""Behind one: "X's last film"."""
OWN = re.compile(r"^\W*(?:my|our)\b(?!.*\b(?:is|was|called|named)\s*$)", re.IGNORECASE)
"""Before one: "my boss knows X", but not "my favourite actor is X"."""


@lru_cache(maxsize=1 << 10)
def asking(message: str, topics: tuple[str, ...] = ()) -> str:
    """The one clause that asks, its pronoun replaced by the topic that the rest names; the message where none is sure.

    That is so where several ask, or a topic is only named beside it, and no pronoun stands for it.
    """
    clauses = [clause for sentence in sentences(message) for clause in _clauses(sentence)]
    asks = [clause for clause in map(_plainly, clauses) if _asks(clause)]
    if len(asks) != 1:
        return message
    named = [topic for topic in topics if mentioned(message, topic)]
    if any(not any(mentioned(clause, topic) for clause in clauses) for topic in named):  # a mark within a name
        return message
    beside = [topic for topic in named if not mentioned(asks[0], topic)]
    if not beside:
        return asks[0]
    if len(named) > 1:
        return message
    others = " ".join(clause for clause in clauses if _plainly(clause) != asks[0])
    return _meaning(asks[0], beside[0], others) or message


def _tells_of_other(others: str, topic: str, pronoun: str) -> bool:
    """Whether what stands beside the question tells of something else, or of somebody else, that the pronoun may mean.

    "There" is the topic itself: "a week in X", "a tour of X".
    """
    place = mentioned(others, topic)
    if place is None or pronoun in PLACED:
        return False
    return bool(OTHER.search(others[: place.start()]) or OWNING.match(others[place.end() :]))


def _of_somebody(others: str, topic: str) -> bool:
    """Whether the others tell of somebody beside the topic: "my dad", "my boss knows X", "she wrote X"."""
    place = mentioned(others, topic)
    words = set(re.findall(r"[^\W_]+", others.lower()))
    people = {word for word, whom in follow_up_words().pronouns.items() if whom in ("he", "she")}
    return bool(words & (people | english().sexed.keys()) or OWN.match(others[: place.start() if place else None]))


def _clauses(sentence: str) -> list[str]:
    """The sentence in two where what stands behind an aside asks, and what stands before does not; else in one."""
    for mark in ASIDE.finditer(sentence):
        before, after = sentence[: mark.start()], sentence[mark.end() :]
        if _begins(_plainly(after)) and not _begins(_plainly(before)) and _states(before):
            return [before, after]
    return [sentence]


def _states(text: str) -> bool:
    """Whether the text is more than a name or a place that a question begins with."""
    return len(text.split()) > FEW


def _plainly(clause: str) -> str:
    """The clause without words of politeness before what is asked."""
    return TELLING.sub("", POLITE.sub("", clause, count=1), count=1)


def _asks(clause: str) -> bool:
    return clause.endswith("?") or _begins(clause)


def _begins(clause: str) -> bool:
    """Whether the clause begins as questions and requests do."""
    return evident(clause) is not None or guessed(clause) != "entities" or REQUEST.match(clause) is not None


def _meaning(clause: str, topic: str, others: str) -> str:
    """The clause with the topic in the place of the pronoun that means it; "" where there is none.

    "He" is nobody of whom the others tell: "my dad", "a friend of X".
    """
    words = list(re.finditer(r"[^\W_]+", clause))
    pronouns = [word for word in words if word.group().lower() in follow_up_words().pronouns]
    things = [word for word in pronouns if follow_up_words().pronouns[word.group().lower()] == "it"]
    meant = (things or ([] if _of_somebody(others, topic) else pronouns))[-1:]
    if not meant or _tells_of_other(others, topic, meant[0].group().lower()):
        return ""
    start, end = meant[0].span()
    return clause[:start] + _instead(meant[0].group().lower(), topic, clause[end:]) + clause[end:]


def _instead(pronoun: str, topic: str, after: str) -> str:
    """The topic in its form: "its" is "X's", and "there" "in X"."""
    if pronoun in PLACED:
        return f"in {topic}"
    following = next(iter(re.findall(r"[^\W_]+", after.lower())), "")
    owns = pronoun in follow_up_words().possessive and following and following not in follow_up_words().not_before
    return f"{topic}'s" if owns else topic
