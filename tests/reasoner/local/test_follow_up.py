import pytest

from fedkg.core.conversation import KnownEntity, Pronoun, Reference
from fedkg.core.terms import Iri
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.local.follow_up import referred

EARLIER = ("Who is the spouse of Marie Curie?", "Who wrote Momo?")


def entity(label: str, role: str, turn: int = 1, kind: str = "", pronoun: Pronoun = "") -> KnownEntity:
    """An entity that the conversation has come by."""
    assert role in {"topic", "answer", "path"}
    return KnownEntity(Iri(f"http://ex.org/{label.replace(' ', '_')}"), label, role, turn, kind, pronoun)  # type: ignore[arg-type]  # just looked at


PIERRE, MARIE = entity("Pierre Curie", "answer", kind="human"), entity("Marie Curie", "topic", kind="human")
ENDE, MOMO = entity("Michael Ende", "answer", 2, "human"), entity("Momo", "topic", 2, "novel")
KNOWN = (PIERRE, MARIE, ENDE, MOMO)


def meant(message: str, *known: KnownEntity) -> Reference:
    """What the message refers to."""
    return referred(FollowUpCall(message, EARLIER, known or KNOWN))


@pytest.mark.parametrize(
    ("message", "label"),
    [
        ("where was he born?", "Pierre Curie"),  # a question of its own: of the answer
        ("and her children?", "Marie Curie"),  # it goes on: with the topic
        ("her children?", "Marie Curie"),
        ("children?", "Marie Curie"),
        ("date of birth", "Marie Curie"),
        ("and the children?", "Marie Curie"),
        ("when was it published?", "Momo"),  # neither is a thing
        ("Was he born in Paris?", "Pierre Curie"),
    ],
)
def test_a_pronoun_or_a_bare_relation_means_what_fits(message: str, label: str) -> None:
    """By what the message goes on with, and by what the entities are."""
    [number] = meant(message).entities
    assert KNOWN[number - 1].label == label


@pytest.mark.parametrize(
    "message",
    [
        "Which of these films is the longest?",
        "Who wrote Momo?",
        "who directed king kong?",
        "Did Ada meet her sister?",
        "And who wrote Momo?",
    ],
)
def test_what_names_what_it_asks_about_stands_alone(message: str) -> None:
    """A name before the pronoun is whom that means."""
    assert meant(message) == Reference(alone=True)


def test_a_pronoun_stays_with_whom_it_meant() -> None:
    """She who was "she" is not "he" afterwards."""
    marie = entity("Marie Curie", "topic", kind="human", pronoun="she")
    assert meant("and his children?", PIERRE, marie).entities == (1,)
    assert meant("where was she born?", PIERRE, marie).entities == (2,)
    irene = entity("Irene Joliot-Curie", "answer", 2, "human")
    marie = entity("Marie Curie", "topic", 2, "human", "she")
    assert meant("and her children?", MOMO, irene, marie).entities == (3,)


def test_what_was_spoken_of_since_comes_first() -> None:
    """He who was "he" two questions ago is not meant where another man is the answer now."""
    tolkien, hobbit = entity("J. R. R. Tolkien", "answer", kind="human"), entity("The Hobbit", "topic", kind="novel")
    jackson = entity("Peter Jackson", "topic", 2, "human", "he")
    assert meant("when did he die?", tolkien, hobbit, jackson).entities == (1,)
    assert meant("when did she die?", tolkien, hobbit, jackson).entities == (1,)


def test_they_are_all_answers() -> None:
    """Three of them at most; where there is one answer they are the topic."""
    children = [entity(name, "answer") for name in ("Irene", "Eve", "Jo", "Max")]
    assert meant("where were they born?", *children, MARIE).entities == (1, 2, 3)
    assert meant("where were they born?").entities == (2,)
    books = [entity(name, "answer", kind="novel") for name in ("The Hobbit", "Momo")]
    assert meant("and when was it published?", *books, MARIE).entities == (1, 2)


@pytest.mark.parametrize(
    ("message", "reference"),
    [
        ("what about Pierre?", Reference(question=1, entities=(1,))),
        ("and michael ende?", Reference(question=1, entities=(3,))),
        ("What about Albert Einstein?", Reference(question=1, words=(3, 4))),
        ("and her?", Reference(question=1, entities=(2,), pronoun="she")),
    ],
)
def test_another_entity_is_asked_the_same(message: str, reference: Reference) -> None:
    """One that is known by part of its name, or any by the words that name it."""
    assert meant(message) == reference


def test_where_nothing_fits_the_message_stands_alone() -> None:
    """Nobody is known whom "she" could mean."""
    assert meant("where was she born?", MOMO).alone
