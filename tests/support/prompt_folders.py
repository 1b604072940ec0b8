"""Folders of prompts as a user may have them."""

import json
from pathlib import Path
from typing import Any

__all__ = ["SCHEMA", "write"]

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"picks": {}}, "required": ["picks"]}


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
