import re
from collections.abc import Callable

import click
import pytest
from click.testing import Result

from fedkg.cli.main import main
from fedkg.cli.sections import SECTIONS, SectionedCommand

Cli = Callable[..., Result]


def sections(page: str) -> dict[str, str]:
    """The help page's sections, by their headings."""
    parts = re.split(r"(?m)^(\w[\w ]*):\n", page.partition("\n\n")[2])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_options_of_ask_are_grouped(cli: Cli) -> None:
    """By what they are about, in the order in which a person thinks of them."""
    page = sections(cli("ask", "--help").stdout)
    assert list(page) == ["Question", "Endpoints", "Model", "Search", "Budget", "Cache", "Output", "Other"]
    for section, options in {
        "Question": "--topic --kind --option",
        "Endpoints": "--endpoint --lang --contact --profiles",
        "Model": "--model --model-concurrency --path-model --embedder --prompts",
        "Search": "--depth --method --beam --retriever --door --no-last-step",
        "Budget": "--max-calls --max-tokens --max-money --timeout",
        "Cache": "--no-cache --mode --refresh --cache-dir --replies",
        "Output": "--json --dry-run --verbose",
        "Other": "--settings --help",
    }.items():
        assert [option for option in options.split() if option not in page[section]] == []


@pytest.mark.parametrize("command", ["ask", "search", "neighbours", "verify", "eval run", "eval ablate", "paths build"])
def test_no_option_is_lost_in_a_help_page(command: str, cli: Cli) -> None:
    """Every option of a command stands in one section, and the sections have one order."""
    described: click.Command = main
    for name in command.split():
        assert isinstance(described, click.Group)
        inner = described.get_command(click.Context(described), name)
        assert inner is not None
        described = inner
    assert isinstance(described, SectionedCommand)
    page = sections(cli(*command.split(), "--help").stdout)
    assert list(page) == [name for name in SECTIONS if name in page]
    flags = [max(param.opts, key=len) for param in described.params if isinstance(param, click.Option)]
    listed = "".join(page.values())
    assert [flag for flag in flags if len(re.findall(rf"(?m)^  (?:-\w, )?{flag}(?![\w-])", listed)) != 1] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--depth", "0"), "--depth must be 1 or more"),
        (("--beam", "0"), "--beam must be 1 or more"),
        (("--alpha", "-1"), "--alpha must be 0 or more"),
        (("--max-calls", "0"), "--max-calls must be 1 or more"),
        (("--timeout", "nan"), "--timeout must be more than 0"),
        (("--lang", "d_e"), "each of --lang must be a language tag such as de or pt-BR"),
    ],
)
def test_errors_name_the_option(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """A setting that does not fit is refused as the option that it was given by."""
    result = cli("ask", "Who?", "-e", "sample", *arguments)
    assert result.exit_code == 2
    assert f"error: {message}\n" in result.stderr
