"""How searches end: who is shown to the answer call, and what becomes of its choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.choice import Conclusion
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.errors import BudgetError
from fedkg.methods.base import Answering, Completing, Inducing, SearchResult, Walk
from fedkg.methods.conclude import all_ends, answer, chains, conclude, leaves

TOPIC = Iri("http://x/topic")


def walked(*names: str, relations: str = "") -> PartialPath:
    """A path from the topic over nodes of those names; `relations` are one letter each, else called as their nodes."""
    beam, start = PartialPath(TOPIC), TOPIC
    for name, relation in zip(names, relations or names, strict=True):
        edge = Edge(start, Iri(f"http://x/r/{relation}"), Iri(f"http://x/{name}"), "out", "e")
        beam, start = beam.extend(Step(0, edge.walked, (edge,), 1.0)), Iri(f"http://x/{name}")
    return beam


def played(walk: Walk, conclusion: Conclusion) -> tuple[SearchResult, list[object]]:
    """What a walk ends with, and its needs, where that is concluded and completion adds nothing."""
    needs: list[object] = []
    try:
        need = next(walk)
        while True:
            needs.append(need)
            need = walk.send(need.partial_paths if isinstance(need, Completing) else conclusion)
    except StopIteration as end:
        return end.value, needs


@pytest.mark.parametrize("together", [True, False])
def test_nothing_kept_costs_nothing(together: bool) -> None:
    """No answer call is paid for where there is no path."""
    result, needs = played(conclude((), (), together=together, exhausted=True), Conclusion((1,)))
    assert (result, needs) == (SearchResult(exhausted=True), [])


def test_finished_paths_are_completed_and_then_judged() -> None:
    """The rest of the trail is not shown; the tails that the model named stand."""
    done, other = walked("a", "b"), walked("c")
    conclusion = Conclusion((1,), {1: (1,)})
    result, needs = played(conclude((done,), (other, done), together=False, exhausted=False), conclusion)
    assert needs == [Completing((done,)), Answering((done,))]
    assert (result.paths, result.tails, result.conclusion) == ((done,), ((1,),), conclusion)


def test_without_a_finished_path_the_whole_trail_is_judged_the_deepest_first() -> None:
    """Only what was chosen of it is completed."""
    trail = (walked("a"), walked("a", "b"))
    result, needs = played(conclude((), trail, together=False, exhausted=False), Conclusion((2,)))
    assert needs == [Answering(trail[::-1]), Completing((trail[0],))]
    assert (result.paths, result.tails) == ((trail[0],), ((),))


def test_paths_that_decide_together_are_all_shown() -> None:
    """What finished stands first, then the other ends of the trail; all their tails count."""
    done, on_the_way, other = walked("a", "b"), walked("a"), walked("c")
    conclusion = Conclusion((1, 2), {2: (1,)}, verdict="yes")
    result, needs = played(conclude((done,), (on_the_way, other, done), together=True, exhausted=False), conclusion)
    assert needs == [Completing((done, other)), Answering((done, other))]
    assert (result.paths, result.tails) == ((done, other), ((), ()))


def offering(*names: str) -> PartialPath:
    """A path whose one step leads to nodes of those names; `topic` is where it starts."""
    edges = tuple(Edge(TOPIC, Iri("http://x/r"), Iri(f"http://x/{name}"), "out", "e") for name in names)
    return PartialPath(TOPIC).extend(Step(0, edges[0].walked, edges, 1.0))


@pytest.mark.parametrize(
    ("conclusion", "numbers"),
    [
        (Conclusion((1,), {1: (1,)}), (2,)),
        (Conclusion((1,)), ()),
        (Conclusion((1,), topics_answer=False), (2, 3)),
        (Conclusion((1,), {1: (2,)}, topics_answer=False), (3,)),
    ],
)
def test_chosen_tails_stay_chosen_where_a_completed_path_has_others(
    conclusion: Conclusion, numbers: tuple[int, ...]
) -> None:
    """Its tails stand in another order then. The topic is left out where it answers nothing."""
    walk = conclude((), (offering("a", "b"),), together=False, exhausted=False)
    next(walk)
    walk.send(conclusion)
    with pytest.raises(StopIteration) as end:
        walk.send((offering("topic", "a", "b"),))
    assert end.value.value.tails == (numbers,)


def test_chosen_tails_that_a_completed_path_lacks_do_not_become_all_of_its_tails() -> None:
    """The path stays as it was chosen then."""
    chosen = offering("a", "b")
    walk = conclude((), (chosen,), together=False, exhausted=False)
    next(walk)
    walk.send(Conclusion((1,), {1: (1,)}))
    with pytest.raises(StopIteration) as end:
        walk.send((offering("b", "c"),))
    assert (end.value.value.paths, end.value.value.tails) == ((chosen,), ((1,),))


def test_a_topic_that_is_the_only_end_answers() -> None:
    """Also where topics are no answers beside others."""
    path = offering("topic")
    result, _ = played(conclude((path,), (), together=False, exhausted=False), Conclusion((1,), topics_answer=False))
    assert result.tails == ((),)


def test_without_time_to_complete_the_choice_stands_as_it_is() -> None:
    """It is marked as one that may have further tails."""
    walk = conclude((), (walked("a"),), together=False, exhausted=False)
    next(walk)
    assert isinstance(walk.send(Conclusion((1,))), Completing)
    with pytest.raises(StopIteration) as end:
        walk.throw(BudgetError("spent", budget="seconds"))
    (beam,) = end.value.value.paths
    assert (beam.chain, beam.complete) == (walked("a").chain, False)


@pytest.mark.parametrize("need", [Answering, Inducing])
def test_the_model_may_be_asked_in_either_way(need: type[Answering] | type[Inducing]) -> None:
    """Whole paths are judged as they are, by the call that the method names."""
    asked = need((walked("a"),))
    result, needs = played(answer(asked, exhausted=True), Conclusion((1,)))
    assert (result.paths, result.exhausted, needs) == (asked.partial_paths, True, [asked])


def test_leaves_are_what_no_path_goes_on_from() -> None:
    """The latest first."""
    trail = (walked("a"), walked("c"), walked("a", "b"))
    assert leaves(trail) == (trail[2], trail[1])


def test_paths_of_one_chain_are_one_with_all_their_ends() -> None:
    """One part that lacks something makes the whole incomplete; the first one's score is that of all."""
    first, other = walked("a", "c", relations="rs"), walked("b", "d", relations="rs")
    cut = PartialPath(
        TOPIC, tuple(Step(0, step.relation, step.edges, 0.5, complete=False) for step in other.steps), 0.5
    )
    (both,) = chains((first, cut))
    assert [tail.local_name for tail in both.tails if isinstance(tail, Iri)] == ["c", "d"]
    assert (both.score, both.complete) == (1.0, False)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.sampled_from(["rs", "rt"])), max_size=8))
