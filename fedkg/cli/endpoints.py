"""`fedkg endpoints`: which endpoints are known, what their profiles say, and whether they answer."""

import click
import msgspec
from rich.text import Text

from fedkg import profiles
from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.profiles import Profile
from fedkg.records import encode
from fedkg.session import Probe

__all__ = ["endpoints"]


@click.group()
def endpoints() -> None:
    """List, show and check endpoint profiles."""


@endpoints.command("list")
@options.settings_file
@options.profiles_dir
@options.as_json
def every(file: str | None, as_json: bool, **flags: object) -> None:
    """List the known profiles."""
    own = options.settings(file, flags).profiles_dir
    known = [profiles.find(name, own) for name in profiles.names(own)]
    if as_json:
        click.echo(encode([{"name": one.name, "title": one.title, "urls": one.urls} for one in known]))
        return
    width = max(len(one.name) for one in known)
    for one in known:
        line = Text(f"{one.name:{width}}  ", "bold").append(plain(one.title), "default")
        show.console().print(line.append(f"  {_where(one)}", "dim"))


@endpoints.command("show")
@click.argument("name")
@options.settings_file
@options.profiles_dir
@options.as_json
def one(name: str, file: str | None, as_json: bool, **flags: object) -> None:
    """Show the profile NAME."""
    profile = profiles.find(name, options.settings(file, flags).profiles_dir)
    if as_json:
        click.echo(encode(profile))
        return
    for key, value in _rows("", msgspec.to_builtins(profile)):
        show.console().print(Text(f"{key} = ", "bold").append(plain(value, 2_000), "default"))


@endpoints.command()
@click.argument("spec")
@options.access
@options.as_json
def check(spec: str, file: str | None, as_json: bool, **flags: object) -> None:
    """Ask the endpoint SPEC something small, past the cache: does it answer, as what, and how fast?

    Exit code 3: it does not answer.
    """
    with opened(options.settings(file, flags | {"endpoints": (spec,), "model": "local", "cache": False})) as session:
        [probe] = session.run(session.check())
    if as_json:
        click.echo(encode(probe))
    else:
        _print(probe)


def _print(probe: Probe) -> None:
    out, limits, named = show.console(), probe.limits, probe.labelled
    requests = show.counted(probe.requests, "request")
    out.print(Text(f"{plain(probe.endpoint)} answers", "bold green"))
    out.print(Text(f"  profile    {plain(probe.profile)}, engine {probe.engine}"))
    out.print(Text(f"  latency    {probe.latency * 1000:.0f} ms; {requests} in {probe.seconds:.2f} s"))
    found = (
        f"{plain(named.label)} <{plain(named.iri.value, 500)}>" if named else "none found by the profile's predicates"
    )
    out.print(Text(f"  label      {found}"))
    out.print(Text(f"  edges      {probe.edges} out of it" if named else "  edges      not tried"))
    pace = f", one every {limits.interval:g} s" if limits.interval else ""
    out.print(Text(f"  limits     {limits.concurrency} requests at once{pace}, {limits.timeout:g} s each"))
    out.print(Text(f"             {limits.batch} entities a request, {limits.rows} rows a reply"))


def _where(profile: Profile) -> str:
    return " ".join(profile.urls) or profile.file or f"(use {profile.name}@URL or {profile.name}@FILE)"


def _rows(prefix: str, table: dict[str, object]) -> list[tuple[str, str]]:
    """The leaves of a nested table as dotted key and JSON text."""
    rows = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        rows += _rows(f"{name}.", value) if isinstance(value, dict) else [(name, msgspec.json.encode(value).decode())]
    return rows
