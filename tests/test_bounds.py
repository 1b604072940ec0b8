"""Every number that a file or an option takes has an upper bound: none beyond it reaches memory, threads or clocks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner
from msgspec import inspect

from fedkg.bench.data.definitions import Definition
from fedkg.bench.run.ablation import Grid
from fedkg.cli.main import main
from fedkg.config import profiles
from fedkg.config.profiles import Profile
from fedkg.config.settings import Settings, load
from fedkg.errors import InputError
from fedkg.llm.capability import CapabilityRecord
from fedkg.llm.prices import Price

FILES = [Settings, Profile, CapabilityRecord, Price, Definition, Grid]
"""What people write as TOML."""
SEEDS = {"seed", "only.values", "conditions.values"}
"""Numbers that are the measure of nothing: they are only compared."""
TOO_MUCH = ["300000000000000000000", "1e30", "inf", "-inf", "nan", "-1"]


def numbers(kind: inspect.Type, key: str = "") -> Iterator[tuple[str, inspect.IntType | inspect.FloatType]]:
    """Each number within the type, by its dotted key."""
    match kind:
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from numbers(field.type, f"{key}.{field.encode_name}".removeprefix("."))
        case inspect.Metadata(type=inner) | inspect.VarTupleType(item_type=inner) | inspect.ListType(item_type=inner):
            yield from numbers(inner, key)
        case inspect.UnionType(types=options):
            for option in options:
                yield from numbers(option, key)
        case inspect.IntType() | inspect.FloatType():
            yield key, kind


def bounded(number: inspect.IntType | inspect.FloatType) -> bool:
    """Whether the number has both bounds."""
    return None not in (number.ge if number.gt is None else number.gt, number.le if number.lt is None else number.lt)


def keys(kind: type[msgspec.Struct]) -> list[str]:
    """The keys of the numbers in such a file."""
    return [key for key, _ in numbers(inspect.type_info(kind))]


def options(command: click.Command, name: str = "fedkg") -> Iterator[tuple[str, click.Parameter]]:
    """Each option of the command and of those below it, with the whole name of its command."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            described = command.get_command(context, inner)
            assert described is not None
            yield from options(described, f"{name} {inner}")
    yield from ((f"{name} {param.name}", param) for param in command.params)


@pytest.mark.parametrize("kind", FILES)
def test_every_number_of_a_file_is_bounded(kind: type[msgspec.Struct]) -> None:
    """The bounds stand where the field is declared."""
    assert [key for key, number in numbers(inspect.type_info(kind)) if not bounded(number) and key not in SEEDS] == []


def test_numbers_are_met() -> None:
    """The walk comes to numbers in tables, and to those that may be left out."""
    assert {"search.depth", "search.candidates", "budget.money", "run.calls", "ttl.labels"} <= set(keys(Settings))
    assert {"limits.concurrency", "limits.timeout"} <= set(keys(Profile))
    assert not bounded(inspect.IntType(ge=1))
    assert not bounded(inspect.FloatType(le=1.0))


def test_every_number_of_an_option_is_bounded() -> None:
    """By its own type where it is no setting; a setting has its own bounds, whichever way it is given."""
    plain = [
        name
        for name, param in options(main)
        if isinstance(param.type, click.types.IntParamType | click.types.FloatParamType)
        and "__" not in str(param.name)
        and param.name not in SEEDS
        and not (isinstance(param.type, click.IntRange | click.FloatRange) and param.type.max is not None)
    ]
    assert plain == []


@pytest.mark.parametrize("value", TOO_MUCH)
def test_settings_beyond_their_bounds_are_refused(tmp_path: Path, value: str) -> None:
    """With the file and the key, in words; nothing is cut down to what fits."""
    path = tmp_path / "fedkg.toml"
    for key in keys(Settings):
        path.write_text(f"{key} = {value}")
        with pytest.raises(InputError) as caught:
            load(path, environ={})
        assert str(caught.value).startswith(f"{key} in {path} must be ")
        assert caught.value.exit_code == 2


@pytest.mark.parametrize("value", TOO_MUCH)
def test_profiles_beyond_their_bounds_are_refused(value: str) -> None:
    """With the file and the key."""
    for key in keys(Profile):
        with pytest.raises(InputError) as caught:
            profiles.parse(f"{key} = {value}", "mine.toml", "mine")
        assert str(caught.value).startswith("mine.toml: ")
        assert f"`$.{key}`" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--depth", "51"), "--depth must be 50 or less"),
        (("--beam", "300000000"), "--beam must be 1,000 or less"),
        (("--alpha", "inf"), "--alpha must be 1,000 or less"),
        (("--max-tokens", "9" * 40), "--max-tokens must be 1,000,000,000,000 or less"),
        (("--max-money", "nan"), "--max-money must be more than 0"),
        (("--timeout", "1e400"), "--timeout must be 31,622,400 or less"),
        (("--timeout", "-inf"), "--timeout must be more than 0"),
    ],
)
def test_the_command_line_names_option_and_bound(arguments: tuple[str, ...], message: str) -> None:
    """A flag is refused as the option that it is, with exit code 2, before anything is opened."""
    result = CliRunner().invoke(main, ["ask", "Who?", "-e", "no-such-profile", *arguments])
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, f"error: {message}")


def test_a_profile_of_a_stranger_ends_the_command(tmp_path: Path) -> None:
    """The command that meets it says which file and key it is, with exit code 2."""
    (tmp_path / "mine.toml").write_text('urls = ["http://127.0.0.1:1/"]\n[limits]\nconcurrency = 300000000\n')
    command: list[Any] = ["ask", "Who?", "-e", "mine", "--profiles", str(tmp_path)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert f"{tmp_path / 'mine.toml'}: Expected `int` <= 100 - at `$.limits.concurrency`" in result.stderr
