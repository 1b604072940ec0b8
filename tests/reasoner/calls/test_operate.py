"""What a reply to `operate` may name: numbers of offers, and words of the question."""

from typing import Any

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.operation import Filter, Operation, OperationResult, Operator
from fedkg.core.question import Kind, Plan
from fedkg.core.terms import DirectedRelation, Iri
from fedkg.errors import ModelReplyError
from fedkg.reasoner.calls.operate import MOST_FILTERS, OperateCall
from fedkg.reasoner.prompts.library import load

AREA = DirectedRelation(Iri("http://x/area"), "out")
OFFERS = (PromptCandidate(1, "A → r → B"), PromptCandidate(2, "C → r → D"))
CALL = OperateCall("Which of them is larger than 1,000 km?", Plan(()), OFFERS, OFFERS[:1], (AREA,))
LARGER = {"relation": 1, "comparison": "more", "values": ["1,000 km"]}


def test_slots_are_numbers_of_offers() -> None:
    """Sets and relations are those of the numbers; "unproven" is a clause."""
    reply = {"sets": [2, 1], "filters": [LARGER], "result": "extreme", "relation": "1", "most": "no", "rank": 2}
    filters = (Filter("more", ("1,000 km",), AREA),)
    expected = Operation("extreme", ((2,), (1,)), "union", filters, AREA, most=False, rank=2)
    assert CALL.parse(reply, 2) == expected
    assert CALL.parse({"sets": [], "unproven": "none"}, 2) == Operation()


@pytest.mark.parametrize(
    "reply",
    [
        {"sets": [9]},
        {"sets": [2]},
        {"sets": [1], "result": "extreme", "relation": 2},
        {"sets": [1], "result": "extreme", "relation": -1},
        {"sets": [1], "result": "extreme", "relation": "http://x/area"},
        {"sets": [1], "result": "DROP ALL"},
        {"sets": [1], "result": "compare", "relation": 1},
        {"sets": [1], "rank": 0},
        {"sets": [1], "filters": [{**LARGER, "values": ["2,000 km"]}]},
        {"sets": [1], "filters": [{**LARGER, "values": [1000]}]},
        {"sets": [1], "filters": [{**LARGER, "comparison": "between"}]},
        {"sets": [1], "filters": [{**LARGER, "comparison": "regex"}]},
        {"sets": [1], "filters": [LARGER] * (MOST_FILTERS + 1)},
        {},
    ],
)
def test_nothing_else_is_taken(reply: dict[str, Any]) -> None:
    """What was not offered, not shown, or is not asked in the question refuses the reply."""
    with pytest.raises(ModelReplyError):
        CALL.parse(reply, 1)


@pytest.mark.parametrize(
    ("operator", "keys"),
    [
        (None, {"sets", "combine", "filters", "result", "relation", "most", "rank", "form", "unproven"}),
        ("filter", {"filters", "unproven"}),
        ("extreme", {"filters", "relation", "most", "rank", "unproven"}),
        ("compare", {"sets", "relation", "most", "form", "unproven"}),
        ("group", {"filters", "relation", "most", "rank", "unproven"}),
    ],
)
def test_an_operator_leaves_less_to_ask(operator: Operator | None, keys: set[str]) -> None:
    """Of a single set each operator asks for what it needs alone, in the schema and in the instructions."""
    call = OperateCall("Which is largest?", Plan(()), OFFERS[:1], OFFERS[:1], (AREA,), operator)
    template = call.adapted(load("operate"))
    assert set(template.schema["properties"]) == set(template.schema["required"]) == keys
    assert {key for key in load("operate").schema["required"] if f'- "{key}":' in template.instructions} == keys


def test_what_is_not_asked_is_known() -> None:
    """The result is the operator's; a filter's ends are counted where the question counts."""
    filters = (Filter("more", ("1,000 km",), AREA),)
    results: dict[Kind, OperationResult] = {"entities": "ends", "count": "count"}
    for kind, result in results.items():
        call = OperateCall(CALL.question, Plan((), kind=kind), OFFERS[:1], OFFERS[:1], (AREA,), "filter")
        assert call.parse({"filters": [LARGER]}, 1) == Operation(result, ((1,),), filters=filters)
    call = OperateCall(CALL.question, Plan((), kind="yesno"), OFFERS, OFFERS[:1], (AREA,), "compare")
    assert call.parse({"sets": [2, 1], "relation": 1, "form": "which"}, 2).form == "whether"
