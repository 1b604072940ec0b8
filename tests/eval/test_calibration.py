"""Fitting the weights of a confidence, and measuring it."""

import pytest

from eval.quality.calibration import (
    THRESHOLDS,
    Judged,
    bins,
    error,
    fitted,
    held_out,
    standings,
    table,
    threshold,
    weighted,
)
from eval.quality.evidence import Sample
from fedkg.core.choice import ChainEvidence


def sample(score: float, right: float, name: str = "metaqa-1hop", *, lacking: str = "", half: str = "tuning") -> Sample:
    """An answer with this score."""
    evidence = ChainEvidence(1, score=score, hops=1, ends=1)
    return Sample(set=name, half=half, id="", lacking=lacking, right=right, hit=right > 0, evidence=evidence)


RISING = [sample(place / 40, float(place % 4 < place // 10)) for place in range(40)] * 10


def test_confidence_rises_with_what_was_right() -> None:
    """The fitted weights count a better score for the chain, and their mean is the share of right answers."""
    calibration = fitted(RISING)
    low, high = (calibration.confidence(ChainEvidence(1, score=score, hops=1, ends=1)) for score in (0.1, 0.9))
    assert low < 0.35
    assert high > 0.65
    mean = sum(calibration.confidence(one.evidence) for one in RISING if one.evidence) / len(RISING)
    assert mean == pytest.approx(sum(one.right for one in RISING) / len(RISING), abs=0.01)


def test_a_feature_does_not_count_the_wrong_way() -> None:
    """Where better scores were wrong more often the score is left out."""
    assert (
        "score" not in fitted([sample(1 - place / 40, one.right) for place, one in enumerate(RISING[:40])] * 10).weights
    )


def test_sets_count_alike() -> None:
    """A large set is not louder than a small one, and ours count as much as all public ones together."""
    names = ["metaqa-1hop"] * 6 + ["pathquestion-2h"] * 2 + ["natural-biomed"]
    shares = weighted([sample(0.5, 1.0, name) for name in names])
    assert shares.sum() == pytest.approx(9)
    assert [shares[:6].sum(), shares[6:8].sum(), shares[8]] == pytest.approx([9 / 4, 9 / 4, 9 / 2])


def test_each_graph_is_held_out() -> None:
    """Its confidences come from weights of the others: where these were never right, it has none."""
    there = [sample(place / 40, 0.0, "pathquestion-2h") for place in range(40)] * 10
    sure = {one.sample.set: one.confidence for one in held_out([*RISING, *there]) if one.sample.evidence}
    assert sure["metaqa-1hop"] < 0.05
    assert sure["pathquestion-2h"] > 0.5


def test_the_threshold_is_chosen_on_tuning_halves_of_graphs_that_were_not_fitted_on() -> None:
    """The least that surely leaves one of twenty unmarked answers wrong; test halves do not count. Else the last."""
    other = [sample(one.evidence.score, one.right, "pathquestion-2h") for one in RISING if one.evidence]
    wrong = [sample(0.9, 0.0, half="test")] * 100
    sure = [sample(0.9, 1.0, name) for name in ("metaqa-1hop", "pathquestion-2h")] * 1500
    least = threshold([[*RISING, *other, *sure, *wrong]])
    assert THRESHOLDS[0] <= least < THRESHOLDS[-1]
    assert threshold([[*RISING, *other]]) == THRESHOLDS[-1]


def test_figures_by_threshold() -> None:
    """Below the lower threshold an answer does not count, between the two it is marked; a caveat marks, too."""
    marked = Sample(set="a", half="test", id="", marked=True, right=1.0)
    all_ = [
        Judged(sample(0, 1.0), 0.9),
        Judged(sample(0, 0.0), 0.9),
        Judged(sample(0, 1.0), 0.5),
        Judged(sample(0, 1.0), 0.1),
        Judged(marked, 0.9),
        Judged(sample(0, 0.0, lacking="fact"), 0.9),
        Judged(sample(0, 0.0, lacking="fact"), 0.5),
    ]
    assert standings(all_, 0.8, 0.2) == {
        "questions": 7,
        "unmarked answers": 3,
        "unmarked": 0.333,
        "unmarked hit": 0.333,
        "refused": 0.5,
        "answerable": 0.6,
        "answerable without refusing": 0.8,
        "answerable unmarked": 0.2,
    }


def test_calibration_error() -> None:
    """How far confidence and share of right answers are apart, by tenths of confidence."""
    all_ = [Judged(sample(0, 1.0), 0.95), Judged(sample(0, 0.0), 0.95), Judged(sample(0, 0.0), 0.05)]
    assert bins(all_) == [(0.05, 0.0, 1), (0.95, 0.5, 2)]
    assert error(all_) == pytest.approx((0.05 + 2 * 0.45) / 3, abs=0.001)


def test_weights_are_written_as_they_are_read() -> None:
    """A table names its sets, and no sample of a test half counts."""
    text = table("bm25", [*RISING, sample(0.5, 1.0, "webqsp-fb15k237", half="test")])
    assert text.startswith("[bm25]\nfitted = ")
    assert 'sets = ["metaqa-1hop"]' in text
    assert "\n[bm25.weights]\nscore = " in text
