"""`fedkg endpoints`: the known endpoints, their profiles, how they are, and what is remembered of them."""

import re
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.config import profiles
from fedkg.config.profiles import Profile
from fedkg.config.settings import masked
from fedkg.core.encoding import encode
from fedkg.core.rendering import edge_line
from fedkg.errors import InputError, ProfileError
from fedkg.session import Session
from fedkg.wiring.check.proposal import proposed
from fedkg.wiring.check.report import EndpointReport, Grade

__all__ = ["endpoints"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
NEW = "endpoint"
"""What a profile that is only printed calls itself."""
STYLES = {Grade.OK: "green", Grade.WARNING: "yellow", Grade.FAILED: "red"}


@click.group()
def endpoints() -> None:
    """List, show and check endpoints, write profiles, forget what is remembered of hosts."""


@endpoints.command("list")
@options.settings_file
@options.profiles_dir
@options.as_json
def list_profiles(file: str | None, as_json: bool, **flags: object) -> int:
    """List the known profiles. Exit code 2: some cannot be read; these are named after the others."""
    known, errors = profiles.readable(options.settings(file, flags).profiles_dir)
    if as_json:
        click.echo(encode([{"name": profile.name, "title": profile.title, "urls": profile.urls} for profile in known]))
    else:
        _print_list(known)
    for error in errors:
        click.echo(f"error: {plain(str(error), 2_000)}", err=True)
    return ProfileError.exit_code if errors else 0


@endpoints.command("show")
@click.argument("name")
@options.settings_file
@options.profiles_dir
@options.as_json
def show_profile(name: str, file: str | None, as_json: bool, **flags: object) -> None:
    """Show the profile NAME."""
    profile = profiles.find(name, options.settings(file, flags).profiles_dir)
    if as_json:
        click.echo(encode(profile))
        return
    for key, value in _rows("", msgspec.to_builtins(profile)):
        show.console().print(Text(f"{key} = ", "bold").append(plain(value, 2_000), "default"))


@endpoints.command(cls=options.SectionedCommand)
@click.argument("spec", required=False)
@options.access
@options.as_json
def check(spec: str | None, file: str | None, as_json: bool, **flags: object) -> int:
    """Examine the endpoint SPEC with two dozen small requests, past the cache, and say what to do about what is wrong.

    Exit code 3: it is not usable.
    """
    with opened(options.settings(file, flags | {"endpoints": (_named(spec),), "model": "local"})) as session:
        [report] = session.run(session.check())
    if as_json:
        click.echo(encode(report))
    else:
        _print(report)
    return 3 if report.grade is Grade.FAILED else 0


@endpoints.command(cls=options.SectionedCommand)
@click.argument("url")
@click.option("--name", metavar="NAME", help="Write NAME.toml into the folder of profiles, instead of printing it.")
@options.access
def init(url: str, name: str | None, file: str | None, **flags: object) -> int:
    """Examine the endpoint at URL and print the profile that this recommends, or write it as NAME.

    What is written can be named with -e NAME. A file that is there already is left as it is. Exit code 3: the endpoint
    is not usable, and nothing is written.
    """
    settings = options.settings(file, flags | {"endpoints": (_web(url),), "model": "local"})
    place = _place(settings.profiles_dir, name) if name else None
    with opened(settings) as session:
        [report] = session.run(session.check())
    if report.grade is Grade.FAILED:
        _print(report)
        return 3
    text = proposed(url, name or NEW, report)
    if place is None:
        click.echo(text, nl=False)
    else:
        with place.open("x", encoding="utf-8") as written:
            written.write(text)
        click.echo(f"written: {plain(str(place), 1_000)}; fedkg ask QUESTION -e {name}")
    return 0


@endpoints.command()
@click.argument("spec")
@options.profiles_dir
@options.place
def forget(spec: str, file: str | None, **flags: object) -> None:
    """Forget what is remembered of the host that serves SPEC: a ban, a pause, failures, the engine that was detected.

    The next request goes out at once: make sure that the operator of the host agrees.
    """
    with Session(settings=options.settings(file, flags | {"endpoints": (spec,), "model": "local"})) as session:
        urls = session.run(session.forget())
    if not urls:
        raise InputError(
            f"{masked(spec)[:100]!r} is no profile or URL of an endpoint on the web",
            hint="of files nothing is remembered",
        )
    for url in urls:
        click.echo(f"forgotten: {plain(url, 1_000)}")


def _named(spec: str | None) -> str:
    if not spec:
        raise InputError(
            "no endpoint is named: `fedkg endpoints check SPEC`, where SPEC is what -e takes elsewhere",
            hint="a profile, a URL, an RDF file or PROFILE@URL; `fedkg endpoints list` shows the profiles",
        )
    return spec


def _web(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{masked(url)[:100]!r} is no http URL", hint="fedkg endpoints init http://host/sparql")
    return url


def _place(folder: str, name: str) -> Path:
    """The file of a new profile. Raises InputError where it cannot be written."""
    if not folder:
        hint = "name it with --profiles DIR, FEDKG_PROFILES_DIR, or profiles_dir in the settings file"
        raise InputError("there is no folder of profiles to write into", hint=hint)
    if not NAME.fullmatch(name) or name == profiles.IDENTITY:
        raise InputError(f"{name[:100]!r} cannot be the name of a profile", hint="letters, digits, - and _")
    place = Path(folder) / f"{name}.toml"
    if place.exists():
        raise InputError(f"{place} is there already", hint="name another one, or remove it")
    return place


def _print_list(known: Sequence[Profile]) -> None:
    width = max(len(profile.name) for profile in known)
    for profile in known:
        line = Text(f"{profile.name:{width}}  ", "bold").append(plain(profile.title), "default")
        show.console().print(line.append(f"  {_where(profile)}", "dim"))


def _print(report: EndpointReport) -> None:
    out = show.console()
    out.print(Text(f"{plain(report.endpoint)}, profile {plain(report.profile)}", "bold"))
    width = max(len(finding.name) for finding in report.findings)
    for finding in report.findings:
        line = Text(f"  {finding.grade:{len(Grade.WARNING)}}  ", STYLES[finding.grade])
        out.print(line.append(f"{finding.name:{width}}  {plain(finding.summary, 1_000)}", "default"))
        if finding.advice and finding.grade is not Grade.OK:
            out.print(Text(f"{'':{width + 13}}→ {plain(finding.advice, 1_000)}", "cyan"))
    for edge in report.sample:
        out.print(show.line(edge_line(edge, "    ")))
    out.print(Text(f"{show.counted(report.requests, 'request')} in {report.seconds:.2f} s", "dim"))
    out.print(Text(plain(report.verdict, 1_000), f"bold {STYLES[report.grade]}"))


def _where(profile: Profile) -> str:
    return " ".join(profile.urls) or profile.file or f"(use {profile.name}@URL or {profile.name}@FILE)"


def _rows(prefix: str, table: dict[str, object]) -> list[tuple[str, str]]:
    """The leaves of a nested table as dotted key and JSON text."""
    rows = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        rows += _rows(f"{name}.", value) if isinstance(value, dict) else [(name, msgspec.json.encode(value).decode())]
    return rows
