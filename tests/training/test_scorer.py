"""A scorer from questions to its folder: a small model with random weights is trained on the bundled sample."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fedkg.config.settings import Settings
from fedkg.embed import scorer as scorers
from fedkg.embed.scorer import CARD, ScorerCard
from fedkg.errors import DatasetError
from fedkg.reasoner.local import trained_graphs
from fedkg.reasoner.local.confidence import FILE, OTHER, read
from fedkg.session import Session
from fedkg.training import fine_tuning, scorer_confidence, scorer_training, scorer_weights
from fedkg.training.run_folder import RUN
from fedkg.training.scorer import train_scorer
from fedkg.training.scorer_data import DataChoice
from fedkg.training.scorer_training import ScorerSchedule
from fedkg.training.scorer_weights import WEIGHTS
from tests.embed.test_onnx import folder as tiny_model
from tests.support.extras import needs

MADE = DataChoice((), made=24, limit=10, seed=0, held_out=0.3, hops=2, frontier=50)
SETTINGS = Settings(endpoints=("sample",), embedder="bm25", cache=False)
QUICK = ScorerSchedule(batch=4)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A model to begin with, its parts called as sentence-transformers calls its own."""
    folder = tiny_model(tmp_path / "base")
    kinds = ("base.modules.transformer.Transformer", "sentence_transformer.modules.pooling.Pooling")
    paths = zip((*kinds, "base.modules.normalize.Normalize"), ("", "1_Pooling", "2_Normalize"), strict=True)
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.{kind}"}
        for number, (kind, path) in enumerate(paths)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 8, "pooling_mode": "mean"}')
    return folder


def trained(base: Path, out: Path, choice: DataChoice = MADE, schedule: ScorerSchedule = QUICK) -> ScorerCard:
    """A scorer in that folder."""
    return train_scorer(SETTINGS, choice, schedule, out, base=base)


@needs("train", "datasets")
@pytest.mark.torch
def test_a_scorer_is_trained_without_any_question(base: Path, tmp_path: Path) -> None:
    """Its folder has a card, no leftovers, and is an embedder; the same seed gives the same weights, another others."""
    card = trained(base, tmp_path / "a")
    assert [(data.questions, data.trained + data.held_out) for data in card.data] == [("", 24)]
    assert (card.steps > 0, card.base, list(card.figures)) == (True, "base", ["made"])
    assert card == scorers.card(tmp_path / "a")
    assert {path.name for path in (tmp_path / "a").iterdir()} >= {CARD, "README.md", "records", "model.safetensors"}
    assert not {"checkpoints", RUN} & {path.name for path in (tmp_path / "a").iterdir()}
    assert card.weights in (tmp_path / "a" / "README.md").read_text()
    vectors = scorers.named(tmp_path / "a").embed(["place of birth", "of"])
    assert vectors.shape == (2, 8)
    assert trained(base, tmp_path / "b").weights == card.weights
    assert trained(base, tmp_path / "c", schedule=ScorerSchedule(batch=4, seed=1)).weights != card.weights
    with pytest.raises(DatasetError, match="has a trained scorer already"):
        trained(base, tmp_path / "a")


@needs("train", "datasets")
@pytest.mark.torch
def test_a_run_that_was_interrupted_is_gone_on_with(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its last state, to the same weights as a run in one go; with other options it is refused."""
    monkeypatch.setattr(scorer_training, "KEPT_EVERY", 2)
    whole = trained(base, tmp_path / "whole")
    monkeypatch.setattr(fine_tuning, "STEPS_REPORTED", 1)

    def stop(what: str, done: int, _number: int) -> None:
        if (what, done) == ("steps", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_scorer(SETTINGS, MADE, QUICK, tmp_path / "part", base=base, on_progress=stop)
    assert (tmp_path / "part" / RUN).exists()
    with pytest.raises(DatasetError, match="other options"):
        trained(base, tmp_path / "part", schedule=ScorerSchedule(batch=8))
    steps: list[tuple[str, int]] = []
    resumed = train_scorer(
        SETTINGS,
        MADE,
        QUICK,
        tmp_path / "part",
        base=base,
        on_progress=lambda what, done, _: steps.append((what, done)),
    )
    assert min(done for what, done in steps if what == "steps") > 2
    assert not [what for what, _ in steps if what == "made"]
    assert resumed.weights == whole.weights


@needs("train", "datasets")
@pytest.mark.torch
async def test_the_folder_is_a_model_to_ask_with(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`local:FOLDER` reads questions by its own confidence table; vectors are kept under the digest of its weights."""
    monkeypatch.setattr(scorer_confidence, "FEWEST", 1)
    monkeypatch.setattr(scorer_weights, "FEWEST", 1)
    card = await asyncio.to_thread(trained, base, tmp_path / "scorer", MADE, ScorerSchedule(batch=4, untrained=0.5))
    assert card.untrained == 0.5
    assert read(tmp_path / "scorer" / FILE)[OTHER].sets == ("made",)
    [graph] = trained_graphs.read(tmp_path / "scorer")
    assert (graph.endpoints, graph.whole in WEIGHTS) == (("sample",), True)
    assert "place of birth" in graph.relations
    assert "place of birth" in graph.exemplars
    assert graph.topics_answer
    async with Session("sample", model=f"local:{tmp_path / 'scorer'}", embedder="bm25", cache=False) as session:
        answer = await session.ask("Who was Marie Curie married to?")
        assert answer.status in {"answered", "not_found"}
    assert scorers.named(tmp_path / "scorer").name == f"scorer:{card.weights[:16]}"


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda out: (out.mkdir(), (out / "x").touch()), "is not empty"),
        (lambda out: out.touch(), "out: "),
        (lambda out: (out.mkdir(), (out / CARD).touch()), "has a trained scorer already"),
    ],
)
def test_a_folder_that_is_not_its_own_is_left_alone(
    prepare: Callable[[Path], object], reason: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies there stays; the message says what to do."""
    monkeypatch.setattr("fedkg.training.scorer.PACKAGES", ())
    prepare(tmp_path / "out")
    with pytest.raises(DatasetError, match=reason):
        trained(base, tmp_path / "out")


def test_without_an_endpoint_no_question_can_be_made(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message asks for one."""
    monkeypatch.setattr("fedkg.training.scorer.PACKAGES", ())
    with pytest.raises(DatasetError, match="made of an endpoint's relations"):
        train_scorer(Settings(cache=False), MADE, QUICK, tmp_path / "out", base=base)
