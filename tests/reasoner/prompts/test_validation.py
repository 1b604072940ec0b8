"""Files of prompts that cannot be used are refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from fedkg.errors import PromptError
from fedkg.reasoner.prompts.library import load
from tests.support.prompt_folders import EXAMPLES, write

KEYS = ("path", "follows", "deducible")


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("user_j2", "a\n{% if %}", r"user\.j2:2"),
        ("system_j2", "{{ x | nosuchfilter }}", r"system\.j2:1"),
        ("schema_json", "{", r"schema\.json"),
        ("schema_json", "[" * 100_000, r"schema\.json"),
        ("schema_json", '{"type": "array"}', r"schema\.json: .* object"),
        ("schema_json", "[]", r"schema\.json"),
        ("system_j2", "", r"system\.j2: it is empty"),
        ("user_j2", " \n", r"user\.j2: it is empty"),
        ("meta_toml", "version = ", r"meta\.toml"),
        ("meta_toml", 'version = ""\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1\\n2"\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1\\u001b[0m"\nreturns = "r"', r"meta\.toml: .*one word"),
        ("meta_toml", 'version = "1"', r"meta\.toml: .*returns"),
        ("meta_toml", 'version = 1\nreturns = "r"', r"meta\.toml: .*version"),
        ("meta_toml", 'version = "1"\nreturns = "r"\nauthor = "x"', r"meta\.toml: .*author"),
        ("examples_toml", "[[examples]", r"examples\.toml"),
        ("examples_toml", "[[examples]]\nreply = '{}'", r"examples\.toml: .*shown"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "[2]"), r"examples\.toml: the reply is no JSON object: \[2\]"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "{n: 2}"), r"examples\.toml: the reply is no JSON object: \{n"),
        ("examples_toml", EXAMPLES.replace('{"n": 2}', "[" * 100_000), r"examples\.toml: the reply is no JSON"),
        ("examples_toml", EXAMPLES.replace("count", "riddle"), r"examples\.toml: .*riddle"),
        (
            "examples_toml",
            EXAMPLES.replace("question", "query"),
            r"user\.j2:1: 'question' is undefined, .*examples\.toml .*1\}",
        ),
        ("examples_toml", EXAMPLES.replace('"First?"', '""\nplan = 3'), r"examples\.toml .*: .*no values of a prompt"),
        (
            "examples_toml",
            EXAMPLES.replace('"First?"', '""\nplan = {step = ""}'),
            r"examples\.toml .*'step' is none of",
        ),
        ("sytem_j2", "typed badly", r"sytem\.j2: no file of a prompt"),
        ("schema__openai_json", "{}", r"schema\.openai\.json: no file of a prompt"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, file: str, text: str, reason: str) -> None:
    """PromptError says which file does not fit and why."""
    with pytest.raises(PromptError, match=reason):
        load("beam", str(write(tmp_path, **{file: text})))


@pytest.mark.parametrize(
    ("call", "schema", "lost"),
    [
        ("beam", {}, "picks"),
        ("beam", {"required": ["picks"]}, "picks"),
        ("beam", {"properties": {"picks": {}}}, "picks"),
        ("beam", {"properties": 1, "required": [[1], "picks"]}, "picks"),
        (
            "deductive",
            {"properties": {"verdicts": {"required": ["follows"]}}, "required": ["verdicts"]},
            "deducible, follows, path",
        ),
    ],
)
def test_a_schema_keeps_the_keys_that_are_read(tmp_path: Path, call: str, schema: dict[str, Any], lost: str) -> None:
    """One that does not describe and require all that the bundled one requires, at any depth, is refused."""
    (tmp_path / call).mkdir()
    (tmp_path / call / "schema.json").write_text(json.dumps({"type": "object", **schema}))
    with pytest.raises(PromptError, match=rf"schema\.json: it must describe and require {lost}$"):
        load(call, str(tmp_path))


def test_a_schema_may_say_more(tmp_path: Path) -> None:
    """The keys may stand in definitions, have descriptions, and come with further ones."""
    item = {"properties": {key: {"description": "d"} for key in KEYS}, "required": [*KEYS]}
    verdicts = {"type": "array", "items": {"$ref": "#/$defs/one"}}
    schema = {"type": "object", "properties": {"verdicts": verdicts}, "required": ["verdicts"], "$defs": {"one": item}}
    (tmp_path / "deductive").mkdir()
    (tmp_path / "deductive" / "schema.json").write_text(json.dumps(schema))
    assert load("deductive", str(tmp_path)).schema == schema


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 raise PromptError with the file."""
    folder = str(write(tmp_path))
    (tmp_path / "beam" / "user.j2").write_bytes(b"\xff")
    with pytest.raises(PromptError, match=r"user\.j2: not UTF-8"):
        load("beam", folder)
