"""`fedkg prompts`: the wording of the model's calls."""

import click

from fedkg import prompts as templates
from fedkg.cli import options
from fedkg.cli.show import plain
from fedkg.records import encode

__all__ = ["prompts"]


@click.group()
def prompts() -> None:
    """List and show the prompts of the model's calls."""


@prompts.command("list")
@options.settings_file
@options.prompts_dir
@options.as_json
def every(file: str | None, as_json: bool, **flags: object) -> None:
    """List the calls with the version of their wording."""
    own = options.settings(file, flags).prompts_dir
    known = [templates.load(call, own) for call in templates.names(own)]
    if as_json:
        click.echo(encode([{"call": one.call, "version": one.version, "returns": one.meta.returns} for one in known]))
        return
    for one in known:
        click.echo(f"{one.call:10} {one.version:16} {plain(one.meta.returns)}")


@prompts.command("show")
@click.argument("call")
@options.settings_file
@options.prompts_dir
def one(call: str, file: str | None, **flags: object) -> None:
    """Show the files of the prompt CALL."""
    template = templates.load(call, options.settings(file, flags).prompts_dir)
    click.echo(f"# {template.call}, version {template.version}, {template.source}")
    for part in sorted(path for path in template.source.iterdir() if path.is_file()):
        click.echo(f"\n## {part.name}\n{part.read_text(encoding='utf-8').rstrip()}")
