"""Fits the weights of a confidence: logistic regression in which no feature counts the wrong way."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fedkg.core.choice import ChainEvidence
from fedkg.reasoner.local.confidence import Calibration, features

__all__ = ["SIGNS", "Vector", "fit"]

Vector = NDArray[np.float64]
SIGNS = {
    "score": 1,
    "unsaid": -1,
    "unasked": -1,
    "unwalked": -1,
    "misfits": -1,
    "untold": -1,
    "close": -1,
    "against": -1,
    "further": -1,
    "left": -1,
    "weak": 1,
    "elsewhere": -1,
    "alike": 1,
    "ahead": 1,
}
"""What each feature can only say: for the chain or against it. It has no weight where it would say the contrary.

Those without which questions of a graph were foretold better by the weights of the other graphs have none: "rivalry",
"fits", "names", "weakest", "said", "several", "renamed", "ends" (backward selection on tuning halves).
"""
RIDGE = 15.0
"""Weight of the squared weights, of features scaled to a deviation of one; chosen as the features were."""
ROUNDS = 5_000
LEAST = 1e-9


def fit(
    evidence: Sequence[ChainEvidence],
    right: Sequence[float],
    counts: Sequence[float] | Vector | None = None,
    prior: Calibration | None = None,
) -> Calibration:
    """The weights that make it likeliest that the answers with this evidence are `right`, a share in 0..1.

    Logistic regression with an L2 penalty on the weights of scaled features, by projected gradients: convex, so that
    the same samples always give the same weights. `counts` are the samples' weights. With a `prior` the penalty is on
    what differs from its weights, so that a few samples change little of them; then it is on the intercept, too.
    """
    names, signs = list(SIGNS), np.array(list(SIGNS.values()))
    table = np.array([[known[name] for name in names] for known in map(features, evidence)])
    weight = np.ones(len(table)) if counts is None else np.asarray(counts, dtype=np.float64)
    middle, spread = table.mean(axis=0), table.std(axis=0) + LEAST
    scaled = np.column_stack([np.ones(len(table)), signs * (table - middle) / spread])
    penalty = np.array([RIDGE * (prior is not None)] + [RIDGE] * len(names))
    start = _scaled(prior, names, signs, middle, spread)
    length = 1 / (np.linalg.eigvalsh((scaled * weight[:, np.newaxis]).T @ scaled)[-1] / 4 + RIDGE)
    weights = start
    for _ in range(ROUNDS):
        sure = 1 / (1 + np.exp(-scaled @ weights))
        weights = weights + length * (scaled.T @ (weight * (right - sure)) - penalty * (weights - start))
        weights[1:] = np.maximum(weights[1:], 0.0)
    raw = signs * weights[1:] / spread
    kept = {name: float(value) for name, value in zip(names, raw, strict=True) if value}
    return Calibration(float(weights[0] - raw @ middle), kept)


def _scaled(
    prior: Calibration | None, names: Sequence[str], signs: NDArray[np.int_], middle: Vector, spread: Vector
) -> Vector:
    """The intercept and weights of the prior for scaled features; zeros where there is none."""
    if prior is None:
        return np.zeros(len(names) + 1)
    raw = np.array([prior.weights.get(name, 0.0) for name in names])
    return np.concatenate([[prior.intercept + raw @ middle], signs * raw * spread])
