"""Who does something, as what is asked for."""

import pytest

from fedkg.reasoner.local.doers import as_people


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("Which writers lived in Brooklyn?", "who lived in Brooklyn?"),
        ("Which actors were born in Chicago?", "who were born in Chicago?"),
        ("Which actors appear in Jaws?", "Which actors appear in Jaws?"),
        ("Which director made Jaws?", "Which director made Jaws?"),
        ("Which actors did he direct?", "Which actors did he direct?"),
        ("Which films were released in 1990?", "Which films were released in 1990?"),
        ("Which artists record for Virgin?", "who record for Virgin?"),
        ("Which singers have recorded for Decca?", "who have recorded for Decca?"),
        ("What composers worked for Disney?", "who worked for Disney?"),
        ("Which actors play in Jaws?", "Which actors play in Jaws?"),
        ("Which artists record songs?", "Which artists record songs?"),
        ("Which actresses were born in Chicago?", "Which actresses were born in Chicago?"),
    ],
)
def test_a_noun_for_who_does_something_is_people_beside_another_verb(question: str, people: str) -> None:
    """A verb that says the same leaves it: who appears is an actor. What says a sex is not read over."""
    assert as_people(question) == people
