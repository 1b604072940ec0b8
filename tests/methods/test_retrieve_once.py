"""Retrieval without reasoning: what is shown to the one call for the answer, and what it costs."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.choice import Conclusion
from fedkg.core.events import Answered, Ranked
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.core.usage import Usage
from fedkg.embed.lazy import LazySimilarity
from fedkg.engine.question_run import QuestionRun
from fedkg.graph.endpoint import SparqlGraph
from fedkg.methods import retrieve_once
from fedkg.methods.base import Answering, Completing, Expanding, Expansion, Need, SearchResult, Task, Walk
from fedkg.reasoner.local.model import LocalModel

TOPICS = (Iri("http://x/a"), Iri("http://x/b"))
FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year "2005"^^xsd:integer .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh . :walsh rdfs:label "Fran Walsh"@en .
:watts rdfs:label "Naomi Watts"@en . :black rdfs:label "Jack Black"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "year"@en .
r:spouse rdfs:label "spouse"@en .
"""


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A film with its director, whose spouse is known, its cast and year."""
    return make_graph(FILMS, name="films")


def step(name: str, beam: int, score: float) -> Step:
    """A candidate with one edge."""
    relation = Iri(f"http://x/r/{name}")
    edge = Edge(Iri("http://x/s"), relation, Iri(f"http://x/{name}"), "out", "e")
    return Step(beam, DirectedRelation(relation, "out"), (edge,), score)


def drive(
    walk: Walk, offers: Callable[[Expanding], Sequence[Step]], **reply: Any
) -> tuple[SearchResult, list[Need[object]]]:
    """Runs a walk over what is offered; the model names the first path, or concludes as `reply` has it."""
    needs: list[Need[object]] = [next(walk)]
    try:
        while True:
            match needs[-1]:
                case Expanding() as need:
                    needs.append(walk.send(Expansion(tuple(offers(need)), complete=reply.get("complete", True))))
                case Completing() as need:
                    needs.append(walk.send(need.partial_paths))
                case Answering():
                    needs.append(walk.send(reply.get("conclusion", Conclusion((1,)))))
    except StopIteration as end:
        return end.value, needs


def many(need: Expanding) -> list[Step]:
    """Fifteen steps, from each beam in turn, the best first."""
    return [step(f"d{need.depth}n{n}", n % len(need.partial_paths), 15.0 - n) for n in range(15)]


def nothing(_need: Expanding) -> list[Step]:
    """No steps."""
    return []


def shown(needs: Sequence[Need[object]]) -> tuple[PartialPath, ...]:
    """The evidence that the answer call sees."""
    (need,) = (need for need in needs if isinstance(need, Answering))
    return need.partial_paths


@pytest.mark.parametrize(("candidates", "count"), [(None, retrieve_once.TRIPLES), (3, 3), (40, 15)])
def test_kaping_shows_the_best_triples_of_one_hop(candidates: int | None, count: int) -> None:
    """Ranked as verbalised pairs whatever the settings say, best first; as many as there are where more are wanted."""
    search = SearchSettings(candidates=candidates, form="groups", depth=4)
    result, needs = drive(retrieve_once.kaping(Task(TOPICS, search)), many)
    assert isinstance(needs[0], Expanding)
    assert (needs[0].retriever, needs[0].form, needs[0].last) == ("kaping", "pairs", True)
    assert [type(need) for need in needs] == [Expanding, Answering]
    assert [beam.score for beam in shown(needs)] == [15.0 - n for n in range(count)]
    assert [beam.topic for beam in shown(needs)[:2]] == list(TOPICS)
    assert result.paths == shown(needs)[:1]


def test_vanilla_keeps_the_best_steps_of_each_hop() -> None:
    """No call before the answer; it sees the kept paths of all depths, the longest and best first."""
    result, needs = drive(retrieve_once.vanilla(Task(TOPICS, SearchSettings(depth=3, beam=2))), many)
    walked = [need for need in needs if isinstance(need, Expanding)]
    assert [(need.depth, len(need.partial_paths), need.last) for need in walked] == [
        (1, 2, False),
        (2, 2, False),
        (3, 2, True),
    ]
    assert {(need.retriever, need.form) for need in walked} == {("vanilla", None)}
    assert [type(need) for need in needs[3:]] == [Answering, Completing]
    names = [[step.relation.relation.local_name for step in beam.steps] for beam in shown(needs)]
    assert names == [
        ["d1n0", "d2n0", "d3n0"],
        ["d1n1", "d2n1", "d3n1"],
        ["d1n0", "d2n0"],
        ["d1n1", "d2n1"],
        ["d1n0"],
        ["d1n1"],
    ]
    assert result.paths == shown(needs)[:1]


@pytest.mark.parametrize("method", [retrieve_once.kaping, retrieve_once.vanilla])
@pytest.mark.parametrize("complete", [True, False])
def test_a_topic_without_edges_costs_no_call(method: Callable[[Task], Walk], complete: bool) -> None:
    """There is nothing to show; that means "none" where the endpoint left nothing out."""
    result, needs = drive(method(Task(TOPICS[:1], SearchSettings())), nothing, complete=complete)
    assert [type(need) for need in needs] == [Expanding]
    assert result == SearchResult(exhausted=complete)


@pytest.mark.parametrize(("beam", "exhausted"), [(1, False), (15, True)])
def test_vanilla_has_seen_all_only_where_it_kept_all(beam: int, exhausted: bool) -> None:
    """A dead end after steps that were left out is no proof that there is none."""
    search = SearchSettings(depth=3, beam=beam)
    offers = lambda need: many(need) if need.depth == 1 else []  # noqa: E731  # as short as it is
    result, _ = drive(retrieve_once.vanilla(Task(TOPICS[:1], search)), offers, conclusion=Conclusion())
    assert result == SearchResult(exhausted=exhausted)


def test_a_judgement_sees_all_paths_and_names_no_ends() -> None:
    """Yes, no or an option rests on whole paths."""
    conclusion = Conclusion((2, 1), verdict="yes")
    result, needs = drive(
        retrieve_once.kaping(Task(TOPICS, SearchSettings(), together=True)), many, conclusion=conclusion
    )
    assert result.paths == (shown(needs)[1], shown(needs)[0])
    assert (result.tails, result.conclusion.verdict) == (((), ()), "yes")


@given(depth=st.integers(1, 50), beam=st.integers(1, 20), offered=st.integers(0, 30), kaping=st.booleans())
def test_evidence_is_offered_steps_within_the_bounds(depth: int, beam: int, offered: int, kaping: bool) -> None:
    """Never more than D hops, N paths a hop, one answer call; every step was offered."""
    candidates: set[Step] = set()

    def offers(need: Expanding) -> list[Step]:
        made = [step(f"{need.depth}.{n}", n % len(need.partial_paths), -n) for n in range(offered)]
        candidates.update(made)
        return made

    method = retrieve_once.kaping if kaping else retrieve_once.vanilla
    result, needs = drive(method(Task(TOPICS, SearchSettings(depth=depth, beam=beam))), offers)
    kinds = [type(need) for need in needs]
    assert kinds.count(Answering) == (1 if offered else 0)
    assert kinds.count(Expanding) <= (1 if kaping else depth)
    assert all(len(need.partial_paths) <= max(beam, len(TOPICS)) for need in needs if isinstance(need, Expanding))
    assert {each for path in result.paths for each in path.steps} <= candidates


async def answered(films: SparqlGraph, similarity: LazySimilarity, question: str, method: str) -> tuple[Answer, Ranked]:
    """A run with the local model: its answer, and what was ranked at last."""
    settings = Settings(method=method, search=SearchSettings(depth=2))
    run = QuestionRun(question, films, LocalModel(similarity), similarity, settings, Usage, ["http://x/kong"])
    events = [event async for event in run.events()]
    assert isinstance(events[-1], Answered)
    return events[-1].answer, next(event for event in reversed(events) if isinstance(event, Ranked))


async def test_kaping_answers_over_a_real_graph(films: SparqlGraph, hashing: LazySimilarity) -> None:
    """One triple, one answer: the other member of the cast is another triple."""
    answer, ranked = await answered(films, hashing, "Who is starring in King Kong, is it Naomi Watts?", "kaping")
    assert (answer.method, answer.status, ranked.depth, ranked.considered) == ("kaping", Status.ANSWERED, 1, 4)
    assert ranked.offered[0] == "King Kong → starring → Naomi Watts"
    assert len(answer.answers) == len(answer.paths) == 1


async def test_vanilla_answers_over_a_real_graph(films: SparqlGraph, hashing: LazySimilarity) -> None:
    """Two hops, with the path as its proof."""
    answer, ranked = await answered(films, hashing, "King Kong: who is the directed by's spouse spouse?", "vanilla")
    assert (answer.method, answer.status, ranked.depth) == ("vanilla", Status.ANSWERED, 2)
    assert [value.value for value in answer.answers] == ["Fran Walsh"]
    assert len(answer.paths[0].edges) == 2
