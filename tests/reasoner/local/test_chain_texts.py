"""The texts that a trained scorer compares: questions without their topics, and chains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.reasoner.local.chain_texts import chain_text, full_name, label_of, masked, steps
from fedkg.reasoner.local.chains import RelationChain


@pytest.mark.parametrize(
    ("question", "topic", "text"),
    [
        ("Who is Kurt Cobain's wife?", "Kurt Cobain", "who is X's wife"),
        ("Who is Kurt Cobain’s wife?", "Kurt Cobain", "who is X's wife"),
        ("who directed A Night to Remember", "A Night to Remember", "who directed X"),
        ("where did tolkien go to school?", "J. R. R. Tolkien", "where did X go to school"),
        ("where is tunis on a map?", "Tunisia", "where is tunis on a map"),
        ("who is in the who", "The Who", "who is in X"),
        ("of what is it", "Of the", "of what is it"),
        ("who is it", "", "who is it"),
    ],
)
def test_x_stands_for_the_topic(question: str, topic: str, text: str) -> None:
    """As it is called, or for the most words in a row that its name has; small words alone are no mention."""
    assert masked(question, topic) == text


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_can_be_masked(question: str, topic: str) -> None:
    """There is at most one X, and nothing is added beside it."""
    words = masked(question, topic).replace("'s", " 's").split()
    assert words.count("X") <= 1
    assert {word for word in words if word != "X"} <= {*masked(question, "").replace("'s", " 's").split()}


def test_a_chain_tells_directions_and_whether_it_goes_on() -> None:
    """What is walked against its direction has an arrow; a beginning ends with dots."""
    steps = [("directed by", "out"), ("starred actors", "in")]
    assert chain_text(steps) == "directed by, ← starred actors"  # type: ignore[arg-type]
    assert chain_text(steps[:1], goes_on=True) == "directed by …"  # type: ignore[arg-type]


def test_relations_of_freebase_are_called_by_their_whole_names() -> None:
    """The label, and in brackets the words of domain and type that it lacks; others by their labels alone."""
    typed = ("film.actor.film..film.performance.film", "")
    chain = RelationChain("Jaws", ("film", "spouse"), ("in", "out"), typed=typed)
    assert steps(chain) == (("film (actor performance)", "in"), ("spouse", "out"))
    assert label_of("film (actor performance)") == "film"
    assert label_of("(x)") == "(x)"
    assert full_name(("spouse", "")) == "spouse"
