"""What is computed over completed sets, as records."""

from fedkg.core.answer import Answer, decode_answer
from fedkg.core.operation import COMPARISONS, Computation, Condition, Deciding, SetChain
from fedkg.core.proof import Status
from fedkg.core.terms import DirectedRelation, Iri, Literal

FILM, DATE = Iri("http://example.org/film"), Iri("http://example.org/date")
BY = DirectedRelation(DATE, "out")


def test_a_document_keeps_its_operation() -> None:
    """Terms, relations and the values that decided come back as they were."""
    computation = Computation(
        "extreme",
        ((SetChain(FILM, (DirectedRelation(DATE, "in"),)),),),
        filters=(Condition("after", ("1990",), BY),),
        by=BY,
        most=False,
        rank=2,
        members=3,
        missing=1,
        complete=False,
        deciding=(Deciding(FILM, Literal("1991"), 0),),
    )
    answer = Answer("first?", "entities", Status.NONE, operation=computation, query="SELECT ?end WHERE {}")
    assert decode_answer(answer.to_json()) == answer


def test_a_document_without_an_operation_is_read() -> None:
    """Documents that were written before there were any have none."""
    answer = decode_answer(b'{"question":"q","kind":"entities","status":"none"}')
    assert (answer.operation, answer.query) == (None, "")


def test_every_comparison_has_its_name() -> None:
    """Those of numbers, of dates and of texts."""
    assert {"before", "after", "between", "less", "more", "contains"} < set(COMPARISONS)
