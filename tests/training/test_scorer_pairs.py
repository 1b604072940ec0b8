"""What a scorer is shown of a question: the right chain, and chains of the same topic that are wrong."""

import random
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fedkg.reasoner.local.chain_texts import NamedStep, chain_text
from fedkg.training.chain_records import ChainRecipe, ChainRecord
from fedkg.training.scorer_pairs import drawn_out, hard_negatives, pairs, rivals

RECIPE = ChainRecipe("films", ("graph",), 3, 500)
STEPS: st.SearchStrategy[NamedStep] = st.tuples(st.sampled_from("abcdefg"), st.sampled_from(("out", "in")))


def record(
    chain: Sequence[NamedStep], offers: Sequence[Sequence[NamedStep]], question: str = "who made X films"
) -> ChainRecord:
    """A record of that chain and these offers, beside which each step of the chain is offered, too."""
    steps = [(step, *others) for step, others in zip((*chain, None), offers, strict=True)]
    offered = tuple(tuple(dict.fromkeys(step for step in some if step)) for some in steps)
    return ChainRecord("1", question, RECIPE, "Jaws", "http://x/jaws", tuple(chain), offered)


@st.composite
def records(draw: st.DrawFn) -> ChainRecord:
    """Any record: one to three steps, some others at each of them and behind the last."""
    chain = draw(st.lists(STEPS, min_size=1, max_size=3))
    offers = [draw(st.lists(STEPS, max_size=4)) for _ in range(len(chain) + 1)]
    return record(chain, offers)


@given(records(), st.integers(0, 9), st.integers(1, 6))
def test_no_negative_is_the_right_chain(made: ChainRecord, seed: int, number: int) -> None:
    """Each pair has as many negatives as asked for, none of them its positive; the first pair is about the answer."""
    shown = list(pairs(made, random.Random(seed), number))
    assert shown[0].positive == chain_text(made.chain)
    assert all(len(pair.negatives) == number and pair.positive not in pair.negatives for pair in shown)
    assert shown == list(pairs(made, random.Random(seed), number))


@given(records())
def test_each_beginning_is_shown_as_one_that_goes_on(made: ChainRecord) -> None:
    """A chain of three steps has two of them."""
    shown = [pair.positive for pair in pairs(made, random.Random(0))]
    begun = [chain_text(made.chain[:length], goes_on=True) for length in range(1, len(made.chain))]
    assert shown[1:] == begun


def test_rivals_are_wrong_in_each_place() -> None:
    """Another relation, the same one backwards, too early, too late, and the chain as one that goes on."""
    made = record([("spouse", "out"), ("child", "out")], [[("parent", "out")], [("job", "out")], [("name", "out")]])
    last, first, early, late, on = rivals(made)
    assert last == ["spouse, job", "spouse, ← child"]
    assert first == ["parent, child", "← spouse, child"]
    assert (early, late, on) == (["spouse"], ["spouse, child, name"], ["spouse, child …"])


def test_what_leads_to_the_same_is_no_rival() -> None:
    """Chains that the record lists beside the gold one are not shown as wrong."""
    made = record([("spouse", "out")], [[("partner", "out"), ("child", "out")], []])
    assert "partner" in rivals(made)[0]
    assert "partner" not in rivals(msgspec.structs.replace(made, also=((("partner", "out"),),)))[0]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=3), max_size=5), min_size=1), st.integers(1, 9))
def test_negatives_are_of_all_kinds_in_turn(kinds: list[list[str]], number: int) -> None:
    """So that no kind is drowned by a long one: the first of each before the second of any."""
    if not any(kinds):
        assert hard_negatives(kinds, random.Random(0), number) == ()
        return
    drawn = hard_negatives(kinds, random.Random(0), number)
    distinct = {text for kind in kinds for text in kind}
    assert len(drawn) == number
    assert len(set(drawn)) == min(number, len(distinct))


@given(st.text(), st.floats(0, 1), st.integers(0, 9))
def test_an_entity_is_on_one_side(entity: str, share: float, seed: int) -> None:
    """It is drawn by itself: whether it is held out depends on nothing else, and more of them with a larger share."""
    out = drawn_out(entity, share, seed)
    assert drawn_out(entity, 1, seed)
    assert not drawn_out(entity, 0, seed)
    assert not out or drawn_out(entity, min(1, share + 0.1), seed)
