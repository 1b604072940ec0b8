"""`fedkg init`: a settings file, made by a few questions."""

import itertools
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import click

from fedkg.cli import options
from fedkg.cli.connect import opened
from fedkg.cli.contact import is_contact, write_private
from fedkg.cli.models_here import embedder_here, model_choices
from fedkg.cli.show import plain
from fedkg.common import toml
from fedkg.config import profiles
from fedkg.config.endpoint_spec import EndpointResolver, wants_contact
from fedkg.config.settings import Settings, changed, user_file
from fedkg.engine.redaction import SHAPES
from fedkg.errors import EndpointError, FedkgError, SettingsError
from fedkg.wiring.check.proposal import proposed
from fedkg.wiring.check.report import Grade

__all__ = ["init"]

T = TypeVar("T")
UNKNOWN = "generic"
"""The profile of an endpoint that none describes."""
WEB = ("http://", "https://")
PROFILES = "endpoints"
"""The folder of further profiles, beside the settings file."""
PARAMETER = r"[?&][^=&#\s]*(?:key|token|secret|auth|pass|pwd|sig)[^=&#\s]*="
SECRET = re.compile("|".join([r"//[^/?#\s@]+@", PARAMETER, *SHAPES]), re.IGNORECASE)
LONGEST_NUMBER = 9
"""Digits of a number that is chosen by."""
EXAMPLE = "Who are the children of Marie Curie?"
DEFAULTS = Settings()
HEAD = """\
# Settings of fedkg, made by `fedkg init`. docs/settings.md has all of them; flags and environment variables win
# over this file. Keys of language models stand in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY), never here.
"""


@click.command(cls=options.SectionedCommand)
@options.option(
    "Endpoints",
    "-e",
    "--endpoint",
    "endpoints",
    multiple=True,
    metavar="NAME|URL|FILE",
    help="What is asked; several times for several.",
)
@options.option("Endpoints", "--contact", metavar="MAIL|URL", help="Goes into the User-Agent.")
@options.option("Model", "--model", metavar="NAME", help="local, anthropic:MODEL, openai:MODEL or openai:MODEL@URL.")
@options.option("Model", "--embedder", metavar="NAME", help="What texts are compared by; auto unless told.")
@options.option("Cache", "--cache-dir", metavar="DIR", help="Where replies and embeddings are kept.")
@options.option("Other", "--yes", is_flag=True, help="Ask nothing; what no option says is as it would be proposed.")
@options.settings_file
def init(endpoints: tuple[str, ...], yes: bool, file: str | None, **given: str | None) -> None:
    """Make a settings file by questions: endpoints, model, what compares texts, contact, cache.

    What an option says is not asked. An endpoint on the web that no profile describes is examined with two dozen small
    requests, and gets a profile. No key enters the file: keys stay in the environment. A file that is there already is
    written over only where you say so, and never with --yes.
    """
    path = Path(file) if file else user_file()
    _check_free(path, yes=yes)
    answers = _Answers(path, given, yes=yes)
    made: dict[str, object] = {"endpoints": answers.endpoints(endpoints)}
    made["profiles_dir"] = str(answers.folder) if answers.profiled else ""
    made["model"] = answers.model()
    made["embedder"] = answers.text("embedder", f"texts are compared by (auto: {embedder_here()})")
    made["contact"] = answers.contact(_settings(made))
    made["cache_dir"] = answers.text("cache_dir", "cache folder", shown=str(DEFAULTS.cache_path))
    _settings(made)
    text = _written(made)
    _write(path, text)
    click.echo(f"\n{plain(str(path), 1_000)}:\n\n{text}\n{_next(answers.specs, path, named=bool(file))}")