def test_joined_chains_lose_no_walk_and_no_edge(made: list[tuple[str, str, str]]) -> None:
    """Whatever is joined: each chain once, the same edges, and a walk to every end."""
    beams = [walked(first, last, relations=relations) for first, last, relations in made]
    joined = chains(beams)
    assert {edge for beam in joined for step in beam.steps for edge in step.edges} == {
        edge for beam in beams for step in beam.steps for edge in step.edges
    }
    assert len({beam.chain for beam in joined}) == len(joined)
    assert all(beam.walks(tail) for beam in joined for tail in beam.tails)


def test_a_path_alone_stays_as_it_is() -> None:
    """Joining changes nothing where each chain is there once, also from two topics."""
    relation = DirectedRelation(Iri("http://x/r/a"), "out")
    other = PartialPath(Iri("http://x/other"), (Step(0, relation, ()),))
    assert chains((walked("a"), other)) == (walked("a"), other)


OTHER = Iri("http://x/other")


def group(topic: Iri, *ends: str) -> PartialPath:
    """A path of one step from that topic to these ends."""
    edges = tuple(Edge(topic, Iri("http://x/r/has"), Iri(f"http://x/{end}"), "out", "e") for end in ends)
    return PartialPath(topic).extend(Step(0, edges[0].walked, edges, 1.0))


HERE, THERE = group(TOPIC, "a", "b", "c"), group(OTHER, "c", "d", "b")


@pytest.mark.parametrize("finished", [(), (HERE,), (HERE, THERE)])
def test_paths_of_several_topics_are_judged_where_they_meet(finished: tuple[PartialPath, ...]) -> None:
    """All ends there of each path, or those that the model names, by whatever numbers the other path has them."""
    trail = (HERE, THERE)
    first = "b" if finished else "c"  # the latest is shown first where none is enough
    cases: list[tuple[dict[int, tuple[int, ...]], set[str]]] = [({}, {"b", "c"}), ({1: (1,)}, {first})]
    for named, ends in cases:
        walk = conclude(finished, trail, together=False, exhausted=False)
        result, needs = played(walk, Conclusion((1,), named))
        assert [type(need) for need in needs] == [Completing, Answering]
        ends_named = [
            {tail for number, tail in enumerate(beam.tails, 1) if not numbers or number in numbers}
            for beam, numbers in zip(result.paths, result.tails, strict=True)
        ]
        assert ends_named == [{Iri(f"http://x/{end}") for end in ends}] * 2
        assert {beam.topic for beam in result.paths} == {TOPIC, OTHER}


def test_paths_that_do_not_meet_are_judged_each_for_itself() -> None:
    """They are completed once they are chosen, as those of one topic are."""
    apart = group(OTHER, "x")
    result, needs = played(conclude((), (HERE, apart), together=False, exhausted=False), Conclusion((2,)))
    assert needs == [Answering((apart, HERE)), Completing((HERE,))]
    assert result.paths == (HERE,)


def test_an_answer_that_is_known_survives_a_spent_budget_there_too() -> None:
    """What was chosen is marked as cut."""
    walk = conclude((), (HERE, group(OTHER, "x")), together=False, exhausted=False)
    next(walk)
    assert isinstance(walk.send(Conclusion((1, 2))), Completing)
    with pytest.raises(StopIteration) as end:
        walk.throw(BudgetError("spent", budget="seconds"))
    assert [beam.complete for beam in end.value.value.paths] == [False, False]


def test_without_a_model_to_ask_all_ends_are_the_answer() -> None:
    """Of what finished, or else of the longest paths; of several topics what they share."""
    short, long = walked("a"), walked("b", "c")
    assert played(all_ends((short,), (short, long), exhausted=False), Conclusion())[0].paths == (short,)
    assert played(all_ends((), (short, long), exhausted=False), Conclusion())[0].paths == (long,)
    result, needs = played(all_ends((HERE, THERE), (HERE, THERE), exhausted=False), Conclusion())
    assert needs == [Completing((HERE, THERE))]
    assert [{end.text for end in beam.tails} for beam in result.paths] == [{"<http://x/b>", "<http://x/c>"}] * 2


def test_an_end_is_met_from_every_topic_by_any_of_its_paths() -> None:
    """Two paths of one topic lead to one end each that the other topic leads to: both are the answer."""
    one, other = group(TOPIC, "a", "x"), walked("b", "d", relations="rs")
    trail = (one, other, group(OTHER, "a", "d"))
    result, _ = played(all_ends(trail, (), exhausted=False), Conclusion())
    assert {end.text for path in result.paths for end in path.tails} == {"<http://x/a>", "<http://x/d>"}
