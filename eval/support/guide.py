"""A chat model that knows the way: of what it is offered it takes what a gold path begins with, in no time at all.

It goes by relations and their directions, and at their end by what it is shown of the answers; where nothing that is offered
leads on it says so. So what it finds is the most that retrieval and search let any model find. It can be made to err.
"""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fedkg.llm.base import Message
from fedkg.testing import ScriptedModel

__all__ = ["Gold", "golds", "guide", "relation_name"]

OFFER = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
STEP = re.compile(r" ([→←]) (.+?) [→←](?= |$)")
SO_FAR = re.compile(r"^Path so far: (.*)$", re.MULTILINE)
AROUND = re.compile(r" \[[→←] .*")
MOST = re.compile(r"^At most (\d+) ", re.MULTILINE)
QUESTION = re.compile("<question>(.*?)</question>")
THINKS = "Think first."
WRONG, ON_THE_WAY, ARRIVED = range(3)


class Gold(NamedTuple):
    """What is known of a question: the steps to its answers, each an arrow and the relation's name, and their names.

    `proven` is whether the set shows a path of the graph that consists of these steps.
    """

    chain: list[str]
    answers: list[str]
    proven: bool = True


def golds(file: Path) -> dict[str, Gold]:
    """The gold of each question of a JSON Lines file, by its id.

    A set may say the relations (`gold_relations`, `^` before one that is walked backwards) or a path that consists of them.
    """
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    rows = (json.loads(line) for line in data.splitlines())
    return {row["id"]: _gold(row) for row in rows}


def _gold(row: dict[str, Any]) -> Gold:
    return Gold(_chain(row), [answer["label"] for answer in row["answers"]], bool(row["gold_path"]))


def _chain(row: dict[str, Any]) -> list[str]:
    if relations := row.get("gold_relations"):
        return [f"{'←' if relation[0] == '^' else '→'} {relation_name(relation)}" for relation in relations]
    return _walked(row["topic_entities"][0]["iri"], row["gold_path"])


def _walked(start: str, path: Iterable[Sequence[str]]) -> list[str]:
    chain = []
    for subject, relation, target in path:
        arrow, start = ("→", target) if subject == start else ("←", subject)
        chain.append(f"{arrow} {relation_name(relation)}")
    return chain


def relation_name(relation: str) -> str:
    """A relation as fedkg names it: `…/ns/people.person.place_of_birth` is "place of birth"."""
    return re.split(r"[./]", relation)[-1].replace("_", " ")


def guide(gold: Gold, rate: float = 0.0, seed: str = "") -> ScriptedModel:
    """The model for one question; it errs with the probability `rate`, which `seed` makes the same each time.

    Of the picks that it may make each is, with that probability, a wrong offer, where there is one; the others are right ones,
    as long as there are any. And of each path, with that probability, it takes one of the two other views than the true one: that
    its last step does not follow, that it follows, that the statement can be deduced, too.
    """
    drawn = random.Random(seed)

    def reply(messages: Sequence[Message], call: str) -> str:
        return json.dumps(REPLIES[call](Seen(messages[-1].content, gold, Errors(rate, drawn))))

    return ScriptedModel(reply)


class Errors(NamedTuple):
    """How often a model errs, and what decides when it does."""

    rate: float
    drawn: random.Random

    def picks(self, right: Sequence[int], wrong: Sequence[int], most: int) -> list[int]:
        """At most so many picks, each of them wrong with that probability."""
        left = {True: self.drawn.sample(wrong, len(wrong)), False: list(right)}
        kinds = [self.drawn.random() < self.rate for _ in range(most)]
        return [left[erring].pop(0) for erring in kinds if left[erring]]

    def view(self, true: int) -> int:
        """What is taken for the state of a path."""
        others = [state for state in (WRONG, ON_THE_WAY, ARRIVED) if state != true]
        return self.drawn.choice(others) if self.drawn.random() < self.rate else true


