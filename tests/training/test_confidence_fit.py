"""Fitting the weights of a confidence, from nothing or from a prior."""

import pytest

from fedkg.core.choice import ChainEvidence
from fedkg.reasoner.local.confidence import Calibration
from fedkg.training.confidence_fit import fit

EVIDENCE = [ChainEvidence(1, score=place / 40, hops=1, ends=1) for place in range(40)]
RISING = [float(place % 4 < place // 10) for place in range(40)]
PRIOR = Calibration(-1.0, {"score": 3.0, "further": -2.0})


def test_a_few_samples_change_little_of_a_prior() -> None:
    """What no sample tells of keeps its weight, and many samples move the others from it further than a few."""
    falling = [1 - right for right in RISING]
    few, many = (fit(EVIDENCE[::step], falling[::step], prior=PRIOR).weights for step in (13, 1))
    assert few["further"] == pytest.approx(-2.0)
    assert many.get("score", 0.0) < few["score"] < 3.0


def test_counts_are_as_good_as_repeats() -> None:
    """A sample that counts twice is as one that is there twice."""
    twice = fit(EVIDENCE * 2, RISING * 2)
    counted = fit(EVIDENCE, RISING, [2.0] * 40)
    assert counted.intercept == pytest.approx(twice.intercept, rel=1e-3)
    assert counted.weights["score"] == pytest.approx(twice.weights["score"], rel=1e-3)
