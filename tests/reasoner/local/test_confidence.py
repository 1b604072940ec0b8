"""The logistic regression behind a confidence, and where its weights come from."""

import math
from pathlib import Path

import pytest

from fedkg.core.choice import ChainEvidence
from fedkg.errors import SettingsError
from fedkg.reasoner.local.confidence import Calibration, features, of_embedder

TABLES = """
[minilm]
intercept = 1.0
weights = { score = 2.0 }
[other]
intercept = -1.0
weights = { score = 1.0 }
fitted = "2026-11-22"
sets = ["pets"]
"""


def test_confidence_is_the_logistic_function_of_the_weighted_features() -> None:
    """A feature without a weight does not count, nor a weight without a feature; large sums do not overflow."""
    evidence = ChainEvidence(1, score=0.5, second=0.2, hops=1)
    calibration = Calibration(0.5, {"score": 1.0, "rivalry": -2.0, "unknown": 9.0})
    assert calibration.confidence(evidence) == pytest.approx(1 / (1 + math.exp(-0.2)))
    assert Calibration(-1e6, {}).confidence(evidence) == pytest.approx(0.0)
    assert Calibration(1e6, {}).confidence(evidence) == 1.0


def test_features_are_bounded() -> None:
    """Ends and names count up to a bound, hops from the second; a score of no sense is no rival."""
    shown = features(ChainEvidence(1, score=-0.4, second=-1.0, hops=3, ends=5_000, names=9, fitting=-1, weakest=0.9))
    assert (shown["rivalry"], shown["further"], shown["ends"], shown["names"]) == (0, 2, 6, 2)
    assert (shown["fits"], shown["misfits"], shown["several"], shown["weak"]) == (0, 1, 1, 0.4)


@pytest.mark.parametrize(("name", "intercept"), [("sentence-transformers/all-MiniLM-L6-v2", 1.0), ("openai:x", -1.0)])
def test_each_family_of_embedders_has_its_table(tmp_path: Path, name: str, intercept: float) -> None:
    """What is of no known family has the table `other`."""
    (tmp_path / "own.toml").write_text(TABLES)
    assert of_embedder(name, tmp_path / "own.toml").intercept == intercept


@pytest.mark.parametrize("text", ["", "[minilm]\nintercept = 1.0\nweights = {}", "[other]\nweights = {}", "other = 1"])
def test_a_file_without_weights_is_refused(tmp_path: Path, text: str) -> None:
    """The error names the file."""
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(SettingsError, match=r"own\.toml"):
        of_embedder("bm25", tmp_path / "own.toml")
