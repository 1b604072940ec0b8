"""Weighted chains of relations, planned before they are walked (EPERM, plan generator; RoG)."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from fedkg.config.settings import PathScore
from fedkg.core.choice import PromptCandidate, RelationPath
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Completion, Constraint, Message, Request
from fedkg.reasoner.base import PlannedCall
from fedkg.reasoner.path_format import PathForm, key, sequences
from fedkg.reasoner.reply_parsing import Share, Whole, extract, fit
from fedkg.reasoner.sketch import WalkSketch

__all__ = ["RelationPathsCall"]

MOST_CHAINS = 20_000
"""Chains that a model is held to at once: all of three steps over 26 relations."""


class WeightedChain(msgspec.Struct):
    """A chain of relations with its weight."""

    relations: list[Whole]
    weight: Share


class WrittenReply(msgspec.Struct):
    """The plans that a model has written, by their numbers, with their probabilities."""

    picks: list[Whole]
    scores: list[Share] = []


class PlansReply(msgspec.Struct):
    """The reply to `relation-paths`."""

    plans: list[Any]


class RelationPathsCall(PlannedCall[tuple[RelationPath, ...]], frozen=True):
    """Asks for at most `most` weighted chains of at most `depth` of the offered relations, the best first.

    A relation's text is its step alone, such as `→ author →` or `← author ←`. With `faulty` the reply ends with those
    chains that cannot be walked, each with its fault. A model that writes plans is told the labels of the `topics`;
    what it writes `freely` may name any relation.
    """

    name: ClassVar[str] = "relation-paths"

    relations: Sequence[PromptCandidate]
    depth: int
    most: int
    faulty: bool = False
    topics: tuple[str, ...] = ()
    score: PathScore = "trie"
    freely: bool = False
    examples: int = 0

    @property
    def free(self) -> bool:
        """Whether nothing constrains the model."""
        return self.freely

    def values(self) -> dict[str, object]:
        """What the template is given."""
        given = {"question": self.question, "plan": self.plan, "relations": self.relations}
        return {**given, "depth": self.depth, "most": self.most}

    def trivial(self) -> tuple[RelationPath, ...] | None:
        """Nothing where no relation is offered."""
        return None if self.relations else ()

    def lengths(self, shown: int) -> Mapping[str, int]:
        """Twice the chains that are asked for: what is beyond is not read."""
        return {"plans": 2 * self.most, "relations": self.depth}

    def constrained(self, form: PathForm) -> Request:
        """To write the plans, as a model was fine-tuned to; with the probabilities of a beam search as their weights.

        Held to chains of the offered relations, whether they can be walked or not (EPERM, plan generator); or freely.
        """
        task = Message("user", form.asked(self.question, self.topics, self.examples))
        if self.freely:
            return Request(self.name, (task,), {}, beams=self.most)
        names = [form.written(relation) for relation in self.relations]
        texts = tuple(" ".join(names[place] for place in chain) for chain in self._chains())
        constraint = Constraint(texts, self.most, form.start, form.end, self.score)
        return Request(self.name, (task,), {}, constraint=constraint)

    def read_written(self, reply: Completion, form: PathForm) -> tuple[RelationPath, ...]:
        """The plans that were written, the likeliest first, each with its share of their probabilities."""
        if self.freely:
            return self._written_freely(reply.text, form)
        written = fit(extract(reply.text), WrittenReply)
        chains = self._chains()
        places = [int(number) - 1 for number in written.picks]
        if not all(0 <= place < len(chains) for place in places):
            raise ModelReplyError("none of the numbers that it names was offered")
        scores = written.scores if len(written.scores) == len(places) else [1.0] * len(places)
        total = sum(scores) or 1.0
        return tuple(
            RelationPath(tuple(self.relations[each].number for each in chains[place]), score / total)
            for place, score in zip(places[: self.most], scores, strict=False)
        )

    def _chains(self) -> list[tuple[int, ...]]:
        """The chains of the offered relations by their places, as many of the first ones as have room."""
        count = len(self.relations)
        while count > 1 and sum(count**hops for hops in range(1, self.depth + 1)) > MOST_CHAINS:
            count -= 1
        lengths = range(1, self.depth + 1)
        every = itertools.chain.from_iterable(itertools.product(range(count), repeat=hops) for hops in lengths)
        return list(itertools.islice(every, MOST_CHAINS))

    def _written_freely(self, text: str, form: PathForm) -> tuple[RelationPath, ...]:
        """The plans in a model's own words, each as heavy as it comes early; then those with faults, where wanted."""
        numbers = {key(form.written(relation)): relation.number for relation in reversed(self.relations)}
        plans = [plan for sequence in sequences(text) for plan in form.paths(sequence) or [""]]
        read = [self._named(form.steps_of(plan), numbers, 1 / place) for place, plan in enumerate(plans, 1)]
        whole = {chain.relations: chain for chain in reversed(read) if not chain.fault}
        best = sorted(whole.values(), key=lambda chain: -chain.weight)[: self.most]
        return (*best, *(chain for chain in read if chain.fault and self.faulty))

    def _named(self, steps: Sequence[str], numbers: Mapping[str, int], weight: float) -> RelationPath:
        if not 0 < len(steps) <= self.depth:
            return RelationPath((), 0.0, "format errors")
        known = [numbers[key(step)] for step in steps if key(step) in numbers]
        return (
            RelationPath(tuple(known), weight)
            if len(known) == len(steps)
            else RelationPath((), 0.0, "relations not in the graph")
        )

    def parse(self, reply: Mapping[str, object], shown: int) -> tuple[RelationPath, ...]:
        """The chains, the heaviest first.

        One with a relation that was not offered, or with too many, is left out: what remains of it would lead
        elsewhere.
        """
        listed = fit(reply, PlansReply).plans
        offered = {relation.number for relation in self.relations[:shown]}
        read = [self._read(item, offered) for item in listed]
        weights: dict[tuple[int, ...], float] = {}
        for chain in read:
            if not chain.fault:
                weights[chain.relations] = max(chain.weight, weights.get(chain.relations, 0.0))
        if listed and not weights:
            raise ModelReplyError(
                f"none of its plans has a weight from 0 to 1 and 1 to {self.depth} relations that were offered"
            )
        best = sorted(weights, key=lambda numbers: -weights[numbers])[: self.most]
        faulty = [chain for chain in read if chain.fault] if self.faulty else []
        return (*(RelationPath(numbers, weights[numbers]) for numbers in best), *faulty)

    def _read(self, item: object, offered: Collection[int]) -> RelationPath:
        """A plan of the reply, or its fault."""
        try:
            chain = fit(item, WeightedChain)
        except ModelReplyError:
            return RelationPath((), 0.0, "format errors")
        numbers = tuple(int(number) for number in chain.relations)
        if not 0 < len(numbers) <= self.depth:
            return RelationPath((), 0.0, "format errors")
        known = all(number in offered for number in numbers)
        return (
            RelationPath(numbers, float(chain.weight)) if known else RelationPath((), 0.0, "relations not in the graph")
        )

    @classmethod
    def typical(cls, sketch: WalkSketch) -> "RelationPathsCall":
        """The call as a walk like that makes it."""
        return cls(sketch.question, sketch.plan, sketch.steps(sketch.planned), sketch.hops, sketch.kept)
