"""Chains of relations, read off what is offered."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import BOTH, Direction
from fedkg.reasoner.local.chains import THING, RelationChain, chain_of, mirrored


def test_the_chain_of_a_candidate_is_not_read_off_its_text() -> None:
    """Relations and directions come as such: whatever stands in a label, or around the end, is no step."""
    whole = PromptCandidate(1, "X → a → y ← b ← z [→ c → w]", ("a", "b"), ("z",), topic="X", directions=("out", "in"))
    assert chain_of(whole) == RelationChain("X", ("a", "b"), ("out", "in"), frozenset({THING}))
    alone = PromptCandidate(1, "← b ←", ("a", "b"), topic="X", directions=("in", "in"))
    assert chain_of(alone) == RelationChain("X", ("a", "b"), ("in", "in"))


@pytest.mark.parametrize("name", ["Fahrenheit 451", "Boeing 747", "Maybe 1999"])
def test_a_name_with_a_number_is_no_date(name: str) -> None:
    """Only a month stands before a year: a film whose name ends in a number is a film."""
    assert chain_of(PromptCandidate(1, "", ("a",), (name,), topic="X", directions=("out",))).kinds == {"thing"}


@pytest.mark.parametrize("date", ["1999", "31 October 1961", "June 1961", "5 Mar 1961", "1961-10-31"])
def test_a_chain_may_end_in_dates(date: str) -> None:
    """As literals are shown; one end that is none is enough to say no."""
    ends = [("1999", date), (date, "Paris"), ()]
    kinds = [chain_of(PromptCandidate(1, "", ("a",), tails, topic="X", directions=("out",))).kinds for tails in ends]
    assert "date" in kinds[0]
    assert kinds[1:] == [{THING}, frozenset()]


def test_a_chain_may_end_in_numbers() -> None:
    """A number of three or four digits may be a year, too."""
    kinds = [
        chain_of(PromptCandidate(1, "", ("a",), (tail,), topic="X", directions=("out",))).kinds
        for tail in ("123456.5", "1999", "12 cm")
    ]
    assert kinds == [{"number"}, {"number", "date"}, {THING}]


def test_types_tell_what_the_ends_are() -> None:
    """Before the relation's name does, which is asked only of where it leads to."""
    typed = PromptCandidate(1, "", ("place",), ("y",), topic="X", directions=("out",), types=("human", ""))
    named = PromptCandidate(1, "", ("place",), ("y",), topic="X", directions=("out",))
    back = PromptCandidate(1, "", ("place",), ("y",), topic="X", directions=("in",))
    assert "person" in chain_of(typed).kinds
    assert "place" not in chain_of(typed).kinds
    assert "place" in chain_of(named).kinds
    assert chain_of(back).kinds == {THING}


def test_some_relations_have_another_name_the_other_way() -> None:
    """Whose child it is, is its parent."""
    back = PromptCandidate(1, "", ("child",), ("y",), topic="X", directions=("in",))
    assert chain_of(back) == RelationChain("X", ("parent",), ("out",), frozenset({THING, "person"}))


def test_turns_go_back() -> None:
    """By the same relation, or one that means the same; they are one step of what a question says."""
    turn = RelationChain("X", ("treats", "palliates", "label"), ("out", "in", "out"))
    assert (turn.turns, turn.against, turn.shared) == (1, 0, (("treats", ""), ("label", "")))
    straight = RelationChain("X", ("treats", "treats"), ("out", "out"))
    assert (straight.turns, straight.against, straight.shared) == (0, 0, straight.names)


def test_a_step_to_the_same_thing_is_not_told() -> None:
    """Wherever it stands; the rest stays as it is."""
    ways: tuple[Direction, ...] = ("out", "in")
    chain = RelationChain("X", ("exact match", "treats"), ways, frozenset({"drug"}), ("a.b", "c.d"))
    assert chain.told() == RelationChain("X", ("treats",), ("in",), frozenset({"drug"}), ("c.d",))
    assert RelationChain("X", ("spouse", "same as"), ways).told() == RelationChain("X", ("spouse",), ("out",))
    assert RelationChain("X", ("exact match",), ("out",)).told().relations == ()
    other = RelationChain("X", ("match", "said to be the same as"), ways)
    assert other.told() is other


def test_chains_grow_and_shrink_by_a_step() -> None:
    """What a longer chain went on from had edges, so it was no date."""
    chain = RelationChain("X", ("a",), ("out",)).then(RelationChain("", ("b",), ("in",)))
    assert chain == RelationChain("X", ("a", "b"), ("out", "in"))
    assert chain.before() == RelationChain("X", ("a",), ("out",), frozenset({THING}))


@pytest.mark.parametrize(("way", "kinds"), [("out", {THING, "person", "organisation"}), ("in", {THING})])
def test_what_a_chain_went_on_from_is_what_its_relation_leads_to(way: Direction, kinds: set[str]) -> None:
    """As far as its name says, and where it is walked its own way."""
    chain = RelationChain("X", ("starred actors", "genre"), (way, "out"))
    assert chain.before().kinds == kinds


def test_names_with_domain_and_type_say_more_than_labels() -> None:
    """Two relations of one label differ by them; against its relation a chain leads to what has the relation's type."""
    typed = ("education.educational_institution.students..education.education.student",)
    back = PromptCandidate(1, "", ("student",), ("y",), topic="X", directions=("in",), typed=typed)
    chain = chain_of(back)
    assert chain.names == (("student", "education educational institution students"),)
    assert "organisation" in chain.kinds
    assert chain_of(PromptCandidate(1, "", ("student",), ("y",), topic="X", directions=("in",))) != chain
    assert chain.then(chain).before() == RelationChain("X", ("student",), ("in",), frozenset({THING}), typed)


def test_a_relation_that_holds_both_ways_leads_both_ways() -> None:
    """The same walk with its last step the other way, for relations that are symmetric alone."""
    walks = [(name, way) for name in ("resembles", "treats") for way in BOTH]
    chains = [chain_of(PromptCandidate(1, "", (name,), ("y",), topic="X", directions=(way,))) for name, way in walks]
    assert [mirrored(chains, place) for place in range(4)] == [[1], [0], [], []]
