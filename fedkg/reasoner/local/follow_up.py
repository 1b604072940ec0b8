"""What a message of a conversation refers to, by its words alone: pronouns, openings, names and bare relations."""

import re
from collections.abc import Iterable, Sequence

from fedkg.common.follow_ups import follow_up_words
from fedkg.core.conversation import KnownEntity, Pronoun, Reference
from fedkg.reasoner.calls.follow_up import MOST_REFERRED, FollowUpCall

__all__ = ["referred"]

WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
LONGEST_NAME = 6
"""Words of a name that is asked about instead."""


def referred(call: FollowUpCall) -> Reference:
    """The reference of the message; one that names something and has no pronoun before that stands alone."""
    words = [_bare(word) for word in call.words]
    start = _opening(words)
    rest = words[start:]
    pronoun = next((place for place in range(len(rest)) if _stands_for(rest, place)), len(rest))
    name = next((place for place, word in enumerate(rest) if word[:1].isupper() and (place or start)), len(rest))
    asks = any(word.lower() in follow_up_words().asking for word in rest)
    if pronoun < name:
        called = _pronoun(rest[pronoun])
        meant = _meant(call.entities, called, going_on=bool(start) or not asks)
        # "and her?" asks the same of her
        return _about(meant, called, question=int(bool(start) and len(rest) == 1))
    if asks or not rest or (name < len(rest) and not start):
        return Reference(alone=True)
    if start and (known := _named(call.entities, rest)):
        return Reference(question=1, entities=(known,))
    if start and name < len(rest) and len(rest) <= LONGEST_NAME:
        return Reference(question=1, words=(start + 1, len(words)))
    return _about(_meant(call.entities, "", going_on=True), "")


def _bare(word: str) -> str:
    """The word without marks around it and the s of a genitive."""
    found = WORD.search(word)
    return found[0] if found else ""


def _opening(words: Sequence[str]) -> int:
    """How many words the opening has; 0 where there is none, or nothing behind it."""
    lowered = tuple(word.lower() for word in words)
    lengths = (len(phrase) for phrase in follow_up_words().openings if lowered[: len(phrase)] == phrase)
    return next((length for length in lengths if length < len(words)), 0)


def _stands_for(words: Sequence[str], place: int) -> bool:
    """Whether the word there is a pronoun; "this" before a noun is none."""
    lists = follow_up_words()
    word, following = words[place].lower(), words[place + 1].lower() if place + 1 < len(words) else ""
    pointing = word in lists.pointing and bool(following) and following not in (lists.not_before | lists.asking)
    return word in lists.pronouns and not pointing


def _pronoun(word: str) -> Pronoun:
    named = follow_up_words().pronouns.get(word.lower(), "")
    return named if named in {"he", "she", "it", "they"} else ""  # type: ignore[return-value]  # just looked at


def _about(entities: Iterable[int], pronoun: Pronoun, question: int = 0) -> Reference:
    meant = tuple(entities)[:MOST_REFERRED]
    return Reference(question=question, entities=meant, pronoun=pronoun) if meant else Reference(alone=True)


def _meant(entities: Sequence[KnownEntity], pronoun: Pronoun, *, going_on: bool) -> Sequence[int]:
    """The numbers of the entities that a pronoun means, or, without one, a bare relation.

    `going_on`: the message goes on with the question before, so that its topic comes before its answer.
    """
    latest = [number for number, entity in enumerate(entities, 1) if entity.turn == 1]
    topics = [number for number in latest if entities[number - 1].role == "topic"]
    answers = [number for number in latest if entities[number - 1].role == "answer"]
    if pronoun == "they":
        return answers if len(answers) > 1 else topics or answers
    alone = answers if len(answers) == 1 else []
    earlier = [number for number, entity in enumerate(entities, 1) if entity.turn > 1 and entity.role != "path"]
    order = [*topics[:1], *alone] if going_on else [*alone, *topics[:1]]
    # whom the pronoun meant before comes first, but not before what was spoken of since
    order.sort(key=lambda number: _is_new(entities[number - 1], pronoun))
    earlier.sort(key=lambda number: (entities[number - 1].turn, _is_new(entities[number - 1], pronoun)))
    fitting = [number for number in (*order, *earlier) if _fits(entities[number - 1], pronoun)][:1]
    # one of several answers may be meant, and nothing tells which
    return fitting or [number for number in answers if _fits(entities[number - 1], pronoun)]


def _is_new(entity: KnownEntity, pronoun: Pronoun) -> bool:
    """Whether the entity was not called so before."""
    return not pronoun or entity.pronoun != pronoun


def _fits(entity: KnownEntity, pronoun: Pronoun) -> bool:
    """Whether the entity may be called so, by what it is and by what it was called before."""
    if not pronoun:
        return True
    if entity.pronoun and pronoun != "they":
        return entity.pronoun == pronoun
    if not entity.type:
        return True
    person = bool(follow_up_words().people & set(entity.type.lower().split()))
    return person == (pronoun in {"he", "she"})


def _named(entities: Sequence[KnownEntity], words: Sequence[str]) -> int:
    """The number of the known entity whose name has all of these words; 0 where there is none."""
    wanted = {word.lower() for word in words if word.lower() not in {"the", "a", "an"}}
    if not wanted:
        return 0
    names = ({_bare(word).lower() for word in entity.label.split()} for entity in entities)
    return next((number for number, name in enumerate(names, 1) if wanted <= name), 0)
