"""How well a question says a chain of relations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import Direction
from fedkg.embed.base import Matrix
from fedkg.reasoner.local.chains import THING, RelationChain, RelationName
from fedkg.reasoner.local.kinds import kinds_of
from fedkg.reasoner.local.reading import AGAIN, LONGER, PASSED_OVER, UNLIKE, UNSAID, Reading, together
from fedkg.reasoner.local.wording import MOST_UNITS

OUTWARDS: tuple[Direction, ...] = ("out", "out")


def table(reading: Reading, **spans: str) -> dict[RelationName, Matrix]:
    """A likeness of 1 for the one span that says each relation, of 0 for all others."""
    return {
        (name, ""): np.array([span == text for span in reading.spans], dtype=np.float32) for name, text in spans.items()
    }


def fits(
    reading: Reading, similarities: dict[RelationName, Matrix], chains: list[tuple[str, ...]], *, partly: bool = False
) -> list[float]:
    """How well chains of these relations are said, each walked outwards."""
    walked = [RelationChain("X", names, OUTWARDS[:1] * len(names)) for names in chains]
    judged = reading.judged(similarities, walked, partly=partly)
    return [judged[chain].fit for chain in walked]


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("who is the mother of the wife of X?", {"wife", "who is the mother", "who is the mother of the wife"}),
        ("X's wife's mother", {"wife", "mother", "wife's mother"}),
        ("the mother of X’s wife", {"wife", "mother", "mother's wife"}),
        ("who directed the film X", {"who directed"}),
        ("Who is X's wife?", {"who is's wife"}),
        ("the granddaughter of X", {"child", "daughter", "daughter of child"}),
        ("X?", {"X?"}),
        ("", {""}),
    ],
)
def test_the_spans_of_a_question_are_its_words_without_the_topic(question: str, spans: set[str]) -> None:
    """Neighbours of a walk, without small words before them; what the topic is, is not asked.

    Small words alone are no step; all of the question is one if nothing is left.
    """
    assert set(Reading(question, "X").spans) == spans


@pytest.mark.parametrize(
    ("question", "wife", "mother"),
    [
        ("the mother of the wife of X", "wife", "mother"),
        ("the mother of X's wife", "wife", "mother"),
        ("X's wife's mother", "wife", "mother"),
        ("whose mother is X wife", "wife", "whose mother is"),
    ],
)
def test_relations_are_said_outwards_from_the_topic(question: str, wife: str, mother: str) -> None:
    """Before it or after it: the same walk; a chain that says half of the words does not fit."""
    reading = Reading(question, "X")
    similarities = table(reading, wife=wife, mother=mother)
    assert fits(reading, similarities, [("wife", "mother"), ("wife",)]) == [1.0, 0.0]


def test_the_words_on_both_sides_may_be_met_within_each_other() -> None:
    """What is next to the topic comes first, whichever side goes on."""
    reading = Reading("when did the films directed by the X actors come", "X")
    similarities = table(reading, actors="actors", directed="films directed by", date="come")
    assert fits(reading, similarities, [("actors", "directed", "date")])[0] > 0.6


def test_the_other_order_does_not_fit() -> None:
    """A possessive says which side comes first."""
    reading = Reading("X's wife's mother", "X")
    assert fits(reading, table(reading, wife="wife", mother="mother"), [("mother", "wife")]) == [0.0]


def test_what_is_left_over_may_be_forgiven() -> None:
    """Partly, a chain is as good as the words that say it; no words say more relations than there are."""
    reading = Reading("the mother of the wife of X", "X")
    similarities = table(reading, wife="wife", mother="mother")
    assert fits(reading, similarities, [("wife",)]) == [0.0]
    assert fits(reading, similarities, [("wife",), ("wife", "mother")], partly=True) == [1.0, 1.0]
    assert fits(reading, similarities, [("wife",) * 3]) == [UNSAID]


def test_a_chain_promises_what_is_left() -> None:
    """The beginning of what a question says may become better than it is; nothing is left of a whole one."""
    reading = Reading("the mother of the wife of X", "X")
    similarities = table(reading, wife="wife", mother="mother")
    begun, whole = RelationChain("X", ("wife",), ("out",)), RelationChain("X", ("wife", "mother"), OUTWARDS)
    judged = reading.judged(similarities, [begun, whole])
    assert judged[begun].promise > judged[begun].score
    assert judged[whole].promise < judged[whole].score


def test_other_topics_are_no_words_of_the_question() -> None:
    """What both have in common is said once."""
    assert set(Reading("Which drugs treat both X and Y?", "X", ("X", "Y")).spans) == {
        "which drugs",
        "treat both and it",
        "which drugs treat both and it",
    }


def test_a_time_is_asked_for_or_not() -> None:
    """Dates where a place is asked for count as little as places where a time is."""
    kinds = (frozenset({"date"}), frozenset({THING}), frozenset[str]())
    born = [RelationChain("X", ("born",), ("out",), kind) for kind in kinds]
    when, where = Reading("when was X born", "X"), Reading("where was X born", "X")
    assert [when.fitting(chain) for chain in born] == [1, -1, 0]
    assert [where.fitting(chain) for chain in born] == [-1, 0, 0]


def test_ends_of_the_kind_that_is_asked_for_count() -> None:
    """A film where films are asked for, a place where nobody asked who."""
    kinds = [kinds_of(name) | {THING} for name in ("feature film", "city")]
    chains = [RelationChain("X", ("a",), ("out",), kind) for kind in kinds]
    reading = Reading("which films did X direct", "X")
    assert reading.bonus(chains[0]) > 0 > reading.bonus(chains[1])


def test_what_is_asked_for_is_not_where_a_relation_begins() -> None:
    """Labels that somebody founded are no artists who have a label."""
    reading = Reading("what labels did X found", "X")
    ends = [RelationChain("X", ("founded by", "record label"), ("in", way)) for way in ("in", "out")]
    assert reading.bonus(ends[0]) < reading.bonus(ends[1]) - 0.05


def test_the_way_that_is_meant_counts() -> None:
    """Who directed a film is no film that it directed; then the other way is not against it."""
    directed, by_it = (RelationChain("X", ("director",), (way,)) for way in ("out", "in"))
    reading = Reading("which films did X direct", "X")
    assert (reading.clashes(directed), reading.clashes(by_it)) == (1, 0)
    assert reading.bonus(by_it) == 0 > reading.bonus(directed)


def test_chains_from_several_topics_are_judged_together() -> None:
    """By their mean; what clashes in one does so in all."""
    reading = Reading("which films did X direct", "X")
    chains = [RelationChain("X", ("director",), (way,)) for way in (*OUTWARDS[:1], "in")]
    similarities = {("director", ""): np.ones(len(reading.spans), dtype=np.float32)}
    both = together(list(reading.judged(similarities, chains).values()))
    assert both.clashes == 1
    assert both.fit == pytest.approx(1.0)


def test_of_two_walks_that_fit_alike_the_shorter_one_is_meant() -> None:
    """A step more has to earn its place."""
    reading = Reading("the wife of X", "X")
    first, second = (reading.bonus(RelationChain("X", ("a", "b")[:steps], OUTWARDS[:steps])) for steps in (1, 2))
    assert first > second


def test_a_turn_back_is_meant_where_the_question_says_so() -> None:
    """Who shares a director: there by a relation and back by it; elsewhere a straight walk is more likely."""
    turn, straight = RelationChain("X", ("a", "a"), ("out", "in")), RelationChain("X", ("a", "a"), ("out", "out"))
    same, plain = Reading("films with the same director as X", "X"), Reading("the director of X", "X")
    assert same.bonus(turn) > 0 > same.bonus(straight)
    assert plain.bonus(turn) < plain.bonus(straight)
    assert plain.bonus(RelationChain("X", ("a", "b"), ("out", "in"))) < 0


@given(st.text(max_size=400), st.text(max_size=10))
def test_any_question_has_a_bounded_reading(question: str, topic: str) -> None:
    """However long it is and whatever it is made of; every chain has a fit."""
    reading = Reading(question, topic)
    assert 1 <= len(reading.spans) <= 2 * MOST_UNITS * (MOST_UNITS + 1)
    similarities = {("a", ""): np.ones(len(reading.spans), dtype=np.float32)}
    assert fits(reading, similarities, [("a",), ("a", "a")], partly=True)[0] == pytest.approx(1.0)
    assert all(UNSAID <= fit <= 1 for fit in fits(reading, similarities, [("a",), ("a",) * 20]))


def test_the_noun_that_names_the_answer_is_no_further_step() -> None:
    """The countries that are members have no country of theirs; other steps, and other kinds of ends, go on."""
    reading = Reading("Which countries are members of X?", "X")
    similarities = {(name, ""): np.ones(len(reading.spans), dtype=np.float32) for name in ("member of", "country")}
    for types, again in (("monarchy", True), ("city", False)):
        first = RelationChain("X", ("member of",), ("in",), kinds_of(types) | {THING})
        chains = [first, first.then(RelationChain("", ("country",), ("out",)))]
        short, long = reading.judged(similarities, chains).values()
        assert (long.score - long.fit < short.score - short.fit - 0.2) is again


def test_a_verb_that_is_not_the_relation_tells_no_direction() -> None:
    """Who takes something is not asked what it causes."""
    reading = Reading("What side effects may happen when I take X?", "X")
    assert reading.clashes(RelationChain("X", ("causes side effect",), ("out",))) == 0
    assert Reading("What causes X?", "X").clashes(RelationChain("X", ("causes side effect",), ("out",))) == 1


def test_a_word_that_calls_a_relation_is_not_passed_over() -> None:
    """Whose father died is not who died; whether the label says it or the whole name."""
    reading = Reading("where did X's dad die", "X")
    alone, father = (
        RelationChain("X", ("place of death",), ("out",)),
        RelationChain("X", ("parent", "died in"), OUTWARDS),
    )
    typed = RelationChain("X", ("people", "place of death"), OUTWARDS, typed=("people.father.people", ""))
    assert reading.bonus(alone) == pytest.approx(-PASSED_OVER)
    assert reading.bonus(father) == reading.bonus(typed) == pytest.approx(-LONGER)


def test_what_something_is_does_not_answer_of_what_kind_it_is() -> None:
    """The question itself says that X is a disease; asked for the type it is told."""
    kind = RelationChain("X", ("type",), OUTWARDS[:1])
    assert Reading("What kind of disease is X?", "X").bonus(kind) == pytest.approx(-2 * UNLIKE)
    assert Reading("What is X's type?", "X").bonus(kind) == 0


def test_a_value_is_reached_one_way_alone() -> None:
    """Nothing leads from a number, whatever the verb beside the topic says."""
    reading = Reading("How many employees work for X?", "X")
    number = RelationChain("X", ("employees",), OUTWARDS[:1], frozenset({"number"}))
    assert reading.clashes(number) == 0
    assert reading.clashes(number._replace(kinds=frozenset({THING}))) == 1


@pytest.mark.parametrize(
    ("question", "relation", "fits"),
    [
        ("What was the box office of X?", "box office", 1),
        ("What is X's boiling point?", "height", -1),
        ("What is the boiling point of X?", "boiling point", 1),
        ("What is the capital of X?", "box office", -1),
        ("Which films did X make?", "number of films", -1),
    ],
)
def test_a_value_may_be_called_by_the_noun_that_asks(question: str, relation: str, fits: int) -> None:
    """Where that names no kind: the films that X made are no number of films."""
    chain = RelationChain("X", (relation,), OUTWARDS[:1], frozenset({"number"}))
    assert Reading(question, "X").fitting(chain) == fits


@pytest.mark.parametrize(
    ("question", "again"),
    [
        ("List every record label based in X.", True),
        ("Which record labels are in X?", True),
        ("Which bands have a record label based in X?", False),
        ("Whose record label is based in X?", False),
    ],
)
def test_all_of_the_name_of_what_is_asked_for_leads_no_further(question: str, *, again: bool) -> None:
    """Labels that are based somewhere need no label of theirs."""
    one = RelationChain("X", ("headquarters",), ("in",), kinds_of("record label") | {THING})
    two = RelationChain("X", ("headquarters", "record label"), ("in", "in"), kinds_of("human") | {THING})
    reading = Reading(question, "X")
    alike = {(name, ""): np.zeros(len(reading.spans), dtype=np.float32) for name in two.relations}
    judged = reading.judged(alike, [one, two])[two]
    assert (judged.score == pytest.approx(reading.bonus(two) - AGAIN)) == again


@pytest.mark.parametrize(
    ("question", "relation", "clashes"),
    [
        ("Who is signed to X?", "record label", 1),
        ("Who lives in X?", "residence", 1),
        ("Who is X signed to?", "record label", 0),
        ("Where does X live?", "residence", 0),
        ("Who is the employer for X?", "employer", 0),
        ("Which label signed X?", "record label", 0),
        ("Who trains for X?", "trainer", 0),
        ("Who employs X?", "employer", 0),
        ("Who signed X?", "record label", 0),
        ("Who owns X?", "parent organization", 0),
    ],
)
def test_who_does_something_at_the_topic_is_not_what_has_no_people(question: str, relation: str, clashes: int) -> None:
    """Artists are signed to labels; the relation leads from them."""
    out = RelationChain("X", (relation,), ("out",), frozenset({THING}))
    assert Reading(question, "X").clashes(out) == clashes
    assert Reading(question, "X").clashes(out._replace(directions=("in",))) == 0
