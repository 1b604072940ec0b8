"""The answer from memory, and the inductive answer: by kind of question and style."""

import json
from typing import Any

import pytest

from fedkg.core.choice import Conclusion, ModelOnlyAnswer, PromptCandidate
from fedkg.core.question import Kind, Plan, Style
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Completion, Request
from fedkg.reasoner.calls.answer import InductiveCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

OPTIONS = ("Metformin", "Febuxostat")
PATHS = (
    PromptCandidate(1, "A → r → B, C", ("r",), ("B", "C")),
    PromptCandidate(2, "A → s → D", ("s",), ("D",)),
)


async def recalled(kind: Kind, reply: dict[str, Any], style: Style = "io") -> ModelOnlyAnswer:
    """What `model_only` makes of a reply."""
    model = PromptedModel(ScriptedModel([json.dumps(reply)] * 2))
    return await model.ask(ModelOnlyCall("Q?", kind, OPTIONS if kind == "choice" else (), style))


@pytest.mark.parametrize(
    ("kind", "reply", "read"),
    [
        ("entities", {"answers": ["Graz", "Graz", "a\nb"]}, ModelOnlyAnswer(("Graz", "a b"))),
        ("entities", {"answers": []}, ModelOnlyAnswer()),
        ("literal", {"reasoning": "long", "answers": ["1973"]}, ModelOnlyAnswer(("1973",))),
        ("count", {"answers": [12]}, ModelOnlyAnswer(("12",))),
        ("yesno", {"verdict": "Yes"}, ModelOnlyAnswer(verdict="yes")),
        ("claim", {"verdict": False}, ModelOnlyAnswer(verdict="no")),
        ("claim", {"verdict": ""}, ModelOnlyAnswer()),
        ("choice", {"option": 2}, ModelOnlyAnswer(option=2)),
        ("choice", {"option": 0}, ModelOnlyAnswer()),
        ("choice", {"option": None}, ModelOnlyAnswer()),
        ("choice", {"option": ""}, ModelOnlyAnswer()),
    ],
)
async def test_each_kind_has_its_own_reply(kind: Kind, reply: dict[str, Any], read: ModelOnlyAnswer) -> None:
    """Texts, a verdict or the number of an option; the reasoning is dropped, and not to know is an answer."""
    assert await recalled(kind, reply) == read


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("entities", {"verdict": "yes"}),
        ("entities", {"answers": "Graz"}),
        ("entities", {"answers": [None, {}]}),
        ("yesno", {"answers": ["yes"]}),
        ("yesno", {"verdict": "perhaps"}),
        ("choice", {"option": 3}),
        ("choice", {"option": "Metformin"}),
        ("choice", {"verdict": "yes"}),
    ],
)
async def test_a_reply_of_another_kind_is_malformed(kind: Kind, reply: dict[str, Any]) -> None:
    """An option that was not offered, or an answer that does not fit the question, is not guessed at."""
    with pytest.raises(ModelReplyError):
        await recalled(kind, reply)


async def test_what_is_recalled_is_bounded() -> None:
    """Fifty answers of 200 characters at most."""
    answer = await recalled("entities", {"answers": ["x" * 9_999, *map(str, range(99))]})
    assert (len(answer.values), len(answer.values[0])) == (50, 200)


async def test_the_style_decides_on_examples_and_thinking() -> None:
    """Examples are shown for `few-shot` only, and only `cot` is told to think first."""
    prompts = {}
    for style in ("io", "few-shot", "cot"):
        chat = ScriptedModel(['{"answers": []}'])
        await PromptedModel(chat).ask(ModelOnlyCall("Q?", "entities", (), style))
        prompts[style] = [message.content for message in chat.asked[0][0]]
    assert {style for style, (system, _) in prompts.items() if "Examples" in system} == {"few-shot"}
    assert {style for style, (_, user) in prompts.items() if "Think first." in user} == {"cot"}


async def test_options_are_numbered_in_the_prompt() -> None:
    """The model sees the options that it may name."""
    chat = ScriptedModel(['{"option": 1}'])
    await PromptedModel(chat).ask(ModelOnlyCall("Q?", "choice", OPTIONS))
    assert "Option 1: Metformin\nOption 2: Febuxostat" in chat.asked[0][0][1].content


async def induced(kind: Kind, reply: dict[str, Any]) -> Conclusion:
    """What `inductive` makes of a reply."""
    plan = Plan(("k",), kind=kind, options=OPTIONS if kind == "choice" else ())
    return await PromptedModel(ScriptedModel([json.dumps(reply)] * 2)).ask(InductiveCall("Q?", plan, PATHS, ("C", "D")))


async def test_the_inductive_answer_is_read_like_the_answer() -> None:
    """Numbers of paths and ends; a verdict or an option with the paths that it rests on."""
    assert await induced("entities", {"paths": [{"path": 1, "ends": [2]}]}) == Conclusion((1,), {1: (2,)})
    assert await induced("claim", {"verdict": "no", "paths": [2]}) == Conclusion((2,), verdict="no")
    assert await induced("choice", {"option": 2, "paths": [1, 2]}) == Conclusion((1, 2), option=2)
    assert await induced("entities", {"paths": []}) == Conclusion()
    with pytest.raises(ModelReplyError):
        await induced("choice", {"option": 3, "paths": [1]})


@pytest.mark.parametrize("kind", ["entities", "yesno", "claim", "count", "choice"])
async def test_each_path_is_shown_with_its_hypothesis(kind: Kind) -> None:
    """Below the path, as data; ends are listed where they are to be named."""
    chat = ScriptedModel(['{"paths": [], "verdict": "", "option": 0}'])
    plan = Plan(("k",), kind=kind, options=OPTIONS if kind == "choice" else ())
    assert await PromptedModel(chat).ask(InductiveCall("Q?", plan, PATHS, ("C\n</graph>", "D"))) == Conclusion()
    user = chat.asked[0][0][1].content
    assert "1. A → r → B, C\n   Hypothesis: C ‹/graph›\n" in user
    assert user.count("</graph>") == 1
    assert ("Ends: 1) B 2) C" in user) == (kind in ("entities", "count"))
    assert await PromptedModel(ScriptedModel([])).ask(InductiveCall("Q?", plan, (), ())) == Conclusion()


async def test_a_sample_and_its_repair_are_asked_for_by_number() -> None:
    """What goes out is marked as that sample, so that nothing kept of another one stands for it."""

    class Noting(ScriptedModel):
        samples: list[int] = []

        async def complete(self, request: Request) -> Completion:
            self.samples.append(request.sample)
            return await super().complete(request)

    chat = Noting(["?", '{"answers": []}', '{"answers": []}'])
    model = PromptedModel(chat)
    await model.ask(ModelOnlyCall("Q?", "entities", (), "cot", 3))
    await model.ask(ModelOnlyCall("Q?", "entities"))
    assert chat.samples == [3, 3, 0]
