"""Plans and offers that the calls are tried with."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan


@pytest.fixture
def question() -> str:
    """A question of two hops."""
    return "In which city did the author of Momo die?"


@pytest.fixture
def plan() -> Plan:
    """Its plan."""
    steps = ("from Momo by author to a person", "from that person by place of death to a city")
    return Plan(("author", "place of death"), steps, "The author of Momo died in *placeholder*.", "entities", ("Momo",))


@pytest.fixture
def offers() -> tuple[PromptCandidate, ...]:
    """Four offers; the third is a group of which two tails of fourteen are shown."""
    return (
        PromptCandidate(1, "Momo → author → Michael Ende → place of birth → Garmisch", (), ("Garmisch",)),
        PromptCandidate(2, "Momo → author → Michael Ende → place of death → Filderstadt", (), ("Filderstadt",)),
        PromptCandidate(
            3, "Momo → author → Michael Ende ← author ← Momo, Jim Button, (+12)", (), ("Momo", "Jim Button"), 12
        ),
        PromptCandidate(4, "Momo → genre → fantasy", (), ("fantasy",)),
    )
