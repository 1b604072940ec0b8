"""What the walked paths say to a question of yes or no: whether one that the question means leads to what it names."""

import re
from collections.abc import Sequence

from fedkg.core.choice import ChainEvidence, Conclusion, PromptCandidate
from fedkg.reasoner.local.reading import ChainJudgement

__all__ = ["verdict"]

AS_GOOD = 0.1
"""How much worse than the best chain one may be said that connects what the question names (tuned)."""
MEANT = 0.5
"""How well a chain is to be said at least, to tell by its ends that something is not so (tuned)."""


def verdict(
    question: str, paths: Sequence[PromptCandidate], judged: Sequence[ChainJudgement], evidence: ChainEvidence
) -> Conclusion:
    """Yes by a path that leads to what else is named; no by one whose ends are all there, and are others.

    Nothing where no chain is what the question means, or may have further ends.
    """
    best = max(one.score for one in judged)
    places = sorted(range(len(paths)), key=lambda place: -judged[place].score)
    near = [place for place in places if judged[place].score >= best - AS_GOOD]
    yes = next((place for place in near if _leads(question, paths[place], paths)), None)
    if yes is not None:
        return Conclusion((paths[yes].number,), verdict="yes", evidence=evidence)
    no = next((place for place in near if judged[place].fit >= MEANT and not judged[place].clashes), None)
    if no is None or paths[no].more or not _others(paths[no], paths):
        return Conclusion(evidence=evidence)
    ends = ", ".join(paths[no].tails[:3])
    note = f"no, as far as the graph is complete: it has {paths[no].relations[-1]!r} of {paths[no].start!r} as {ends}"
    return Conclusion((paths[no].number,), verdict="no", note=note, evidence=evidence)


def _leads(question: str, path: PromptCandidate, paths: Sequence[PromptCandidate]) -> bool:
    """Whether the path ends at another topic, or at what the question names beside its own."""
    others = {other.start for other in paths if other.topic != path.topic}
    rest = re.sub(rf"(?<!\w){re.escape(path.topic)}(?!\w)", " ", question, flags=re.IGNORECASE)
    return any(tail in others or _named(tail, rest) for tail in path.tails)


def _others(path: PromptCandidate, paths: Sequence[PromptCandidate]) -> bool:
    """Whether another topic is known that its ends might have been."""
    return bool(path.tails) and any(other.topic != path.topic for other in paths)


def _named(end: str, text: str) -> bool:
    return len(end) > 1 and re.search(rf"(?<!\w){re.escape(end)}(?!\w)", text, re.IGNORECASE) is not None
