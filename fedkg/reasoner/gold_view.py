"""How the candidates of one call stand to a gold chain, and what a model that knows it makes of them."""

import random
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import OPPOSITE
from fedkg.reasoner.gold_chain import GoldChain, GoldCheck, Steps

__all__ = ["ARRIVED", "GoldErrors", "GoldSetsView", "GoldView", "steps_of"]

WRONG, ON_THE_WAY, ARRIVED = range(3)
"""How a candidate stands to the chain."""


class GoldErrors(NamedTuple):
    """How often a model errs, and what decides when it does."""

    rate: float
    draw: random.Random

    def choices(self, right: Sequence[int], wrong: Sequence[int], most: int) -> list[int]:
        """At most so many choices, each of them wrong with that probability."""
        left = {True: self.draw.sample(wrong, len(wrong)), False: list(right)}
        kinds = [self.draw.random() < self.rate for _ in range(most)]
        return [left[erring].pop(0) for erring in kinds if left[erring]]

    def view(self, true: int) -> int:
        """What is taken for the state of a path."""
        others = [state for state in (WRONG, ON_THE_WAY, ARRIVED) if state != true]
        return self.draw.choice(others) if self.draw.random() < self.rate else true


class GoldView:
    """What one call shows, and how each candidate stands to the gold chain."""

    def __init__(self, gold: GoldChain, candidates: Sequence[PromptCandidate], errors: GoldErrors) -> None:
        self._gold, self._candidates, self._errors = gold, candidates, errors

    @cached_property
    def states(self) -> dict[int, int]:
        """By the numbers of the candidates: whether they are WRONG, ON_THE_WAY, or have ARRIVED.

        Where some of those that have arrived show an answer, those that show none have arrived elsewhere. What leads
        from the other entity of a check to the answers is on the way until both have arrived.
        """
        states = {candidate.number: self._state(candidate) for candidate in self._candidates}
        states |= {number: ON_THE_WAY for check in self._gold.checks for number in self._led(check)}
        arrived = [candidate for candidate in self._candidates if states[candidate.number] == ARRIVED]
        answering = {candidate.number for candidate in arrived if self._answers(candidate)}
        elsewhere = {candidate.number for candidate in arrived if answering and candidate.number not in answering}
        return states | dict.fromkeys(elsewhere, WRONG)

    @property
    def concerned(self) -> bool:
        """Whether a candidate has to do with the gold chain."""
        return any(self.states.values()) or bool(self._checks())

    def _state(self, candidate: PromptCandidate) -> int:
        gold = self._gold
        if not (gold.starts_at(candidate.start) and _alike(candidate.typed, gold.typed)):
            return WRONG
        return _state(steps_of(candidate), gold.steps)

    def _answers(self, candidate: PromptCandidate) -> bool:
        """Whether one of the answers is among the tails, which may show qualifiers behind their names."""
        return any(answer in tail for answer in self._gold.answers for tail in candidate.tails)

    def choices(self, most: int, least: int = ON_THE_WAY) -> list[int]:
        """At most so many candidates that have come so far at `least`, and errors."""
        if not self.states:
            return []
        right = [number for number, state in self.states.items() if state >= least]
        wrong = [number for number in self.states if number not in right]
        return self._errors.choices(right, wrong, most)

    def verdict(self, number: int) -> dict[str, bool]:
        """The two verdicts on a candidate."""
        view = self._errors.view(self.states[number])
        return {"follows": view != WRONG, "deducible": view == ARRIVED}

    def decision(self, most: int, kept_numbers: Collection[int] = ()) -> dict[str, Any]:
        """At most so many candidates that are on the way; those that have arrived alone, as all of the answer.

        Where the answers are told apart by checks, these decide; they are waited for until what has arrived was kept.
        """
        if self._gold.verdict and (arrived := self.choices(most, ARRIVED)):
            return {"picks": arrived, "verdict": self._gold.verdict, "more": False}
        if checks := self._checks() or self._meeting():
            return {"picks": checks, "decides": True, "more": False}
        picked = self.choices(most)
        views = {number: self._errors.view(self.states[number]) for number in picked}
        arrived = [number for number, view in views.items() if view == ARRIVED]
        kept = arrived or [number for number, view in views.items() if view != WRONG]
        picks = [{"offer": number, "ends": []} for number in kept]
        seen = not self._gold.checks or not set(arrived).isdisjoint(kept_numbers)
        return {"picks": picks, "decides": bool(arrived) and seen, "more": False}

    def _checks(self) -> list[dict[str, Any]]:
        """The gold checks that are offered, each with those of its ends that meet the condition.

        0 stands for ends that are not shown.
        """
        offered = [
            (candidate, check)
            for candidate in self._candidates
            for check in self._gold.checks
            if self._is(candidate, check)
        ]
        named = [(candidate, _numbers(candidate, check.values)) for candidate, check in offered]
        named = [(candidate, ends or [0] * bool(candidate.more)) for candidate, ends in named]
        return [{"offer": candidate.number, "ends": ends, "check": True} for candidate, ends in named if ends]

    def _is(self, candidate: PromptCandidate, check: GoldCheck) -> bool:
        """Whether the candidate looks at the condition, one step beyond the gold chain."""
        gold = self._gold
        typed = (*gold.typed, check.typed) if gold.typed else ()
        alike = _alike(candidate.typed, typed) and gold.starts_at(candidate.start)
        return alike and steps_of(candidate) == (*gold.steps, check.step)

    def _meeting(self) -> list[dict[str, Any]]:
        """What has arrived, and for each gold check an offer that leads from the other entity to the same ends.

        Nothing where an entity of a check is no topic, or its offer is not shown.
        """
        others = [self._led(check) for check in self._gold.checks]
        arrived = [number for number, state in self.states.items() if state == ARRIVED]
        meeting = dict.fromkeys([*arrived, *(number for numbers in others for number in numbers)])
        complete = bool(arrived and others) and all(others)
        return [{"offer": number, "ends": []} for number in meeting] if complete else []

    def _led(self, check: GoldCheck) -> list[int]:
        """The candidates that walk the check backwards, from what meets it."""
        name, direction = check.step
        back: Steps = ((name, OPPOSITE[direction]),)
        return [
            each.number
            for each in self._candidates
            if each.start in check.values and steps_of(each) == back and _alike(each.typed, (check.typed,))
        ]

    def scores(self, kind: str) -> list[dict[str, float]]:
        """1 for what leads on, 0 for the rest; `kind` is what they are called in the reply."""
        chosen = set(self.choices(len(self.states)))
        return [{kind: number, "score": float(number in chosen)} for number in self.states]

    def conclusion(self) -> dict[str, Any]:
        """What has arrived, whatever it leads to, or the checks that tell which of its ends answer."""
        if checks := [check for check in self._checks() if check["ends"] != [0]]:
            return {"paths": [{"path": check["offer"], "ends": check["ends"], "check": True} for check in checks]}
        verdict = {"verdict": self._gold.verdict} if self._gold.verdict else {}
        most = max(1, sum(state == ARRIVED for state in self.states.values()))
        arrived = self.choices(most, ARRIVED)
        return (
            {"paths": arrived, **verdict}
            if verdict
            else {"paths": [{"path": number, "ends": []} for number in arrived]}
        )


