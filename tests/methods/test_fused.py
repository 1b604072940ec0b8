"""The fused call plan: pages of offers, what waits, and what decides."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fedkg.config.settings import SearchSettings
from fedkg.core.choice import Conclusion, Decision
from fedkg.core.path import Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.methods import fidelis
from fedkg.methods.base import (
    Answering,
    Choosing,
    Expanding,
    Expansion,
    Need,
    SearchResult,
    Task,
    Walk,
)
from tests.support.searches import OTHER, TOPIC, Driver, drive, kinds, step


def test_a_decision_ends_the_walk_without_an_answer_call() -> None:
    """The picks are completed, and their ends are the answer."""
    result, needs = drive(SearchSettings(depth=3), Driver(finish_at=2, picks=1))
    assert kinds(needs) == ["Expanding", "Choosing", "Expanding", "Choosing", "Completing"]
    assert result.tails == ((),)


@pytest.mark.parametrize("last_step", [True, False])
def test_the_probability_of_a_decision_is_the_confidence_of_the_answer(last_step: bool) -> None:
    """So that one which a model takes for likelier than not stays below the threshold of guesses."""

    def answer(need: Need[object]) -> Any:
        reply = Driver(finish_at=1, picks=1)(need)
        return msgspec.structs.replace(reply, confidence=0.6) if isinstance(need, Choosing) else reply

    result, _ = drive(SearchSettings(depth=3, last_step=last_step), answer)
    assert result.paths
    assert result.conclusion.confidence == 0.6


def test_nothing_chosen_opens_what_was_passed_over() -> None:
    """It is the graph that has none only where each depth was open; no answer call is paid for."""
    result, needs = drive(SearchSettings(depth=2), Driver(picks=0))
    assert result == SearchResult(exhausted=True)
    assert kinds(needs) == ["Expanding", "Choosing"] * 2
    assert [len(need.partial_paths) for need in needs if isinstance(need, Expanding)] == [1, 2]


def test_a_model_that_does_not_judge_ends_where_it_picks_nothing() -> None:
    """Nothing was called insufficient: what was picked before is judged by the answer call."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Choosing():
                return Decision(tuple(need.numbered)[:1] if need.depth == 1 else ())
        return Driver()(need)

    result, needs = drive(SearchSettings(depth=3), answer)
    assert kinds(needs) == ["Expanding", "Choosing", "Expanding", "Choosing", "Answering", "Completing"]
    assert len(result.paths) == 1


def test_what_was_picked_stays_in_sight() -> None:
    """Under its number, by which it can decide later: a verdict rests on it, and on nothing else."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Choosing(depth=2):
                return Decision((1, 3), decides=True, verdict="no")
        return Driver(picks=1)(need)

    result, needs = drive(SearchSettings(depth=2), answer, together=True)
    first, second = [need for need in needs if isinstance(need, Choosing)]
    assert (first.numbers, first.kept) == ((1, 2), ())
    assert (second.numbers, second.kept) == ((3, 4, 1), first.offers[:1])
    assert result.paths == (first.offers[0], second.offers[0])
    assert (result.conclusion.verdict, kinds(needs)[-1]) == ("no", "Completing")


def group(count: int) -> Step:
    """A group of so many ends."""
    relation = Iri("http://x/r/part")
    edges = tuple(Edge(TOPIC, relation, Iri(f"http://x/e{number}"), "out", "e") for number in range(count))
    return Step(0, DirectedRelation(relation, "out"), edges, 1.0)


@pytest.mark.parametrize(
    ("ends", "count", "asked"), [((), 20, False), ((2,), 8, False), ((2,), 20, True), ((0,), 20, True)]
)
def test_ends_that_are_not_shown_are_told_apart_by_the_answer_call(
    ends: tuple[int, ...], count: int, asked: bool
) -> None:
    """Where all answer, or those that do were shown, there is nothing left to ask."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Expanding():
                return Expansion((group(count), step("other")), complete=True)
            case Choosing():
                return Decision((1,), decides=True, ends={1: ends} if ends else {})
            case Answering():
                return Conclusion((1,), {1: (7,)})
        return Driver()(need)

    result, needs = drive(SearchSettings(), answer)
    assert ("Answering" in kinds(needs)) == asked
    assert result.tails == (((7,),) if asked else (ends,))


