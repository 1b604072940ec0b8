"""A walk as FiDeLiS' paper has it, from the switch to the prompts that a model is sent."""

import json
import re
from collections.abc import Sequence
from typing import Any

from fedkg.core.answer import Answer
from fedkg.llm.base import Message
from fedkg.testing import ScriptedModel
from tests.support.pets import session_of

QUESTION = "Who is the spouse of the director of King Kong?"
PLANNED = {
    "keywords": ["director", "spouse"],
    "planning_steps": ["King Kong → director → person", "person → spouse → person"],
    "declarative_statement": "The spouse of the director of King Kong is *placeholder*.",
    "kind": "entities",
    "mentions": ["King Kong"],
    "options": [],
}
STEPS = ("→ director → Peter Jackson", "→ spouse → Fran Walsh")


def reply(messages: Sequence[Message], call: str) -> str:
    """The step that leads on, wherever it is offered; a path that ends in Fran Walsh proves the statement."""
    lines = re.findall(r"^(\d+)\. (.*)$", messages[-1].content, re.MULTILINE)
    if call == "plan":
        return json.dumps(PLANNED)
    if call == "beam":
        return json.dumps({"picks": [int(number) for number, text in lines if text.endswith(STEPS)][:4]})
    if call == "deductive":
        judged = [(int(number), text.endswith(STEPS[1])) for number, text in lines]
        return json.dumps(
            {"verdicts": [{"path": number, "follows": True, "deducible": ended} for number, ended in judged]}
        )
    return json.dumps({"paths": [{"path": 1, "ends": [], "check": False}], "unproven": ""})


async def walked(**options: Any) -> tuple[Answer, dict[str, Sequence[Message]]]:
    """The answer, and the last prompt of each call."""
    chat = ScriptedModel(reply)
    async with session_of("sample", chat=chat, depth=3, **options) as session:
        answer = await session.ask(QUESTION, ["King Kong"])
    return answer, {call: messages for messages, call in chat.asked}


async def test_one_switch_makes_the_papers_walk() -> None:
    """A call for each path and one that verifies, statements filled, five demonstrations, exhaustive keywords."""
    answer, prompts = await walked(fidelity="paper")
    assert [value.label for value in answer.answers] == ["Fran Walsh"]
    assert set(prompts) == {"plan", "beam", "deductive", "answer"}
    assert "exhaustive list" in prompts["plan"][0].content
    assert "Conclusion: The spouse of the director of King Kong is Fran Walsh." in prompts["deductive"][-1].content
    assert "Statement: " not in prompts["deductive"][-1].content
    assert all(prompts[call][0].content.count("<question>") == 5 for call in ("beam", "deductive", "answer"))


async def test_each_form_can_be_had_alone() -> None:
    """What is set beside the switch stands; without it the paper's calls have the bundled wordings."""
    _, prompts = await walked(fidelity="paper", statement="open", demonstrations=False)
    assert "exhaustive list" in prompts["plan"][0].content
    assert "Statement: The spouse of the director of King Kong is *placeholder*." in prompts["deductive"][-1].content
    assert prompts["beam"][0].content.count("<question>") == 1
    _, prompts = await walked(call_plan="paper")
    assert "exhaustive list" not in prompts["plan"][0].content
    assert "Conclusion: " not in prompts["deductive"][-1].content
