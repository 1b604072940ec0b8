"""A chat model that knows the way: it takes the offers that a question's gold path begins with, in no time at all."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedkg.llm.base import Message, ScriptedModel

__all__ = ["gold_chains", "guide"]

OFFER = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
ARROW = re.compile(r" [→←] ")
WIDTH = 4


def gold_chains(file: Path) -> dict[str, list[str]]:
    """For each question of a JSON Lines file, by its id, the names of the relations on its gold path."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {row["id"]: [_name(relation) for _, relation, _ in row["gold_path"]] for row in rows}


def guide(chain: Sequence[str]) -> ScriptedModel:
    """The model for one question; where no offer begins the chain it takes the first few, as a model would that is lost."""

    def reply(messages: Sequence[Message], call: str) -> str:
        said = messages[-1].content
        if call == "plan":
            return json.dumps(_plan(re.sub("</?question>", "", said)))
        offers = [(int(number), ARROW.split(text)[1::2]) for number, text in OFFER.findall(said)]
        right = [number for number, walked in offers if walked == list(chain[: len(walked)])]
        picked = right or [number for number, _ in offers[:WIDTH]]
        if call == "answer":
            return json.dumps({"paths": [{"path": number, "ends": []} for number in picked[:1]], "verdict": ""})
        arrived = {number for number, walked in offers if walked == list(chain)}
        picks = [{"offer": number, "follows": True, "deducible": number in arrived} for number in picked]
        return json.dumps({"picks": picks})

    return ScriptedModel(reply)


def _plan(question: str) -> dict[str, Any]:
    return {
        "keywords": question.split(),
        "planning_steps": [],
        "declarative_statement": "",
        "kind": "entities",
        "mentions": [],
    }


def _name(relation: str) -> str:
    """A Freebase property as fedkg names it: `…/ns/people.person.place_of_birth` is "place of birth"."""
    return relation.rsplit(".", 1)[-1].replace("_", " ")
