import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from fedkg.config.resources import folder
from fedkg.errors import SettingsError
from fedkg.llm.base import Capability
from fedkg.llm.capability import FILE, find, fits


def own(place: Path, text: str) -> str:
    """A folder with the user's own file."""
    (place / FILE).write_text(text, encoding="utf-8")
    return str(place)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anthropic:claude-opus-5-5", ("native", 1_000_000, "markers", 512)),
        ("anthropic:claude-sonnet-5", ("native", 1_000_000, "markers", 1_024)),
        ("anthropic:claude-haiku-4-5-20251001", ("native", 200_000, "markers", 4_096)),
        ("anthropic:claude-sonnet-4-5", ("native", 200_000, "markers", 1_024)),
        ("anthropic:claude-sonnet-4-20250514", ("instruction", 200_000, "markers", 1_024)),
        ("anthropic:claude-3-5-haiku-latest", ("instruction", 200_000, "markers", 2_048)),
        ("anthropic:a-model-of-next-year", ("native", 200_000, "markers", 1_024)),
        ("openai:gpt-4o", ("native", 128_000, "automatic", 1_024)),
        ("openai:gpt-4.1-mini", ("native", 1_047_576, "automatic", 1_024)),
        ("openai:gpt-5.1", ("native", 400_000, "automatic", 1_024)),
        ("openai:gpt-5-chat-latest", ("native", 128_000, "automatic", 1_024)),
        ("openai:gpt-5.6-sol", ("native", 1_050_000, "automatic", 1_024)),
        ("openai:gpt-6.2-sol", ("native", 1_050_000, "automatic", 1_024)),
        ("openai:o3", ("native", 200_000, "automatic", 1_024)),
        ("openai:gpt-4.1@http://127.0.0.1:8000/v1", ("native", 8_192, "none", 1_024)),
        ("anthropic:claude-opus-5@http://127.0.0.1:11434", ("native", 8_192, "none", 1_024)),
    ],
)
def test_a_model_has_the_record_that_its_vendor_documents(name: str, expected: tuple[str, int, str, int]) -> None:
    """Vendor, family and version are told apart, and a server elsewhere is not believed to be the vendor's."""
    can = find(name)
    assert (can.structured, can.context, can.prompt_cache, can.cache_from) == expected


def test_an_unknown_vendor_has_the_safe_defaults() -> None:
    """Where no record fits, nothing is expected."""
    assert find("scripted") == Capability()


def test_the_own_file_comes_last(tmp_path: Path) -> None:
    """What the user says of a model holds, the rest stays; a record for another model changes nothing."""
    text = """
        [[model]]
        names = ["openai:qwen*@http://127.0.0.1:*"]
        context = 32768
        structured = "instruction"
        [[model]]
        names = ["openai:other*@*"]
        context = 5
    """
    can = find("openai:qwen3:8b@http://127.0.0.1:11434/v1", own(tmp_path, text))
    plain = find("openai:qwen3:8b@http://127.0.0.1:11434/v1")
    assert can == msgspec.structs.replace(plain, context=32_768, structured="instruction")


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("openai:m@http://[::1]:8000/v1", True),
        ("openai:*@http://[::1]:*", True),
        ("openai:m@http://[1:]:8000/v1", False),
    ],
)
def test_an_address_in_brackets_is_no_set_of_characters(pattern: str, fitting: bool) -> None:
    """A server at an IPv6 address is named as it is."""
    assert fits(pattern, "openai:m@http://[::1]:8000/v1") is fitting


def test_a_folder_without_the_file_is_none(tmp_path: Path) -> None:
    """The folder may hold prices only."""
    assert find("openai:gpt-4o", str(tmp_path)) == find("openai:gpt-4o")


@pytest.mark.parametrize(("context", "output"), [(100_000, 2_048), (4_000, 2_000), (1, 1)])
def test_the_context_that_the_user_knows_better_holds(context: int, output: int) -> None:
    """It goes over every record, and leaves at least half of it to the prompt."""
    can = find("openai:m@http://127.0.0.1:1/v1", "", context)
    assert (can.context, can.output) == (context, output)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[model]]\nnames = ['x']\ncontext = 'much'", "model 1: Expected `int`, got `str` - at `$.context`"),
        ("[[model]]\nnames = ['x']\ncontext = 0", "`$.context`"),
        (
            "[[model]]\nnames = ['x']\n[[model]]\nnames = ['x']\ntemperature = 1",
            "model 2: Object contains unknown field `temperature`",
        ),
        ("[[model]]\nnames = ['x']\nstructured = 'maybe'", "`$.structured`"),
        ("[[model]]\ncontext = 9", "`names`"),
        ("[[price]]\nnames = ['x']", "`price`"),
        ("model = 3", "`$.model`"),
        ("[[model", "end of"),
    ],
)
def test_a_file_that_does_not_fit_is_named_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    """The error says file, record and key, also where the record is for another model."""
    with pytest.raises(SettingsError) as caught:
        find("openai:gpt-4o", own(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / FILE))
    assert message in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    """Neither bytes that are no UTF-8 nor a file that cannot be read is a traceback."""
    (tmp_path / FILE).write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=FILE):
        find("openai:gpt-4o", str(tmp_path))


@dataclass
class Line:
    """A line of the bundled file about a model, and whether a comment beside or above it cites a source."""

    text: str
    cited: bool


def test_every_value_cites_what_the_vendor_documents() -> None:
    """No value stands there without a comment: the page that says it, who repeats such a page, or what is safe."""
    texts = (folder("models") / FILE).read_text(encoding="utf-8").splitlines()
    lines: list[Line] = []
    for above, text in zip(["", *texts], texts, strict=False):
        if "=" in text and not text.startswith(("#", "names")):
            # `output` is our choice, explained at the head of the file; further keys of a record may share a comment
            cited = "#" in text or text.startswith("output") or above.startswith(("#", "context"))
            lines.append(Line(text, cited))
    assert len(lines) > 30
    assert [line.text for line in lines if not line.cited] == []


def test_every_record_changes_something() -> None:
    """A record whose values all hold already would be a mistake in its patterns."""
    tables = tomllib.loads((folder("models") / FILE).read_text(encoding="utf-8"))["model"]
    assert all(len(table) > 1 and table["names"] for table in tables)
