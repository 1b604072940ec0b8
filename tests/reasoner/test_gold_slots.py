"""Operations of gold queries in numbers of what is offered."""

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.gold_chain import GoldBound, GoldChain, GoldSlots
from fedkg.reasoner.gold_slots import mentions, operate_reply

RELATIONS = [
    PromptCandidate(1, "", ("job",), directions=("out",)),
    PromptCandidate(2, "", ("born",), directions=("out",)),
]


def test_a_comparison_is_of_the_topics_by_their_last_step() -> None:
    """The sets are what has the values."""
    born = GoldChain((("born", "out"),), (), starts=("Ann",))
    slots = GoldSlots((born, born._replace(starts=("Bob",))), "compare", most=False)
    paths = [PromptCandidate(1, "", start="Bob"), PromptCandidate(2, "", start="Ann")]
    reply = operate_reply(slots, "", paths, RELATIONS)
    assert (reply["sets"], reply["relation"], reply["most"], reply["form"]) == ([2, 1], 2, False, "which")


def test_filters_are_numbered_and_what_is_not_offered_computes_nothing() -> None:
    """Without a slot there is no operation."""
    child = GoldChain((("child", "out"),), ())
    path = PromptCandidate(1, "", ("child",), directions=("out",), start="Ann")
    slots = GoldSlots((child,), "count", filters=(GoldBound(("born", "out"), "after", ("1990",)),))
    reply = operate_reply(slots, "", [path], RELATIONS)
    assert reply["filters"] == [{"relation": 2, "comparison": "after", "values": ["1990"]}]
    assert operate_reply(slots, "", [path], RELATIONS[:1]) == {"sets": []}


def test_values_are_in_the_words_of_the_question() -> None:
    """A number that the question writes otherwise is copied from it."""
    path = PromptCandidate(1, "", ("child",), directions=("out",), start="Ann")
    bound = GoldBound(("born", "out"), "more", ("500000000",))
    slots = GoldSlots((GoldChain((("child", "out"),), ()),), filters=(bound,))
    reply = operate_reply(slots, "Which earned more than 500 million dollars?", [path], RELATIONS)
    assert [each["values"] for each in reply["filters"]] == [["500 million"]]


def test_the_own_name_is_relation_0() -> None:
    """Where names are offered a filter by labels goes by them; else nothing is computed."""
    path = PromptCandidate(1, "", ("child",), directions=("out",), start="Ann")
    bound = GoldBound(("label", "out"), "contains", ("Kill",))
    slots = GoldSlots((GoldChain((("child", "out"),), ()),), filters=(bound,))
    assert operate_reply(slots, "", [path], RELATIONS, named=True)["filters"][0]["relation"] == 0
    assert operate_reply(slots, "", [path], RELATIONS) == {"sets": []}


def test_the_topics_of_an_operation_are_named_as_the_question_names_them() -> None:
    """By the longest name that stands in it as whole words."""
    sets = tuple(GoldChain((), (), starts=starts) for starts in (("Iron Man 3", "Iron"), ("Iron Man", "Iron Ma")))
    gold = GoldChain((), (), operation=GoldSlots(sets))
    assert mentions(gold, "Which runs longer, Iron Man 3 or Iron Man?") == ["Iron Man 3", "Iron Man"]
    assert mentions(gold._replace(operation=None), "Iron Man") == []
