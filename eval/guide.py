"""A chat model that knows the way: it takes the offers that a question's gold path begins with, in no time at all."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fedkg.llm.base import Message, ScriptedModel

__all__ = ["gold_chains", "guide"]

OFFER = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
STEP = re.compile(r" ([→←]) (.+?) [→←] ")
QUESTION = re.compile("<question>(.*?)</question>")
WIDTH = 4


def gold_chains(file: Path) -> dict[str, list[str]]:
    """For each question of a JSON Lines file, by its id, the steps of its gold path: an arrow and the relation's name."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {row["id"]: _chain(row["topic_entities"][0]["iri"], row["gold_path"]) for row in rows}


def _chain(start: str, path: Sequence[Sequence[str]]) -> list[str]:
    chain = []
    for subject, relation, target in path:
        arrow, start = ("→", target) if subject == start else ("←", subject)
        chain.append(f"{arrow} {_name(relation)}")
    return chain


def guide(chain: Sequence[str]) -> ScriptedModel:
    """The model for one question; where no offer begins the chain it takes the first few, as a model would that is lost."""

    def reply(messages: Sequence[Message], call: str) -> str:
        said = messages[-1].content
        if call == "plan":
            return json.dumps(_plan(QUESTION.findall(said)[0], chain))
        return json.dumps(REPLIES[call](_seen(said, chain)))

    return ScriptedModel(reply)


class Seen(NamedTuple):
    """The numbers of what was offered: all, those on the way (else the first few), and those at its end."""

    offered: list[int]
    picked: list[int]
    arrived: set[int]


def _seen(said: str, chain: Sequence[str]) -> Seen:
    walks = [(int(number), [" ".join(step) for step in STEP.findall(text)]) for number, text in OFFER.findall(said)]
    offered = [number for number, _ in walks]
    right = [number for number, walked in walks if walked == list(chain[: len(walked)])]
    return Seen(offered, (right or offered)[:WIDTH], {number for number, walked in walks if walked == list(chain)})


def _beam(seen: Seen) -> dict[str, Any]:
    return {"picks": seen.picked}


def _choose(seen: Seen) -> dict[str, Any]:
    picks = [{"offer": number, "follows": True, "deducible": number in seen.arrived} for number in seen.picked]
    return {"picks": picks}


def _deductive(seen: Seen) -> dict[str, Any]:
    verdicts = [
        {"path": number, "follows": number in seen.picked, "deducible": number in seen.arrived}
        for number in seen.offered
    ]
    return {"verdicts": verdicts}


def _answer(seen: Seen) -> dict[str, Any]:
    return {"paths": [{"path": number, "ends": []} for number in seen.picked[:1]], "verdict": ""}


REPLIES: dict[str, Callable[[Seen], dict[str, Any]]] = {
    "answer": _answer,
    "beam": _beam,
    "choose": _choose,
    "deductive": _deductive,
}


def _plan(question: str, chain: Sequence[str]) -> dict[str, Any]:
    """A plan as long as a model's; its keywords are the question's own words, so that the ranking is told nothing new."""
    return {
        "keywords": question.split(),
        "planning_steps": [f"from there by {step[2:]} to what it leads to" for step in chain],
        "declarative_statement": f"*placeholder* is the answer to: {question}",
        "kind": "entities",
        "mentions": [],
    }


def _name(relation: str) -> str:
    """A Freebase property as fedkg names it: `…/ns/people.person.place_of_birth` is "place of birth"."""
    return relation.rsplit(".", 1)[-1].replace("_", " ")
