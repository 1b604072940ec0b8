from collections.abc import Sequence

import msgspec
import pytest

from fedkg.common.tokens import estimate
from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.encoding import encode
from fedkg.core.operation import Computation
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal, Qualifier, Through
from fedkg.core.usage import Usage
from fedkg.engine.chain_queries import ChainQuery
from fedkg.engine.documents import NeighboursDocument, PathsDocument, VerifyDocument
from fedkg.engine.lookup import Checked
from fedkg.engine.proof_queries import ProofQuery
from fedkg.mcp.results import (
    AskResult,
    Fact,
    FoundEntities,
    NeighboursResult,
    PathsResult,
    SparqlResult,
    VerifyResult,
    fitting,
    safe,
)

HIDDEN = "Ann\u202e\x1b[2J\u200b\U000e0041"


def edge(number: int, label: str = "") -> PathEdge:
    """An edge to a city of that number."""
    city = Iri(f"http://x/city/{number}")
    labels = {city.text: label or f"City {number}", "<http://x/land>": "Land", "<http://x/has>": "has city"}
    return PathEdge(Iri("http://x/land"), Iri("http://x/has"), city, "out", "pets", "2026-01-01", labels=labels)


def answer(count: int) -> Answer:
    """An answer of so many cities, a path each."""
    values = tuple(AnswerValue(f"City {n}", f"http://x/city/{n}", grounded=True, paths=(n,)) for n in range(count))
    paths = tuple(Path(1.0, (edge(n),)) for n in range(count))
    return Answer("Which cities has Land?", "entities", Status.ANSWERED, values, paths)


def tokens(record: object) -> int:
    """What a model would pay for the record."""
    return estimate(encode(record).decode())


@pytest.mark.parametrize("room", [500, 1_000, 4_000])
def test_an_answer_is_as_long_as_it_may_be(room: int) -> None:
    """What is left out is counted, and the result says how to get it."""
    whole = answer(300)
    shown = AskResult.of("a7", whole, room)
    assert room // 2 < tokens(shown) <= room
    assert len(shown.answers) + shown.answers_left_out == len(shown.paths) + shown.paths_left_out == 300
    assert f"skip_answers={len(shown.answers)}, skip_paths={len(shown.paths)}" in shown.rest
    assert "answer_id=a7" in shown.rest


def test_reading_on_comes_to_every_answer_and_path() -> None:
    """Each once, whatever the parts are."""
    whole, answers, paths = answer(40), list[str](), list[int]()
    for _ in range(40):
        shown = AskResult.of("a1", whole, 1_000, len(answers), len(paths))
        answers += [value.value for value in shown.answers]
        paths += [path.number for path in shown.paths]
        if not shown.rest:
            break
    assert answers == [f"City {n}" for n in range(40)]
    assert paths == list(range(40))


def test_what_has_no_room_at_all_is_not_asked_for_again() -> None:
    """The same call would return the same: an answer is read as a resource, and an edge is passed over."""
    whole = answer(3)
    assert AskResult.of("a1", whole, 1).rest == "read the resource fedkg://answers/a1"
    assert "skip=5" in NeighboursResult.of(document([edge(n) for n in range(9)], 0), 4, 1).rest


def test_a_short_answer_is_whole() -> None:
    """Nothing is said of a rest."""
    shown = AskResult.of("a1", answer(2), 4_000)
    assert (len(shown.answers), len(shown.paths), shown.rest) == (2, 2, "")


def test_what_was_computed_is_told() -> None:
    """How an answer follows from the ends of paths; of other answers there is nothing to tell."""
    counted = msgspec.structs.replace(answer(2), operation=Computation("count", (), members=2))
    shown = [AskResult.of("a1", document, 4_000).computed for document in (counted, answer(2))]
    assert shown == ["computed: the number of ends", ""]


def test_caveats_come_with_their_meaning() -> None:
    """A model need not know the words of a document."""
    admitting = Answer("q", "entities", Status.NONE, caveats=(Caveat(CaveatKind.CUT, "cities"),))
    [caveat] = AskResult.of("a1", admitting, 1_000).caveats
    assert (caveat.kind, caveat.meaning, caveat.about) == ("cut", "there is more than was looked at", "cities")


def test_a_question_without_a_model_costs_no_money() -> None:
    """A price that is not known is told only where a model was called."""
    free, unknown = (
        AskResult.of("a1", Answer("q", "entities", Status.NONE, usage=Usage(model_calls=calls)), 1_000)
        for calls in (0, 1)
    )
    assert (free.cost.dollars, unknown.cost.dollars) == (0.0, None)


def test_hidden_characters_reach_no_field() -> None:
    """Whatever an endpoint has as a label, a value, a description."""
    match = Match(Iri("http://x/ann"), HIDDEN, 1.0, HIDDEN, type=HIDDEN)
    texts = [*encode(FoundEntities.of([match], 1_000)).decode(), *Fact.of(edge(1, HIDDEN)).object]
    assert all(text.isprintable() for text in texts)
    assert safe(HIDDEN).startswith("Ann")


