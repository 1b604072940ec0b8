"""What is kept of a question to train with: its gold chain, and what a walk is offered beside it."""

from collections.abc import AsyncIterator

import pytest

from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Iri, Literal
from fedkg.errors import InputError
from fedkg.session import Session
from fedkg.training.chain_records import ChainRecipe, best_walk, chain_record, f1, walked

X = "https://fedkg.example/"
RECIPE = ChainRecipe("sample", ("sample",), 2, 50)


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    """The bundled sample."""
    async with Session("sample", embedder="bm25", cache=False) as opened:
        yield opened


async def iri(session: Session, label: str) -> str:
    """The sample's entity of that label."""
    return (await session.search(label))[0].iri.value


async def test_the_shortest_chain_whose_ends_are_the_answers_is_the_gold_one(session: Session) -> None:
    """Where the set names none; the record has what the walk is offered at each step and behind the last."""
    topic = Gold("Marie Curie", await iri(session, "Marie Curie"))
    answer = Gold("Pierre Curie", await iri(session, "Pierre Curie"))
    asked = BenchmarkQuestion("1", "Who was Marie Curie married to?", (topic,), (answer,))
    record = await chain_record(await session.graph(), asked, RECIPE, None)
    assert (record.error, record.topic, record.chain) == ("", "Marie Curie", (("spouse", "out"),))
    assert len(record.offers) == 2
    assert ("spouse", "out") in record.offers[0]
    assert len(record.offers[0]) > 1


@pytest.mark.parametrize(("answers", "circles"), [(("Pierre Curie",), False), (("Pierre Curie", "Marie Curie"), True)])
async def test_a_record_tells_whether_the_topic_is_an_answer(
    answers: tuple[str, ...], circles: bool, session: Session
) -> None:
    """By its name, where the set gives its answers no IRI."""
    topic = Gold("Marie Curie", await iri(session, "Marie Curie"))
    asked = BenchmarkQuestion("1", "Who was Marie Curie married to?", (topic,), tuple(map(Gold, answers)))
    assert (await chain_record(await session.graph(), asked, RECIPE, None)).topic_answers is circles


async def test_answers_that_the_graph_lacks_speak_against_no_chain(session: Session) -> None:
    """Of four answers one is in the graph: the chain that leads to it is the gold one."""
    topic = Gold("Marie Curie", await iri(session, "Marie Curie"))
    lacking = (Gold(iri=X + name) for name in "abc")
    answers = (Gold("Pierre Curie", await iri(session, "Pierre Curie")), *lacking)
    asked = BenchmarkQuestion("1", "Who was Marie Curie married to?", (topic,), answers)
    assert (await chain_record(await session.graph(), asked, RECIPE, None)).chain == (("spouse", "out"),)


async def test_a_path_that_the_set_names_is_the_gold_one(session: Session) -> None:
    """Each of its relations with the direction in which it is walked; one that the graph lacks is an error."""
    start, end = await iri(session, "Marie Curie"), await iri(session, "Pierre Curie")
    graph = await session.graph()
    near = await graph.neighbours([Iri(start)], "out")
    [spouse] = {edge.relation.value for part in near for edge in part.edges if edge.object == Iri(end)}
    asked = BenchmarkQuestion(
        "1", "?", (Gold("Marie Curie", start),), (Gold(iri=end),), gold_path=((start, spouse, end),)
    )
    record = await chain_record(graph, asked, RECIPE, None)
    assert record.chain == (("spouse", "out"),)
    lacking = BenchmarkQuestion("2", "?", asked.topic_entities, asked.answers, gold_path=((end, X + "no", start),))
    assert "lacks the chain" in (await chain_record(graph, lacking, RECIPE, None)).error
    unanswered = BenchmarkQuestion("3", "?", asked.topic_entities, ())
    assert "no answers" in (await chain_record(graph, unanswered, RECIPE, None)).error


def test_a_path_is_walked_from_the_topic_on() -> None:
    """What has the node behind it as its object is walked against its direction."""
    path = (("film", "by", "lee"), ("other", "by", "lee"))
    walk = walked(BenchmarkQuestion("1", "?", (Gold(iri="film"),), gold_path=path))
    assert walk is not None
    assert walk.chain == (DirectedRelation(Iri("by"), "out"), DirectedRelation(Iri("by"), "in"))
    assert walked(BenchmarkQuestion("1", "?", (Gold(iri="film"),))) is None


def test_of_two_chains_the_one_with_fewer_other_ends_is_better() -> None:
    """What is half as good is kept beside it; where none is good enough there is none."""
    paths = {
        name: PartialPath(Iri("t"), (Step(0, DirectedRelation(Iri(name), "out"), ()),)) for name in ("a", "b", "c")
    }
    scored = [(0.4, paths["a"]), (1.0, paths["b"]), (0.9, paths["c"])]
    walk = best_walk(scored, {})
    assert (walk.chain, walk.also) == (paths["b"].chain, (paths["c"].chain,))
    with pytest.raises(InputError):
        best_walk(scored[:1], {})


def test_of_chains_with_nearly_the_same_ends_the_one_in_the_questions_words_is_meant() -> None:
    """A chain whose ends are much worse is not, whatever its words."""
    paths = {
        name: PartialPath(Iri("t"), (Step(0, DirectedRelation(Iri(name), "out"), ()),)) for name in ("a", "b", "c")
    }
    scored = [(0.6, paths["a"]), (1.0, paths["b"]), (0.9, paths["c"])]
    walk = best_walk(scored, {paths["a"].chain: 1.0, paths["c"].chain: 0.5})
    assert (walk.chain, walk.also) == (paths["c"].chain, (paths["a"].chain, paths["b"].chain))


def test_f1_counts_each_answer_once() -> None:
    """Literals are alike whatever their datatype; an answer may go by several entities of one name."""
    assert f1([Literal("1990")], [Literal("1990", "http://x/year")], 1) == 1.0
    assert f1([Iri("a"), Iri("b")], [Iri("a"), Iri("c")], 2) == pytest.approx(0.5)
    assert f1([Iri("a")], [Iri("a"), Iri("a2")], 1) == 1.0
    assert f1([], [Iri("a")], 1) == 0.0
