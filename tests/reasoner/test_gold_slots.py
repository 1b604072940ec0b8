"""Operations of gold queries in numbers of what is offered."""

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.gold_chain import GoldBound, GoldChain, GoldSlots
from fedkg.reasoner.gold_slots import operate_reply

RELATIONS = [
    PromptCandidate(1, "", ("job",), directions=("out",)),
    PromptCandidate(2, "", ("born",), directions=("out",)),
]


def test_a_comparison_is_of_the_topics_by_their_last_step() -> None:
    """The sets are what has the values."""
    born = GoldChain((("born", "out"),), (), starts=("Ann",))
    slots = GoldSlots((born, born._replace(starts=("Bob",))), "compare", most=False)
    reply = operate_reply(slots, [PromptCandidate(1, "", start="Bob"), PromptCandidate(2, "", start="Ann")], RELATIONS)
    assert (reply["sets"], reply["relation"], reply["most"], reply["form"]) == ([2, 1], 2, False, "which")


def test_filters_are_numbered_and_what_is_not_offered_computes_nothing() -> None:
    """Without a slot there is no operation."""
    child = GoldChain((("child", "out"),), ())
    path = PromptCandidate(1, "", ("child",), directions=("out",), start="Ann")
    slots = GoldSlots((child,), "count", filters=(GoldBound(("born", "out"), "after", ("1990",)),))
    reply = operate_reply(slots, [path], RELATIONS)
    assert reply["filters"] == [{"relation": 2, "comparison": "after", "values": ["1990"]}]
    assert operate_reply(slots, [path], RELATIONS[:1]) == {"sets": []}
