"""What is known of English words."""

import pytest

from fedkg.common.english import english, root, roots


@pytest.mark.parametrize(
    "words",
    ["lion lions", "birth born bear", "death died dead", "directed director directors", "wrote writer written"],
)
def test_forms_of_one_word_have_one_root(words: str) -> None:
    """Inflected and derived forms, regular or not."""
    assert len(set(roots(words))) == 1


def test_other_words_have_other_roots() -> None:
    """A son is no person, and a place no planet."""
    assert len({root(word) for word in ("son", "person", "place", "planet", "birth", "death")}) == 6


def test_the_lists_are_by_roots() -> None:
    """Whatever form the file has, it is found by any other."""
    lists = english()
    assert lists.kinds[root("movies")] >= {"film", "work"}
    assert root("directed") in lists.agents
    assert lists.asks["when"] == {"date"}
    assert any(roots("spouses") in sense.names and roots("other half") in sense.words for sense in lists.senses)


def test_every_kind_that_is_asked_for_has_words() -> None:
    """A kind without words would fit nothing."""
    lists = english()
    named = {kind for kinds in lists.kinds.values() for kind in kinds}
    assert {kind for kinds in lists.asks.values() for kind in kinds} <= named
