"""What a message of a conversation asks as a question of its own, and the entities that it starts from.

What it refers to are numbers of known entities and earlier questions: text is put together here, and no IRI is written
by a model.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from fedkg.common.follow_ups import follow_up_words
from fedkg.core.answer import Answer
from fedkg.core.conversation import KnownEntity, Pronoun, Reference, Turn
from fedkg.core.question import Match
from fedkg.core.terms import Iri
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.calls.follow_up import FollowUpCall

__all__ = ["FollowUp", "known_entities", "understood"]

MOST_TURNS, MOST_EACH, MOST_KNOWN = 5, 5, 15
"""Earlier questions, answers of one of them, and entities that a reference may be to."""
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


class FollowUp(msgspec.Struct, frozen=True):
    """A message as it is asked: its question, and the IRIs of its topics; none where the question names them.

    `labels` are what the topics are called, `rest` what is asked of them: "(Marie Curie) children?". `pronoun` is what
    they were called by.
    """

    question: str
    topics: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rest: str = ""
    pronoun: Pronoun = ""

    @property
    def text(self) -> str:
        """How it was understood; "" where it stands alone."""
        return f"({', '.join(self.labels)}) {self.rest}" if self.labels else ""

    def turn(self, topics: Sequence[Match], answer: Answer) -> Turn:
        """The turn that this was; topics which were given by their IRIs have the labels that they were known by."""
        labels = dict(zip(self.topics, self.labels, strict=False))
        named = (msgspec.structs.replace(match, label=labels.get(match.iri.value, match.label)) for match in topics)
        return Turn(self.question, tuple(named), answer, self.pronoun)


async def understood(
    reasoner: ReasoningModel, message: str, turns: Sequence[Turn], entities: Sequence[KnownEntity]
) -> FollowUp:
    """What the message asks; `turns` are the earlier ones, the oldest first. Raises ModelError and BudgetError."""
    latest = [*reversed(turns)][:MOST_TURNS]
    reference = await reasoner.ask(FollowUpCall(message, tuple(turn.question for turn in latest), tuple(entities)))
    if reference.alone:
        return FollowUp(message)
    meant = [entities[number - 1] for number in reference.entities]
    if reference.question:
        return _instead(message, reference, latest[reference.question - 1], meant)
    labels = tuple(entity.label for entity in meant)
    question, rest = _resolved(message, _listed(labels))
    return FollowUp(question, tuple(entity.iri.value for entity in meant), labels, rest, reference.pronoun)


def known_entities(turns: Sequence[Turn]) -> list[KnownEntity]:
    """The entities that the latest turns have come by, each once: answers, then topics, then what stands on paths."""
    known: dict[Iri, KnownEntity] = {}
    latest = [*enumerate([*reversed(turns)][:MOST_TURNS], 1)]
    for found in (_spoken_of, _passed):  # what was only passed on a way comes last
        for number, turn in latest:
            for entity in found(turn, number):
                known.setdefault(entity.iri, entity)
    return [*known.values()][:MOST_KNOWN]


def _spoken_of(turn: Turn, number: int) -> Iterator[KnownEntity]:
    """The answers and the topics of a turn."""
    for value in turn.answer.answers[:MOST_EACH]:
        if isinstance(value.term, Iri):
            yield KnownEntity(value.term, value.value, "answer", number)
    for match in turn.topics:
        facts = {"type": match.type, "pronoun": turn.pronoun, "mention": match.mention}
        yield msgspec.structs.replace(KnownEntity(match.iri, match.label, "topic", number), **facts)


def _passed(turn: Turn, number: int) -> Iterator[KnownEntity]:
    """What stands on the paths of a turn."""
    for path in turn.answer.paths[:MOST_EACH]:
        for edge in path.edges:
            for term in (edge.subject, edge.object):
                if isinstance(term, Iri):
                    yield KnownEntity(term, edge.label(term), "path", number)


def _instead(message: str, reference: Reference, earlier: Turn, meant: Sequence[KnownEntity]) -> FollowUp:
    """The earlier question, asked of something else."""
    labels = tuple(entity.label for entity in meant)
    if reference.words:
        first, last = reference.words
        labels = (" ".join(message.split()[first - 1 : last]).strip("?!.,;: "),)
    question = _exchanged(earlier, _listed(labels))
    return FollowUp(question, tuple(entity.iri.value for entity in meant), labels, question, reference.pronoun)


def _exchanged(earlier: Turn, name: str) -> str:
    """The earlier question with the name in the place of its topic; before it where the topic does not stand in it."""
    for topic in earlier.topics:
        for called in filter(None, (topic.mention, topic.label)):
            pattern = re.compile(rf"(?<!\w){re.escape(called)}(?!\w)", re.IGNORECASE)
            if pattern.search(earlier.question):
                return pattern.sub(lambda _: name, earlier.question, count=1)
    return f"{name}: {earlier.question}"


def _resolved(message: str, name: str) -> tuple[str, str]:
    """The message with the name in the place of its pronoun, or behind it; and what it asks of the name.

    The opening, "and" or "what about", is left out.
    """
    words = message.split()
    lowered = tuple(_lower(word) for word in words)
    phrases = (phrase for phrase in follow_up_words().openings if lowered[: len(phrase)] == phrase)
    start = next((len(phrase) for phrase in phrases if len(phrase) < len(words)), 0)
    words, lowered = words[start:], lowered[start:]
    place = next((place for place, word in enumerate(lowered) if word in follow_up_words().pronouns), None)
    if place is None:
        rest = " ".join(words)
        return f"{rest.rstrip('?!. ')} of {name}?", rest
    possessive = _possessive(lowered, place)
    said = WORD.sub(lambda _: f"{name}'s" if possessive else name, words[place], count=1)
    question = " ".join((*words[:place], said, *words[place + 1 :]))
    bare = possessive and place == 0
    return _capital(question), " ".join(words[1:]) if bare else _capital(question)


def _possessive(words: Sequence[str], place: int) -> bool:
    following = words[place + 1] if place + 1 < len(words) else ""
    lists = follow_up_words()
    return words[place] in lists.possessive and bool(following) and following not in lists.not_before


def _lower(word: str) -> str:
    bare = WORD.search(word)
    return bare[0].lower() if bare else ""


def _listed(labels: Sequence[str]) -> str:
    return " and ".join(labels)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
