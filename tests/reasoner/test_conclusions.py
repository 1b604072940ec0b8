"""The statement of a plan with the end of a path in it."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Kind, Plan
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.conclusions import conclusion

PATH = PromptCandidate(1, "Momo → author → Michael Ende", ("author",), ("Michael Ende",))


def plan(statement: str = "*placeholder* wrote Momo.", kind: Kind = "entities") -> Plan:
    """A plan with that statement."""
    return Plan(("author",), (), statement, kind)


@pytest.mark.parametrize(
    ("tails", "more", "ends"),
    [(("A",), 0, "A"), (("A", "B"), 0, "A, B"), (("A", "B", "C", "D"), 2, "A, B, C (+3)"), (("A",), 5, "A (+5)")],
)
def test_the_last_entity_takes_the_place_of_the_answer(tails: tuple[str, ...], more: int, ends: str) -> None:
    """A group is told by its first ends, and how many there are beside them."""
    path = PromptCandidate(1, "", (), tails, more)
    assert conclusion(plan(), path) == f"{ends} wrote Momo."


@pytest.mark.parametrize("given", [plan("Ende wrote Momo."), plan(kind="yesno"), plan(kind="choice"), plan("")])
def test_a_statement_without_a_place_stays_as_it_is(given: Plan) -> None:
    """What is judged as true or false has no answer to fill in."""
    assert conclusion(given, PATH) == ""


def test_verifiers_are_given_conclusions() -> None:
    """One for each path, or that of the one path; the bundled wording does not show them."""
    assert DeductiveCall("q", plan(), [PATH]).values()["conclusions"] == ["Michael Ende wrote Momo."]
    assert DeducibleCall("q", plan(), PATH).values()["conclusion"] == "Michael Ende wrote Momo."
