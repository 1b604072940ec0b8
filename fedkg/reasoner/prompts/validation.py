"""What the files of a prompt hold, checked: metadata, schema and examples."""

import json
from pathlib import Path
from typing import Any

from fedkg.common import toml
from fedkg.core.question import Kind
from fedkg.errors import PromptError
from fedkg.reasoner.prompts.template import PromptExample, PromptExamples, PromptMeta

__all__ = []


def read_text(path: Path) -> str:
    return toml.read_text(path, PromptError)


def read_meta(path: Path, text: str) -> PromptMeta:
    return toml.parse(text, str(path), PromptMeta, PromptError)


def read_schema(path: Path, text: str, bundled: Path) -> dict[str, Any]:
    """The schema, which has the keys of the bundled one: a reply is read under these names."""
    try:
        schema = json.loads(text)
        lost = _required(json.loads(read_text(bundled))) - _required(schema)
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{path}: {error}", hint="it must be JSON") from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise PromptError(f"{path}: the schema of a reply must be of type object")
    if lost:
        raise PromptError(f"{path}: it must describe and require {', '.join(sorted(lost))}", hint=f"as {bundled} does")
    return schema


def _required(schema: Any) -> set[str]:
    """The keys that a schema describes and requires, at any depth."""
    match schema:
        case {"required": [*keys], "properties": {**known}}:
            return {str(key) for key in known if key in keys}.union(*map(_required, schema.values()))
        case dict():
            return set().union(*map(_required, schema.values()))
        case list():
            return set().union(*map(_required, schema))
    return set()


def read_examples(path: Path, text: str, kind: Kind | None) -> tuple[PromptExample, ...]:
    """The examples for that kind of question; where there are none, those for all kinds."""
    examples = toml.parse(text, str(path), PromptExamples, PromptError).examples
    fitting = tuple(example for example in examples if kind in example.kinds)
    return fitting or tuple(example for example in examples if not example.kinds)
