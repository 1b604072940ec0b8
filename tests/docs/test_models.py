"""docs/models.md: its commands and programs do what is shown, and its tables are those of the code."""

import contextlib
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import msgspec
import pytest

from fedkg.common.retry import LONGEST
from fedkg.config.settings import Budget
from fedkg.core.usage import ModelCall
from fedkg.engine.handlers.base import UNUSABLE
from fedkg.errors import ModelError
from fedkg.llm import capability, prices, sdk
from fedkg.llm.base import Capability
from fedkg.llm.hf import VENDOR
from fedkg.llm.prices import Price
from fedkg.llm.sdk import MODEL_KEY, WireModel
from fedkg.wiring.adapters import CHAT_MODELS
from tests.support.documents import MODEL_URL, blocks, follow, programs, read, rows, run, sections, transcripts

MODELS = read("models")
OLLAMA = "http://127.0.0.1:11434"


@pytest.mark.parametrize("heading", [name for name, text in sections(MODELS).items() if transcripts(text)])
def test_the_commands_about_models_do_what_is_shown(model: str, heading: str) -> None:
    """Section by section, with the files that it has the reader save."""
    follow(sections(MODELS)[heading], lambda text: text.replace(MODEL_URL, model))


@pytest.mark.parametrize(("program", "printed"), [pair for pair in programs(MODELS) if pair[1]])
def test_the_programs_about_models_print_what_is_shown(model: str, ollama: str, program: str, printed: str) -> None:
    """A run with a budget, and a vendor of one's own, on servers of this machine."""
    out = StringIO()
    with contextlib.redirect_stdout(out):
        exec(program.replace(MODEL_URL, model).replace(OLLAMA, ollama), {"__name__": "__main__"})
    assert [line.rstrip() for line in out.getvalue().splitlines()] == printed.splitlines()


def test_every_name_of_a_model_is_told_with_its_variables() -> None:
    """Each vendor of the command line, with the variables of its key and its URL."""
    documented = rows(sections(MODELS)["Choose a model"])
    assert {name.partition(":")[0] for name in documented} == {"local", VENDOR, *CHAT_MODELS}
    for name, kind in CHAT_MODELS.items():
        assert documented[f"{name}:MODEL"][1:] == [f"`{kind.vendor.key}`", f"`{kind.vendor.url}`"]
        assert MODEL_KEY in documented[f"{name}:MODEL@URL"][1]


def test_every_part_of_a_budget_is_told_with_its_flags() -> None:
    """For a question and for a run."""
    documented = rows(sections(MODELS)["Set a budget"])
    assert tuple(documented) == Budget.__struct_fields__
    helps = {name: run(f"fedkg {name} --help")[1] for name in ("ask", "eval run")}
    for part, (question, whole, _) in documented.items():
        for text, prefix, command in ((question, "budget", "ask"), (whole, "run", "eval run")):
            flag, setting = re.findall(r"`([^`]*)`", text)[:2]
            assert setting == f"{prefix}.{part}"
            assert flag in helps[command]


def test_every_field_of_the_ledger_is_told() -> None:
    """The table has the fields of a line, and the example is one; its tokens are priced as the table has them."""
    text = sections(MODELS)["Read the ledger"]
    [example] = blocks(text, "json")
    call = msgspec.json.decode(example, type=ModelCall)
    assert set(rows(text)) == set(ModelCall.__struct_fields__) == set(json.loads(example))
    assert prices.price(call, prices.load()) == pytest.approx(call.price)


def test_every_key_of_a_price_is_told() -> None:
    """As TOML has them."""
    assert set(rows(sections(MODELS)["The price table"])) == set(Price.__struct_encode_fields__)


def test_every_key_of_a_capability_record_is_told_with_its_default() -> None:
    """The table says what is expected of an unknown model."""
    documented = {
        key: json.loads(default.strip("`"))
        for key, (default, _) in rows(sections(MODELS)["What a model can do"]).items()
    }
    assert documented == msgspec.to_builtins(Capability())


def test_the_own_record_counts(tmp_path: Path) -> None:
    """The file of the document is accepted and laid over the bundled record."""
    [record] = blocks(sections(MODELS)["What a model can do"], "toml")
    (tmp_path / capability.FILE).write_text(record)
    name = "openai:qwen3-8b@http://127.0.0.1:8000/v1"
    before, after = capability.find(name), capability.find(name, str(tmp_path))
    assert (after.context, after.output) == (32_768, 4_096)
    assert after.structured == before.structured == "native"


def test_every_error_of_a_model_is_told() -> None:
    """Each class below ModelError: whether it is tried again, whether the question goes on, what a person can do."""
    documented = rows(sections(MODELS)["What errors mean"])
    known = {kind.__name__: kind for kind in _below(ModelError)}
    assert documented.keys() == known.keys()
    for name, (_, again, question, hint) in documented.items():
        assert again == ("yes" if known[name].retryable else "no")
        assert question.startswith("goes on") == (known[name] in UNUSABLE)
        assert hint == known[name].default_hint


def _below(kind: type[ModelError]) -> Iterator[type[ModelError]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _below(sub)


def test_how_patient_a_wire_is_stands_in_the_document() -> None:
    """Seconds of a try and of a wait, tries, and requests at once."""
    text = sections(MODELS)["Retries, timeouts, concurrency"]
    numbers = {"three": sdk.TRIES, "four": sdk.CONCURRENCY}
    assert numbers == {"three": 3, "four": 4}
    assert all(word in text for word in numbers)
    assert {float(number) for number in re.findall(r"(\d+) s\b", text)} == {sdk.TIMEOUT, LONGEST, sdk.PATIENCE}


def test_what_a_vendor_has_to_write_is_told() -> None:
    """The steps to a vendor of the command line name what a WireModel leaves open."""
    text = sections(MODELS)["Add a vendor"]
    assert WireModel.__abstractmethods__ | {"vendor", "reply"} <= set(re.findall(r"`(\w+)`", text))
