import json
from pathlib import Path as FilePath

import msgspec
import pytest

from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.conversation import Turn
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal
from fedkg.engine.conversation import FollowUp, known_entities, understood
from fedkg.session import Session
from fedkg.testing import ScriptedModel
from tests.support.prompted_calls import scripted

MARIE, PIERRE, EVE, SPOUSE = (Iri(f"http://ex.org/{name}") for name in ("marie", "pierre", "eve", "spouse"))
LABELS = {MARIE.text: "Marie Curie", PIERRE.text: "Pierre Curie", EVE.text: "Eve Curie"}


def turn(question: str, topic: Match, *answers: Iri, mention: str = "") -> Turn:
    """A turn with its topic and these answers, each proved by one edge."""
    values = tuple(
        AnswerValue(LABELS[iri.text], iri.value, LABELS[iri.text], iri, True, (number,))
        for number, iri in enumerate(answers)
    )
    edges = [PathEdge(topic.iri, SPOUSE, iri, "out", "g", "", labels=LABELS) for iri in answers]
    paths = tuple(Path(1.0, (edge,)) for edge in edges)
    return Turn(question, (topic,), Answer(question, "entities", Status.ANSWERED, values, paths))


TOPIC = Match(MARIE, "Marie Curie", 1.0, mention="M. Curie", type="human")
TURNS = [turn("Who is the spouse of M. Curie?", TOPIC, PIERRE)]


def replied(**parts: object) -> str:
    """What a model replies."""
    return json.dumps({"alone": False, "question": 0, "entities": [], "words": []} | parts)


IRIS = {"Marie Curie": MARIE.value, "Pierre Curie": PIERRE.value}


@pytest.mark.parametrize(
    ("message", "reply", "labels", "question", "rest"),
    [
        ("and her children?", {"entities": [2]}, ("Marie Curie",), "Marie Curie's children?", "children?"),
        ("where did she meet him?", {"entities": [2]}, ("Marie Curie",), "Where did Marie Curie meet him?", ""),
        ("who met her?", {"entities": [2]}, ("Marie Curie",), "Who met Marie Curie?", ""),
        (
            "children?",
            {"entities": [1, 2]},
            ("Pierre Curie", "Marie Curie"),
            "children of Pierre Curie and Marie Curie?",
            "children?",
        ),
        (
            "what about Pierre?",
            {"question": 1, "entities": [1]},
            ("Pierre Curie",),
            "Who is the spouse of Pierre Curie?",
            "",
        ),
        ("what about Ada L.?", {"question": 1, "words": [3, 4]}, ("Ada L",), "Who is the spouse of Ada L?", ""),
        ("Who?", {"alone": True}, (), "Who?", ""),
    ],
)
async def test_numbers_become_a_question(
    message: str, reply: dict[str, object], labels: tuple[str, ...], question: str, rest: str
) -> None:
    """With names in the place of what stood for them, and the topics by their IRIs, which no model has written."""
    model, _ = scripted(replied(**reply))
    follow_up = await understood(model, message, TURNS, known_entities(TURNS))
    assert follow_up.question == question
    assert follow_up.topics == tuple(IRIS[label] for label in labels if label in IRIS)
    assert follow_up.text == (f"({', '.join(labels)}) {rest or question}" if labels else "")


async def test_a_topic_that_does_not_stand_in_the_question_is_named_before_it() -> None:
    """As one that was given by its IRI."""
    earlier = [turn("Who is the spouse?", Match(MARIE, "Marie Curie", 1.0), PIERRE)]
    model, _ = scripted(replied(question=1, entities=[1]))
    follow_up = await understood(model, "and Pierre?", earlier, known_entities(earlier))
    assert follow_up.question == "Pierre Curie: Who is the spouse?"


def test_what_a_conversation_has_come_by() -> None:
    """Of the latest turn first: its answers, its topics, and what stands on its paths; each once, and no values."""
    later = turn("Who are the children?", Match(PIERRE, "Pierre Curie", 1.0), EVE)
    value = AnswerValue("1904", term=Literal("1904"))
    plain = Turn("When?", (TOPIC,), Answer("When?", "literal", Status.ANSWERED, (value,)))
    known = known_entities([*TURNS, later, plain])
    assert [(entity.label, entity.role, entity.turn) for entity in known] == [
        ("Marie Curie", "topic", 1),
        ("Eve Curie", "answer", 2),
        ("Pierre Curie", "topic", 2),
    ]
    assert known[0].mention == "M. Curie"
    passed = Turn("Who?", (), msgspec.structs.replace(TURNS[0].answer, answers=()))
    roles = {entity.label: entity.role for entity in known_entities([*TURNS, passed])}
    assert roles == {"Pierre Curie": "answer", "Marie Curie": "topic"}


async def test_a_session_knows_what_entities_are(pets: FilePath) -> None:
    """A model is shown the types that the graph tells, in one small call on the session's account."""
    chat = ScriptedModel([replied(entities=[2])])
    async with Session(pets, chat=chat, embedder="hashing", cache=False) as session:
        first = await session.follow_up("Which pet does Ann have?", [])
        assert (first, chat.asked) == (FollowUp("Which pet does Ann have?"), [])
        follow_up = await session.follow_up("and her spouse?", TURNS)
    assert follow_up.text == "(Marie Curie) spouse?"
    assert session.usage().model_calls == 1
