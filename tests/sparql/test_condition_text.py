"""Conditions as SPARQL expressions."""

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from fedkg.core.operation import Condition
from fedkg.sparql.condition_text import holds_expression


def test_dates_are_compared_by_the_part_that_is_stated() -> None:
    """A year by the first four characters."""
    assert holds_expression(Condition("before", ("1990",)), "?v") == 'SUBSTR(STR(?v), 1, 4) < "1990"'


@given(st.text())
def test_the_words_of_a_question_never_break_out(words: str) -> None:
    """Whatever is looked for, the expression stays one."""
    for comparison in ("contains", "equal", "more", "before"):
        Store().query(
            f"SELECT ?v WHERE {{ ?s ?p ?v FILTER({holds_expression(Condition(comparison, (words,)), '?v')}) }}"
        )
