"""A question that no path answers, from its text to its document: a real graph in process, a played model."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from fedkg.core.answer import Answer, Status, decode_answer
from fedkg.core.caveat import CaveatKind
from fedkg.core.choice import Conclusion
from fedkg.core.events import Computed
from fedkg.core.operation import Combination, Operation, Operator
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.graph.endpoint import SparqlGraph
from fedkg.llm.base import Message
from fedkg.methods.base import Completing, Expanding, Expansion, Operating, SearchResult, Walk
from fedkg.methods.operating import operated
from tests.support.played_runs import answer_of, run_of

STUDIO = """
:ann rdfs:label "Ann Lee"@en . :bob rdfs:label "Bob Ray"@en .
:f1 rdfs:label "Dawn"@en ; r:directed :ann ; r:starring :bob ; r:minutes 90 ; r:released "1989"^^xsd:gYear .
:f2 rdfs:label "Noon"@en ; r:directed :ann ; r:minutes 120 ; r:released "1990-05-17"^^xsd:date ; r:genre :drama .
:f3 rdfs:label "Dusk"@en ; r:directed :ann ; r:starring :bob ; r:minutes 120 ; r:genre :drama , :noir .
:drama rdfs:label "drama"@en . :noir rdfs:label "noir"@en .
r:directed rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:minutes rdfs:label "minutes"@en .
r:released rdfs:label "released"@en . r:genre rdfs:label "genre"@en .
"""
SPANS = """
:al rdfs:label "Al"@en ; r:born "1990"^^xsd:gYear . :bo rdfs:label "Bo"@en ; r:born "1990"^^xsd:gYear .
:cy rdfs:label "Cy"@en ; r:born "1990-05-03"^^xsd:date , "1990"^^xsd:gYear .
:di rdfs:label "Di"@en ; r:born "1991-01-09"^^xsd:date , "1993-01-09"^^xsd:date .
:ed rdfs:label "Ed"@en ; r:born "1992-02-02"^^xsd:date . r:born rdfs:label "born"@en .
"""
FILMS = "films did Ann Lee direct"


@pytest.fixture
def studio(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Three films of a director, two of them with an actor."""
    return make_graph(STUDIO, name="studio")


class Asker:
    """Plays a model that picks relations of the topics, and then names an operation, relations by their names."""

    def __init__(self, *picked: str, mentions: Sequence[str] = ("Ann Lee",), **operation: Any) -> None:
        self.picked, self.mentions, self.operation = picked, mentions, operation
        self.calls: list[str] = []
        self.shown = ""

    def __call__(self, messages: Sequence[Message], call: str) -> str:
        """The reply to one call."""
        self.calls.append(call)
        user = messages[-1].content
        if call == "plan":
            return json.dumps({"keywords": ["films"], "kind": "entities", "mentions": list(self.mentions)})
        if call in {"choose", "choose-sets"}:
            numbers = [number for number, text in numbered(user).items() if any(name in text for name in self.picked)]
            picks = [{"offer": number, "ends": [], "check": False} for number in numbers]
            return json.dumps({"picks": picks, "decides": True, "more": False, "unproven": ""})
        if call == "answer":
            paths = [{"path": number, "ends": [], "check": False} for number in numbered(user)]
            return json.dumps({"paths": paths, "unproven": ""})
        assert call == "operate"
        self.shown = user
        return json.dumps(self._slots(user))

    def _slots(self, user: str) -> Mapping[str, Any]:
        """The operation with numbers for names."""
        relations = numbered(user.partition("Relations of their ends:")[2])

        def number(name: object) -> object:
            return next((n for n, text in relations.items() if f" {name} " in text), name)

        slots = {"sets": [1], "filters": [], **self.operation}
        slots["relation"] = number(slots.get("relation", 0))
        slots["filters"] = [{**each, "relation": number(each["relation"])} for each in slots["filters"]]
        return slots


