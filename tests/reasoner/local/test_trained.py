"""`local` with a trained scorer: whole questions against whole chains, beside the spans."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.core.terms import Direction
from fedkg.embed.base import Matrix
from fedkg.reasoner.calls.answer import AnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.model import LocalModel
from fedkg.reasoner.local.trained import VOUCHED, TrainedLocalModel
from fedkg.reasoner.local.trained_graphs import TrainedGraph

QUESTION = "who made the films that share actors with Jaws"
MASKED = "who made the films that share actors with X"


class Scorer:
    """A similarity that knows some chains of the masked question, and nothing else."""

    name = "scorer:test"
    embedded = 0
    unrelated = 0.05
    weak = 0.3

    def __init__(self, likeness: Mapping[str, float]) -> None:
        self._likeness = likeness

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        scores: Matrix = (await self.table([query], texts))[0]
        return scores

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        rows = [
            [self._likeness.get(text, 0.1) if query.startswith(MASKED) else 0.1 for text in texts] for query in queries
        ]
        return np.array(rows, dtype=np.float32)


class Everywhere(Scorer):
    """A similarity to which all texts are as like each other, but for some chains."""

    def __init__(self, otherwise: float, likeness: Mapping[str, float]) -> None:
        super().__init__(likeness)
        self._otherwise = otherwise

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        row = [self._likeness.get(text, self._otherwise) for text in texts]
        return np.array([row for _ in queries], dtype=np.float32).reshape(len(queries), len(texts))


def candidate(number: int, *steps: tuple[str, Direction]) -> PromptCandidate:
    """A chain from Jaws."""
    names, ways = zip(*steps, strict=True)
    return PromptCandidate(number, "", names, ("x",), topic="Jaws", directions=ways, start="Jaws")


ACTORS: tuple[str, Direction] = ("starred actors", "out")
BACK: tuple[str, Direction] = ("starred actors", "in")


async def test_directions_tell_chains_apart() -> None:
    """Chains with the same names are different texts."""
    model = TrainedLocalModel(Scorer({}), Scorer({"starred actors, ← starred actors": 0.9}), whole=10.0)
    paths = [candidate(1, ACTORS, ACTORS), candidate(2, ACTORS, BACK), candidate(3, ACTORS)]
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(("films",)), paths))
    assert conclusion.paths == (2,)


@pytest.mark.parametrize(("known", "chosen"), [({"starred actors …": 0.9}, [1]), ({"genre …": 0.8}, [2])])
async def test_a_beginning_is_chosen_by_the_chain_that_goes_on(known: dict[str, float], chosen: list[int]) -> None:
    """As a whole it would be no answer."""
    model = TrainedLocalModel(Scorer({}), Scorer(known), whole=10.0)
    candidates = [candidate(1, ACTORS), candidate(2, ("genre", "out"))]
    choices = await model.ask(BeamCall(QUESTION, Plan(("films",)), None, candidates, 1))
    assert [choice.number for choice in choices] == chosen


async def test_a_walk_ends_where_the_chain_is_better_as_it_is() -> None:
    """None of the longer chains is better than the one that they extend, as they are or to be gone on with."""
    model = TrainedLocalModel(Scorer({}), Scorer({"starred actors": 0.9, "starred actors, genre": 0.7}), whole=10.0)
    call = BeamCall(QUESTION, Plan(("films",)), None, [candidate(1, ACTORS, ("genre", "out"))], 2)
    assert await model.ask(call) == ()


async def test_the_best_chain_keeps_the_score_of_its_spans() -> None:
    """So that confidence and thresholds mean what they mean untrained; where both disagree the score is less."""
    paths = [candidate(1, ACTORS), candidate(2, ("genre", "out"))]
    call = AnswerCall(QUESTION, Plan(("films",)), paths)
    untrained = (await LocalModel(Scorer({})).ask(call)).evidence
    model = TrainedLocalModel(Scorer({}), Scorer({"starred actors": 0.9}), whole=0.8)
    agreeing = (await model.ask(call)).evidence
    assert untrained is not None
    assert agreeing is not None
    assert agreeing.score == pytest.approx(untrained.score)
    assert agreeing.second < untrained.second


async def test_a_question_about_several_topics_is_read_by_its_spans() -> None:
    """A scorer is trained on questions about one topic; this one is about two."""
    candidates = [candidate(1, ("genre", "out")), msgspec.structs.replace(candidate(2, ACTORS), topic="Alien")]
    model = TrainedLocalModel(Scorer({}), Scorer({"genre …": 0.9}), whole=10.0)
    call = BeamCall(f"{QUESTION} and Alien", Plan(("films",)), None, candidates, 1)
    assert [choice.number for choice in await model.ask(call)] == [2]


FILMS = TrainedGraph(("films.nt",), 10.0, frozenset({"starred actors", "genre"}))
PATHS = [candidate(1, ACTORS), candidate(2, ("genre", "out"))]


@pytest.mark.parametrize(("graphs", "chosen"), [((FILMS,), (2,)), ((), (1,))])
async def test_a_scorer_counts_more_on_a_graph_that_it_was_trained_on(
    graphs: tuple[TrainedGraph, ...], chosen: tuple[int, ...]
) -> None:
    """On any other it does not count, and its likeness is no evidence."""
    model = TrainedLocalModel(Scorer({}), Scorer({"genre": 0.5}), graphs=graphs)
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(("films",)), PATHS))
    assert conclusion.paths == chosen
    assert conclusion.evidence is not None
    likeness = (conclusion.evidence.alike, conclusion.evidence.ahead)
    assert likeness == (pytest.approx((0.5, 0.4)) if graphs else (0.0, 0.0))


async def test_the_likeness_is_no_evidence_where_no_confidence_was_fitted_with_it() -> None:
    """On a graph of which too few questions were left; the chain is chosen by it all the same."""
    fitted, graph = Calibration(9.0, {}), msgspec.structs.replace(FILMS, calibrated=False)
    model = TrainedLocalModel(Scorer({}), Scorer({"genre": 0.5}), calibration=fitted, graphs=[graph])
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(("films",)), PATHS))
    assert conclusion.paths == (2,)
    assert conclusion.evidence is not None
    assert conclusion.evidence.alike == 0.0
    assert conclusion.confidence != pytest.approx(1.0, abs=0.01)


class Nearest(Scorer):
    """A similarity by which the question is like two earlier ones."""

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        known = {"who are the makers of X": 0.9, "what is X about": 0.2, **self._likeness}
        return np.array([[known.get(text, 0.1) for text in texts] for _ in queries], dtype=np.float32)


@pytest.mark.parametrize(
    ("exemplars", "chosen", "alike"),
    [
        ({}, (1,), 0.5),
        ({"genre": ("what is X about", "who are the makers of X")}, (2,), 0.65),
        ({"genre": ("what is X about",)}, (1,), 0.5),
    ],
)
async def test_a_chain_is_as_like_the_question_as_what_asked_for_it_before(
    exemplars: Mapping[str, tuple[str, ...]], chosen: tuple[int, ...], alike: float
) -> None:
    """Half of its likeness is that of the nearest exemplar, half its own, which is all of it where there is none."""
    graph = msgspec.structs.replace(FILMS, exemplars=exemplars)
    scorer = Nearest({"starred actors": 0.5, "genre": 0.4})
    model = TrainedLocalModel(Scorer({}), scorer, graphs=[graph])
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(("films",)), PATHS))
    assert conclusion.paths == chosen
    assert conclusion.evidence is not None
    assert conclusion.evidence.alike == pytest.approx(alike)


@pytest.mark.parametrize(
    ("graphs", "answers"),
    [((), True), ((FILMS,), True), ((msgspec.structs.replace(FILMS, topics_answer=False),), False)],
)
async def test_topics_are_no_answers_where_no_question_was_answered_so(
    graphs: tuple[TrainedGraph, ...], answers: bool
) -> None:
    """On the graph of these questions; elsewhere nothing is known of it."""
    model = TrainedLocalModel(Scorer({}), Scorer({"genre": 0.5}), graphs=graphs)
    assert (await model.ask(AnswerCall(QUESTION, Plan(("films",)), PATHS))).topics_answer is answers


async def test_a_chain_that_no_word_says_is_found_by_the_scorer() -> None:
    """It has something to do with the question, as the scorer has learned on that graph."""
    call = AnswerCall("what is Jaws like", Plan(("Jaws",)), [candidate(1, ("genre", "out"))])
    known = Everywhere(0.0, {"genre": 0.9})
    assert (await TrainedLocalModel(Everywhere(0.0, {}), known).ask(call)).paths == ()
    assert (await TrainedLocalModel(Everywhere(0.0, {}), known, graphs=[FILMS]).ask(call)).paths == (1,)


async def test_the_confidence_that_was_fitted_with_a_scorer_is_for_its_graphs() -> None:
    """Elsewhere the bundled one counts."""
    fitted, call = Calibration(9.0, {}), AnswerCall(QUESTION, Plan(("films",)), PATHS)
    model = TrainedLocalModel(Scorer({}), Scorer({}), calibration=fitted, graphs=[FILMS])
    bundled = await TrainedLocalModel(Scorer({}), Scorer({})).ask(call)
    other = await TrainedLocalModel(Scorer({}), Scorer({}), calibration=fitted).ask(call)
    assert (await model.ask(call)).confidence == pytest.approx(1.0, abs=0.01)
    assert other.confidence == bundled.confidence != pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("next_best", "confidence"), [(0.3, VOUCHED), (0.45, 0.0)])
async def test_what_the_scorer_alone_vouches_for_is_a_guess_and_not_refused(
    next_best: float, confidence: float
) -> None:
    """Where the next chain is as like the question it stays refused."""
    model = TrainedLocalModel(
        Scorer({}),
        Scorer({"genre": 0.5, "starred actors": next_best}),
        calibration=Calibration(-9.0, {}),
        graphs=[msgspec.structs.replace(FILMS, whole=100.0)],
    )
    conclusion = await model.ask(AnswerCall(QUESTION, Plan(("films",)), PATHS))
    assert conclusion.paths == (2,)
    assert conclusion.confidence == pytest.approx(confidence, abs=0.001)


@pytest.mark.parametrize(("alike", "back", "sure"), [(0.8, 0.0, True), (0.6, 0.0, False), (0.8, 0.75, False)])
async def test_a_scorer_that_is_sure_tells_the_direction(alike: float, back: float, sure: bool) -> None:
    """By the order of its words alone the question would ask for what Jaws directed.

    A scorer to which the way back is as like has learned no direction.
    """
    call = AnswerCall("who did Jaws direct", Plan(("direct",)), [candidate(1, ("directed by", "out"))])
    graph = TrainedGraph((), 1.0, frozenset({"directed by"}))
    model = TrainedLocalModel(Everywhere(0.5, {}), Everywhere(back, {"directed by": alike}), graphs=[graph])
    conclusion = await model.ask(call)
    assert bool(conclusion.confidence) is sure
    assert conclusion.evidence is not None
    assert conclusion.evidence.against == (not sure)
