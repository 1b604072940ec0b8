"""What a walk says of topics: what the profile hides of them, and their descriptions."""

import json
from pathlib import Path
from typing import Any

import pytest

from fedkg.session import Session
from fedkg.testing import ScriptedModel

FACTS = """\
<http://x/ann> <http://x/hidden/a> <http://x/rex> .
<http://x/ann> <http://x/hidden/b> <http://x/kim> .
<http://x/ann> <http://x/r/pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
<http://x/r/pet> <http://www.w3.org/2000/01/rdf-schema#label> "pet"@en .
"""
OPTIONS: dict[str, Any] = {"model": "local", "embedder": "bm25", "cache": False, "depth": 1}


@pytest.mark.parametrize(("hidden", "warned"), [("http://x/hidden/", True), ("http://x/hidden/a", False), ("", False)])
async def test_a_topic_with_more_hidden_than_shown(tmp_path: Path, hidden: str, warned: bool) -> None:
    """Two edges against one are worth a warning, one against two is not; a profile that hides none costs nothing."""
    (tmp_path / "facts.nt").write_text(FACTS)
    skip = f'[shape.edges]\nskip_prefixes = ["{hidden}"]\n' if hidden else ""
    (tmp_path / "few.toml").write_text(f'like = "generic"\nfile = "facts.nt"\n{skip}')
    async with Session("few", profiles_dir=str(tmp_path), **OPTIONS) as session:
        answer = await session.ask("Which pet does Ann have?", "http://x/ann")
    warning = "the profile few hides 2 of the 3 edges that lead from 'ann'"
    assert [text.startswith(warning) for text in answer.warnings] == [True] * warned
    assert answer.usage.by_kind.get("hidden", 0) == bool(hidden)


@pytest.mark.parametrize("offered", [1, 3])
async def test_a_description_beyond_the_page_stands_beside_its_topic(tmp_path: Path, offered: int) -> None:
    """It came with the first hop; where it is offered as an edge, it is not repeated."""
    describes = '<http://x/ann> <http://schema.org/description> "a keeper"@en .\n'
    (tmp_path / "facts.nt").write_text(FACTS + describes)
    shape = '[shape.edges]\nskip = []\nskip_prefixes = ["http://x/hidden/"]\n'
    (tmp_path / "few.toml").write_text(f'like = "generic"\nfile = "facts.nt"\n{shape}')
    plan = {"keywords": ["pet"], "planning_steps": ["pet"], "declarative_statement": "*placeholder*"}
    plan |= {"kind": "entities", "mentions": []}
    reply = {"picks": [], "decides": False, "more": False, "unproven": ""}
    chat = ScriptedModel(lambda _messages, call: json.dumps(plan if call == "plan" else reply))
    options = OPTIONS | {"model": None, "chat": chat, "candidates": offered, "profiles_dir": str(tmp_path)}
    async with Session("few", **options) as session:
        await session.ask("Which pet does Ann have?", "http://x/ann")
    prompt = next(messages[-1].content for messages, call in chat.asked if call == "choose")
    assert prompt.count("a keeper") == 1
    assert ("Topic: ann, a keeper" in prompt) == (offered == 1)
