"""Words of a question: what carries meaning, what is left without a mention, how a name may be written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.normalize import content_words, mentioned, normalized_answer, spellings, without


def test_content_words_are_in_order_and_once() -> None:
    """Stop words go, the rest is lower case; a question of stop words alone has none."""
    assert content_words("Who was the director of the director's Film?") == ("director", "s", "film")
    assert content_words("Who is it?") == ()


@pytest.mark.parametrize(
    ("text", "mention", "rest"),
    [
        ("Who is Marie Curie's husband?", "Marie Curie", "Who is husband?"),
        ("Who is marie curie’s husband?", "Marie Curie", "Who is husband?"),
        ("Where is Rome in Romania?", "Rome", "Where is in Romania?"),
        ("Where is Rome in Romania?", "Rom", "Where is Rome in Romania?"),
        ("Who directed 2001: A Space Odyssey?", "2001: A Space Odyssey", "Who directed ?"),
        ("Who made (500) Days of Summer?", "(500) Days of Summer", "Who made ?"),
        ("What is C# for?", "C#", "What is for?"),
        ("Rome", "Rome", "Rome"),
        ("a  b", "", "a b"),
        ("a .* b", ".*", "a b"),
    ],
)
def test_a_mention_goes_whole(text: str, mention: str, rest: str) -> None:
    """In any case, with its possessive ending, never out of the middle of a word; a text of nothing else stays."""
    assert without(text, mention) == rest


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("the lord of the rings: the two towers", "The Lord of the Rings: The Two Towers"),
        ("where the wild things are", "Where the Wild Things Are"),
        ("jean-luc picard", "Jean-Luc Picard"),
        ("MARIE CURIE", "Marie Curie"),
        ("miles o'brien", "Miles O'Brien"),
        ("schindler's list", "Schindler's List"),
        ("schindler’s list", "Schindler's List"),
        ("Crohn’s disease", "Crohn's disease"),
        ("NASA budget", "NASA Budget"),
        ("Doctoral Advisor", "doctoral advisor"),
        ("The Catcher In The Rye", "the catcher in the rye"),
        ("  white \n space ", "white space"),
        ("élysée palace", "Élysée Palace"),
        ("ulm", "Ulm"),
    ],
)
def test_a_name_is_tried_as_a_label_writes_it(text: str, label: str) -> None:
    """Headings with small words, capitals after hyphens and colons, plain lower case and apostrophes."""
    assert label in spellings(text)


@given(st.text(max_size=40))
def test_spellings_begin_with_the_text(text: str) -> None:
    """As written first, each form once, none of white space only; never more than a query can bear."""
    forms = spellings(text)
    assert forms[:1] == ([text] if text.strip() else [])
    assert len(set(forms)) == len(forms) <= 8
    assert all(form.strip() for form in forms)


@given(st.text(max_size=60), st.text(max_size=10))
def test_without_never_empties_a_text(text: str, mention: str) -> None:
    """What is left is some text of the question, in one line, unless there was none."""
    rest = without(text, mention)
    assert bool(rest) == bool(text)
    assert len(rest) <= len(text)


@pytest.mark.parametrize(
    ("text", "other", "alike"),
    [
        ("The Hague", "the hague.", True),
        ("  “Graz” ", "graz", True),
        ("Ｇｒａｚ", "Graz", True),
        ("St. Pölten", "St Pölten", True),
        ("A", "The", False),
        ("-5", "5", False),
        ("1.5", "15", False),
        ("...", "", False),
    ],
)
def test_answers_are_compared_however_they_are_written(text: str, other: str, alike: bool) -> None:
    """Case, width, articles and punctuation around words do not count; signs, points and what else is all of it do."""
    assert (normalized_answer(text) == normalized_answer(other)) == alike


@given(st.text())
def test_what_is_compared_is_stable(text: str) -> None:
    """It is one line, and nothing but space becomes nothing."""
    assert bool(normalized_answer(text)) == bool(text.strip())
    assert normalized_answer(text) == " ".join(normalized_answer(text).split())


@pytest.mark.parametrize(
    ("text", "mention", "found"),
    [
        ("Who made JAWS 2?", " Jaws ", "JAWS"),
        ("Who made Jawson?", "Jaws", None),
        ("Who made S.W.A.T.?", "S.W.A.T.", "S.W.A.T."),
        ("Who made it?", " ", None),
    ],
)
def test_a_mention_is_found_in_any_case_and_not_within_a_word(text: str, mention: str, found: str | None) -> None:
    """Nor is an empty one found; its marks mean themselves."""
    match = mentioned(text, mention)
    assert (match and match.group()) == found
