"""Plans: what is read of a reply, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.question import Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.prompts.library import load
from tests.support.prompted_calls import (
    GOOD_PLAN,
    planned,
    scripted,
    settled,
)


async def test_plan_reads_all_parts(question: str) -> None:
    """A good reply becomes a Plan with all its parts."""
    plan = await planned(question)
    assert plan == Plan(
        ("author", "place of death"),
        ("from Momo by author to a person",),
        "The author of Momo died in *placeholder*.",
        "entities",
        ("Momo",),
    )


async def test_mentions_come_from_the_question_only(question: str) -> None:
    """A mention that the question does not contain, such as a guessed answer, is dropped; case does not matter."""
    plan = await planned(question, mentions=["Filderstadt", "momo", "Michael Ende", "momo", 3, ""])
    assert plan.mentions == ("momo",)


async def test_mentions_that_are_all_invented_leave_the_rest_of_the_plan(question: str) -> None:
    """If none of the listed mentions is in the question, names are looked for without them; keywords and kind stay."""
    plan = await planned(question, mentions=["Filderstadt"])
    assert (plan.mentions, plan.keywords) == ((), ("author", "place of death"))


@pytest.mark.parametrize("written", ["*placeholder*", "*Placeholder*", "[placeholder]", "<PLACEHOLDER>", "placeholder"])
async def test_the_placeholder_is_recognised_however_it_is_written(question: str, written: str) -> None:
    """The statement keeps the literal text *placeholder*."""
    plan = await planned(question, declarative_statement=f"He died in {written}.")
    assert plan.statement == "He died in *placeholder*."


@pytest.mark.parametrize("stars", ["*" * 150_000, "[<{" * 50_000, "placeholder*" * 12_000])
async def test_a_statement_of_stars_is_read_in_no_time(question: str, stars: str) -> None:
    """A hundred thousand marks are looked at once each; tried from each of them on, they would take hours."""
    plan = await planned(question, declarative_statement=f"{stars} and *placeholder*")
    assert "*placeholder*" in plan.statement or len(plan.statement) == 4_000


async def test_a_statement_without_placeholder_is_refused(question: str) -> None:
    """A statement that holds the model's own answer cannot be verified.

    Yes/no questions and claims have no placeholder.
    """
    with pytest.raises(ModelReplyError, match="placeholder"):
        await planned(question, declarative_statement="The author of Momo died in Filderstadt.")
    for kind in ("yesno", "claim"):
        assert (await planned(question, declarative_statement="Momo is a book.", kind=kind)).statement


@pytest.mark.parametrize(
    "changes",
    [
        {"keywords": []},
        {"keywords": [{"a": 1}]},
        {"keywords": "author"},
        {"kind": "poem"},
        {"declarative_statement": 3},
    ],
)
async def test_an_unusable_plan_is_refused(question: str, changes: dict[str, Any]) -> None:
    """A plan needs keywords, a statement and a known kind."""
    with pytest.raises(ModelReplyError):
        await planned(question, **changes)


async def test_the_plan_is_bounded_text(question: str) -> None:
    """Keywords and steps are single lines, distinct, and not more than a plan can sensibly have."""
    keywords = ["a\nb", "a b", {"step": 1}, "x" * 10_000, *map(str, range(100))]
    plan = await planned(question, keywords=keywords, planning_steps=["s"] * 50)
    assert plan.keywords[0] == "a b"
    assert len(plan.keywords) == 30
    assert max(map(len, plan.keywords)) == 200
    assert plan.steps == ("s",)


@given(st.text(min_size=1), st.lists(st.text(), max_size=4))
async def test_no_plan_mentions_what_the_question_does_not(question: str, mentions: list[str]) -> None:
    """Every mention is part of the question, whatever the model lists."""
    plan = await settled(planned(question, mentions=mentions))
    for mention in plan.mentions if plan else ():
        assert mention.casefold() in " ".join(question.split()).casefold()


async def test_a_plan_is_not_asked_for_what_is_known() -> None:
    """Neither its schema nor its instructions and examples have these keys; the kind that was given counts."""
    reply = {key: value for key, value in GOOD_PLAN.items() if key not in {"kind", "mentions"}}
    model, chat = scripted(reply)
    known = frozenset({"kind", "options", "mentions"})
    assert (await model.ask(PlanCall("Where did he die?", "literal", known=known))).kind == "literal"
    [(messages, _)] = chat.asked
    assert not any(f'"{key}"' in messages[0].content for key in known)
    schema = load("plan", kind="literal").without(known).schema
    assert (
        schema["required"]
        == list(schema["properties"])
        == [
            "keywords",
            "planning_steps",
            "declarative_statement",
        ]
    )
