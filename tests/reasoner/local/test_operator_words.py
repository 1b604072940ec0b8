"""Topics that are masked, and what a cut leaves."""

from fedkg.reasoner.local.operator_words import masked, named, numbered, tidy


def test_names_are_masked_and_come_back() -> None:
    """Longer ones first, so that a name within another one is none; the question's mark goes."""
    names = ("Iron Man", "Iron Man 3")
    text = masked("Which is longer, Iron Man 3 or iron man?", names)
    assert text == "Which is longer, ⟦1⟧ or ⟦0⟧"
    assert named(text, names) == "Which is longer, Iron Man 3 or Iron Man"


def test_ordinals_are_ranks() -> None:
    """In words and in figures; none is the first."""
    assert [numbered(word) for word in ("second", "Tenth", "3rd", None)] == [2, 10, 3, 1]


def test_a_cut_leaves_no_auxiliary_at_the_end() -> None:
    """Nor a comma or a conjunction."""
    assert tidy("Which films of X  that were , ") == "Which films of X"