class _Answers:
    """What options say, and what is asked where they do not; with `yes` the proposals."""

    def __init__(self, path: Path, given: Mapping[str, str | None], *, yes: bool) -> None:
        self.folder = path.resolve().parent / PROFILES
        self.profiled = False
        self.specs: Sequence[str] = ()
        self._given = given
        self._yes = yes

    def endpoints(self, given: Sequence[str]) -> Sequence[str]:
        """What -e takes; an unknown URL is examined, and stands for the profile that it gets."""
        if given or self._yes:
            self.specs = [self._spec(spec) for spec in given or ("sample",)]
            return self.specs
        names = ", ".join(profile.name for profile in profiles.readable()[0])
        click.echo(f"Profiles: {plain(names, 2_000)}.\nA URL or an RDF file is an endpoint, too; several with commas.")
        self.specs = _asked("endpoints", "sample", self._specs)
        return self.specs

    def model(self) -> str:
        """The model; its name is asked where only its vendor is chosen."""
        if self._given["model"] or self._yes:
            return _public(self._given["model"] or DEFAULTS.model)
        choices = model_choices()
        for number, choice in enumerate(choices, 1):
            name = f"{choice.name}MODEL" if choice.open else choice.name
            click.echo(f"  {number}. {plain(name, 500)}  ({choice.reason})")

        def chosen(text: str) -> str:
            if not text.isdecimal() or len(text) > LONGEST_NUMBER:
                return _public(text)
            if not 0 < int(text) <= len(choices):
                raise SettingsError(f"there is no {text}", hint=f"a number from 1 to {len(choices)}, or a model's name")
            choice = choices[int(text) - 1]
            return _public(choice.name + (click.prompt(f"{choice.name}… which model") if choice.open else ""))

        return _asked("model, by number or name", "1", chosen)

    def text(self, key: str, prompt: str, shown: str = "") -> str:
        """A setting that is a text."""
        default = str(getattr(DEFAULTS, key))
        if (given := self._given[key]) or self._yes:
            return _public(given or default)
        answer = _asked(prompt, default or shown, _public)
        return "" if answer == shown else answer

    def contact(self, settings: Settings) -> str:
        """The contact; it may be left out where no operator wants one."""
        given = self._given["contact"] or ""
        if given or self._yes:
            return _contact(given)
        wanted = wants_contact(settings)
        who = f" ({plain(wanted)} wants one)" if wanted else " (mail or web page; may be left out)"
        return _asked(f"contact for operators{who}", "", _contact)

    def _specs(self, text: str) -> Sequence[str]:
        specs = [part.strip() for part in text.split(",") if part.strip()]
        if not specs:
            raise SettingsError("no endpoint is named", hint="sample is the bundled graph")
        return [self._spec(spec) for spec in specs]

    def _spec(self, spec: str) -> str:
        """The endpoint, or the profile that its URL gets. Raises ProfileError for what is none."""
        place = EndpointResolver(Settings(profiles_dir=self._folder())).find(_public(spec))
        if spec.startswith(WEB):
            return self._examined(spec) if place.profile and place.profile.name == UNKNOWN else spec
        if place.file is None or not spec.endswith(str(place.file)):
            return spec
        if not place.file.exists():
            raise SettingsError(f"{place.file}: there is no such file", hint="name an RDF file, or a folder of such")
        return spec.removesuffix(str(place.file)) + str(place.file.resolve())

    def _examined(self, url: str) -> str:
        """The name of the profile that the endpoint gets; its URL where it cannot be reached."""
        click.echo(f"examining {plain(url, 500)} …")
        try:
            with opened(Settings(endpoints=(url,), cache=False, contact=self._given["contact"] or "")) as session:
                [report] = session.run(session.check())
        except EndpointError as error:
            click.echo(f"it cannot be examined now: {plain(str(error), 500)}", err=True)
            return url
        click.echo(plain(report.verdict, 500))
        if report.grade is Grade.FAILED:
            return url
        name = _free_name(url, self.folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{name}.toml").write_text(proposed(url, name, report), encoding="utf-8")
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.profiled = True
        click.echo(f"its profile: {plain(str(self.folder / name), 1_000)}.toml")
        return name

    def _folder(self) -> str:
        return str(self.folder) if self.folder.is_dir() else ""


def _asked(prompt: str, default: str, taken: Callable[[str], T]) -> T:
    """What the typed text stands for; what does not fit is told, and asked again."""
    while True:
        text = click.prompt(prompt, default=default, show_default=bool(default)).strip()
        try:
            return taken(text)
        except FedkgError as error:
            hint = f" ({plain(error.hint, 500)})" if error.hint else ""
            click.echo(plain(str(error), 500) + hint, err=True)


def _public(text: str) -> str:
    """The text. Raises SettingsError where it holds a password or key, which belongs into no file."""
    if SECRET.search(text):
        hint = "keys stand in the environment; an endpoint with a password is named with -e, each time"
        raise SettingsError("that holds a password or a key, which a settings file must not", hint=hint)
    return text


def _contact(text: str) -> str:
    """The contact, or none. Raises SettingsError for what is no mail address and no web page."""
    if _public(text) and not is_contact(text):
        raise SettingsError(f"{text[:100]!r} is no mail address and no web page", hint="you@example.org, or https://…")
    return text


def _settings(made: Mapping[str, object]) -> Settings:
    """The settings as they would be read. Raises SettingsError where they do not fit."""
    return changed(DEFAULTS, {key: value for key, value in made.items() if value}, "the answers")


def _written(made: Mapping[str, object]) -> str:
    """The file: what is as it is anyway is left out."""
    kept = {key: value for key, value in made.items() if value and value != getattr(DEFAULTS, key)}
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in kept.items())
    text = HEAD + "".join(lines)
    toml.parse(text, "the new file", dict[str, object], SettingsError)
    return text


def _check_free(path: Path, *, yes: bool) -> None:
    """Raises SettingsError where a file is there and is to stay; on a terminal that is asked."""
    if not path.exists():
        return
    if yes or not click.confirm(f"{plain(str(path), 1_000)} is there already. Write another one in its place?"):
        hint = "name another file with --settings FILE, or remove that one"
        raise SettingsError(f"{path} is there already, and stays as it is", hint=hint)


def _write(path: Path, text: str) -> None:
    """Raises SettingsError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path.resolve(), text)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> SettingsError:
    return SettingsError(f"{path} cannot be written: {error.strerror}", hint="name another file with --settings FILE")


def _free_name(url: str, folder: Path) -> str:
    """A name for the profile of that URL which no other profile has."""
    host = urlsplit(url).hostname or ""
    stem = re.sub(r"[^a-z0-9]+", "-", host.removeprefix("www.").lower()).strip("-") or "endpoint"
    taken = profiles.names(str(folder) if folder.is_dir() else "")
    names = (stem if number == 1 else f"{stem}-{number}" for number in itertools.count(1))
    return next(name for name in names if name not in taken)


def _next(specs: Sequence[str], path: Path, *, named: bool) -> str:
    """What to type now."""
    flag = f" --settings {shlex.quote(str(path))}" if named else ""
    question = EXAMPLE if "sample" in specs else "…"
    lines = ["Next:", f'  fedkg ask "{question}"{flag}', f"  fedkg chat{flag}"]
    lines += [f"  fedkg endpoints check {shlex.quote(spec)}{flag}" for spec in specs[:1]]
    return "\n".join(lines)
