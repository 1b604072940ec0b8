"""The driver alone: needs of a method in, replies out, over a real graph in process."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from fedkg.calls.local import LocalModel
from fedkg.calls.prompted import PromptedModel
from fedkg.driver import EXHAUSTIVE_WIDTH, Driver
from fedkg.embed.lazy import LazySimilarity
from fedkg.events import Chosen, Event, Fetched, Ranked, Verified, Warned
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.surroundings import Surroundings
from fedkg.llm.base import ScriptedModel
from fedkg.methods.base import Answering, Choosing, Completing, Deducing, Expanding, Expansion, Picking
from fedkg.records import Beam, Conclusion, Match, Pick, Plan, Usage, Verdict
from fedkg.settings import Search
from fedkg.terms import Iri

TOWN = """
:horn rdfs:label "Horn"@en ; r:mayor :ana, :bo ; r:country :dania .
:ana rdfs:label "Ana"@en . :bo rdfs:label "Bo"@en . :dania rdfs:label "Dania"@en .
r:mayor rdfs:label "mayor"@en . r:country rdfs:label "country"@en .
"""
HORN = Iri("http://x/horn")
START = Beam(HORN)
NONSENSE = "?"


@pytest.fixture
def town(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """A town with its country and two mayors."""
    return make_graph(TOWN, name="town")


@pytest.fixture
def told() -> list[Event]:
    """What a driver tells."""
    return []


def driver_of(
    graph: SparqlGraph, similarity: LazySimilarity, told: list[Event], reply: str | None = NONSENSE, **search: Any
) -> Driver:
    """A driver that tells its events to `told`; the model gives that reply to every call, None is the local model."""
    model = PromptedModel(ScriptedModel(lambda _messages, _call: reply)) if reply else LocalModel(similarity)
    return Driver(
        "Who is mayor of Horn?",
        Surroundings(graph),
        model,
        similarity,
        Search(**search),
        told.append,
        Usage,
        Plan(("mayor",)),
        [Match(HORN, "Horn", 1.0, mention="Horn")],
    )


async def expanded(driver: Driver) -> tuple[Expansion, tuple[Beam, ...]]:
    """The first hop, and its candidates as walked beams."""
    expansion = await driver.serve(Expanding(1, (START,)))
    return expansion, tuple(START.extend(candidate) for candidate in expansion.candidates)


async def test_a_hop_is_ranked(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """The best candidate comes first; what was fetched and what is offered is told; a page is as long as the settings say."""
    driver = driver_of(town, hashing, told, candidates=1)
    expansion, _ = await expanded(driver)
    assert [found.relation.relation.local_name for found in expansion.candidates] == ["mayor", "country"]
    assert (expansion.complete, expansion.page, driver.considered) == (True, 1, 2)
    assert [type(event) for event in told] == [Fetched, Ranked]
    (offered,) = cast("Ranked", told[1]).offered
    assert offered in {"Horn → mayor → Ana, Bo", "Horn → mayor → Bo, Ana"}
    assert driver.names[Iri("http://x/bo")] == "Bo"


async def test_a_model_without_cost_is_offered_everything(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event]
) -> None:
    """Whatever the settings say of candidates and beams."""
    driver = driver_of(town, hashing, told, None, candidates=1, beam=1)
    expansion, _ = await expanded(driver)
    assert (expansion.page, driver.search.beam) == (0, EXHAUSTIVE_WIDTH)


async def test_every_need_survives_nonsense(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """Steps are chosen as they rank, verified paths are kept and not finished, and no answer is no judgement."""
    driver = driver_of(town, hashing, told)
    expansion, beams = await expanded(driver)
    told.clear()
    assert await driver.serve(Choosing(1, (START,), expansion.candidates, 1)) == (Pick(1),)
    assert await driver.serve(Picking(1, START, expansion.candidates, 1)) == (Pick(1),)
    assert await driver.serve(Deducing(1, beams)) == (Verdict(1, True, False), Verdict(2, True, False))
    assert driver.judged
    conclusion = await driver.serve(Answering(beams))
    assert (conclusion.paths, driver.judged, driver.seen) == ((), False, beams)
    assert [type(event) for event in told] == [Warned, Chosen, Verified, Warned, Chosen, Warned, Verified, Warned]


@pytest.mark.parametrize(("new", "kept"), [((0,), (1,)), ((0, 1), ()), ((1,), (0,))])
async def test_paths_of_before_are_shown_and_not_judged(
    town: SparqlGraph, hashing: LazySimilarity, told: list[Event], new: Sequence[int], kept: Sequence[int]
) -> None:
    """There is a verdict for each new path, and only these are told of."""
    reply = '{"verdicts": [{"path": 1, "follows": true, "deducible": true}, {"path": 2, "follows": true, "deducible": true}]}'
    driver = driver_of(town, hashing, told, reply)
    _, beams = await expanded(driver)
    need = Deducing(2, tuple(beams[number] for number in new), tuple(beams[number] for number in kept))
    verdicts = await driver.serve(need)
    assert [verdict.number for verdict in verdicts] == list(range(1, len(new) + 1))
    assert isinstance(told[-1], Verified)
    assert len(told[-1].finished) == len(new)


async def test_whole_paths_have_all_their_tails(town: SparqlGraph, hashing: LazySimilarity, told: list[Event]) -> None:
    """Of a path to one mayor the completed one leads to both; whoever lists all that were shown means all."""
    driver = driver_of(town, hashing, told, '{"paths": [{"path": 1, "ends": [1, 2]}]}', form="pairs")
    _, (first, *_) = await expanded(driver)
    assert len(first.tails) == 1
    (whole,) = await driver.serve(Completing((first,)))
    assert (len(whole.tails), driver.seen) == (2, (first,))
    assert await driver.serve(Answering((whole,))) == Conclusion((1,))
