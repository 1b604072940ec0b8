"""docs/benchmarks.md: from questions to a proof, and tables that are those of the code."""

import json
import shlex
import tomllib

import msgspec
import pytest

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.formats import JsonLinesRow
from fedkg.bench.run.ablation import Grid
from fedkg.bench.scoring.error_classes import FAULTS
from fedkg.bench.scoring.summary import MEASURES
from tests.support.documents import blocks, follow, read, rows, sections

BENCHMARKS = read("benchmarks")


@pytest.mark.usefixtures("here")
def test_a_benchmark_goes_from_questions_to_a_proof() -> None:
    """Run, scored, compared, packed and replayed as shown, then reported."""
    for heading in ("From questions to a proof", "Report and ablate"):
        follow(sections(BENCHMARKS)[heading], lambda text: text)


def test_every_measure_and_class_of_error_is_told() -> None:
    """In the order in which they are printed."""
    assert tuple(rows(sections(BENCHMARKS)["Read the scores"])) == MEASURES
    documented = rows(sections(BENCHMARKS)["Why an answer is wrong"])
    assert set(documented) == set(FAULTS)


def test_every_key_of_a_definition_is_told_with_its_default() -> None:
    """As TOML has them; the example is a definition."""
    text = sections(BENCHMARKS)["Add a benchmark"]
    documented = rows(text.partition("A definition is a TOML file")[2])
    fields = {field.name: field for field in msgspec.structs.fields(Definition)}
    assert set(documented) == set(fields)
    for name, (default, _) in documented.items():
        if default.startswith("`"):
            assert json.loads(default.strip("`")) == fields[name].default
        else:
            assert (default == "needed") == (fields[name].required)
    [example] = blocks(text, "toml")
    assert msgspec.convert(tomllib.loads(example), Definition).source.licence


def test_every_key_of_an_ablation_is_told() -> None:
    """The example is one, and its benchmarks are known or those of the document."""
    text = sections(BENCHMARKS)["Report and ablate"]
    documented = {name.strip("[]") for name in rows(text)}
    assert documented == {field.name for field in msgspec.structs.fields(Grid)}
    [example] = blocks(text, "toml")
    grid = msgspec.convert(tomllib.loads(example), Grid)
    assert set(grid.benchmarks) <= {*definitions.names(), "zoo.toml"}
    assert len(grid.changes) == 6


def test_every_benchmark_is_told_with_its_licence() -> None:
    """The table is that of the definitions; our tables are made from some of them."""
    documented = rows(sections(BENCHMARKS)["The benchmarks, and their licences"])
    assert documented == {name: [definitions.find(name).source.licence] for name in definitions.names()}
    _, command = blocks(sections(BENCHMARKS)["Reproduce our tables"], "sh")
    asked = shlex.split(command.replace("\\\n", " "))
    assert set(asked[3 : asked.index("--data")]) <= set(documented)


def test_every_key_of_a_question_is_told() -> None:
    """Of a JSON Lines file."""
    text = sections(BENCHMARKS)["Add a benchmark"].partition("A definition is a TOML file")[0]
    documented = {name for key in rows(text) for name in key.split("`, `")}
    assert documented == {field.encode_name for field in msgspec.structs.fields(JsonLinesRow)}
