"""Folders of prompts as a user may have them."""

import json
from pathlib import Path
from typing import Any

__all__ = ["EXAMPLES", "SCHEMA", "SHOWING", "write"]

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"picks": {}}, "required": ["picks"]}

EXAMPLES = """
[[examples]]
reply = '{"n": 1}'
[examples.shown]
question = "First?"
[[examples]]
kinds = ["count"]
reply = '{"n": 2}'
[examples.shown]
question = "How many <b>?"
offers = ["A → r → B", { text = "A → s → C", tails = ["C"], more = 3 }]
plan = { steps = ["go"], kind = "count" }
"""
"""Two examples, the second for questions of one kind."""
SHOWING = """<question>{{ question }}</question>
{% for offer in offers | default([]) %}
{{ offer.number }}. {{ offer.text }} {{ offer.more }}
{% endfor %}
{% if plan is defined %}
{{ plan.steps[0] }} {{ plan.kind }}
{% endif %}"""
"""A template that shows all that the examples have."""


def write(place: Path, call: str = "beam", **files: str) -> Path:
    """A prompt folder with a complete call and no examples, some files replaced.

    `user_j2` stands for user.j2, `user__claim_j2` for user.claim.j2.
    """
    content = {"system_j2": "S", "user_j2": "{{ question }}", "schema_json": json.dumps(SCHEMA), "examples_toml": ""}
    content |= {"meta_toml": 'version = "7"\nreturns = "r"'} | files
    (place / call).mkdir(parents=True, exist_ok=True)
    for name, text in content.items():
        stem, _, ending = name.rpartition("_")
        (place / call / f"{stem.replace('__', '.')}.{ending}").write_text(text, encoding="utf-8")
    return place
