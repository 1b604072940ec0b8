"""One operation over sets that are there, without any walk: what answers, what decided, and what is admitted."""

from collections.abc import Mapping, Sequence

import pytest

from fedkg.core.caveat import CaveatKind
from fedkg.core.choice import Conclusion
from fedkg.core.literals import XSD
from fedkg.core.operation import Filter, Operation, OperationResult
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Blank, DirectedRelation, Edge, Iri, Literal, Term
from fedkg.methods.base import SearchResult
from fedkg.methods.computing import BESIDE, Computing

ANN, BOB = Iri("http://x/ann"), Iri("http://x/bob")
DIRECTED = DirectedRelation(Iri("http://x/directed"), "out")
MINUTES = DirectedRelation(Iri("http://x/minutes"), "out")
GENRE = DirectedRelation(Iri("http://x/genre"), "out")
Values = Mapping[str, Sequence[Term]]


def film(name: str) -> Iri:
    """The film of that name."""
    return Iri(f"http://x/{name}")


def number(text: object) -> Literal:
    """A number."""
    return Literal(str(text), XSD + "decimal")


def films(names: str, topic: Iri = ANN, *, complete: bool = True) -> PartialPath:
    """A set: the films of a director, a letter each."""
    edges = tuple(Edge(topic, DIRECTED.relation, film(name), "out", "e") for name in names)
    return PartialPath(topic, (Step(0, DIRECTED, edges, complete=complete),))


def valued(path: PartialPath, relation: DirectedRelation, values: Values, *, complete: bool = True) -> PartialPath:
    """The set, and what the relation leads to from its films."""
    edges = [
        Edge(film(name), relation.relation, value, "out", "e") for name, several in values.items() for value in several
    ]
    return path.extend(Step(0, relation, tuple(edges), complete=complete))


def computed(
    operation: Operation, *sets: PartialPath, names: Mapping[Term, str] | None = None, **values: Values
) -> SearchResult:
    """What the operation comes to over these sets; `values` are those of `minutes`, or of `genre`, of the first."""
    relations = {"minutes": MINUTES, "genre": GENRE}
    fetched = {relations[name]: [valued(sets[0], relations[name], each)] for name, each in values.items()}
    before = SearchResult(sets, ((),) * len(sets), Conclusion(verdict="yes"), exhausted=True, note="walked")
    numbered = dict(enumerate(sets, 1))
    return Computing(before, operation, numbered, fetched, names=names).result()


def ends(result: SearchResult) -> list[str]:
    """The names of what answers."""
    tails = [tail for path in result.paths for tail in path.tails]
    return [tail.value.rpartition("/")[2] for tail in tails if isinstance(tail, Iri)]


def kinds(result: SearchResult) -> list[CaveatKind]:
    """What is admitted."""
    return [caveat.kind for caveat in result.caveats]


def test_the_ends_of_a_set_answer() -> None:
    """Over the paths that lead to them; what the walk had noted stays."""
    result = computed(Operation("ends", ((1,),)), films("abc"))
    assert ends(result) == ["a", "b", "c"]
    assert result.computation
    assert (result.computation.members, result.computation.complete, result.note) == (3, True, "walked")
    assert (result.exhausted, kinds(result)) == (True, [])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (Operation("ends", ((1, 2),)), "abbc"),
        (Operation("ends", ((1,), (2,)), "intersect"), "bb"),
        (Operation("ends", ((1,), (2,)), "difference"), "a"),
        (Operation("ends", ((2,), (1,)), "difference"), "c"),
    ],
)
def test_sets_are_combined(operation: Operation, expected: str) -> None:
    """An end of both answers over the paths of both."""
    assert "".join(ends(computed(operation, films("ab"), films("bc", BOB)))) == expected


@pytest.mark.parametrize(("most", "rank", "expected"), [(True, 1, "bc"), (False, 1, "a"), (True, 2, "a")])
def test_an_extreme_by_its_rank(most: bool, rank: int, expected: str) -> None:
    """Ties stay, what decided is proof, and what does not answer stands beside; what has no value is missing."""
    values: Values = {"a": [number(90)], "b": [number(120)], "c": [number("120.0")]}
    operation = Operation("extreme", ((1,),), by=MINUTES, most=most, rank=rank)
    result = computed(operation, films("abcd"), minutes=values)
    assert "".join(ends(result)) == expected
    assert {end for end, _ in result.decided} == {film(name) for name in "abc"}
    assert {path.steps[-1].edges[0].start for path in result.checks} <= {film(name) for name in expected}
    assert len(result.beside) == len(values) - len(expected)
    assert (result.computation and result.computation.missing, kinds(result)) == (1, [CaveatKind.PARTIAL])
    assert not result.exhausted


def test_what_stands_beside_is_bounded() -> None:
    """A document shows some of the values that did not answer, and no thousands."""
    names = [chr(0x4E00 + place) for place in range(BESIDE + 10)]
    values = {name: [number(place)] for place, name in enumerate(names)}
    result = computed(Operation("extreme", ((1,),), by=MINUTES), films("".join(names)), minutes=values)
    assert (len(result.paths[0].tails), len(result.beside)) == (1, BESIDE)


