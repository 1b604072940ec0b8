"""A kingdom with a capital, and a model that is asked for it, whose every call costs a cent."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedkg.llm.base import Completion, Message, Request
from fedkg.llm.prices import PRICES
from fedkg.testing import ScriptedModel

__all__ = ["KINGDOM", "QUESTION", "PricedModel", "play", "price_table"]

KINGDOM = """
@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ruritania rdfs:label "Ruritania"@en ; ex:capital ex:strelsau ; ex:king ex:rudolf .
ex:capital rdfs:label "capital"@en . ex:king rdfs:label "king"@en .
ex:strelsau rdfs:label "Strelsau"@en . ex:rudolf rdfs:label "Rudolf V"@en .
"""
QUESTION = "What is the capital of Ruritania?"


def play(messages: Sequence[Message], call: str) -> str:
    """The replies of a model that knows: three calls lead to the capital, the last one since not all ends are shown."""
    match = re.search(r"(?m)^(\d+)\. .*capital", messages[-1].content)
    statement = "*placeholder* is the capital of Ruritania."
    plan = {"keywords": ["capital"], "planning_steps": ["find it"], "declarative_statement": statement}
    replies: dict[str, Any] = {
        "plan": plan | {"kind": "entities", "mentions": ["Ruritania"]},
        "choose": {"picks": [{"offer": int(match[1]) if match else 1, "ends": [0]}], "decides": True, "more": False},
        "answer": {"paths": [{"path": 1, "ends": []}], "verdict": ""},
    }
    return json.dumps(replies[call])


class PricedModel(ScriptedModel):
    """A model that the table of `prices` knows, and whose every call costs a cent."""

    name = "openai:m@http://127.0.0.1:9/v1"

    async def complete(self, request: Request) -> Completion:
        """As played; 600 tokens in, 400 out."""
        reply = await super().complete(request)
        return Completion(reply.text, 600, 400, 100, 300)


def price_table(folder: Path) -> Path:
    """The folder, made now, with the user's own table: ten dollars per million tokens."""
    folder.mkdir()
    names = f'names = ["{PricedModel.name}"]'
    (folder / PRICES).write_text(f"[[price]]\n{names}\ndate = 2026-11-01\nin = 10\nout = 10\ncached = 10\n")
    return folder