def test_a_fact_has_all_that_stands_on_an_edge() -> None:
    """Labels and IRIs of its ends, both legs over a mediator, qualifiers, and what an identifier means."""
    year = Qualifier(Iri("http://x/since"), Literal("1990"))
    code, meant = Literal("Q1"), Iri("http://x/one")
    ends = (Iri("http://x/a"), Iri("http://x/p"), code)
    through = Through(Iri("http://x/node"), Iri("http://x/q"))
    fact = Fact.of(PathEdge(*ends, "in", "pets", "", (year,), through, {"<http://x/p>": "part"}, meant))
    assert (fact.subject, fact.relation, fact.object) == ("a", "part / q", "Q1")
    assert (fact.relation_iri, fact.object_iri, fact.walked) == ("http://x/p / http://x/q", "", "in")
    assert ([(leg.relation, leg.value) for leg in fact.qualifiers], fact.stands_for) == (
        [("since", "1990")],
        "http://x/one",
    )


def document(edges: Sequence[PathEdge], more: int) -> NeighboursDocument:
    """The edges of Land."""
    return NeighboursDocument(Match(Iri("http://x/land"), "Land", 1.0), tuple(edges), more)


def test_neighbours_can_be_read_on() -> None:
    """What the document left out and what had no room are left out together."""
    shown = NeighboursResult.of(document([edge(n) for n in range(100)], 50), 10, 1_000)
    assert tokens(shown) <= 1_000
    assert shown.left_out == 150 - 10 - len(shown.edges)
    assert f"skip={10 + len(shown.edges)}" in shown.rest
    assert NeighboursResult.of(document([edge(1)], 0), 0, 1_000).rest == ""


@pytest.mark.parametrize(
    ("count", "cut", "meaning"),
    [
        (1, (), "The shortest paths have 1 step; these are all."),
        (1, ("5 entities around x were not expanded",), "there may be others"),
        (0, (), "The graph has no path of at most 2 steps"),
        (0, ("5 entities around x were not expanded",), "this is no proof"),
    ],
)
def test_paths_say_how_far_they_are_all(count: int, cut: tuple[str, ...], meaning: str) -> None:
    """That there is no path is said only where all was looked at."""
    ends = Match(Iri("http://x/land"), "Land", 1.0), Match(Iri("http://x/city/0"), "City 0", 1.0)
    shown = PathsResult.of("a1", PathsDocument(*ends, 2, answer(count).paths, cut), 1_000)
    assert meaning in shown.meaning
    assert (len(shown.paths), shown.cut) == (count, cut)


def test_many_paths_can_be_read_on() -> None:
    """With the tool for answers, under the name that the paths were kept."""
    ends = Match(Iri("http://x/land"), "Land", 1.0), Match(Iri("http://x/city/0"), "City 0", 1.0)
    shown = PathsResult.of("a3", PathsDocument(*ends, 2, answer(99).paths), 1_000)
    assert tokens(shown) <= 1_000
    assert shown.rest == f"call `answer` with answer_id=a3, skip_paths={99 - shown.paths_left_out}"


def test_queries_that_have_no_room_are_counted() -> None:
    """Those that find the ends come first, and the rest says how to get those of one path."""
    chains = [ChainQuery("pets", number, "SELECT ?end WHERE { <a> <b> ?end } " * 9) for number in range(30)]
    shown = SparqlResult.of("a1", chains, [ProofQuery("pets", 3, "SELECT ?i WHERE { }")], 1_000)
    assert tokens(shown) <= 1_000
    assert (shown.queries[0].purpose, shown.left_out + len(shown.queries)) == ("ends", 31)
    assert "number of one path" in shown.rest


def test_a_search_has_room_for_some() -> None:
    """The best come first, and the others are counted."""
    matches = [Match(Iri(f"http://x/{n}"), f"Name {n}", 1.0, "a long description " * 5) for n in range(100)]
    shown = FoundEntities.of(matches, 1_000)
    assert tokens(shown) <= 1_000
    assert shown.entities[0].label == "Name 0"
    assert shown.left_out == 100 - len(shown.entities) > 0


def test_a_search_that_finds_nothing_says_what_to_try() -> None:
    """An empty list alone leads a model to give up."""
    assert "another spelling" in FoundEntities.of([], 1_000).rest


def test_a_check_shows_the_edges_that_do_not_hold() -> None:
    """Those that are gone and those that could not be asked for, which are neither true nor false."""
    whole = answer(3)
    checked = [Checked(n, path.edges[0].edge, holds) for n, (path, holds) in enumerate(_verdicts(whole))]
    shown = VerifyResult.of("a1", VerifyDocument.of(whole, checked, ["City 9"]), whole, 1_000)
    assert (shown.proven, shown.holds, shown.gone, shown.unasked) == (False, 1, 1, 1)
    assert [(edge.path, edge.state, edge.object) for edge in shown.doubtful] == [
        (1, "gone", "City 1"),
        (2, "unasked", "City 2"),
    ]
    assert shown.unproven == ("City 9",)


def _verdicts(whole: Answer) -> list[tuple[Path, bool | None]]:
    return list(zip(whole.paths, (True, False, None), strict=True))


def test_fitting_keeps_the_first() -> None:
    """And says how much room is left."""
    items = [Checked(n, edge(n).edge, holds=True) for n in range(3)]
    cost = tokens(items[0])
    assert fitting(items, 2 * cost + 1) == (items[:2], 1)
    assert fitting(items, 0) == ([], 0)
