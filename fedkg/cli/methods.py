"""`fedkg methods`: how an answer can be searched for."""

import click

from fedkg.cli import options
from fedkg.core.encoding import encode
from fedkg.engine.documents import MethodDocument
from fedkg.methods.base import Method
from fedkg.methods.registry import usable

__all__ = ["methods"]


@click.group()
def methods() -> None:
    """List the methods of answering."""


@methods.command("list")
@options.as_json
def every(as_json: bool) -> None:
    """List the methods, each with its paper and what it asks of."""
    known = usable()
    if as_json:
        click.echo(encode([MethodDocument.of(name, method) for name, method in known.items()]))
        return
    width = max(map(len, known))
    for name, method in known.items():
        click.echo(f"{name:{width}}  {method.title}")
        click.echo(f"{'':{width}}    {method.paper}; {_asks(method)}")


def _asks(method: Method) -> str:
    who = "any model" if not method.prompts else "a language model"
    return f"asks the graph and {who}" if method.graph else f"asks {who} alone"
