"""How an answer stands: unmarked, with caveats, or refused and shown as what came closest."""

from collections.abc import Iterable, Iterator

import msgspec

from fedkg.config.settings import Settings
from fedkg.core.answer import AnswerValue
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.choice import Conclusion
from fedkg.core.question import JUDGED, Kind
from fedkg.core.usage import Gap

__all__ = ["Standing", "missing", "resting", "standing"]

DIGITS = 3


class Standing(msgspec.Struct, frozen=True):
    """How sure the answers are, what came `closest` where they are refused, and the caveat of a guess."""

    confidence: float | None = None
    closest: tuple[AnswerValue, ...] = ()
    caveats: tuple[Caveat, ...] = ()


def standing(
    answers: tuple[AnswerValue, ...], confidence: float | None, settings: Settings, unread: str = ""
) -> tuple[tuple[AnswerValue, ...], Standing]:
    """Those of the answers that stand by the settings' thresholds, and how; all where the model gives no confidence.

    With something of the question `unread` they are a guess, whatever the thresholds.
    """
    if confidence is None or not answers:
        return answers, Standing()
    shown = round(confidence, DIGITS)
    if confidence < settings.refuse_below:
        return (), Standing(shown, answers)
    if confidence >= settings.guess_below and not unread:
        return answers, Standing(shown)
    about = unread or f"its confidence is {confidence:.2f}, below {settings.guess_below:g}"
    return answers, Standing(shown, caveats=(Caveat(CaveatKind.GUESS, about),))


def resting(conclusion: Conclusion, kind: Kind) -> Iterator[Caveat]:
    """What answers of this kind rest on beside their paths: common knowledge, and conditions that no path shows."""
    if conclusion.bridge and kind in JUDGED:
        yield Caveat(CaveatKind.BRIDGE, conclusion.bridge)
    if conclusion.unproven:
        yield Caveat(CaveatKind.UNPROVEN, conclusion.unproven)


def missing(gaps: Iterable[Gap]) -> Iterator[Caveat]:
    """What is missing on the way to the answer."""
    return (Caveat(CaveatKind.PARTIAL, f"{gap.asked}, from {gap.endpoint}") for gap in gaps)
