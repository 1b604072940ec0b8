"""Operations filled with what is offered."""

from collections.abc import Sequence

from fedkg.core.choice import PromptCandidate
from fedkg.core.operation import Filter, Operation
from fedkg.core.terms import DirectedRelation, Direction, Iri
from fedkg.reasoner.local.asked_paths import asked_paths
from fedkg.reasoner.local.operations import operation


def relation(name: str, direction: Direction = "out") -> tuple[DirectedRelation, str]:
    """An offered relation."""
    return DirectedRelation(Iri(f"http://x/{name.replace(' ', '_')}"), direction), name


AREA, BORN, DIRECTOR = relation("area"), relation("date of birth"), relation("director")
OFFERED = [AREA, BORN, DIRECTOR]


def read(question: str, *topics: str, offered: Sequence[tuple[DirectedRelation, str]] = OFFERED) -> Operation | None:
    """The operation over a path of each topic."""
    paths = [PromptCandidate(number, "", (), topic=topic) for number, topic in enumerate(topics, 1)]
    return operation(asked_paths(question, paths), offered, DIRECTOR[0])


def test_an_extreme_goes_by_the_relation_that_its_adjective_names() -> None:
    """With its direction and rank."""
    assert read("Which member of NATO has the second smallest area?", "NATO") == Operation(
        "extreme", ((1,),), by=AREA[0], most=False, rank=2
    )


def test_what_nothing_holds_is_unproven() -> None:
    """In the words of the question, for a value and for a bound."""
    army = read("Which member of NATO has the largest army?", "NATO")
    assert army is not None
    assert (army.by, army.unproven) == (None, "army")
    bound = read("Which members of NATO have more than 1,000 employees?", "NATO")
    assert bound is not None
    assert (bound.filters, bound.unproven) == ((), "employees")


def test_a_title_is_the_own_name_where_names_are_offered() -> None:
    """A relation of that name goes first; without either the title is unproven."""
    meant = asked_paths('Which films with Ann have "Kill" in the title?', [PromptCandidate(1, "", (), topic="Ann")])
    named = operation(meant, OFFERED, named=True)
    assert named is not None
    assert (named.filters, named.unproven) == ((Filter("contains", ("Kill",)),), "")
    title = relation("title")
    held = operation(meant, [*OFFERED, title], named=True)
    assert held is not None
    assert held.filters == (Filter("contains", ("Kill",), title[0]),)
    without = operation(meant, OFFERED)
    assert without is not None
    assert without.unproven == "title"


def test_sides_are_sets_of_their_own() -> None:
    """Of a difference and of a comparison, in the order of the question."""
    taken = read("Which languages did Ann speak that Bob did not speak?", "Bob", "Ann")
    assert taken == Operation("ends", ((2,), (1,)), "difference")
    assert read("Is Ann older than Bob?", "Bob", "Ann") == Operation(
        "compare", ((2,), (1,)), by=BORN[0], most=False, form="whether"
    )


def test_several_topics_share_what_is_counted() -> None:
    """Those of one name are one topic."""
    assert read("How many films star both Ann and Bob?", "Ann", "Bob", "Ann") == Operation(
        "count", ((1, 3), (2,)), "intersect"
    )


def test_bounds_are_filters_with_their_unit() -> None:
    """A group goes by the relation that it is given."""
    dated = read("How many cast members of Jaws were born before 1940?", "Jaws")
    assert dated == Operation("count", ((1,),), filters=(Filter("before", ("1940",), BORN[0]),))
    assert read("Which director made the most films with Ann?", "Ann") == Operation("group", ((1,),), by=DIRECTOR[0])


def test_where_nothing_is_read_nothing_is_computed() -> None:
    """Plain questions have no operation."""
    assert read("Who directed Jaws?", "Jaws") is None
