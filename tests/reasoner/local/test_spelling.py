"""Short forms, variants and idioms."""

import pytest

from fedkg.reasoner.local.spelling import spelled


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("No. of employees at Siemens?", "number of employees at Siemens?"),
        ("which unis did Ann go to", "which universities did Ann go to"),
        ("home town of Björk", "hometown of Björk"),
        ("Jaws takings", "Jaws box office"),
        ("What were the box-office receipts of Jaws?", "What were the box office of Jaws?"),
        ("the line-up of Pixies", "the lineup of Pixies"),
        ("Which live acts are from Leeds?", "who are from Leeds?"),
        ("What acts signed to Motown?", "who signed to Motown?"),
        ("Which drug acts on dopamine receptors?", "Which drug acts on dopamine receptors?"),
        ("Which acts of parliament are about fishing?", "Which acts of parliament are about fishing?"),
        ("No man is an island by whom?", "No man is an island by whom?"),
        ("Who unifies Italy?", "Who unifies Italy?"),
    ],
)
def test_a_form_is_given_in_the_words_of_the_lists(question: str, words: str) -> None:
    """Whole words alone; a verb, or what comes before another word, is something else."""
    assert spelled(question, ()) == words


def test_a_form_in_a_name_stays() -> None:
    """A title is no variant of other words."""
    assert spelled("Who wrote Home Town?", ["Home Town"]) == "Who wrote Home Town?"