def test_a_single_offer_costs_no_choice() -> None:
    """It is walked on, and judged with what comes after it."""

    def answer(need: Need[object]) -> Any:
        match need:
            case Expanding(depth=1):
                return Expansion((step("only"),), complete=True)
            case Expanding():
                return Expansion((step("a", "only"), step("b", "only")), complete=True)
            case Choosing():
                assert (need.numbers, need.depth) == ((2, 3, 1), 2)
                return Decision((1,), decides=True)
        return Driver()(need)

    result, needs = drive(SearchSettings(), answer)
    assert kinds(needs) == ["Expanding", "Expanding", "Choosing", "Completing"]
    assert [path.chain[-1].relation.local_name for path in result.paths] == ["only"]


def test_topics_without_a_pick_stay_open() -> None:
    """Their further offers share the next page with what the picks of the others lead to."""
    pages: list[list[str]] = []

    def answer(need: Need[object]) -> Any:
        match need:
            case Expanding(depth=1):
                steps = [step(f"a{n}", "topic") for n in range(4)] + [step(f"b{n}", "other", 1) for n in range(4)]
                return Expansion((steps[0], *steps[4:6], *steps[1:4], *steps[6:]), complete=True, page=4)
            case Expanding():
                return Expansion(tuple(step(f"c{n}", "a0") for n in range(4)), complete=True, page=4)
            case Choosing():
                pages.append([path.chain[-1].relation.local_name for path in need.offers])
                return Decision(need.numbers[:1], decides=len(pages) == 2)
        return Driver()(need)

    drive(SearchSettings(), answer, topics=(TOPIC, OTHER))
    assert pages == [["a0", "b0", "b1", "a1"], ["c0", "c1", "b2", "b3"]]


def test_more_shows_further_offers_beside_what_was_picked() -> None:
    """Of the same topic, too; without it they wait until there is nothing else."""
    pages: list[list[str]] = []

    def answer(need: Need[object], more: bool) -> Any:
        match need:
            case Expanding():
                names = [f"d{need.depth}{n}" for n in range(4)]
                return Expansion(tuple(step(name) for name in names), complete=True, page=2)
            case Choosing():
                pages.append([path.chain[-1].relation.local_name for path in need.offers])
                return Decision(need.numbers[:1], decides=False, more=more)
        return Driver()(need)

    drive(SearchSettings(depth=2), lambda need: answer(need, more=True))
    drive(SearchSettings(depth=2), lambda need: answer(need, more=False))
    assert pages == [["d10", "d11"], ["d20", "d12"], ["d10", "d11"], ["d20", "d21"]]


def test_without_a_plan_all_is_shown_at_once() -> None:
    """The first page is as long as the settings say of that, later ones half as long: no keywords rank for them."""
    walk = fidelis.search(Task((TOPIC,), SearchSettings(show_all=25), planned=False))
    first = next(walk)
    assert isinstance(first, Expanding)
    assert first.page == 25
    walk.send(Driver()(first))
    second = walk.send(Decision((1,), decides=False))
    assert isinstance(second, Expanding)
    assert second.page == 12


def sets_of(*decisions: Decision) -> Callable[[Need[object]], Any]:
    """Replies with these decisions in turn, else as a Driver does."""
    left = list(decisions)
    return lambda need: left.pop(0) if isinstance(need, Choosing) else Driver()(need)


def computing(task: Task) -> Walk:
    """The walk of a question that has words of an operator."""
    return fidelis.search(msgspec.structs.replace(task, computes=True))


def test_a_named_operator_keeps_the_sets_whole() -> None:
    """The picks are completed in their order, whatever they share; the operator goes with the result."""
    decision = Decision((2, 1), decides=True, operator="difference", unproven="red")
    result, needs = drive(SearchSettings(depth=3), sets_of(decision), search=computing)
    assert kinds(needs) == ["Expanding", "Choosing", "Completing"]
    [choosing] = [need for need in needs if isinstance(need, Choosing)]
    assert choosing.operators
    assert [path.chain for path in result.paths] == [choosing.numbered[number].chain for number in (2, 1)]
    assert (result.conclusion.operator, result.conclusion.unproven) == ("difference", "red")


@pytest.mark.parametrize(("more", "pages"), [(False, 1), (True, 2)])
def test_a_question_for_an_operator_ends_where_nothing_is_picked_or_wanted(*, more: bool, pages: int) -> None:
    """What lies further away is looked at only where the model wants more."""
    refusals = [Decision((), decides=False, more=more), Decision((), decides=False)]
    result, needs = drive(SearchSettings(depth=3), sets_of(*refusals), search=computing)
    assert kinds(needs).count("Choosing") == pages
    assert (result.paths, result.exhausted) == ((), False)


def test_judgements_name_no_operator() -> None:
    """Their calls are those of any judgement."""
    _, needs = drive(SearchSettings(depth=2), Driver(picks=1), together=True, search=computing)
    assert not any(need.operators for need in needs if isinstance(need, Choosing))
