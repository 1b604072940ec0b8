"""The search is a state machine: these tests play its driver with lists of replies."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import SearchSettings
from fedkg.core.choice import Choice, Conclusion, Decision, Verdict
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.errors import BudgetError
from fedkg.methods import fidelis
from fedkg.methods.base import (
    Answering,
    Choosing,
    Completing,
    Deducing,
    Expanding,
    Expansion,
    Judging,
    Need,
    Picking,
    SearchResult,
    Task,
)
from tests.support.searches import OTHER, TOPIC, Driver, drive, kinds, step


def _paged(driver: Driver, need: Need[object]) -> Any:
    """The driver's reply, with a page of one."""
    reply = driver(need)
    return msgspec.structs.replace(reply, page=1) if isinstance(reply, Expansion) else reply


def test_it_halts_at_the_depth_that_has_finished_paths() -> None:
    """A path that the verifier finishes at depth 2 ends the search there, although depth 4 is allowed."""
    result, needs = drive(SearchSettings(depth=4), Driver(finish_at=2))
    assert [need.depth for need in needs if isinstance(need, Expanding)] == [1, 2]
    assert [len(beam.steps) for beam in result.paths] == [2, 2]


def test_fused_costs_one_choice_per_depth() -> None:
    """What the last choice calls insufficient is not asked about again (the plan call is the driver's)."""
    result, needs = drive(SearchSettings(depth=3, call_plan="fused"), Driver())
    assert kinds(needs).count("Choosing") == 3
    assert not {"Deducing", "Answering"} & set(kinds(needs))
    assert (result.paths, result.exhausted) == ((), False)


def test_paper_costs_one_call_per_beam_and_one_verification_per_depth() -> None:
    """The paper's plan stays within N * D + D calls before the answer (FiDeLiS v4, appendix B)."""
    _, needs = drive(SearchSettings(depth=3, beam=2, call_plan="paper"), Driver())
    assert kinds(needs).count("Picking") <= 2 * 3
    assert kinds(needs).count("Deducing") == 3