def test_a_count_of_none() -> None:
    """It is 0, on the sets that were looked through, where all was decided; else there is no number."""
    none = Operation("count", ((1,),), filters=(Filter("more", ("200",), MINUTES),))
    result = computed(none, films("a"), minutes={"a": [number(90)]})
    assert (result.computation and result.computation.value, ends(result)) == ("0", ["a"])
    undecided = computed(none, films("ab"), minutes={"a": [number(90)]})
    assert (undecided.computation and undecided.computation.value, undecided.paths) == ("", ())
    assert kinds(undecided) == [CaveatKind.PARTIAL]


def test_filters_follow_one_another() -> None:
    """An end has to meet all of them, and the values by which it does prove it."""
    conditions = (Filter("at_least", ("100",), MINUTES), Filter("equal", ("drama",), GENRE))
    drama, noir = Iri("http://x/1"), Iri("http://x/2")
    result = computed(
        Operation("ends", ((1,),), filters=conditions),
        films("abc"),
        names={drama: "Drama", noir: "Noir"},
        minutes={"a": [number(90)], "b": [number(100)], "c": [number(110)]},
        genre={"a": [drama], "b": [noir], "c": [noir, drama]},
    )
    assert ends(result) == ["c"]
    assert {value for _, value in result.decided} == {number(110), noir, drama}
    assert result.computation
    assert [(each.values, each.named) for each in result.computation.filters] == [(("100",), False), (("drama",), True)]


def test_a_group_is_a_value_that_is_known() -> None:
    """The values that most ends share; what is only known to be there is none of them."""
    drama, unknown = Iri("http://x/drama"), Blank("b")
    values: Values = {"a": [drama], "b": [drama, unknown], "c": [unknown]}
    result = computed(Operation("group", ((1,),), by=GENRE), films("abc"), genre=values)
    assert set(ends(result)) == {"drama"}
    assert (result.computation and result.computation.counts) == (2,)
    assert set(result.decided) == {(film("a"), drama), (film("b"), drama)}


@pytest.mark.parametrize(
    ("form", "verdict", "value", "expected"),
    [("which", "", "", "b"), ("whether", "no", "", ""), ("difference", "", "30", "")],
)
def test_two_are_compared(form: str, verdict: str, value: str, expected: str) -> None:
    """Which has more, whether the first does, or by how much they differ, over the paths to both values."""
    sets = films("a"), films("b", BOB)
    fetched = {MINUTES: [valued(sets[0], MINUTES, {"a": [number(90)]}), valued(sets[1], MINUTES, {"b": [number(120)]})]}
    operation = Operation("compare", ((1,), (2,)), by=MINUTES, form=form)  # type: ignore[arg-type]  # one of the three
    result = Computing(SearchResult(sets, ((), ())), operation, dict(enumerate(sets, 1)), fetched).result()
    assert (result.conclusion.verdict or "", result.computation and result.computation.value) == (verdict, value)
    assert not expected or ends(result) == [expected]
    assert set(result.decided) == {(film("a"), number(90)), (film("b"), number(120))}


@pytest.mark.parametrize("second", [films("a", BOB), films("bc", BOB), films("b", BOB)])
def test_what_cannot_be_compared_is_left_open(second: PartialPath) -> None:
    """The same film twice, two films, and one without a value: there is no answer, and it is said why."""
    sets = films("a"), second
    fetched = {MINUTES: [valued(sets[0], MINUTES, {"a": [number(90)]})]}
    operation = Operation("compare", ((1,), (2,)), by=MINUTES)
    before = SearchResult(sets, ((), ()), exhausted=True)
    result = Computing(before, operation, dict(enumerate(sets, 1)), fetched).result()
    assert (result.paths, result.exhausted, result.decided) == ((), False, ())
    assert CaveatKind.UNPROVEN in kinds(result)


@pytest.mark.parametrize("result", ["ends", "count", "extreme"])
def test_a_set_in_part_is_admitted(result: OperationResult) -> None:
    """The answer's paths are marked as not all; where what is missing may change the answer there is a caveat, too."""
    operation = Operation(result, ((1,),), by=MINUTES if result == "extreme" else None)
    values: Values = {"a": [number(1)], "b": [number(2)]}
    partial = computed(operation, films("ab", complete=False), minutes=values)
    assert (partial.computation and partial.computation.complete, partial.exhausted) == (False, False)
    assert not any(path.complete for path in partial.paths)
    assert kinds(partial) == ([CaveatKind.PARTIAL] if result == "extreme" else [])


def test_values_in_part_may_rule_an_end_out() -> None:
    """Who is not of a genre is known only where all genres are: the ends are then admitted, and no part of more."""
    operation = Operation("ends", ((1,),), filters=(Filter("not_equal", ("drama",), GENRE),))
    path, noir = films("a"), Iri("http://x/2")
    for complete in (True, False):
        fetched = {GENRE: [valued(path, GENRE, {"a": [noir]}, complete=complete)]}
        result = Computing(SearchResult((path,), ((),)), operation, {1: path}, fetched, names={noir: "Noir"}).result()
        assert ends(result) == ["a"]
        assert all(each.complete for each in result.paths)
        assert kinds(result) == ([] if complete else [CaveatKind.PARTIAL])


def test_a_topic_may_be_an_end() -> None:
    """A set without a step is the topic itself."""
    result = computed(Operation("ends", ((1,), (2,))), PartialPath(ANN), films("a", BOB))
    assert ends(result) == ["ann", "a"]
