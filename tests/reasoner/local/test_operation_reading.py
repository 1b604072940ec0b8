"""Operators read from the words of a question, and the question that is left without them."""

import pytest

from fedkg.reasoner.local.degrees import Measure
from fedkg.reasoner.local.operation_reading import read
from fedkg.reasoner.local.operation_record import BoundReading, OperationReading

A, B = "Ann Lee", "The Last Bee"


def reading(question: str) -> OperationReading:
    """What is read, where something is."""
    known = read(question.replace("A1", A).replace("B1", B), (A, B))
    assert known is not None
    return known


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How many films did A1 direct?", "which films did Ann Lee direct"),
        ("How many of A1's films has Joe seen?", "which of Ann Lee's films has Joe seen"),
        (
            "In how many different places are the films with A1 set?",
            "which places are the films starring Ann Lee set in",
        ),
        ("What is the number of children of A1?", "which children of Ann Lee"),
        ("How many compounds belong to the drug class A1?", "which compounds does Ann Lee include"),
    ],
)
def test_what_is_counted_is_asked_for(question: str, rest: str) -> None:
    """However it is asked how many there are."""
    assert reading(question) == OperationReading(rest, "count")


@pytest.mark.parametrize(
    ("question", "rest", "name", "most", "rank"),
    [
        ("What is the second longest film with A1?", "Which film starring Ann Lee", "duration", True, 2),
        ("Who is A1's oldest child?", "Who is Ann Lee's child", "date of birth", False, 1),
        ("Which member of A1 has the smallest area?", "Which member of Ann Lee", "area", False, 1),
        ("Which country in A1 is the largest by population?", "Which country in Ann Lee", "population", True, 1),
        ("Which school of A1 was founded last?", "Which school of Ann Lee", "inception", True, 1),
        ("Which film of A1 earned the most at the box office?", "Which film of Ann Lee", "box office", True, 1),
        ("Who is the youngest cast member of B1?", "Who is the cast member of The Last Bee", "date of birth", True, 1),
        ("What is the most populous city in A1?", "What is the city in Ann Lee", "population", True, 1),
        ("Which member of A1 has the largest army?", "Which member of Ann Lee", "army", True, 1),
        ("Which member of A1 has the greatest area?", "Which member of Ann Lee", "area", True, 1),
        ("What is the highest-grossing film with A1?", "Which film starring Ann Lee", "box office", True, 1),
        ("Which film of A1 made the most money?", "Which film of Ann Lee", "box office", True, 1),
        ("Which member of A1 was the first to be born?", "Which member of Ann Lee", "date of birth", False, 1),
        ("Who was the last member of A1 to die?", "Who member of Ann Lee", "date of death", True, 1),
        ("Which home of A1 lies highest?", "Which home of Ann Lee", "elevation above sea level", True, 1),
        ("What is the largest A1 by area?", "What is the Ann Lee", "area", True, 1),
    ],
)
def test_superlatives_tell_a_measure(question: str, rest: str, name: str, most: bool, rank: int) -> None:
    """By what the adjective measures of that noun, by a noun of quantity, or a verb; the older has the lower date."""
    known = reading(question)
    assert (known.result, known.rest, known.measure.names[0]) == ("extreme", rest, name)
    assert (known.measure.most, known.rank) == (most, rank)


@pytest.mark.parametrize(
    "question",
    [
        "Who was the first president of A1?",
        "Who directed B1?",
        "What are the most popular religions in A1?",
        "How many times did A1 marry?",
        "Who lived longer, A1 or B1?",
        "Which film by A1 won the most Oscars?",
    ],
)
def test_what_is_not_understood_is_not_read(question: str) -> None:
    """Names are no superlatives, a president has several dates, and lives are no lengths."""
    assert read(question.replace("A1", A).replace("B1", B), (A, B)) is None


@pytest.mark.parametrize(
    ("question", "rest", "minus"),
    [
        (
            "Which actors of A1 are not in the cast of B1?",
            "Which actors of Ann Lee",
            "Which actors are in the cast of The Last Bee",
        ),
        (
            "Which countries belong to A1 but not to B1?",
            "Which countries belong to Ann Lee",
            "Which countries belong to The Last Bee",
        ),
        (
            "Which languages did A1 speak that B1 did not?",
            "Which languages did Ann Lee speak",
            "Which languages did The Last Bee speak",
        ),
        (
            "Which languages does A1 speak but B1 does not?",
            "Which languages does Ann Lee speak",
            "Which languages does The Last Bee speak",
        ),
        (
            "In which films did A1 play without B1?",
            "which films did Ann Lee play in",
            "which films starring The Last Bee",
        ),
    ],
)
def test_what_is_taken_away_is_a_question_of_its_own(question: str, rest: str, minus: str) -> None:
    """In its own words or, where it has none, in those of the first."""
    assert reading(question) == OperationReading(rest, minus=minus)


def test_a_negation_of_the_topic_itself_is_left_in_the_question() -> None:
    """Which it is left in is marked as not read."""
    assert read("Which films did Ann Lee not direct?", (A,)) is None


@pytest.mark.parametrize(
    ("question", "rest", "group", "most"),
    [
        ("Which director made the most films with A1?", "Which films starring Ann Lee", "Which director made", True),
        ("What is the most common genre of the films of A1?", "Which films of Ann Lee", "Which genre", True),
        (
            "Of which country are the most members of A1 citizens?",
            "Which members of Ann Lee",
            "Of which country are citizens",
            True,
        ),
        ("Which tongue do most members of A1 have?", "Which members of Ann Lee", "Which tongue do have", True),
        ("What genre are most of the films of A1?", "Which the films of Ann Lee", "What genre", True),
        (
            "With which director did A1 make the most films?",
            "Which films did Ann Lee make",
            "With which director",
            True,
        ),
        (
            "What is the most common country of birth among the members of A1?",
            "Which members of Ann Lee",
            "Which country of birth",
            True,
        ),
        (
            "Which tongue is the least common among the members of A1?",
            "Which members of Ann Lee",
            "Which tongue",
            False,
        ),
    ],
)
def test_groups_are_told_by_the_words_beside_the_set(question: str, rest: str, group: str, most: bool) -> None:
    """Most of which things have what."""
    assert reading(question) == OperationReading(rest, "group", Measure((), most), group=group)


def test_a_count_may_have_bounds() -> None:
    """The operations that a question combines are all read."""
    known = reading("How many of A1's films are longer than 120 minutes?")
    assert (known.result, known.rest) == ("count", "which of Ann Lee's films")
    assert known.bounds == (BoundReading(("duration", "runtime", "running time"), "more", ("120",), "minutes"),)


def test_a_comparison_has_the_topics_as_its_pair() -> None:
    """And asks for the value of each."""
    known = reading("Who is older, A1 or B1?")
    assert (known.result, known.form, known.pair, known.measure.most) == ("compare", "which", (A, B), False)
    assert known.rest == "What is the date of birth of Ann Lee and of The Last Bee"
