import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core import encoding
from fedkg.core.answer import DOCUMENT_VERSION, Answer, AnswerValue, Path, PathEdge, Status, decode_answer
from fedkg.core.question import JUDGED, Kind
from fedkg.core.terms import Blank, Iri, Literal, Qualifier, Term, Through
from fedkg.core.usage import Gap, Usage
from fedkg.errors import DocumentError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
IRI = TEXT.map(lambda tail: Iri(f"http://ex.org/{tail}"))
TERM: st.SearchStrategy[Term] = st.one_of(
    IRI,
    st.builds(Literal, TEXT, st.sampled_from(["", "http://www.w3.org/2001/XMLSchema#date"])),
    st.builds(lambda text: Literal(text, language="de"), TEXT),
    TEXT.filter(bool).map(Blank),
)
SCORE = st.floats(-1, 1)
COUNT = st.integers(0, 9)
QUALIFIERS = st.lists(st.builds(Qualifier, IRI, TERM), max_size=2).map(tuple)
EDGE = st.builds(
    PathEdge,
    subject=TERM,
    relation=IRI,
    object=TERM,
    direction=st.sampled_from(["out", "in"]),
    endpoint=TEXT,
    retrieved_at=TEXT,
    qualifiers=QUALIFIERS,
    through=st.none() | st.builds(Through, TERM, IRI),
    labels=st.dictionaries(TEXT, TEXT, max_size=2),
    identifies=st.none() | IRI,
)
JSON = st.recursive(
    st.none() | st.booleans() | COUNT | TEXT, lambda inner: st.dictionaries(TEXT, inner, max_size=2), max_leaves=4
)
ANSWER = st.builds(
    Answer,
    question=TEXT,
    kind=st.sampled_from(["entities", "literal", "count", "yesno", "claim", "choice"]),
    status=st.sampled_from(Status),
    answers=st.lists(
        st.builds(
            AnswerValue, TEXT, st.none() | TEXT, TEXT, st.none() | TERM, st.booleans(), st.lists(COUNT).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
    paths=st.lists(st.builds(Path, SCORE, st.lists(EDGE, max_size=2).map(tuple)), max_size=2).map(tuple),
    gaps=st.lists(st.builds(Gap, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    usage=st.builds(Usage, requests=COUNT, seconds=SCORE, by_kind=st.dictionaries(TEXT, COUNT, max_size=2)),
    warnings=st.lists(TEXT, max_size=2).map(tuple),
    options=st.lists(TEXT, max_size=2).map(tuple),
    settings=st.dictionaries(TEXT, JSON, max_size=2),
)
P, A, B = Iri("http://ex.org/p"), Iri("http://ex.org/a"), Iri("http://ex.org/b")


def document(**changes: Any) -> bytes:
    """An answer document with some fields replaced."""
    whole: dict[str, Any] = encoding.to_builtins(Answer("Who?", "entities", Status.NONE))
    return json.dumps({**whole, **changes}).encode()


@given(ANSWER)
def test_answer_document_round_trip(answer: Answer) -> None:
    """An answer document read back is the answer that was written, byte for byte."""
    data = answer.to_json()
    again = decode_answer(data)
    assert again == answer
    assert again.to_json() == data


@given(ANSWER)
def test_builtins_are_the_json(answer: Answer) -> None:
    """`to_builtins` is what the JSON says."""
    assert json.loads(answer.to_json()) == json.loads(json.dumps(encoding.to_builtins(answer)))


def test_terms_are_n_triples_text() -> None:
    """In JSON a term is its N-Triples text, and the status its word."""
    value = AnswerValue("7", term=Literal("7", datatype="http://www.w3.org/2001/XMLSchema#integer"))
    shown = json.loads(Answer("How many?", "count", Status.ANSWERED, (value,)).to_json())
    assert shown["answers"][0]["term"] == '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert (shown["status"], shown["version"]) == ("answered", DOCUMENT_VERSION)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"question": "x"}',
        b"\xff\xfe",
        b'{"settings":' + b"[" * 100_000,
        document(kind="poem"),
        document(status="maybe"),
        document(version="1"),
        document(answers=[{"value": "x", "term": "no term"}]),
        document(answers=[{"value": "x", "term": 5}]),
        document(paths=[{"score": 1, "edges": [{"subject": "<a:a>", "relation": '"no iri"'}]}]),
    ],
)
def test_what_is_no_document_is_a_document_error(data: bytes) -> None:
    """Cut, foreign, deeply nested and ill-typed input are all one typed error with a hint."""
    with pytest.raises(DocumentError, match="no fedkg answer document") as caught:
        decode_answer(data)
    assert caught.value.hint


def test_other_versions_are_named_even_if_their_shape_differs() -> None:
    """A document of a later version is refused by its version, not by the first field that is new."""
    with pytest.raises(DocumentError, match="version 99 is not known"):
        decode_answer(b'{"version": 99, "question": {"text": "new shape"}}')


def walked(*names: str) -> Path:
    """A path over nodes of these names."""
    pairs = itertools.pairwise(names)
    edges = (PathEdge(Iri(f"http://x/{a}"), Iri("http://x/r"), Iri(f"http://x/{b}"), "out", "e", "t") for a, b in pairs)
    return Path(1.0, tuple(edges))


def claimed(name: str, *paths: Path, iri: str = "") -> Answer:
    """A document that claims the node of that name as its answer."""
    term = Iri(f"http://x/{name}")
    value = AnswerValue(name, iri or term.value, name, term, grounded=True, paths=tuple(range(len(paths) or 1)))
    return Answer("q", "entities", Status.ANSWERED, (value,), paths)


def test_an_answer_is_proven_by_a_path_that_leads_to_it() -> None:
    """Connected edges whose last one ends at the answer."""
    assert claimed("c", walked("a", "b", "c")).unproven() == ()


def test_a_forged_answer_is_found() -> None:
    """No path, a path to elsewhere, edges that do not connect, another IRI, no term, or another literal."""
    broken = Path(1.0, (*walked("a", "b").edges, *walked("x", "c").edges))
    forged = [
        claimed("c"),
        claimed("c", walked("a", "b")),
        claimed("c", broken),
        claimed("c", walked("a", "c"), iri="http://y"),
    ]
    bare = AnswerValue("anybody", grounded=False, paths=(0,))
    year = AnswerValue("1999", term=Literal("2005"), grounded=True, paths=(0,))
    dressed = AnswerValue("2005", "http://x/c", term=Literal("2005"), grounded=True, paths=(0,))
    paths = (Path(1.0, (PathEdge(A, P, Literal("2005"), "out", "e", "t"),)),)
    forged += [Answer("q", "entities", Status.ANSWERED, (value,), (walked("a", "c"),)) for value in (bare, year)]
    forged += [Answer("q", "literal", Status.ANSWERED, (dressed,), paths)]
    assert [len(document.unproven()) for document in forged] == [1] * 7


def test_an_identifier_proves_only_what_the_table_says() -> None:
    """A path over an identifier connects through what it stands for, if whoever has the table agrees."""
    x, y, r, text = Iri("http://x/a"), Iri("http://x/b"), Iri("http://x/r"), Literal("7")
    link = PathEdge(x, r, text, "out", "e", "t", identifies=y)
    document = claimed("c", Path(1.0, (link, *walked("b", "c").edges)))
    assert document.unproven(lambda edge: edge.identifies in {None, y}) == ()
    assert len(document.unproven(lambda edge: edge.identifies is None)) == 1
    assert len(document.unproven()) == 1, "without the table nothing identifies anything"
    assert decode_answer(document.to_json()) == document
    bare = Path(1.0, (PathEdge(x, r, text, "out", "e", "t"), *walked("b", "c").edges))
    assert len(claimed("c", bare).unproven(lambda _: True)) == 1, "a literal leads nowhere by itself"


@pytest.mark.parametrize(("value", "forged"), [("2", False), ("at least 2", False), ("4711", True), ("many", True)])
def test_a_count_is_the_number_of_its_paths_ends(value: str, forged: bool) -> None:
    """Three paths to two nodes prove two."""
    paths = (walked("a", "b"), walked("a", "c"), walked("a", "x", "c"))
    count = AnswerValue(value, label="count", grounded=True, paths=(0, 1, 2))
    assert bool(Answer("q", "count", Status.ANSWERED, (count,), paths).unproven()) == forged


def judged(kind: Kind, *values: AnswerValue) -> Answer:
    """A document with these judgements on one path."""
    options = ("Rome", "Oslo") if kind == "choice" else ()
    return Answer("q", kind, Status.ANSWERED, values, (walked("a", "b"),), options=options)


@pytest.mark.parametrize("kind", sorted(JUDGED))
def test_a_judgement_claims_no_ground(kind: Kind) -> None:
    """It stands on connected paths; one that claims to stand in the graph, or has not all of its paths, is forged."""
    value = AnswerValue("Oslo", label="2", paths=(0,)) if kind == "choice" else AnswerValue("yes", paths=(0,))
    assert judged(kind, value).unproven() == ()
    changes: list[dict[str, Any]] = [
        {"grounded": True},
        {"paths": ()},
        {"paths": (0, 1)},
        {"iri": "http://x/b"},
        {"term": A},
    ]
    for change in changes:
        assert len(judged(kind, msgspec.structs.replace(value, **change)).unproven()) == 1


@pytest.mark.parametrize("kind", sorted(JUDGED))
def test_a_judgement_is_one_of_those_that_can_be(kind: Kind) -> None:
    """A verdict is yes or no, a choice an option with its own number, and there is one of them."""
    forged = [
        AnswerValue("perhaps", paths=(0,)),
        AnswerValue("Bern", label="2", paths=(0,)),
        AnswerValue("Oslo", paths=(0,)),
    ]
    assert [len(judged(kind, value).unproven()) for value in forged] == [1] * 3
    both = [AnswerValue(value, label=label, paths=(0,)) for value, label in (("Rome", "1"), ("Oslo", "2"))]
    both = both if kind == "choice" else [AnswerValue(value, paths=(0,)) for value in ("yes", "no")]
    assert [judged(kind, value).unproven() for value in both] == [(), ()]
    assert len(judged(kind, *both).unproven()) == 2
