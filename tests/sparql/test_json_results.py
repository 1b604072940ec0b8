"""JSON that is read as a stream has the rows that it has when it is parsed as a whole."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedkg.core.terms import Term
from fedkg.sparql import json_results
from fedkg.sparql.solutions import BadTermError, BrokenOffError, NoResultError, Solutions

TEXT = st.text(max_size=30)
TERM = st.fixed_dictionaries(
    {"type": st.sampled_from(["uri", "literal", "bnode"]), "value": TEXT.filter(bool)},
    optional={"xml:lang": st.just("en"), "extra": st.just([1, {"a": []}])},
)
BINDINGS = st.lists(st.dictionaries(st.sampled_from("xyz"), TERM), max_size=5)


def result(bindings: list[dict[str, Any]], **further: Any) -> bytes:
    """A result with these bindings."""
    return json.dumps({"head": {"vars": ["x"]}, **further, "results": {"bindings": bindings}}).encode()


def streamed(body: bytes) -> list[dict[str, Term]] | str:
    """The rows of a body that is read as a stream, or the error that it is."""
    solutions = Solutions(9_999)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_results, "LARGEST", 0)
        return outcome(body, solutions)


def outcome(body: bytes, solutions: Solutions) -> list[dict[str, Term]] | str:
    """The rows, or the error that the body is."""
    try:
        has_results = json_results.read(body, solutions)
    except (BadTermError, BrokenOffError, NoResultError) as error:
        return type(error).__name__
    return [dict(row) for row in solutions.rows] if has_results else "no results"


@given(BINDINGS)
@example([{"x": {"type": "literal", "value": '"\\\ud83d\n😀'}}])
def test_a_stream_has_the_same_rows(bindings: list[dict[str, Any]]) -> None:
    """Whatever stands in the terms, and whatever stands beside them."""
    body = result(bindings, distinct=False, link=[None, 1.5, {"a": [[]]}])
    assert streamed(body) == outcome(body, Solutions(9_999))


@pytest.mark.parametrize(
    "text",
    ["a\x01b\tc\nd", r"\U0001B000!", r"\\U0001B000", r"\ud83d\ude00", r"\ud83d.", "\udcff.", r"\\" * 300 + "\x01"],
)
def test_a_stream_is_repaired_alike(text: str) -> None:
    """What engines write wrongly does not cost a long reply either."""
    body = result([{"x": {"type": "literal", "value": "HERE"}}]).replace(
        b"HERE", text.encode("utf-8", "surrogateescape")
    )
    rows = outcome(body, Solutions(9_999))
    assert isinstance(rows, list)
    assert streamed(body) == rows


@given(st.data())
def test_no_beginning_of_a_result_is_one(data: st.DataObject) -> None:
    """Wherever a body breaks off, and whatever follows a whole one, it is refused."""
    body = result([{"x": {"type": "literal", "value": '}"{'}}])
    end = data.draw(st.integers(0, len(body) - 1))
    tail = data.draw(st.sampled_from([b" x", b"{}", b'"', b'"x}', b"}"]))
    assert streamed(body[:end]) == "BrokenOffError"
    assert streamed(body + tail) == "BrokenOffError"


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'{"results": {"bindings": []}}',
        b'{"head": [], "results": {"bindings": []}}',
        b'{"head": {}, "results": {}}',
        b'{"head": {}, "results": {"bindings": {}}}',
        b'{"head": {}, "results": {"bindings": [1]}}',
        b'{"head": {}, "results": {"bindings": [{"x": 1}]}}',
        b'{"head": {}, "results": {"bindings": [{"x": {"type": "uri"}}]}}',
        b'{"head": {}, "results": {"bindings": [{"x": {"type": "uri", "value": 1}}]}}',
        b'{"head": {}, "results": {"bindings": [{"x": {"type": "literal", "value": "", "datatype": 1}}]}}',
    ],
)
def test_another_shape_is_no_result(body: bytes) -> None:
    """A document that is whole JSON and no result is refused as such, as it is when it is parsed as a whole."""
    assert streamed(body) == outcome(body, Solutions(9_999)) == "NoResultError"


def test_the_last_of_several_results_counts() -> None:
    """As everywhere in JSON."""
    one, two = ([{"x": {"type": "literal", "value": value}}] for value in "ab")
    body = result(one)[:-1] + b', "results": ' + json.dumps({"bindings": two}).encode() + b"}"
    assert streamed(body) == outcome(body, Solutions(9_999))
