"""A walk of typical size, before there is any: what the estimate of a question's cost makes its calls of."""

from collections.abc import Sequence

import msgspec

from fedkg.core.choice import PromptCandidate, PromptTopics
from fedkg.core.question import Kind, Mention, Plan

__all__ = ["WalkSketch"]


class WalkSketch(msgspec.Struct, frozen=True):
    """One depth of a walk, of which everything that a graph would put into a prompt is a stand-in of typical length.

    `topic` is the label of a topic, `leg` what a step adds to the text of a path, `relation` a step shown alone,
    `ends` are the labels at the end of a path. `width` are the choices that a call may make, `kept` the paths of a
    depth, `hops` how deep the walk goes. `offered` candidates are shown for all paths together, `offered_each` for
    one; `scored` relations are scored at once, `planned` ones are what chains are made of, `verified` paths are
    verified together, and `judged` paths are what the answer rests on. `counts_before`: the paths of the depth before
    count as well.
    """

    question: str
    kind: Kind | None
    options: tuple[str, ...]
    plan: Plan
    mentions: Sequence[Mention]
    topic: str
    leg: str
    relation: str
    ends: tuple[str, ...]
    width: int
    kept: int
    hops: int
    offered: int
    offered_each: int
    scored: int
    planned: int
    verified: int
    judged: int
    counts_before: bool
    depth: int = 1

    @property
    def step(self) -> str:
        """The leg as it stands below the path that it extends: `relation: ends`."""
        return self.leg.replace("→", "", 1).replace(" →", ":", 1).strip()

    @property
    def path(self) -> PromptCandidate | None:
        """The path that a step extends; None at the first one."""
        return self._paths(self.depth - 1, 1)[0] if self.depth > 1 else None

    @property
    def start(self) -> PromptCandidate:
        """The topic, as a path without steps."""
        return PromptCandidate(1, self.topic)

    @property
    def topics(self) -> PromptTopics:
        """What is shown of the topic: its label; few graphs have descriptions."""
        return PromptTopics((f"{self.topic}",))

    @property
    def before(self) -> list[PromptCandidate]:
        """The paths of the depth before that count as well."""
        return self._paths(self.depth - 1, self.kept) if self.counts_before and self.depth > 1 else []

    @property
    def picked(self) -> list[PromptCandidate]:
        """The paths that the offers of this depth extend."""
        return self._paths(self.depth - 1, self.kept) if self.depth > 1 else []

    def paths(self, count: int, ends: tuple[str, ...] = ()) -> list[PromptCandidate]:
        """So many paths of this depth, with these ends."""
        return self._paths(self.depth, count, ends)

    def steps(self, count: int) -> list[PromptCandidate]:
        """So many relations, whatever they lead to."""
        return [PromptCandidate(number, self.relation) for number in range(1, count + 1)]

    def _paths(self, depth: int, count: int, ends: tuple[str, ...] = ()) -> list[PromptCandidate]:
        stem = self.topic + self.leg * (depth - 1)
        path = PromptCandidate(0, stem + self.leg, tails=ends, topic=self.topic, stem=stem, step=self.step)
        extended = [1 + number % self.kept if depth > 1 else 0 for number in range(count)]
        return [
            msgspec.structs.replace(path, number=number, beyond=beyond) for number, beyond in enumerate(extended, 1)
        ]
