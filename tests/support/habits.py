"""Models by their habits: what a model of that kind says to any request, so that every method meets the same ones."""

import asyncio
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedkg.errors import ModelDeclinedError
from fedkg.llm.base import Capability, Completion, Request

__all__ = [
    "HABITS",
    "MOST_CALLS",
    "OPTIONS",
    "Chat",
    "Says",
    "Silent",
    "declines",
    "everything",
    "first",
    "habit",
    "knows",
]

OPTIONS = ("Peter Jackson", "Naomi Watts")
PLAN = {
    "keywords": ["directed by"],
    "planning_steps": ["find the director"],
    "declarative_statement": "King Kong is directed by *placeholder*.",
    "kind": "entities",
    "mentions": ["King Kong"],
    "options": list(OPTIONS),
}
PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
MOST_CALLS = dict(re.findall(r"(?m)^\| `([\w-]+)` \| `([^`]*)` \|", PAGE))
"""What the document says that a method costs, as an expression of N and D."""
Says = Callable[[Request], str]


class Chat:
    """A model that says to each request what its habit is to say; `asked` are the calls that it got."""

    name = "scripted"
    capability = Capability(context=200_000)

    def __init__(self, says: Says) -> None:
        self._says = says
        self.asked: list[str] = []

    async def complete(self, request: Request) -> Completion:
        """The reply, with a count of tokens."""
        self.asked.append(request.call)
        return Completion(self._says(request), 100, 10)

    async def close(self) -> None:
        """Nothing to free."""


class Silent(Chat):
    """A model that plans, and never replies to anything else."""

    async def complete(self, request: Request) -> Completion:
        """The plan; else nothing comes."""
        if request.call != "plan":
            await asyncio.Event().wait()
        return await super().complete(request)


NOTHING: dict[str, Any] = {"ends": [], "check": False, "unproven": ""}
"""What a habit never names: certain ends, and conditions on them."""


def habit(names: Callable[[list[tuple[int, str]]], list[int]], *, agrees: bool = True, ends: bool = False) -> Says:
    """A model whose replies always fit: `names` picks among the numbered lines that it is shown.

    `agrees` is its reply to every question for yes or no, and its score; `ends` is whether it replies that it has seen
    enough.
    """

    def says(request: Request) -> str:
        if not request.schema:
            return request.messages[-1].content  # of free text it has none of its own
        offers = re.findall(r"(?m)^(\d+)\. (.*)$", request.messages[1].content)
        numbers = names([(int(number), text) for number, text in offers])
        return json.dumps(PLAN if request.call == "plan" else _filled(request.schema, "", numbers, agrees, ends))

    return says


def _filled(schema: Any, key: str, numbers: list[int], agrees: bool, ends: bool) -> Any:
    """A value that fits the schema; a list of numbers, or of things with a number, has one for each of `numbers`."""
    kind, items = schema["type"], schema.get("items", {})
    if kind == "object":
        return {name: _filled(part, name, numbers, agrees, ends) for name, part in schema["properties"].items()}
    if kind == "array" and items["type"] == "string":
        return ["Peter Jackson"] if agrees else []
    if key in NOTHING:
        return NOTHING[key]
    if kind == "array":
        return [_filled(items, key, [number], agrees, ends) for number in numbers]
    plain: dict[str, Any] = {
        "boolean": ends if key in {"decides", "deducible", "adequate", "more"} else agrees,
        "number": float(agrees),
        "integer": numbers[0] if numbers else 0,
        "string": "yes" if agrees else "no",
    }
    return plain[kind]


def _knowing(offers: list[tuple[int, str]]) -> list[int]:
    """The offers that tell the director, and go no further."""
    return [number for number, text in offers if re.fullmatch(r"([^→←]*→ directed by →|directed by:)[^→←]*", text)]


def _all(offers: list[tuple[int, str]]) -> list[int]:
    return [number for number, _ in offers]


def _drawn(offers: list[tuple[int, str]]) -> list[int]:
    """Some of the offers; of the same ones the same."""
    draw = random.Random(str(offers))
    return draw.sample(_all(offers), draw.randint(0, len(offers)))


def declines(request: Request) -> str:
    """Refuses."""
    raise ModelDeclinedError("I would rather not")


knows = habit(_knowing, ends=True)
first = habit(lambda offers: _all(offers)[:1])
everything = habit(_all)
HABITS: dict[str, Says] = {
    "knows": knows,
    "first": first,
    "everything": everything,
    "yes": habit(lambda offers: _all(offers)[:1], ends=True),
    "no": habit(lambda _: [], agrees=False),
    "draws": habit(_drawn),
    "doubts what it picks": habit(_all, agrees=False),
    "unknown numbers": habit(lambda _: [0, 99, -1, 10**20], ends=True),
    "nonsense": lambda _: "no idea",
    "empty": lambda _: "",
    "no keys": lambda _: "{}",
    "declines": declines,
}