def test_the_paper_verifies_all_picks_and_keeps_the_best_of_those_that_pass() -> None:
    """A pick that ranks last is verified all the same, and takes the room of a better one that does not follow."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Expanding():
                steps = tuple(
                    step(f"d{need.depth}{name}", score=score) for name, score in zip("abc", (3, 2, 1), strict=True)
                )
                return Expansion(steps, complete=True)
            case Picking():
                return (Choice(3), Choice(1), Choice(2))
            case Deducing():
                lasts = [path.chain[-1].relation.local_name[-1] for path in need.partial_paths]
                return tuple(Verdict(n, name != "a", name == "c") for n, name in enumerate(lasts, 1))
        return Driver()(need)

    result, needs = drive(SearchSettings(depth=2, beam=1, call_plan="paper"), answer)
    (verified,) = [need for need in needs if isinstance(need, Deducing)]
    assert len(verified.partial_paths) == 3
    assert [path.chain[-1].relation.local_name for path in result.paths] == ["d1c"]


def test_what_the_beam_has_no_room_for_was_not_seen() -> None:
    """Nothing is "none in the graph" where a path that follows was cut (Top_B of Algorithm 2)."""

    def exhausted(beam: int) -> bool:
        driver = Driver(conclude=Conclusion())

        def answer(need: Need[object]) -> Any:
            if isinstance(need, Expanding) and need.depth > 1:
                return Expansion((), complete=True)
            return (Choice(1), Choice(2)) if isinstance(need, Picking) else driver(need)

        return drive(SearchSettings(depth=2, beam=beam, call_plan="paper"), answer)[0].exhausted

    assert (exhausted(2), exhausted(1)) == (True, False)


def test_finished_paths_are_completed_before_the_answer_and_others_after() -> None:
    """The model sees all tails of a finished path; unfinished paths are completed only once they are chosen."""
    _, finished = drive(SearchSettings(depth=2, call_plan="paper"), Driver(finish_at=1))
    _, unfinished = drive(SearchSettings(depth=2, call_plan="paper"), Driver())
    assert kinds(finished)[-2:] == ["Completing", "Answering"]
    assert kinds(unfinished)[-2:] == ["Answering", "Completing"]


@pytest.mark.parametrize("finish_at", [0, 1])
def test_an_answer_that_is_known_survives_a_spent_budget(finish_at: int) -> None:
    """Paths that were chosen come back as they are, marked as cut; where nothing is chosen yet the search ends."""
    walk = fidelis.search(Task((TOPIC,), SearchSettings(depth=1, call_plan="paper")))
    driver, need = Driver(finish_at), next(walk)
    while not isinstance(need, Completing):
        need = walk.send(driver(need))
    with pytest.raises(BudgetError if finish_at else StopIteration) as end:
        walk.throw(BudgetError("spent", budget="seconds"))
    if isinstance(end.value, StopIteration):
        result = end.value.value
        assert [beam.chain for beam in result.paths] == [beam.chain for beam in need.partial_paths]
        assert [beam.complete for beam in result.paths] == [False, False]


def test_a_step_that_does_not_follow_is_pruned() -> None:
    """C_local = 0 removes the step, whatever the model said of the whole path."""

    def answer(need: Need[object]) -> Any:
        if isinstance(need, Deducing):
            return (Verdict(1, follows=False, finishes=True), Verdict(2, follows=True, finishes=False))
        return Driver()(need)

    result, _ = drive(SearchSettings(depth=1, call_plan="paper"), answer)
    assert [beam.steps[-1].relation.relation.local_name for beam in result.paths] == ["d1b0b"]


def test_no_candidates_cost_no_call() -> None:
    """An entity without edges ends the walk before any model call."""

    def answer(need: Need[object]) -> Any:
        assert isinstance(need, Expanding)
        return Expansion((), complete=True)

    result, needs = drive(SearchSettings(depth=3), answer)
    assert (result.exhausted, kinds(needs)) == (True, ["Expanding"])


def test_exhausted_is_false_where_something_was_left_out() -> None:
    """An empty result means "the graph says none" only where everything within reach was seen."""

    def answer(need: Need[object]) -> Any:
        return Expansion((), complete=False) if isinstance(need, Expanding) else Driver()(need)

    assert not drive(SearchSettings(depth=2), answer)[0].exhausted
    assert not drive(SearchSettings(depth=1), Driver(conclude=Conclusion()))[0].exhausted, "depth was the limit"
    unread = Driver(picks=0)
    assert not drive(SearchSettings(depth=1, candidates=1), lambda need: _paged(unread, need))[0].exhausted


def test_the_answer_call_sees_the_kept_paths_of_every_depth_where_none_finished() -> None:
    """Last-step reasoning over the trail: the deepest paths first."""
    _, needs = drive(SearchSettings(depth=2, call_plan="paper", beam=1), Driver(picks=1))
    offered = next(need for need in needs if isinstance(need, Answering)).partial_paths
    assert [len(beam.steps) for beam in offered] == [2, 1]


def test_the_next_candidates_are_offered_where_none_of_the_best_was_chosen() -> None:
    """Forty candidates in pages of ten: the second call shows all the rest."""
    pages: list[tuple[int, int, bool]] = []
    numbers: list[int] = []

    def answer(need: Need[object]) -> Any:
        if isinstance(need, Expanding):
            return Expansion(tuple(step(f"c{n}") for n in range(40)), complete=True, page=10)
        assert isinstance(need, Choosing)
        pages.append((len(need.offers), need.waiting, need.last))
        numbers.extend(need.numbers)
        return Decision(decides=False)

    result, _ = drive(SearchSettings(depth=2), answer)
    assert (pages, result.exhausted) == ([(10, 30, False), (30, 0, True)], False)
    assert numbers == list(range(1, 41)), "numbers run on"


def test_further_pages_stay_within_depth_calls() -> None:
    """A search of depth 1 has one choice, however many candidates there are; it is not exhausted then."""

    def answer(need: Need[object]) -> Any:
        many = tuple(step(f"c{n}") for n in range(40))
        return Expansion(many, complete=True, page=10) if isinstance(need, Expanding) else Decision(decides=False)

    result, needs = drive(SearchSettings(depth=1), answer)
    assert (kinds(needs), result.exhausted) == (["Expanding", "Choosing"], False)


def test_a_choice_from_a_later_page_is_the_candidate_that_was_shown() -> None:
    """Numbers run on over the pages."""

    def answer(need: Need[object]) -> Any:
        if isinstance(need, Expanding):
            return Expansion(tuple(step(f"c{n}") for n in range(5)), complete=True, page=2)
        if isinstance(need, Choosing):
            return Decision((4,), decides=True) if 4 in need.numbers else Decision(decides=False)
        return Driver()(need)

    result, _ = drive(SearchSettings(depth=3), answer)
    assert result.paths[0].steps[0].relation.relation.local_name == "c3"


def test_without_a_verifier_nothing_is_pruned_and_nothing_finishes() -> None:
    """The ablation "no verifier" walks to the last depth."""
    _, fused = drive(SearchSettings(depth=2, verifier="none"), Driver(finish_at=1))
    _, paper = drive(SearchSettings(depth=2, verifier="none", call_plan="paper"), Driver(finish_at=1))
    assert kinds(fused).count("Choosing") == 2
    assert "Deducing" not in kinds(paper)


def test_the_conclusion_names_paths_and_tails() -> None:
    """Only the paths that the model names come back, with its choice of tails."""
    conclusion = Conclusion((2,), {2: (1,)})
    result, _ = drive(SearchSettings(depth=1, call_plan="paper"), Driver(finish_at=1, conclude=conclusion))
    assert len(result.paths) == 1
    assert result.tails == ((1,),)


def test_a_judgement_rests_on_all_paths() -> None:
    """Whoever verifies sees what was kept before; the answer call sees what finished, and all other ends whole."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Picking(depth=2):
                return (Choice(1),) if need.path.steps[0].relation.relation.local_name == "d1b0a" else ()
        return Driver(finish_at=2)(need)

    result, needs = drive(SearchSettings(depth=4, call_plan="paper"), answer, together=True)
    (verified,) = [need.kept for need in needs if isinstance(need, Deducing) and need.depth == 2]
    assert {beam.chain[-1].relation.local_name for beam in verified} == {"d1b0a", "d1b0b"}
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert [[step.relation.relation.local_name for step in beam.steps] for beam in result.paths] == [
        ["d1b0a", "d2b0a"],
        ["d1b0b"],
    ]


