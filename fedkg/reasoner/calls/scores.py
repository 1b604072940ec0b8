"""How much relations, or the entities that they lead to, help to answer (EPERM, subgraph retriever; Think-on-Graph)."""

from collections.abc import Mapping, Sequence
from operator import mul
from typing import Any, ClassVar

import msgspec

from fedkg.core.choice import PromptCandidate
from fedkg.llm.base import Constraint
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.reply_parsing import Numbered, Share, entries, fit, renamed
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["ScoreEntitiesCall", "ScoreRelationsCall"]


SCORES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Scores of which a model's expectation is taken."""


class ScoredCandidate(Numbered):
    """A candidate with its score."""

    score: Share


class ScoresReply(msgspec.Struct):
    """The reply to `score-relations` and `score-entities`."""

    scores: list[Any]


class ScoreRelationsCall(PlannedCall[tuple[float, ...]], frozen=True):
    """Asks of each offered relation, in 0..1, how much it helps to answer.

    A candidate's text is its step alone, such as `→ author →` or `← author ←`, the next one of the path; where there
    are several paths (None), it is the step with its own path before it.
    """

    name: ClassVar[str] = "score-relations"

    path: PromptCandidate | None
    candidates: Sequence[PromptCandidate]

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "plan": self.plan, "path": self.path, "offers": self.candidates}

    def trivial(self) -> tuple[float, ...] | None:
        """Nothing where nothing is offered."""
        return None if self.candidates else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """A score for each candidate."""
        return {"scores": shown}

    def likely(self, shown: int) -> Constraint:
        """Each number with each of some scores."""
        numbers = [candidate.number for candidate in self.candidates[:shown]]
        texts = tuple(f'{number}, "score": {score}' for number in numbers for score in SCORES)
        return Constraint(texts, len(texts), '{"scores": [{"relation": ', "}")

    def weighed(self, shares: Sequence[float], shown: int) -> tuple[float, ...]:
        """The score that is expected of each relation, whatever the probability that it is the first one listed."""
        scores = []
        for place, candidate in enumerate(self.candidates[:shown]):
            weights = shares[place * len(SCORES) : (place + 1) * len(SCORES)]
            mean = sum(map(mul, weights, SCORES)) / (sum(weights) or 1.0)
            scores.append({"relation": candidate.number, "score": mean})
        return self.parse({"scores": scores}, shown)

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[float, ...]:
        """A score for each candidate, in their order."""
        return _scores(reply, self.candidates, shown, "relation")

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ScoreRelationsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.path or sketch.start, sketch.steps(sketch.scored))


class ScoreEntitiesCall(PlannedCall[tuple[float, ...]], frozen=True):
    """Asks of each offered entity, shown with its path or surroundings, in 0..1, how much it helps."""

    name: ClassVar[str] = "score-entities"

    candidates: Sequence[PromptCandidate]

    def values(self) -> dict[str, object]:
        """What the template is given."""
        return {"question": self.question, "plan": self.plan, "offers": self.candidates}

    def trivial(self) -> tuple[float, ...] | None:
        """Nothing where nothing is offered."""
        return None if self.candidates else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """A score for each candidate."""
        return {"scores": shown}

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[float, ...]:
        """A score for each candidate, in their order."""
        return _scores(reply, self.candidates, shown, "entity")

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "ScoreEntitiesCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.paths(sketch.kept * len(sketch.ends)))


def _scores(reply: object, candidates: Sequence[PromptCandidate], shown: int, key: str) -> tuple[float, ...]:
    """The scores of the candidates in their order, 0.0 for those that were not shown or that the reply leaves out.

    `key` is what the reply calls a candidate.
    """
    numbers = {candidate.number for candidate in candidates[:shown]}
    listed = entries(renamed(fit(reply, ScoresReply).scores, key), ScoredCandidate, numbers)
    scores = {int(entry.number): float(entry.score) for entry in listed}
    return tuple(scores.get(candidate.number, 0.0) for candidate in candidates)