class Seen:
    """What one call shows, and how each offer stands to the gold path."""

    def __init__(self, said: str, gold: Gold, errors: Errors) -> None:
        self.said, self.gold, self.errors = said, gold, errors

    @cached_property
    def states(self) -> dict[int, int]:
        """By the numbers of the offers: whether they are WRONG, ON_THE_WAY, or have ARRIVED.

        Where some of those that have arrived show an answer, those that show none have arrived elsewhere.
        """
        found = {number: _state(walked, self.gold.chain) for number, walked in self.walks.items()}
        right = {number for number, state in found.items() if state == ARRIVED and self._answers(number)}
        return {
            number: WRONG if right and state == ARRIVED and number not in right else state
            for number, state in found.items()
        }

    @cached_property
    def walks(self) -> dict[int, list[str]]:
        """The steps of each offer; where it shows the next step alone, those before it too."""
        before = SO_FAR.search(self.said)
        prefix = f" {before[1]}" if before else ""
        return {number: _steps(f"{prefix if text[0] in '→←' else ''} {text}") for number, text in self.offers.items()}

    @cached_property
    def offers(self) -> dict[int, str]:
        """The offers by their numbers, without what is around their ends."""
        return {int(number): AROUND.sub("", text) for number, text in OFFER.findall(self.said)}

    def _answers(self, number: int) -> bool:
        """Whether one of the answers is named where the offer leads to."""
        end = re.split("[→←]", self.offers[number])[-1]
        return any(answer in end for answer in self.gold.answers)

    def picks(self, least: int = ON_THE_WAY, most: int | None = None) -> list[int]:
        """Offers that have come so far at `least`, and errors; at most so many, or as many as the call says."""
        right = [number for number, state in self.states.items() if state >= least]
        wrong = [number for number in self.states if number not in right]
        told = MOST.search(self.said)
        return self.errors.picks(right, wrong, most or (int(told[1]) if told else len(self.states)))

    def verdict(self, number: int) -> dict[str, bool]:
        """The two verdicts on an offer."""
        view = self.errors.view(self.states[number])
        return {"follows": view != WRONG, "deducible": view == ARRIVED}


def _steps(text: str) -> list[str]:
    return [" ".join(step) for step in STEP.findall(text)]


def _state(walked: Sequence[str], chain: Sequence[str]) -> int:
    if not walked or walked != chain[: len(walked)]:
        return WRONG
    return ARRIVED if len(walked) == len(chain) else ON_THE_WAY


def _plan(seen: Seen) -> dict[str, Any]:
    """A plan as long as a model's; its keywords are the question's own words, so that the ranking is told nothing new."""
    question = QUESTION.findall(seen.said)[0]
    return {
        "keywords": question.split(),
        "planning_steps": [f"from there by {step[2:]} to what it leads to" for step in seen.gold.chain],
        "declarative_statement": f"*placeholder* is the answer to: {question}",
        "kind": "entities",
        "mentions": [],
    }


def _link(seen: Seen) -> dict[str, Any]:
    return {"links": [{"mention": number, "candidate": 1} for number in seen.walks]}


def _picked(seen: Seen) -> dict[str, Any]:
    return {"picks": seen.picks()}


def _choose(seen: Seen) -> dict[str, Any]:
    return {"picks": [{"offer": number, **seen.verdict(number)} for number in seen.picks()]}


def _deductive(seen: Seen) -> dict[str, Any]:
    return {"verdicts": [{"path": number, **seen.verdict(number)} for number in seen.states]}


def _adequacy(seen: Seen) -> dict[str, Any]:
    return {"adequate": any(seen.verdict(number)["deducible"] for number in seen.states)}


def _relations(seen: Seen) -> dict[str, Any]:
    return {"scores": _scores(seen, "relation")}


def _entities(seen: Seen) -> dict[str, Any]:
    return {"scores": _scores(seen, "entity")}


def _scores(seen: Seen, key: str) -> list[dict[str, Any]]:
    """1 for what leads on, 0 for the rest."""
    picked = set(seen.picks())
    return [{key: number, "score": float(number in picked)} for number in seen.states]


def _relation_paths(seen: Seen) -> dict[str, Any]:
    """The gold chain, where all of its relations are offered."""
    numbers = {" ".join(walked): number for number, walked in seen.walks.items()}
    chain = [numbers.get(step, 0) for step in seen.gold.chain]
    return {"plans": [{"relations": chain, "weight": 1.0}] if all(chain) else []}


def _reasoning_paths(seen: Seen) -> dict[str, Any]:
    return {"picks": seen.picks(ARRIVED)}


def _answer(seen: Seen) -> dict[str, Any]:
    most = max(1, sum(state == ARRIVED for state in seen.states.values()))
    return {"paths": [{"path": number, "ends": []} for number in seen.picks(ARRIVED, most)]}


def _model_only(seen: Seen) -> dict[str, Any]:
    """The right answers, as if from memory; a chain of thought names the steps."""
    thought = "; then ".join(f"by {step[2:]} to what it leads to" for step in seen.gold.chain)
    return {"reasoning": thought if THINKS in seen.said else "", "answers": seen.gold.answers}


REPLIES: dict[str, Callable[[Seen], dict[str, Any]]] = {
    "adequacy": _adequacy,
    "answer": _answer,
    "beam": _picked,
    "choose": _choose,
    "deductive": _deductive,
    "inductive": _answer,
    "link": _link,
    "model-only": _model_only,
    "plan": _plan,
    "reasoning-paths": _reasoning_paths,
    "relation-paths": _relation_paths,
    "score-entities": _entities,
    "score-relations": _relations,
}
