"""`fedkg eval list`: the known benchmarks, and which of their files are there."""

from pathlib import Path

import click

from fedkg.bench.data import definitions, files
from fedkg.bench.data.definitions import Definition
from fedkg.cli import options
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode, to_builtins

__all__ = ["list_benchmarks"]


@click.command("list")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of question sets and graphs.",
)
@options.settings_file
@options.as_json
def list_benchmarks(data: Path | None, file: str | None, as_json: bool) -> None:
    """List the known benchmarks with licence, questions and graph, and say which files are in --data."""
    settings = options.settings(file, {})
    known = [definitions.find(name) for name in definitions.names()]
    if as_json:
        click.echo(
            encode([to_builtins(benchmark) | {"files": _states(benchmark, data, settings)} for benchmark in known])
        )
        return
    width = max(len(benchmark.name) for benchmark in known)
    for benchmark in known:
        click.echo(f"{benchmark.name:{width}}  {benchmark.title}")
        click.echo(f"{'':{width}}    licence: {benchmark.source.licence}")
        for name, state in _states(benchmark, data, settings).items():
            click.echo(f"{'':{width}}    {name}: {state}")
        if not benchmark.graph:
            click.echo(f"{'':{width}}    no graph of its own: name an endpoint with -e")


def _states(definition: Definition, data: Path | None, settings: Settings) -> dict[str, str]:
    """Each file of the benchmark, and how it can be had."""
    return {name: _state(definition, name, data, settings) for name in definition.files}


def _state(definition: Definition, name: str, data: Path | None, settings: Settings) -> str:
    if files.present(definition, name, data, settings):
        return "there"
    return "is fetched" if files.fetchable(definition, name) else "not there"