@pytest.mark.parametrize("together", [True, False])
def test_only_a_judgement_of_the_paper_counts_what_was_kept_before(together: bool) -> None:
    """Where one path answers the others are not shown again, and the answer call sees the finished ones only."""
    _, needs = drive(SearchSettings(depth=2, beam=1, call_plan="paper"), Driver(finish_at=2), together=together)
    assert [len(need.kept) for need in needs if isinstance(need, Deducing)] == [0, 1 if together else 0]


def test_evidence_that_never_finished_is_judged_too() -> None:
    """At the last depth the answer call decides; nothing that was chosen is completed a second time."""
    result, needs = drive(SearchSettings(depth=1, call_plan="paper"), Driver(), together=True)
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert [len(beam.steps) for beam in result.paths] == [1, 1]
    nothing, _ = drive(SearchSettings(depth=1), Driver(picks=0), together=True)
    assert nothing == SearchResult(exhausted=True)


def test_pairs_of_one_relation_are_completed_once() -> None:
    """Two ends of one chain of relations become the same whole path, which the model is shown once."""
    relation = DirectedRelation(Iri("http://x/r/child"), "out")

    def answer(need: Need[object]) -> Any:
        if isinstance(need, Expanding):
            edges = [Edge(TOPIC, relation.relation, Iri(f"http://x/{name}"), "out", "e") for name in "ab"]
            return Expansion(tuple(Step(0, relation, (edge,)) for edge in edges), complete=True)
        return Driver(finish_at=1)(need)

    for together in (True, False):
        result, _ = drive(SearchSettings(depth=2, form="pairs"), answer, together=together)
        assert len(result.paths) == 1


