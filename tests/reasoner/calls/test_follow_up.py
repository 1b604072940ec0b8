from typing import Any

import pytest

from fedkg.core.conversation import KnownEntity, Reference
from fedkg.core.terms import Iri
from fedkg.errors import ModelReplyError
from fedkg.reasoner.calls.follow_up import FollowUpCall
from tests.support.prompted_calls import scripted

KNOWN = tuple(KnownEntity(Iri(f"http://ex.org/{name}"), name, "topic", 1, "city") for name in ("Rome", "Bern"))
CALL = FollowUpCall("what about Old Paris?", ("Who built Rome?", "Who built Bern?"), KNOWN)


def reply(**parts: Any) -> dict[str, Any]:
    """A reply that refers to nothing, with other parts."""
    return {"alone": False, "question": 0, "entities": [], "words": []} | parts


@pytest.mark.parametrize(
    ("parts", "reference"),
    [
        ({"alone": True, "entities": [1]}, Reference(alone=True)),
        ({"entities": [2, 7, "x", 2]}, Reference(entities=(2,))),
        ({"entities": ["1"], "question": 2}, Reference(question=2, entities=(1,))),
        ({"question": 1, "words": [3, 4]}, Reference(question=1, words=(3, 4))),
        ({"question": 9, "entities": [1], "words": [3, 4]}, Reference(entities=(1,))),
    ],
)
async def test_numbers_are_those_that_were_shown(parts: dict[str, Any], reference: Reference) -> None:
    """Others are dropped; nothing else of a reply counts."""
    model, chat = scripted(reply(**parts))
    assert await model.ask(CALL) == reference
    [(messages, name)] = chat.asked
    assert name == "follow-up"
    assert messages[1].content.startswith("<question>what about Old Paris?</question>")
    for line in ("4. Paris?", "2. Who built Bern?", "1. Rome (city): topic of question 1"):
        assert line in messages[1].content


@pytest.mark.parametrize("parts", [{}, {"entities": [7]}, {"words": [1, 2]}, {"question": 1}])
async def test_a_reference_to_nothing_is_refused(parts: dict[str, Any]) -> None:
    """The model is told, and asked once more."""
    model, chat = scripted(reply(**parts), reply(alone=True))
    assert (await model.ask(CALL)).alone
    assert len(chat.asked) == 2
    model, _ = scripted(reply(**parts), reply(**parts))
    with pytest.raises(ModelReplyError):
        await model.ask(CALL)


async def test_the_first_message_costs_nothing() -> None:
    """There is nothing that it could refer to."""
    model, chat = scripted()
    assert (await model.ask(FollowUpCall("and her?", (), ()))).alone
    assert not chat.asked
