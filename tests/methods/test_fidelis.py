"""The search is a state machine: these tests play its driver with lists of replies."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.errors import BudgetError
from fedkg.methods import fidelis
from fedkg.methods.base import (
    Answering,
    Choosing,
    Completing,
    Deducing,
    Expanding,
    Expansion,
    Found,
    Need,
    Picking,
    Task,
)
from fedkg.records import Beam, Candidate, Conclusion, Pick, Verdict
from fedkg.settings import Search
from fedkg.terms import DirectedRelation, Edge, Iri

TOPIC = Iri("http://x/topic")


def step(name: str, start: str = "topic", beam: int = 0, score: float = 1.0) -> Candidate:
    """A candidate with one edge from `start` over the relation `name` to a node of the same name."""
    relation = Iri(f"http://x/r/{name}")
    edge = Edge(Iri(f"http://x/{start}"), relation, Iri(f"http://x/{name}"), "out", "e")
    return Candidate(beam, DirectedRelation(relation, "out"), (edge,), score)


def drive(settings: Search, answer: Callable[[Need], Any], *, together: bool = False) -> tuple[Found, list[Need]]:
    """Runs a search; `answer` is the driver."""
    walk = fidelis.search(Task((TOPIC,), settings, together))
    needs: list[Need] = [next(walk)]
    try:
        while True:
            needs.append(walk.send(answer(needs[-1])))
    except StopIteration as end:
        return end.value, needs


def kinds(needs: list[Need]) -> list[str]:
    """The names of the needs, in order."""
    return [type(need).__name__ for need in needs]


class Driver:
    """A driver that offers two steps at each depth and finishes at `finish_at` (0: never)."""

    def __init__(self, finish_at: int = 0, picks: int = 2, conclude: Conclusion | None = None) -> None:
        self.finish_at = finish_at
        self.picks = picks
        self.conclude = conclude
        self.depth = 0

    def __call__(self, need: Need) -> Any:
        """The reply to a need."""
        match need:
            case Expanding():
                self.depth = need.depth
                found = [step(f"d{need.depth}b{n}{k}", f"n{n}", n) for n in range(len(need.beams)) for k in "ab"]
                return Expansion(tuple(found), complete=True)
            case Choosing():
                finishes = need.depth == self.finish_at
                return tuple(Pick(n, True, finishes) for n in range(1, min(self.picks, need.width) + 1))
            case Picking():
                return (Pick(1), Pick(2))[: need.width]
            case Deducing():
                finishes = need.depth == self.finish_at
                return tuple(Verdict(n, True, finishes) for n in range(1, len(need.beams) + 1))
            case Completing():
                return need.beams
            case Answering():
                return self.conclude or Conclusion(tuple(range(1, len(need.beams) + 1)))


def test_it_halts_at_the_depth_that_has_finished_paths() -> None:
    """A path that the verifier finishes at depth 2 ends the search there, although depth 4 is allowed."""
    found, needs = drive(Search(depth=4), Driver(finish_at=2))
    assert [need.depth for need in needs if isinstance(need, Expanding)] == [1, 2]
    assert [len(beam.steps) for beam in found.beams] == [2, 2]


def test_fused_costs_one_choice_per_depth_and_one_answer() -> None:
    """With the fused plan the model is called at most depth + 1 times (the plan call is the driver's)."""
    _, needs = drive(Search(depth=3, call_plan="fused"), Driver())
    assert kinds(needs).count("Choosing") == 3
    assert kinds(needs).count("Answering") == 1
    assert "Deducing" not in kinds(needs)


def test_paper_costs_one_call_per_beam_and_one_verification_per_depth() -> None:
    """The paper's plan stays within N * D + D calls before the answer (FiDeLiS v4, appendix B)."""
    _, needs = drive(Search(depth=3, beam=2, call_plan="paper"), Driver())
    assert kinds(needs).count("Picking") <= 2 * 3
    assert kinds(needs).count("Deducing") == 3


def test_finished_paths_are_completed_before_the_answer_and_others_after() -> None:
    """The model sees all tails of a finished path; unfinished paths are completed only once they are chosen."""
    _, finished = drive(Search(depth=2), Driver(finish_at=1))
    _, unfinished = drive(Search(depth=2), Driver())
    assert kinds(finished)[-2:] == ["Completing", "Answering"]
    assert kinds(unfinished)[-2:] == ["Answering", "Completing"]


@pytest.mark.parametrize("finish_at", [0, 1])
def test_an_answer_that_is_known_survives_a_spent_budget(finish_at: int) -> None:
    """Paths that were chosen come back as they are, marked as cut; where nothing is chosen yet the search ends."""
    walk = fidelis.search(Task((TOPIC,), Search(depth=1)))
    driver, need = Driver(finish_at), next(walk)
    while not isinstance(need, Completing):
        need = walk.send(driver(need))
    with pytest.raises(BudgetError if finish_at else StopIteration) as end:
        walk.throw(BudgetError("spent", budget="seconds"))
    if isinstance(end.value, StopIteration):
        found = end.value.value
        assert [beam.chain for beam in found.beams] == [beam.chain for beam in need.beams]
        assert [beam.complete for beam in found.beams] == [False, False]


def test_a_step_that_does_not_follow_is_pruned() -> None:
    """C_local = 0 removes the step, whatever the model said of the whole path."""

    def answer(need: Need) -> Any:
        if isinstance(need, Choosing):
            return (Pick(1, follows=False, finishes=True), Pick(2, follows=True, finishes=False))
        return Driver()(need)

    found, _ = drive(Search(depth=1), answer)
    assert [beam.steps[-1].relation.relation.local_name for beam in found.beams] == ["d1b0b"]


def test_nothing_chosen_ends_the_walk_with_nothing_found() -> None:
    """Where the model says that nothing leads on, no answer call is paid for."""
    found, needs = drive(Search(depth=3), Driver(picks=0))
    assert found == Found(exhausted=True)
    assert kinds(needs) == ["Expanding", "Choosing"]


def test_no_candidates_cost_no_call() -> None:
    """An entity without edges ends the walk before any model call."""

    def answer(need: Need) -> Any:
        assert isinstance(need, Expanding)
        return Expansion((), complete=True)

    found, needs = drive(Search(depth=3), answer)
    assert (found.exhausted, kinds(needs)) == (True, ["Expanding"])


def test_exhausted_is_false_where_something_was_left_out() -> None:
    """An empty result means "the graph says none" only where everything within reach was seen."""

    def answer(need: Need) -> Any:
        return Expansion((), complete=False) if isinstance(need, Expanding) else Driver()(need)

    assert not drive(Search(depth=2), answer)[0].exhausted
    assert not drive(Search(depth=1), Driver(conclude=Conclusion()))[0].exhausted, "depth was the limit"


def test_the_answer_call_sees_the_kept_paths_of_every_depth_where_none_finished() -> None:
    """Last-step reasoning over the trail: the deepest paths first."""
    _, needs = drive(Search(depth=2), Driver(picks=1))
    offered = next(need for need in needs if isinstance(need, Answering)).beams
    assert [len(beam.steps) for beam in offered] == [2, 1]


def test_the_next_candidates_are_offered_where_none_of_the_best_was_chosen() -> None:
    """Forty candidates in pages of ten: the second call shows all the rest, so that "none" is said for sure."""
    pages: list[int] = []

    def answer(need: Need) -> Any:
        if isinstance(need, Expanding):
            return Expansion(tuple(step(f"c{n}") for n in range(40)), complete=True, page=10)
        assert isinstance(need, Choosing)
        pages.append(len(need.candidates))
        return ()

    found, _ = drive(Search(depth=4), answer)
    assert (pages, found.exhausted) == ([10, 30], True)


def test_further_pages_stay_within_depth_calls() -> None:
    """A search of depth 1 has one choice, however many candidates there are; it is not exhausted then."""

    def answer(need: Need) -> Any:
        many = tuple(step(f"c{n}") for n in range(40))
        return Expansion(many, complete=True, page=10) if isinstance(need, Expanding) else ()

    found, needs = drive(Search(depth=1), answer)
    assert (kinds(needs), found.exhausted) == (["Expanding", "Choosing"], False)


def test_a_choice_from_a_later_page_is_the_candidate_that_was_shown() -> None:
    """Numbers count within the page."""

    def answer(need: Need) -> Any:
        if isinstance(need, Expanding):
            return Expansion(tuple(step(f"c{n}") for n in range(5)), complete=True, page=2)
        if isinstance(need, Choosing):
            return () if len(need.candidates) == 2 else (Pick(2, follows=True, finishes=True),)
        return Driver()(need)

    found, _ = drive(Search(depth=3), answer)
    assert found.beams[0].steps[0].relation.relation.local_name == "c3"


def test_without_a_verifier_nothing_is_pruned_and_nothing_finishes() -> None:
    """The ablation "no verifier" walks to the last depth."""
    _, fused = drive(Search(depth=2, verifier=False), Driver(finish_at=1))
    _, paper = drive(Search(depth=2, verifier=False, call_plan="paper"), Driver(finish_at=1))
    assert kinds(fused).count("Choosing") == 2
    assert "Deducing" not in kinds(paper)


def test_the_conclusion_names_paths_and_tails() -> None:
    """Only the paths that the model names come back, with its choice of tails."""
    conclusion = Conclusion((2,), {2: (1,)})
    found, _ = drive(Search(depth=1), Driver(finish_at=1, conclude=conclusion))
    assert len(found.beams) == 1
    assert found.tails == ((1,),)


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_a_judgement_rests_on_all_paths(plan: Any) -> None:
    """Whoever verifies sees what was kept before; the answer call sees what finished and all other ends of the walk, whole."""

    def answer(need: Need) -> Any:
        match need:
            case Choosing(depth=2):
                return (Pick(1, follows=True, finishes=True),)
            case Picking(depth=2):
                return (Pick(1),) if need.beam.steps[0].relation.relation.local_name == "d1b0a" else ()
        return Driver(finish_at=2)(need)

    found, needs = drive(Search(depth=4, call_plan=plan), answer, together=True)
    (verified,) = [need.kept for need in needs if isinstance(need, Choosing | Deducing) and need.depth == 2]
    assert {beam.chain[-1].relation.local_name for beam in verified} == {"d1b0a", "d1b0b"}
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert [[step.relation.relation.local_name for step in beam.steps] for beam in found.beams] == [
        ["d1b0a", "d2b0a"],
        ["d1b0b"],
    ]


@pytest.mark.parametrize("together", [True, False])
def test_only_a_judgement_counts_what_was_kept_before(together: bool) -> None:
    """Where one path answers the others are not shown again, and the answer call sees the finished ones only."""
    _, needs = drive(Search(depth=2), Driver(finish_at=2, picks=1), together=together)
    assert [len(need.kept) for need in needs if isinstance(need, Choosing)] == [0, 1 if together else 0]


def test_evidence_that_never_finished_is_judged_too() -> None:
    """At the last depth the answer call decides; nothing that was chosen is completed a second time."""
    found, needs = drive(Search(depth=1), Driver(), together=True)
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert [len(beam.steps) for beam in found.beams] == [1, 1]
    nothing, _ = drive(Search(depth=1), Driver(picks=0), together=True)
    assert nothing == Found(exhausted=True)


def test_pairs_of_one_relation_are_completed_once() -> None:
    """Two ends of one chain of relations become the same whole path, which the model is shown once."""
    relation = DirectedRelation(Iri("http://x/r/child"), "out")

    def answer(need: Need) -> Any:
        if isinstance(need, Expanding):
            edges = [Edge(TOPIC, relation.relation, Iri(f"http://x/{name}"), "out", "e") for name in "ab"]
            return Expansion(tuple(Candidate(0, relation, (edge,)) for edge in edges), complete=True)
        return Driver(finish_at=1)(need)

    for together in (True, False):
        found, _ = drive(Search(depth=2, form="pairs"), answer, together=together)
        assert len(found.beams) == 1


@given(
    plan=st.sampled_from(["fused", "paper"]),
    depth=st.integers(1, 4),
    width=st.integers(1, 4),
    data=st.data(),
)
def test_every_beam_is_made_of_offered_steps(plan: Any, depth: int, width: int, data: st.DataObject) -> None:
    """Whatever the model picks among the offers, every step of every found path was offered."""
    offered: set[Candidate] = set()

    def answer(need: Need) -> Any:
        match need:
            case Expanding():
                made = [step(f"{need.depth}{n}{k}", f"n{n}", n) for n in range(len(need.beams)) for k in range(2)]
                offered.update(made)
                return Expansion(tuple(made), complete=True)
            case Choosing() | Picking():
                numbers = st.lists(st.integers(1, len(need.candidates)), unique=True, max_size=need.width)
                return tuple(Pick(n, data.draw(st.booleans()), data.draw(st.booleans())) for n in data.draw(numbers))
            case Deducing():
                return tuple(Verdict(n, data.draw(st.booleans()), False) for n in range(1, len(need.beams) + 1))
            case Completing():
                return need.beams
            case Answering():
                numbers = st.lists(st.integers(1, len(need.beams)), unique=True)
                return Conclusion(tuple(data.draw(numbers)))

    found, needs = drive(Search(depth=depth, beam=width, call_plan=plan), answer)
    assert all(candidate in offered for beam in found.beams for candidate in beam.steps)
    assert all(len(need.beams) <= width for need in needs if isinstance(need, Expanding) and need.depth > 1)


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_several_topics_are_searched_jointly(topics: int) -> None:
    """The first expansion holds a beam per topic entity."""
    walk = fidelis.search(Task(tuple(Iri(f"http://x/{n}") for n in range(topics)), Search()))
    need = next(walk)
    assert isinstance(need, Expanding)
    assert need.beams == tuple(Beam(Iri(f"http://x/{n}")) for n in range(topics))