@given(
    plan=st.sampled_from(["fused", "paper"]),
    depth=st.integers(1, 4),
    width=st.integers(1, 4),
    data=st.data(),
)
def test_every_beam_is_made_of_offered_steps(plan: Any, depth: int, width: int, data: st.DataObject) -> None:
    """Whatever the model picks among the offers, every step of every found path was offered."""
    offered: set[Step] = set()

    def answer(need: Need[object]) -> Any:
        match need:
            case Expanding():
                made = [
                    step(f"{need.depth}{n}{k}", f"n{n}", n) for n in range(len(need.partial_paths)) for k in range(2)
                ]
                offered.update(made)
                return Expansion(tuple(made), complete=True)
            case Choosing():
                numbers = st.lists(st.sampled_from(need.numbers), unique=True, max_size=need.width)
                decides, more = data.draw(st.sampled_from([True, False, None])), data.draw(st.booleans())
                return Decision(tuple(data.draw(numbers)), decides, more=more)
            case Picking():
                numbers = st.lists(st.integers(1, len(need.candidates)), unique=True, max_size=need.width)
                return tuple(map(Choice, data.draw(numbers)))
            case Deducing():
                return tuple(Verdict(n, data.draw(st.booleans()), False) for n in range(1, len(need.partial_paths) + 1))
            case Completing():
                return need.partial_paths
            case Answering():
                numbers = st.lists(st.integers(1, len(need.partial_paths)), unique=True)
                return Conclusion(tuple(data.draw(numbers)))

    result, needs = drive(SearchSettings(depth=depth, beam=width, call_plan=plan), answer)
    assert all(candidate in offered for beam in result.paths for candidate in beam.steps)
    assert sum(isinstance(need, Choosing) for need in needs) <= depth
    shown = [path for need in needs if isinstance(need, Choosing) for path in need.offers]
    assert len(shown) == len(set(shown)), "nothing is offered twice"


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_several_topics_are_searched_jointly(topics: int) -> None:
    """The first expansion holds a beam per topic entity."""
    walk = fidelis.search(Task(tuple(Iri(f"http://x/{n}") for n in range(topics)), SearchSettings()))
    need = next(walk)
    assert isinstance(need, Expanding)
    assert need.partial_paths == tuple(PartialPath(Iri(f"http://x/{n}")) for n in range(topics))


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_each_of_many_topics_has_room_for_a_path(plan: Any) -> None:
    """Six towns are compared by six paths, although the beam has room for two; calls stay within their bounds."""
    topics, search = [Iri(f"http://x/{n}") for n in range(6)], SearchSettings(depth=2, beam=2, call_plan=plan)
    _, needs = drive(search, Driver(picks=6), topics=topics, together=True)
    walked = [need for need in needs if isinstance(need, Expanding)]
    assert [len(need.partial_paths) for need in walked][:2] == [6, 6]
    made = Counter({Choosing: "choose", Picking: "beam", Deducing: "deductive"}.get(type(need), "") for need in needs)
    bounds = fidelis.calls(search, len(topics))
    assert all(made[name] <= bounds[name] for name in made if name)


