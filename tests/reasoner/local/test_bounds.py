"""Bounds on the ends: dates, numbers and words."""

import pytest

from fedkg.reasoner.local.bounds import bounds


@pytest.mark.parametrize(
    ("question", "rest", "name", "comparison", "values"),
    [
        ("Which films of ⟦0⟧ came out before 1990", "Which films of ⟦0⟧", "publication date", "before", ("1990",)),
        ("Which films did ⟦0⟧ direct after 1990", "Which films did ⟦0⟧ direct", "publication date", "after", ("1990",)),
        ("Who of ⟦0⟧ was born between 1980 and 1990", "Who of ⟦0⟧", "date of birth", "between", ("1980", "1990")),
        (
            "Which films of ⟦0⟧ were released in the 1990s",
            "Which films of ⟦0⟧",
            "publication date",
            "between",
            ("1990", "1999"),
        ),
        (
            "Which towns of ⟦0⟧ were founded in the 19th century",
            "Which towns of ⟦0⟧",
            "inception",
            "between",
            ("1801", "1900"),
        ),
        (
            "Which towns of ⟦0⟧ were founded before 1 May 1803",
            "Which towns of ⟦0⟧",
            "inception",
            "before",
            ("1 May 1803",),
        ),
        ("Which towns of ⟦0⟧ were founded before 44 BC", "Which towns of ⟦0⟧", "inception", "before", ("44 BC",)),
        (
            "Which films of ⟦0⟧ have been released since 2000",
            "Which films of ⟦0⟧",
            "publication date",
            "at_least",
            ("2000",),
        ),
        (
            "Which towns of ⟦0⟧ have more than 1,000,000 inhabitants",
            "Which towns of ⟦0⟧",
            "population",
            "more",
            ("1,000,000",),
        ),
        (
            "Which towns of ⟦0⟧ have a population over 2 million",
            "Which towns of ⟦0⟧",
            "population",
            "more",
            ("2 million",),
        ),
        (
            "Which towns of ⟦0⟧ have between 5,000 and 9,000 inhabitants",
            "Which towns of ⟦0⟧",
            "population",
            "between",
            ("5,000", "9,000"),
        ),
        (
            "Which members of ⟦0⟧ have an area of more than 200 square kilometres",
            "Which members of ⟦0⟧",
            "area",
            "more",
            ("200",),
        ),
        ("Which rivers of ⟦0⟧ are longer than 100 km", "Which rivers of ⟦0⟧", "length", "more", ("100",)),
        ("Which songs of ⟦0⟧ are shorter than 3 minutes", "Which songs of ⟦0⟧", "duration", "less", ("3",)),
        ("Which films of ⟦0⟧ run for more than 100 minutes", "Which films of ⟦0⟧", "duration", "more", ("100",)),
        ("Which songs of ⟦0⟧ last less than two minutes", "Which songs of ⟦0⟧", "duration", "less", ("2",)),
        ("Which members of ⟦0⟧ cover over 9 square miles", "Which members of ⟦0⟧", "area", "more", ("9",)),
        ("Which towns of ⟦0⟧ have a population larger than 9", "Which towns of ⟦0⟧", "population", "more", ("9",)),
        ("Which towns of ⟦0⟧ have an area exceeding 9 km²", "Which towns of ⟦0⟧", "area", "more", ("9",)),
        ("Which towns of ⟦0⟧ lie above 50 metres", "Which towns of ⟦0⟧", "elevation above sea level", "more", ("50",)),
        ("Which films of ⟦0⟧ made over $5 million", "Which films of ⟦0⟧", "box office", "more", ("5 million",)),
        ("Which films of ⟦0⟧ cost less than 5 dollars to make", "Which films of ⟦0⟧", "cost", "less", ("5",)),
        ("Which films of ⟦0⟧ are older than 1990", "Which films of ⟦0⟧", "inception", "before", ("1990",)),
        ("Which films by ⟦0⟧ are from 2004", "Which films by ⟦0⟧", "publication date", "equal", ("2004",)),
        ("Which 1990s films star ⟦0⟧", "Which films star ⟦0⟧", "publication date", "between", ("1990", "1999")),
        (
            "Which films with ⟦0⟧ appeared in the years 1990 to 1995",
            "Which films with ⟦0⟧",
            "publication date",
            "between",
            ("1990", "1995"),
        ),
        ("Which genes of ⟦0⟧ lie on chromosome 6", "Which genes of ⟦0⟧", "chromosome", "equal", ("6",)),
        ('Which drugs for ⟦0⟧ have "Anti" in their category', "Which drugs for ⟦0⟧", "category", "contains", ("Anti",)),
        (
            'Which drugs for ⟦0⟧ have a category that includes "Anti"',
            "Which drugs for ⟦0⟧",
            "category",
            "contains",
            ("Anti",),
        ),
        ('Which films of ⟦0⟧ have "Kill" in the title', "Which films of ⟦0⟧", "title", "contains", ("Kill",)),
    ],
)
def test_a_bound_is_read_and_taken_out(
    question: str, rest: str, name: str, comparison: str, values: tuple[str, ...]
) -> None:
    """With the relation that its verb, adjective, noun or unit tells."""
    [bound], left = bounds(question)
    assert (left, bound.names[0], bound.comparison, bound.values) == (rest, name, comparison, values)


@pytest.mark.parametrize(
    "question",
    [
        "Which countries joined ⟦0⟧ after 2000",
        "Which member of ⟦0⟧ has more than 3 wives",
        "Who was president of ⟦0⟧ in 1990",
        "Which films are older than ⟦0⟧",
    ],
)
def test_what_is_not_known_to_be_measured_stays(question: str) -> None:
    """When a country joined is no date of the country."""
    assert bounds(question) == ((), question)
