"""`fedkg prompts`: the wording of the model's calls."""

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click

from fedkg.cli import options
from fedkg.cli.show import plain
from fedkg.common.tokens import estimate
from fedkg.core.encoding import encode
from fedkg.core.question import Kind
from fedkg.errors import PromptError
from fedkg.reasoner.prompts import library
from fedkg.reasoner.prompts.template import SHARED, PromptTemplate
from fedkg.reasoner.prompts.template import values as prompt_values

__all__ = ["prompts"]

KINDS: tuple[Kind, ...] = get_args(Kind)
kind_of_question = click.option("--kind", type=click.Choice(KINDS), help="The wording for this kind of question.")
vendor_of_model = click.option("--vendor", default="", metavar="NAME", help="The wording for this vendor's models.")


@click.group()
def prompts() -> None:
    """List, show, render and compare the prompts of the model's calls."""


@prompts.command("list")
@options.settings_file
@options.prompts_dir
@options.as_json
def list_prompts(file: str | None, as_json: bool, **flags: object) -> None:
    """List the calls with the version of their wording, and the kinds and vendors that have a wording of their own."""
    folder = options.settings(file, flags).prompts_dir
    prompts = library.PromptLibrary(folder)  # with those of single kinds: a file that cannot be used is reported here
    known = [prompts.get(call) for call in library.names()]
    if as_json:
        records = [
            {
                "call": template.call,
                "version": template.version,
                "paper": template.meta.paper,
                "returns": template.meta.returns,
                "kinds": library.variants(template.call, folder),
                "vendors": library.vendors(template.call, folder),
            }
            for template in known
        ]
        click.echo(encode(records))
        return
    calls, versions = (
        max(map(len, column)) for column in zip(*((template.call, template.version) for template in known), strict=True)
    )
    for template in known:
        lines = [template.meta.returns, template.meta.paper, *_special(template.call, folder)]
        click.echo(f"{template.call:{calls}}  {template.version:{versions}}  {plain(lines[0])}")
        for line in lines[1:]:
            click.echo(f"{'':{calls + versions + 4}}{plain(line)}")


@prompts.command("show")
@click.argument("call")
@kind_of_question
@vendor_of_model
@options.settings_file
@options.prompts_dir
def show_prompt(call: str, kind: Kind | None, vendor: str, file: str | None, **flags: object) -> None:
    """Show the files that the prompt CALL is made of, with what they include."""
    template = library.load(call, options.settings(file, flags).prompts_dir, vendor, kind)
    click.echo(f"# {template.call}, version {template.version}")
    for path in template.files:
        click.echo(f"\n## {path}\n{path.read_text(encoding='utf-8').rstrip()}")


@prompts.command()
@click.argument("call")
@kind_of_question
@vendor_of_model
@click.option(
    "--values", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE", help="Values (JSON)."
)
@click.option("--example", type=options.COUNT, metavar="N", help="The values of this example instead: 1 unless told.")
@options.settings_file
@options.prompts_dir
@options.as_json
def render(
    call: str,
    kind: Kind | None,
    vendor: str,
    file: str | None,
    *,
    values: Path | None,
    example: int | None,
    as_json: bool,
    **flags: object,
) -> None:
    """Print the messages of CALL as they are sent, with an estimate of their tokens.

    Without --kind it is the wording for the first kind of question that has examples.
    """
    if values and example:
        raise click.UsageError("--values and --example exclude each other")
    folder = options.settings(file, flags).prompts_dir
    kind = kind or _exemplary(call, folder)
    template = library.load(call, folder, vendor, kind)
    system, user = _rendered(template, _read(values) if values else _shown(call, folder, kind, example or 1))
    if as_json:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        tokens = template.tokens + estimate(user)
        document = {"template": template.version, "kind": kind, "messages": messages, "schema": template.schema}
        click.echo(encode({**document, "tokens": tokens}))
        return
    wording = f"{template.call}, version {template.version}{f', for {kind}' if kind else ''}"
    click.echo(f"# {wording}: about {template.tokens + estimate(user):,} tokens")
    for role, text in (("system", system), ("user", user)):
        click.echo(f"\n## {role}, about {estimate(text):,} tokens\n{text}")


@prompts.command()
@click.argument("call")
@kind_of_question
@vendor_of_model
@options.settings_file
@options.prompts_dir
def diff(call: str, kind: Kind | None, vendor: str, file: str | None, **flags: object) -> None:
    """Compare CALL with what is bundled; without a folder of yours, its wording for a kind or vendor with the plain.

    The exit code is 0 where they are the same, 1 where they differ.
    """
    folder = options.settings(file, flags).prompts_dir
    usual = library.load(call, "", vendor, kind) if folder else library.load(call)
    lines = list(_differences(usual, library.load(call, folder, vendor, kind)))
    for line in lines:
        click.echo(line)
    click.get_current_context().exit(1 if lines else 0)


def _read(path: Path) -> dict[str, Any]:
    try:
        shown = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{path}: {error}", hint="values are a JSON object") from error
    if not isinstance(shown, dict):
        raise PromptError(f"{path}: values are a JSON object")
    return shown


def _shown(call: str, folder: str, kind: Kind | None, number: int) -> dict[str, Any]:
    """The values of an example: of those for that kind, or where there are none, of any."""
    every = next(
        (examples for name in (kind, *KINDS) if (examples := library.load(call, folder, kind=name).examples)), ()
    )
    if number > len(every):
        counted = f"it has {len(every)} for this kind of question" if every else "it has none"
        raise PromptError(f"`{call}` has no example {number}: {counted}", hint="give the values: --values FILE")
    return every[number - 1].shown


def _exemplary(call: str, folder: str) -> Kind | None:
    """The first kind of question that a call has examples for; None where they are for all kinds, or there are none."""
    return next((kind for kind in (None, *KINDS) if library.load(call, folder, kind=kind).examples), None)


def _rendered(template: PromptTemplate, shown: dict[str, Any]) -> tuple[str, str]:
    made = prompt_values(shown)
    try:
        return template.render(**made)
    except PromptError as error:
        # the bundled examples have all that a call gives, whatever the user's own template asks for
        given = library.load(template.call, kind=_exemplary(template.call, "")).examples[0].shown
        raise PromptError(error.message, hint=f"the values of `{template.call}` are {', '.join(given)}") from error


def _special(call: str, folder: str) -> Iterator[str]:
    """For which kinds and vendors a call has files of their own."""
    for noun, marks in (("kind", library.variants(call, folder)), ("vendor", library.vendors(call, folder))):
        if marks:
            yield f"own wording for the {noun}{'s' if len(marks) > 1 else ''} {', '.join(marks)}"


def _differences(old: PromptTemplate, new: PromptTemplate) -> Iterator[str]:
    """The unified diff of the files of two templates; files are compared that have the same part in both."""
    before, after = ({_part(path): path for path in template.files} for template in (old, new))
    for part in dict.fromkeys([*before, *after]):
        paths = [side.get(part) for side in (before, after)]
        old_lines, new_lines = (path.read_text(encoding="utf-8").splitlines() if path else [] for path in paths)
        names = [str(path or "/dev/null") for path in paths]
        yield from difflib.unified_diff(old_lines, new_lines, names[0], names[1], lineterm="")


def _part(path: Path) -> str:
    """What a file is in its template: a variant is the same part as the plain file."""
    stem = path.name if path.parent.name == SHARED else path.name.split(".")[0]
    return f"{path.parent.name}/{stem}"