def verifying(verifier: Any, says: Any) -> tuple[SearchResult, list[Need[object]], list[Need[object]]]:
    """A search of three steps whose verifier always `says` the same, with both call plans: its result and its needs."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Judging():
                return says
            case Deducing():
                return tuple(Verdict(number, True, says) for number in range(1, len(need.partial_paths) + 1))
        return Driver(finish_at=1)(need)

    result, fused = drive(SearchSettings(depth=3, verifier=verifier), answer)
    _, paper = drive(SearchSettings(depth=3, verifier=verifier, call_plan="paper"), answer)
    return result, fused, paper


@pytest.mark.parametrize(("verifier", "kind"), [("adequacy", "Judging"), ("log-probability", "Deducing")])
@pytest.mark.parametrize("enough", [True, False])
def test_other_verifiers_say_after_each_depth_whether_it_ends(verifier: Any, kind: str, enough: bool) -> None:
    """What the choice says of deductions does not count then; nothing is pruned."""
    result, *plans = verifying(verifier, enough)
    for needs in plans:
        assert kinds(needs).count(kind) == kinds(needs).count("Expanding") == (1 if enough else 3)
        judged = [need for need in needs if isinstance(need, Judging | Deducing)]
        walked = [need for need in needs if isinstance(need, Expanding)]
        assert [need.partial_paths for need in judged[:-1]] == [need.partial_paths for need in walked[1:]]
        assert all(need.weighed for need in judged if isinstance(need, Deducing))
    assert len(result.paths) > 0


def test_adequate_paths_are_finished_together() -> None:
    """Adequacy is a judgement on all kept paths (FiDeLiS v4, appendix C.3): all are completed and answered from."""
    _, fused, _ = verifying("adequacy", True)
    (judging,) = [need for need in fused if isinstance(need, Judging)]
    assert fused[-2] == Completing(judging.partial_paths)
    assert len(judging.partial_paths) == 2


@pytest.mark.parametrize("finish_at", [0, 1])
@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_without_the_last_step_the_paths_ends_are_the_answer(plan: Any, finish_at: int) -> None:
    """All ends of what finished, or else of the longest paths; they are completed, and no model concludes."""
    result, needs = drive(SearchSettings(depth=2, last_step=False, call_plan=plan), Driver(finish_at))
    assert kinds(needs)[-1] == "Completing"
    assert "Answering" not in kinds(needs)
    assert {len(beam.steps) for beam in result.paths} == ({1} if finish_at else {2})
    assert result.tails == ((),) * len(result.paths)
    assert (result.conclusion, result.note) == (Conclusion(), "")


def test_a_judgement_is_made_without_the_last_step_too() -> None:
    """Paths end at things, and not at yes or no: the switch is passed over, and that is said."""
    result, needs = drive(SearchSettings(depth=1, last_step=False, call_plan="paper"), Driver(1), together=True)
    assert kinds(needs)[-1] == "Answering"
    assert "only the model can judge" in result.note


def test_nothing_found_has_no_last_step() -> None:
    """Nothing is completed, and "none" is said as it is with it."""
    result, needs = drive(SearchSettings(depth=1, last_step=False), Driver(picks=0))
    assert (result, kinds(needs)) == (SearchResult(exhausted=True), ["Expanding", "Choosing"])


def test_the_retriever_of_the_settings_ranks() -> None:
    """The one that asks the model is asked for by name; methods that score by themselves do not pay for it."""
    _, needs = drive(SearchSettings(depth=2, retriever="tog"), Driver())
    assert {need.retriever for need in needs if isinstance(need, Expanding)} == {"tog"}


class Two:
    """A driver for two topics that share an end; `finished` are the relations whose paths are enough."""

    def __init__(self, *finished: str, conclude: Conclusion | None = None) -> None:
        self.finished = finished
        self.conclude = conclude

    def __call__(self, need: Need[object]) -> Any:
        """The reply to a need; the second topic's path has a step more."""
        match need:
            case Expanding(depth=1):
                both = (self.group(0, "topic", "genre", "drama", "crime"), self.group(1, "other", "part", "first"))
                return Expansion(both, complete=True)
            case Expanding():
                number = next(n for n, beam in enumerate(need.partial_paths) if beam.topic == OTHER)
                return Expansion((self.group(number, "first", "kind", "crime", "war"),), complete=True)
            case Choosing():
                last = {number: path.chain[-1].relation.local_name for number, path in need.numbered.items()}
                arrived = tuple(number for number, name in last.items() if name in self.finished)
                done = {*self.finished} == {last[number] for number in arrived}
                return Decision(arrived if done else tuple(last), decides=done)
            case Deducing():
                names = [beam.chain[-1].relation.local_name for beam in need.partial_paths]
                return tuple(Verdict(n, True, name in self.finished) for n, name in enumerate(names, 1))
            case Answering():
                return self.conclude or Conclusion((1,))
        return need.partial_paths if isinstance(need, Completing) else (Choice(1),)

    def group(self, beam: int, start: str, name: str, *ends: str) -> Step:
        """A group of edges."""
        relation = Iri(f"http://x/r/{name}")
        edges = tuple(Edge(Iri(f"http://x/{start}"), relation, Iri(f"http://x/{end}"), "out", "e") for end in ends)
        return Step(beam, DirectedRelation(relation, "out"), edges, 1.0)


