"""The weights of a scorer by graph: those by which most held-out questions are answered rightly."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fedkg.core.choice import ChainEvidence
from fedkg.core.training_card import TrainingData
from fedkg.reasoner.local.chain_texts import NamedStep
from fedkg.reasoner.local.trained_graphs import read
from fedkg.training import scorer_weights
from fedkg.training.chain_records import ChainRecipe, ChainRecord
from fedkg.training.scorer_confidence import FEWEST, JudgedChain
from fedkg.training.scorer_data import QuestionData
from fedkg.training.scorer_weights import WEIGHTS, write_weights

RECORD = ChainRecord("1", "who made X", ChainRecipe("films", (), 1, 1), "Jaws", "", (("director", "out"),))


def data(graph: str, number: int) -> QuestionData:
    """A set about that graph, so many of its questions held out."""
    offered = ChainRecord("2", "who is in X", RECORD.recipe, offers=((("genre", "in"),),))
    about = TrainingData("", "", (graph,), 1, number)
    return QuestionData(graph, (offered,), (RECORD,) * number, about)


@pytest.mark.parametrize(
    ("right", "held_out", "weight"),
    [
        ({WEIGHTS[0]: 5, WEIGHTS[1]: 7, WEIGHTS[2]: 7, WEIGHTS[3]: 6}, FEWEST, WEIGHTS[1]),
        ({WEIGHTS[0]: 5, WEIGHTS[3]: 9}, FEWEST - 1, WEIGHTS[0]),
    ],
)
async def test_the_least_of_the_best_weights_is_kept(
    right: Mapping[float, int],
    held_out: int,
    weight: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Too few questions tell nothing. What the questions lead along and past tells the graph."""

    async def asked(*_: object, weight: float, **__: Any) -> list[JudgedChain]:
        return [JudgedChain(ChainEvidence(), number < right[weight]) for number in range(held_out)]

    monkeypatch.setattr(scorer_weights, "asked_chains", asked)
    await write_weights([data("films.nt", held_out)], tmp_path)
    [graph] = read(tmp_path)
    assert (graph.endpoints, graph.whole, sorted(graph.relations)) == (("films.nt",), weight, ["director", "genre"])
    assert graph.calibrated is (held_out >= FEWEST)


FRIENDS: tuple[NamedStep, ...] = (("film", "in"), ("actor", "out"))


@pytest.mark.parametrize(
    ("number", "circles", "questions", "topics_answer"),
    [
        (FEWEST, False, "films", False),
        (FEWEST, True, "films", True),
        (FEWEST - 1, False, "films", True),
        (FEWEST, False, "", True),
    ],
)
async def test_a_graph_is_known_by_the_questions_that_were_trained_on(
    number: int, circles: bool, questions: str, topics_answer: bool, tmp_path: Path
) -> None:
    """By chain and beginning; whether topics answer is told by enough of them, which nobody has made."""
    record = ChainRecord(
        "3", "who played with Ann", ChainRecipe(questions, (), 1, 1), "Ann", "", FRIENDS, topic_answers=circles
    )
    await write_weights([QuestionData("films.nt", (record,) * number, (), TrainingData("", "", (), 1, 0))], tmp_path)
    [graph] = read(tmp_path)
    assert graph.exemplars == {"← film …": ("who played with X",), "← film, actor": ("who played with X",)}
    assert graph.topics_answer is topics_answer
