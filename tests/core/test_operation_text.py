"""What was computed, in plain English."""

from typing import get_args

import pytest

from fedkg.core.operation import Comparison, Computation, Condition, Deciding, SetChain
from fedkg.core.operation_text import SHOWN_VALUES, WORDS, operation_text
from fedkg.core.terms import DirectedRelation, Iri, Literal, Term

FILM, AREA = Iri("http://x/film"), Iri("http://x/area")
BY = DirectedRelation(AREA, "out")
SETS = ((SetChain(FILM, (BY,)),),) * 2
YEAR = (Deciding(FILM, Literal("1990", "http://www.w3.org/2001/XMLSchema#gYear"), 0),)
NUMBER = (Deciding(FILM, Literal("90", "http://www.w3.org/2001/XMLSchema#integer"), 0),)
LONG = Condition("more", ("120",), BY)


def label(term: Term) -> str:
    """The local name, or the value."""
    return term.local_name if isinstance(term, Iri) else term.text.strip('"').partition('"')[0]


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (
            Computation("extreme", SETS[:1], by=BY, members=12, most=False, deciding=YEAR),
            "the earliest area of 12 ends: film (1990)",
        ),
        (
            Computation("extreme", SETS[:1], by=BY, members=1, rank=2, deciding=NUMBER),
            "the 2nd largest area of 1 end: film (90)",
        ),
        (
            Computation("extreme", SETS[:1], filters=(LONG,), by=BY, rank=11),
            "the 11th largest area of 0 ends with area more than 120",
        ),
        (Computation("group", SETS[:1], by=BY, members=1_200), "the most frequent area of 1,200 ends"),
        (
            Computation("group", SETS[:1], by=BY, members=3, most=False, rank=23),
            "the 23rd least frequent area of 3 ends",
        ),
        (Computation("compare", SETS, by=BY, most=False, deciding=YEAR), "the earlier area of two: film (1990)"),
        (Computation("compare", SETS, by=BY, form="whether"), "whether the first has the larger area of two"),
        (
            Computation("compare", SETS, by=BY, form="difference", deciding=YEAR),
            "the difference in area, in years: film (1990)",
        ),
        (Computation("compare", SETS, by=BY, form="difference", deciding=NUMBER), "the difference in area: film (90)"),
        (Computation("count", SETS[:1], filters=(LONG,), members=4), "the number of ends with area more than 120"),
        (Computation("count", SETS, "intersect", members=4), "the number of ends that both sets have"),
        (Computation("ends", (*SETS, *SETS), "intersect", members=4), "the 4 ends that all 4 sets have"),
        (Computation("ends", SETS, "difference", members=1), "the 1 end of the first set alone"),
        (
            Computation(
                "ends",
                SETS[:1],
                filters=(Condition("between", ("1", "2"), BY), Condition("contains", ("K",))),
                members=2,
            ),
            "the 2 ends with area between 1 and 2 and with name that contains K",
        ),
        (Computation("ends", SETS[:1], members=5), ""),
    ],
)
def test_what_was_computed(operation: Computation, text: str) -> None:
    """Each result, its direction and rank, how sets were combined, which conditions hold; dates are early or late."""
    assert operation_text(operation, label) == text


def test_few_values_are_shown() -> None:
    """The first ones, and that there are more."""
    text = operation_text(Computation("extreme", SETS[:1], by=BY, deciding=NUMBER * (SHOWN_VALUES + 1)), label)
    assert text.count("film (90)") == SHOWN_VALUES
    assert text.endswith(", …")


def test_every_comparison_has_words() -> None:
    """A condition of any kind can be read."""
    assert set(WORDS) == set(get_args(Comparison))