def numbered(text: str) -> dict[int, str]:
    """The numbered lines."""
    lines = (line.partition(". ") for line in text.splitlines())
    return {int(number): rest for number, dot, rest in lines if dot and number.isdecimal()}


async def asked(graph: SparqlGraph, question: str, *picked: str, **operation: Any) -> tuple[Answer, Asker]:
    """The answer to the question, and the model that was played."""
    asker = Asker(*(picked or ("directed by",)), **operation)
    return await answer_of(run_of(graph, asker, question)), asker


def values(answer: Answer) -> list[str]:
    """What the answers say, in alphabetical order."""
    return sorted(value.value for value in answer.answers)


@pytest.fixture
def spans(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Five people, of whom some have only a year of birth, and some several dates."""
    return make_graph(SPANS, name="spans")


async def compared(graph: SparqlGraph, first: str, second: str, form: str) -> Answer:
    """Two people by their births."""
    question = f"Tell who was born after the other, or how long after, {first} or {second}"
    slots = {"sets": [1, 2], "mentions": (first, second), "relation": "born", "form": form}
    return (await asked(graph, question, "born", result="compare", **slots))[0]


@pytest.mark.parametrize(
    ("pair", "form", "expected", "caveat"),
    [
        (("Di", "Cy"), "whether", ["yes"], None),
        (("Al", "Bo"), "whether", [], CaveatKind.UNPROVEN),
        (("Al", "Cy"), "whether", [], CaveatKind.UNPROVEN),
        (("Di", "Ed"), "whether", [], CaveatKind.UNPROVEN),
        (("Al", "Bo"), "which", ["Al", "Bo"], CaveatKind.PARTIAL),
        (("Al", "Cy"), "which", [], CaveatKind.UNPROVEN),
        (("Di", "Ed"), "which", [], CaveatKind.UNPROVEN),
        (("Cy", "Ed"), "difference", ["2"], None),
        (("Cy", "Di"), "difference", [], CaveatKind.UNPROVEN),
    ],
)
async def test_what_values_leave_open_is_not_decided(
    spans: SparqlGraph, pair: tuple[str, str], form: str, expected: list[str], caveat: CaveatKind | None
) -> None:
    """Years that are the same tell nothing, nor do several dates of which one is before and one after."""
    answer = await compared(spans, *pair, form)
    assert values(answer) == expected
    assert caveat in [*(each.kind for each in answer.caveats), None]
    assert bool(answer.caveats) == bool(caveat)
    assert answer.status is (Status.ANSWERED if expected else Status.NOT_FOUND)
    assert answer.unproven() == ()


async def test_nothing_is_more_than_itself(make_graph: Callable[..., SparqlGraph]) -> None:
    """Two sets with the same end are not compared."""
    homes = """:al rdfs:label "Al"@en ; r:home :x . :bo rdfs:label "Bo"@en ; r:home :x .
    :x rdfs:label "Ax"@en ; r:size 5 . r:home rdfs:label "home"@en . r:size rdfs:label "size"@en ."""
    slots = {"sets": [1, 2], "mentions": ("Al", "Bo"), "relation": "size", "form": "whether"}
    graph = make_graph(homes, name="homes")
    answer, _ = await asked(graph, "Tell whether the home of Al is larger than Bo's", "home", result="compare", **slots)
    assert values(answer) == []
    assert [caveat.kind for caveat in answer.caveats] == [CaveatKind.UNPROVEN]


async def test_a_count_with_an_end_that_cannot_be_decided_is_a_bound(studio: SparqlGraph) -> None:
    """A film without a date may be of that time, too."""
    condition = {"relation": "released", "comparison": "after", "values": ["1989"]}
    answer, _ = await asked(studio, f"How many {FILMS} after 1989?", result="count", filters=[condition])
    assert values(answer) == ["at least 1"]
    assert answer.unproven() == ()


async def test_ends_without_a_name_are_counted(make_graph: Callable[..., SparqlGraph]) -> None:
    """A count over a question of another kind has all ends, whether they have a name or not."""
    nameless = "<http://www.wikidata.org/entity/Q99999> r:directed :ann ."
    graph = make_graph(STUDIO + nameless, name="studio")
    answer, _ = await asked(graph, f"What is the number of all but no more {FILMS}?", result="count")
    assert values(answer) == ["4"]
    assert answer.operation is not None
    assert answer.operation.members == 4


async def test_the_first_by_several_dates_may_be_another(make_graph: Callable[..., SparqlGraph]) -> None:
    """Of two premieres the first counts; that the other one would decide otherwise is said."""
    more = ':f1 r:released "1991"^^xsd:gYear . :f3 r:released "1992"^^xsd:gYear .'
    graph = make_graph(STUDIO + more, name="studio")
    answer, _ = await asked(
        graph, f"Which of the {FILMS} came first?", result="extreme", relation="released", most=False
    )
    assert values(answer) == ["Dawn"]
    assert [caveat.kind for caveat in answer.caveats] == [CaveatKind.PARTIAL]


async def test_an_extreme_keeps_ties_and_shows_what_decided(studio: SparqlGraph) -> None:
    """Both longest films answer; the values of all three stand in the document, each on a path that the graph has."""
    question = f"Which of the {FILMS} is the longest?"
    answer, asker = await asked(studio, question, result="extreme", relation="minutes")
    assert (answer.status, values(answer)) == (Status.ANSWERED, ["Dusk", "Noon"])
    assert asker.calls[-1] == "operate"
    assert asker.calls.count("operate") == 1
    assert answer.operation is not None
    assert sorted(each.value.text[1:4] for each in answer.operation.deciding) == ["120", "120", '90"']
    assert all(await studio.holds([shown.edge for path in answer.paths for shown in path.edges]))
    for each in answer.operation.deciding:
        edges = [{shown.edge.start, shown.edge.end} for shown in answer.paths[each.path].edges]
        assert {each.end, each.value} in edges
    assert answer.unproven() == ()
    assert decode_answer(answer.to_json()) == answer
    assert not answer.caveats
    assert "computed: the largest minutes of 3 ends: " in answer.text()


async def test_what_was_computed_is_an_event(studio: SparqlGraph) -> None:
    """Before the answer, with the values that decided, by their names."""
    asker = Asker("directed by", result="extreme", relation="minutes", most=False)
    run = run_of(studio, asker, f"Which of the {FILMS} is the shortest?")
    *_, computed, _ = [event async for event in run.events()]
    assert isinstance(computed, Computed)
    assert (computed.result, computed.members, computed.values[0]) == ("extreme", 3, "Dawn: 90")


async def test_the_first_with_a_missing_date_is_partial(studio: SparqlGraph) -> None:
    """A film without a date may have come first: that is admitted."""
    answer, _ = await asked(
        studio, f"Which of the {FILMS} came first?", result="extreme", relation="released", most=False
    )
    assert values(answer) == ["Dawn"]
    assert [caveat.kind for caveat in answer.caveats] == [CaveatKind.PARTIAL]
    assert answer.operation is not None
    assert answer.operation.missing == 1


async def test_a_filter_then_a_count(studio: SparqlGraph) -> None:
    """The value is read from the question's words, the number is that of the ends that meet it."""
    condition = {"relation": "minutes", "comparison": "more", "values": ["100 minutes"]}
    question = f"How many {FILMS} that are longer than 100 minutes?"
    answer, _ = await asked(studio, question, result="count", filters=[condition])
    assert (answer.kind, values(answer)) == ("count", ["2"])
    assert answer.operation is not None
    assert [(each.comparison, each.values) for each in answer.operation.filters] == [("more", ("100",))]
    assert answer.unproven() == ()


RIVERS = """
:ann rdfs:label "Ann Lee" . r:crossed rdfs:label "crossed" . r:length rdfs:label "length" .
:a rdfs:label "Aar" . :b rdfs:label "Bro" . :c rdfs:label "Cam" . :ann r:crossed :a , :b , :c .
:a r:length [ r:amount 5 ; <http://schema.org/unitText> "km" ] .
:b r:length [ r:amount 4 ; <http://schema.org/unitText> "miles" ] .
:c r:length [ r:amount 900 ; <http://schema.org/unitText> "metres" ] . r:amount rdfs:label "amount" .
"""


async def test_units_of_the_graph_are_converted(make_graph: Callable[..., SparqlGraph]) -> None:
    """A unit may stand beside the number, at the same node; no query says what was converted."""
    rivers = make_graph(RIVERS, name="rivers")
    condition = {"relation": 1, "comparison": "more", "values": ["6 kilometres"]}
    question = "Which rivers that Ann Lee crossed are longer than 6 kilometres?"
    answer, asker = await asked(rivers, question, "crossed", filters=[condition])
    assert "amount" in numbered(asker.shown.partition("Relations of their ends:")[2])[1]
    assert values(answer) == ["Bro"]
    assert answer.operation is not None
    assert sorted(answer.operation.units) == ["km", "metres", "miles"]
    assert (answer.unproven(), answer.query) == ((), "")
    assert not any("states no unit" in warning for warning in answer.warnings)
    longest, _ = await asked(
        rivers, "Which river that Ann Lee crossed is the longest?", "crossed", result="extreme", relation=1
    )
    assert values(longest) == ["Bro"]
    assert longest.unproven() == ()


async def test_a_unit_that_the_graph_does_not_state_is_said(studio: SparqlGraph) -> None:
    """Its plain numbers are compared as if they had the question's unit, and a warning tells of that."""
    condition = {"relation": "minutes", "comparison": "more", "values": ["100 minutes"]}
    answer, _ = await asked(studio, f"Which {FILMS} that are longer than 100 minutes?", filters=[condition])
    assert "the graph states no unit: its values are compared as if they were in minutes" in answer.warnings


async def test_a_count_of_none_is_0_where_all_is_known(studio: SparqlGraph) -> None:
    """The whole sets prove it; where an end is not decided, or the question says more than that, nothing is said."""
    condition = {"relation": "minutes", "comparison": "more", "values": ["500 minutes"]}
    question = f"How many {FILMS} that are longer than 500 minutes before 1980?"
    answer, _ = await asked(studio, question, result="count", filters=[condition])
    assert (answer.status, answer.kind, values(answer)) == (Status.ANSWERED, "count", ["0"])
    assert len(answer.paths) == 3
    assert (answer.unproven(), answer.caveats) == ((), ())
    assert answer.operation is not None
    assert (answer.operation.value, answer.operation.members) == ("0", 0)
    early = {"relation": "released", "comparison": "before", "values": ["1980"]}
    undecided, _ = await asked(studio, question, result="count", filters=[early])
    assert (undecided.answers, undecided.status) == ((), Status.NOT_FOUND)
    more, _ = await asked(studio, question, result="count", filters=[condition], unproven="before 1980")
    assert more.answers == ()


async def test_a_date_that_is_not_precise_enough_is_left_out_and_said(studio: SparqlGraph) -> None:
    """1989 is before May 1990, a day of that month is not, and no date is no answer."""
    condition = {"relation": "released", "comparison": "before", "values": ["May 1990"]}
    answer, _ = await asked(studio, f"Which {FILMS} before May 1990?", filters=[condition])
    assert values(answer) == ["Dawn"]
    assert CaveatKind.PARTIAL in [caveat.kind for caveat in answer.caveats]


@pytest.mark.parametrize(
    ("comparison", "words", "expected"),
    [("contains", "us", ["Dusk"]), ("starts_with", "D", ["Dawn", "Dusk"]), ("equal", "noon", ["Noon"])],
)
async def test_names_are_compared(studio: SparqlGraph, comparison: str, words: str, expected: list[str]) -> None:
    """Relation 0 is the ends' own name, which is offered where the question has words of names."""
    condition = {"relation": 0, "comparison": comparison, "values": [words]}
    question = f'Which {FILMS} with "{words}" in the title?'
    answer, asker = await asked(studio, question, filters=[condition])
    assert "0. the end's own name: Dawn, Noon" in asker.shown
    assert values(answer) == expected
    assert answer.operation is not None
    assert [each.named for each in answer.operation.filters] == [True]
    assert answer.unproven() == ()
    assert not answer.query


async def test_entities_of_a_filter_are_compared_by_their_names(studio: SparqlGraph) -> None:
    """What the relation leads to is an entity: its name decides; no names are offered without words of names."""
    condition = {"relation": "genre", "comparison": "contains", "values": ["noi"]}
    answer, asker = await asked(studio, f"Which {FILMS} of a genre not without noi?", filters=[condition])
    assert "own name" not in asker.shown
    assert values(answer) == ["Dusk"]


async def test_groups(studio: SparqlGraph) -> None:
    """What most ends have, with the number."""
    answer, _ = await asked(studio, f"Which genre do most {FILMS} have?", result="group", relation="genre")
    assert values(answer) == ["drama"]
    assert answer.operation is not None
    assert answer.operation.counts == (2,)
    assert answer.unproven() == ()


async def test_a_group_may_be_the_topic_itself(make_graph: Callable[..., SparqlGraph]) -> None:
    """Who directs the films plays in most of them, too: the way back to the topic counts."""
    films = """:f1 rdfs:label "Dawn" ; r:directed :ann ; r:starring :ann , :bob . r:directed rdfs:label "directed by" .
    :f2 rdfs:label "Noon" ; r:directed :ann ; r:starring :ann . :ann rdfs:label "Ann Lee" . :bob rdfs:label "Bob" .
    r:starring rdfs:label "starring" ."""
    answer, _ = await asked(make_graph(films), f"Who stars in most {FILMS}?", result="group", relation="starring")
    assert values(answer) == ["Ann Lee"]
    assert answer.operation is not None
    assert answer.operation.counts == (2,)
    assert answer.unproven() == ()


@pytest.mark.parametrize(("combine", "expected"), [("difference", ["Noon"]), ("intersect", ["Dawn", "Dusk"])])
async def test_two_sets(studio: SparqlGraph, combine: str, expected: list[str]) -> None:
    """Films of one without, or with, the other."""
    question = f"Which {FILMS} with or without Bob Ray, but not both?"
    picked = ("directed by", "starring")
    sets = {"sets": [1, 2], "combine": combine, "mentions": ("Ann Lee", "Bob Ray")}
    answer, _ = await asked(studio, question, *picked, **sets)
    assert values(answer) == expected
    assert answer.unproven() == ()


@pytest.mark.parametrize(
    ("form", "expected", "kind"), [("which", ["Noon"], "entities"), ("difference", ["30"], "literal")]
)
async def test_two_are_compared(studio: SparqlGraph, form: str, expected: list[str], kind: str) -> None:
    """Paths to values are compared by these: the topic with the larger one, or how far they are apart."""
    sets = {"sets": [1, 2], "mentions": ("Dawn", "Noon"), "relation": "minutes"}
    answer, _ = await asked(studio, "Which is longer, Dawn or Noon?", "minutes", result="compare", form=form, **sets)
    assert (answer.kind, values(answer)) == (kind, expected)
    assert answer.unproven() == ()
    assert answer.operation is not None
    assert len(answer.operation.deciding) == 2


@pytest.mark.parametrize(
    "hostile",
    [
        {"sets": [7]},
        {"result": "extreme", "relation": 99},
        {"result": "drop all"},
        {"rank": -1},
        {"filters": [{"relation": "minutes", "comparison": "more", "values": ["9 minutes"]}]},
        {"filters": [{"relation": "minutes", "comparison": "between", "values": ["100 minutes"]}]},
        {"result": "compare", "relation": "minutes"},
    ],
)
async def test_what_was_not_offered_computes_nothing(studio: SparqlGraph, hostile: Mapping[str, Any]) -> None:
    """Numbers, operators and values that were not offered are refused twice; the walk's answer stays, and warns."""
    question = f"Which {FILMS} that are longer than 100 minutes?"
    answer, asker = await asked(studio, question, **hostile)
    assert values(answer) == ["Dawn", "Dusk", "Noon"]
    assert asker.calls.count("operate") == 2
    assert answer.operation is None
    assert any("what has to be computed" in warning for warning in answer.warnings)
    assert [caveat.kind for caveat in answer.caveats] == [CaveatKind.UNPROVEN]


async def test_nothing_to_compute(studio: SparqlGraph) -> None:
    """A model may see that the ends answer as they are, and name what the offers do not say."""
    answer, _ = await asked(studio, f"Which {FILMS} before breakfast?", sets=[], unproven="before breakfast")
    assert values(answer) == ["Dawn", "Dusk", "Noon"]
    assert (answer.operation, [caveat.kind for caveat in answer.caveats]) == (None, [CaveatKind.UNPROVEN])


async def test_no_cue_no_call(studio: SparqlGraph) -> None:
    """A question without words of an operator is asked as ever."""
    _, asker = await asked(studio, f"Which {FILMS}?")
    assert "operate" not in asker.calls


async def test_an_edited_value_is_refused(studio: SparqlGraph) -> None:
    """A document whose number is not what its own values come to proves nothing."""
    sets = {"sets": [1, 2], "mentions": ("Dawn", "Noon"), "relation": "minutes"}
    answer, _ = await asked(
        studio, "How much longer is Noon than Dawn?", "minutes", result="compare", form="difference", **sets
    )
    [value] = answer.answers
    edited = msgspec.structs.replace(answer, answers=(msgspec.structs.replace(value, value="31"),))
    assert (answer.unproven(), edited.unproven()) == ((), edited.answers)


def operation_of(operation: Operation, *complete: bool, endpoints: Sequence[str] = "e" * 9) -> SearchResult:
    """What the operation makes of paths from as many topics to three films each, one film in common."""
    directed = DirectedRelation(Iri("http://x/directed"), "out")
    whole = []
    for number, every in enumerate(complete):
        topic = Iri(f"http://x/p{number}")
        films = [Iri(f"http://x/{film}") for film in ("common", f"{number}a", f"{number}b")]
        edges = tuple(Edge(topic, directed.relation, film, "out", endpoints[number]) for film in films)
        whole.append(PartialPath(topic, (Step(0, directed, edges, complete=every),)))

    def walk() -> Walk:
        yield from ()
        return SearchResult(tuple(whole), ((),) * len(whole), exhausted=True)

    operating = operated(walk())
    next(operating)
    operating.send(Expansion((), complete=True))
    operating.send(operation)
    with pytest.raises(StopIteration) as end:
        operating.send(tuple(whole[number - 1] for group in operation.sets for number in group))
    assert isinstance(end.value.value, SearchResult)
    return end.value.value


@pytest.mark.parametrize(
    ("complete", "caveats", "bound"),
    [((True, False), [CaveatKind.PARTIAL], False), ((False, True), [], True), ((True, True), [], False)],
)
def test_a_difference_needs_all_that_is_taken_away(
    complete: tuple[bool, bool], caveats: list[CaveatKind], bound: bool
) -> None:
    """Where some of the others are missing an end may be theirs, so that the number is not even a bound."""
    result = operation_of(Operation("count", ((1,), (2,)), "difference"), *complete)
    assert [caveat.kind for caveat in result.caveats] == caveats
    assert all(path.complete for path in result.paths) is not bound


async def test_a_difference_of_dates_is_one_of_years(spans: SparqlGraph) -> None:
    """A question for days gets years, and is told so; in years there is nothing to admit."""
    slots = {"sets": [1, 2], "mentions": ("Cy", "Ed"), "relation": "born", "form": "difference", "result": "compare"}
    for unit, kinds in (("days", [CaveatKind.UNPROVEN]), ("years", [])):
        answer, _ = await asked(spans, f"Tell how many {unit} lie between the births of Cy and Ed", "born", **slots)
        assert values(answer) == ["2"]
        assert [caveat.kind for caveat in answer.caveats] == kinds
    assert "computed: the difference in born, in years: " in answer.text()


def one_set(operator: Operator) -> SearchResult:
    """A walk that names an operator over several sets, and came to a single one."""
    only = PartialPath(Iri("http://x/ann"), (Step(0, DirectedRelation(Iri("http://x/directed"), "out"), ()),))

    def walk() -> Walk:
        yield from ()
        return SearchResult((only,), ((),), Conclusion(operator=operator), exhausted=True)

    with pytest.raises(StopIteration) as end:
        next(operated(walk()))
    assert isinstance(end.value.value, SearchResult)
    return end.value.value


@pytest.mark.parametrize("operator", ["both", "difference"])
def test_one_set_is_not_combined(operator: Operator) -> None:
    """Where the other set was not reached its ends are not those of both, nor of one without the other."""
    result = one_set(operator)
    assert [caveat.kind for caveat in result.caveats] == [CaveatKind.UNPROVEN]
    assert not result.exhausted


@pytest.mark.parametrize(
    ("combine", "endpoints", "admitted"), [("intersect", "ee", 0), ("intersect", "ef", 1), ("union", "ef", 0)]
)
def test_copies_are_not_seen_to_be_one(combine: Combination, endpoints: str, admitted: int) -> None:
    """Where the sets are of two endpoints an entity may be in both without being the same term: no "none" is said."""
    result = operation_of(Operation("ends", ((1,), (2,)), combine), True, True, endpoints=endpoints)
    assert [caveat.kind for caveat in result.caveats] == [CaveatKind.PARTIAL] * admitted
    assert result.exhausted is not bool(admitted)


def test_sets_that_were_not_offered_are_missing() -> None:
    """Over all of nine sets only eight can be named: the number is a bound; over two of them it is exact."""
    every = operation_of(Operation("count", tuple((number,) for number in range(1, 9))), *[True] * 9)
    two = operation_of(Operation("count", ((1,), (2,))), *[True] * 9)
    assert (every.computation and every.computation.complete, two.computation and two.computation.complete) == (
        False,
        True,
    )


def test_ends_that_a_check_ruled_out_stay_out() -> None:
    """A set that was narrowed by a condition is completed for its values, and not widened again."""
    ann, films = Iri("http://x/ann"), [Iri(f"http://x/{number}") for number in range(2)]
    directed = DirectedRelation(Iri("http://x/directed"), "out")
    edges = tuple(Edge(ann, directed.relation, film, "out", "e") for film in films)
    whole = PartialPath(ann, (Step(0, directed, edges),))
    narrowed = PartialPath(ann, (Step(0, directed, edges[:1]),))

    def walk() -> Walk:
        yield from ()
        return SearchResult((narrowed,), ((),), checks=(narrowed,))

    operating = operated(walk())
    assert isinstance(next(operating), Expanding)
    assert isinstance(operating.send(Expansion((), complete=True)), Operating)
    assert operating.send(Operation("count", ((1,),))) == Completing((narrowed,))
    with pytest.raises(StopIteration) as end:
        operating.send((whole,))
    assert end.value.value.paths[0].tails == (films[0],)