def steps_of(candidate: PromptCandidate) -> Steps:
    """The relations of a candidate with their directions."""
    return tuple(zip(candidate.relations, candidate.directions, strict=True))


def _alike(typed: Sequence[str], gold: Sequence[str]) -> bool:
    """Whether the names with domain and type are the gold ones as far as both go; unknown ones may be."""
    return all(not (name and wanted) or name == wanted for name, wanted in zip(typed, gold, strict=False))


def _numbers(candidate: PromptCandidate, names: Sequence[str]) -> list[int]:
    """The numbers of the candidate's ends with these names."""
    return [number for number, tail in enumerate(candidate.tails, 1) if tail in names]


def _state(steps: Steps, chain: Steps) -> int:
    if not steps or steps != chain[: len(steps)]:
        return WRONG
    return ARRIVED if len(steps) == len(chain) else ON_THE_WAY


class GoldSetsView(GoldView):
    """What one call shows, where what is computed takes the ends of several chains, or values of two topics."""

    def __init__(self, gold: GoldChain, candidates: Sequence[PromptCandidate], errors: GoldErrors) -> None:
        super().__init__(gold, candidates, errors)
        sets = gold.operation.sets if gold.operation else ()
        self.views = [GoldView(each, candidates, errors) for each in sets]

    @cached_property
    def states(self) -> dict[int, int]:
        """How far each candidate has come on the way to any of the sets."""
        numbers = [candidate.number for candidate in self._candidates]
        return {number: max(view.states[number] for view in self.views) for number in numbers}

    @property
    def arrived(self) -> list[list[int]]:
        """The numbers of the candidates that lead to each set."""
        return [[number for number, state in view.states.items() if state == ARRIVED] for view in self.views]

    def decision(self, most: int, kept_numbers: Collection[int] = ()) -> dict[str, Any]:
        """What leads to the sets, all of which decide together; else what is on the way."""
        arrived = dict.fromkeys(number for numbers in self.arrived for number in numbers)
        if all(self.arrived) and self._gold.verdict:
            return {"picks": list(arrived), "verdict": self._gold.verdict, "more": False}
        picks = arrived if all(self.arrived) else dict.fromkeys(self.choices(most))
        offers = [{"offer": number, "ends": []} for number in picks]
        return {"picks": offers, "decides": all(self.arrived), "more": False}