def joint(driver: Two, **search: Any) -> tuple[SearchResult, list[Need[object]]]:
    """What is found from two topics, and the needs."""
    return drive(SearchSettings(**search), driver, topics=(TOPIC, OTHER))


def ends_of(result: SearchResult) -> set[tuple[str, str]]:
    """Each topic with the ends that answer."""
    return {(beam.topic.local_name, end.text) for beam in result.paths for end in beam.tails}


def test_each_topic_of_the_paper_is_searched_until_it_has_a_finished_path() -> None:
    """One that has is not walked on; verifier and answer call see both paths, the latter first where they meet."""
    result, needs = joint(Two("genre", "kind"), depth=4, call_plan="paper")
    walked = [[beam.topic for beam in need.partial_paths] for need in needs if isinstance(need, Expanding)]
    assert walked == [[TOPIC, OTHER], [OTHER]]
    later = [need.kept for need in needs if isinstance(need, Choosing | Deducing) and need.depth == 2]
    assert {beam.topic for kept in later for beam in kept} == {TOPIC, OTHER}
    answering = next(need for need in needs if isinstance(need, Answering))
    assert len(answering.also) == 1
    assert {beam.topic for beam in (answering.partial_paths[0], *answering.also[0])} == {TOPIC, OTHER}
    assert ends_of(result) == {("topic", "<http://x/crime>"), ("other", "<http://x/crime>")}


def test_paths_that_meet_without_being_finished_are_shown_so_too() -> None:
    """At the last depth: the answer may be what the kept paths have in common."""
    result, needs = joint(Two(), depth=2, call_plan="paper")
    assert kinds(needs)[-2:] == ["Completing", "Answering"]
    assert {end for _, end in ends_of(result)} == {"<http://x/crime>"}


def test_each_path_can_still_answer_for_itself() -> None:
    """The model says whether what they have in common is asked for, or what one of them leads to."""
    result, needs = joint(Two("genre", "kind", conclude=Conclusion((2,))), depth=3, call_plan="paper")
    assert len(result.paths) == 1
    assert len(result.paths[0].tails) == 2
    assert next(need for need in needs if isinstance(need, Answering)).partial_paths[1] == result.paths[0]


def test_without_the_last_step_the_answer_is_what_the_topics_share() -> None:
    """Nobody is there to say otherwise."""
    result, needs = joint(Two("genre", "kind"), depth=3, last_step=False)
    assert "Answering" not in kinds(needs)
    assert {end for _, end in ends_of(result)} == {"<http://x/crime>"}


def test_a_finished_search_that_answers_nothing_has_not_seen_everything() -> None:
    """Where the walk ended because a path was enough, what lies beyond was not looked at: "none" is not said."""
    result, _ = joint(Two("genre", "kind", conclude=Conclusion()), depth=4, call_plan="paper")
    assert (result.paths, result.exhausted) == ((), False)


def test_picks_of_several_topics_answer_with_what_they_share() -> None:
    """The model decides over the paths of both, and their common end is the answer: no answer call."""
    result, needs = joint(Two("genre", "kind"), depth=4)
    assert kinds(needs) == ["Expanding", "Choosing", "Expanding", "Choosing", "Completing"]
    assert ends_of(result) == {("topic", "<http://x/crime>"), ("other", "<http://x/crime>")}
