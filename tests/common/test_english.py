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


@pytest.mark.parametrize(
    "words",
    ["localised localizes", "colour colors", "tumour tumor", "neighbouring neighbor", "organisations organization"],
)
def test_british_and_american_spellings_have_one_root(words: str) -> None:
    """Of verbs in "ise" and nouns in "our"."""
    assert len(set(roots(words))) == 1


def test_as_written_spellings_stay_apart() -> None:
    """What is compared letter by letter is compared so."""
    assert roots("localised tumour", as_written=True) == ("localis", "tumour")
    assert roots("directors", as_written=True) == roots("directed")


@pytest.mark.parametrize("words", ["television televised", "precise precision", "hour hours", "four fours"])
def test_other_words_keep_their_roots(words: str) -> None:
    """They are spelled so on both sides."""
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
