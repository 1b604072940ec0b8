"""How answers stand by their confidence."""

import pytest

from fedkg.config.settings import Settings
from fedkg.core.answer import AnswerValue
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.choice import Conclusion
from fedkg.core.question import Kind
from fedkg.core.usage import Gap
from fedkg.engine.standing import Standing, missing, resting, standing

ANSWERS = (AnswerValue("Rex"),)
SETTINGS = Settings(refuse_below=0.25, guess_below=0.5)


@pytest.mark.parametrize(
    ("answers", "confidence", "expected"),
    [
        (ANSWERS, None, (ANSWERS, Standing())),
        ((), 0.9, ((), Standing())),
        (ANSWERS, 0.24, ((), Standing(0.24, ANSWERS))),
        (ANSWERS, 0.5, (ANSWERS, Standing(0.5))),
    ],
)
def test_thresholds(
    answers: tuple[AnswerValue, ...], confidence: float | None, expected: tuple[tuple[AnswerValue, ...], Standing]
) -> None:
    """Below the lower one answers are what came closest; without a confidence, or without answers, nothing changes."""
    assert standing(answers, confidence, SETTINGS) == expected


def test_a_guess_is_marked() -> None:
    """Between the thresholds answers stand with a caveat that names confidence and threshold."""
    answers, stands = standing(ANSWERS, 0.2512, SETTINGS)
    assert (answers, stands.confidence, stands.closest) == (ANSWERS, 0.251, ())
    assert stands.caveats == (Caveat(CaveatKind.GUESS, "its confidence is 0.25, below 0.5"),)


def test_what_was_not_read_is_marked() -> None:
    """However sure the model is, the caveat says what it is about."""
    _, stands = standing(ANSWERS, 0.5, SETTINGS, "the question says 'not'")
    assert stands.caveats == (Caveat(CaveatKind.GUESS, "the question says 'not'"),)


@pytest.mark.parametrize(("kind", "kinds"), [("yesno", ["bridge", "unproven"]), ("entities", ["unproven"])])
def test_what_answers_rest_on(kind: Kind, kinds: list[str]) -> None:
    """Common knowledge carries a judgement only; a condition that no path shows counts for all."""
    conclusion = Conclusion(bridge="cats are animals", unproven="in 1999")
    assert [caveat.kind.value for caveat in resting(conclusion, kind)] == kinds


def test_what_is_missing_names_what_was_asked_of_which_endpoint() -> None:
    """One caveat for each gap."""
    gap = Gap("pets", "the edges of Rex", "no connection")
    assert list(missing([gap])) == [Caveat(CaveatKind.PARTIAL, "the edges of Rex, from pets")]
