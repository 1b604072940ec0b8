"""Options and the sections of the help page where they stand."""

from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

__all__ = ["SECTIONS", "F", "SectionedCommand", "SectionedOption", "all_of", "off", "option"]

F = TypeVar("F", bound=Callable[..., Any])

SECTIONS = (
    "Question",
    "Server",
    "Benchmark",
    "Training files",
    "Training",
    "Options",
    "Endpoints",
    "Model",
    "Search",
    "Budget",
    "Cache",
    "Output",
    "Other",
)
"""The sections of a help page, in this order; those that a command has no option for are left out."""


class SectionedOption(click.Option):
    """An option that knows the section of the help page where it stands."""

    def __init__(self, *declarations: Any, section: str, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help page has its options in sections; those without a section stand under "Options"."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, section by section."""
        records: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                records[_section(param, ctx)].append(record)
        for section in SECTIONS:
            if section in records:
                with formatter.section(section):
                    formatter.write_dl(records[section])


def _section(param: click.Option, context: click.Context) -> str:
    if isinstance(param, SectionedOption):
        return param.section
    return "Other" if param.opts[0] in context.help_option_names else "Options"


def option(section: str, *declarations: str, **attributes: Any) -> Callable[[F], F]:
    """`click.option` in that section of the help page."""
    assert section in SECTIONS
    return click.option(*declarations, cls=SectionedOption, section=section, **attributes)


def all_of(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help page."""
    return lambda command: reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def off(section: str, flag: str, name: str, text: str) -> Callable[[F], F]:
    """A flag that switches a setting off, and leaves it alone where it is not given."""

    def callback(_context: click.Context, _option: click.Parameter, value: bool) -> bool | None:
        return False if value else None

    return option(section, flag, name, is_flag=True, callback=callback, help=text)
