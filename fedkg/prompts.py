"""Prompt templates: one folder per call under `prompts/`, or in the user's own folder.

A call's folder holds `system.j2` (what never changes, so that vendors can cache it), `user.j2` (the question and the
data), `schema.json` (JSON schema of the reply) and `meta.toml` (version, paper section, what the reply is).
`system.<vendor>.j2` and `user.<vendor>.j2` replace a wording for one vendor. Another wording is another file and no code.

Templates run in a sandbox and cannot include other files. Whatever an expression prints is one bounded line: text from a
graph cannot leave the place that the template gives it.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fedkg.data import folder
from fedkg.errors import PromptError

__all__ = ["Line", "Meta", "Template", "line", "load", "names"]

NAME = re.compile(r"[a-z][a-z0-9_-]*")
NEEDED = ("system.j2", "user.j2", "schema.json", "meta.toml")
# format and control characters, lone surrogates; line separators count as white space and become blanks
DROPPED = {"Cc", "Cf", "Cs"}
# drawn as nothing although Unicode files them under letters and marks: they can carry hidden text
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# the delimiters of our own prompts, replaced by characters that look alike
DELIMITERS = str.maketrans({"<": "‹", ">": "›", "`": "'"})
TILDES = re.compile(r"~{3,}")
# what a template can run into, apart from Jinja's own errors, when an expression does not fit its value
FAULTS = (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Line(str):
    """Text that has passed `line`: one bounded line."""

    __slots__ = ()


def line(text: object, limit: int = 200) -> Line:
    """`text` as one line of at most `limit` characters, with an ellipsis where it was cut.

    White space is folded; control, direction-changing and invisible characters are removed; angle brackets, backticks and
    tilde fences, which delimit data in our prompts, are replaced by look-alikes.
    """
    raw = str(text)
    head = raw[: 20 * limit]  # a label of a megabyte is not worth reading to its end
    seen = "".join(char for char in head if char.isspace() or unicodedata.category(char) not in DROPPED)
    folded = " ".join(INVISIBLE.sub("", seen).split()).translate(DELIMITERS)
    plain = TILDES.sub("~~", folded)
    if len(plain) <= limit and len(head) == len(raw):
        return Line(plain)
    return Line(plain[: max(0, limit - 1)].rstrip() + "…")


class Meta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `meta.toml` says: `version` of the wording, `paper` section that defines the call, what the call `returns`."""

    version: str
    returns: str
    paper: str = ""


@dataclass(frozen=True)
class Template:
    """A call's wording and reply schema.

    `digest` is the head of the SHA-256 over everything that it was made of, so two wordings under one version number are
    still told apart; `source` is its folder.
    """

    call: str
    meta: Meta
    digest: str
    schema: dict[str, Any]
    source: Path
    _parts: tuple[tuple[Path, jinja2.Template], ...] = field(repr=False)

    @property
    def version(self) -> str:
        """The version with the digest, such as `1-3f2a9c01d4e5`."""
        return f"{self.meta.version}-{self.digest}"

    def render(self, **values: object) -> tuple[str, str]:
        """The system text and the user text. Raises PromptError where the template needs a value that it is not given."""
        system, user = (_render(path, template, values) for path, template in self._parts)
        return system, user


def names(own: str = "") -> list[str]:
    """The calls that have a template, sorted; `own` is a further folder."""
    found = (path for place in _folders(own) for path in place.iterdir() if path.is_dir())
    return sorted({path.name for path in found if NAME.fullmatch(path.name)})


def load(call: str, own: str = "", vendor: str = "") -> Template:
    """The template of a call: from the folder `own` where that has the call, else the bundled one.

    Raises PromptError, naming the file, where the call is unknown, its folder incomplete or a file malformed.
    """
    if not NAME.fullmatch(call) or (vendor and not NAME.fullmatch(vendor)):
        raise PromptError(f"not the name of a call and vendor: {line(call, 60)!r}, {line(vendor, 60)!r}")
    place = next((place / call for place in _folders(own) if (place / call).is_dir()), None)
    if place is None:
        raise PromptError(f"no prompt is called {call!r}", hint=f"known: {', '.join(names(own))}")
    if missing := [name for name in NEEDED if not (place / name).is_file()]:
        raise PromptError(f"{place}: {missing[0]} is missing", hint=f"a prompt folder holds {', '.join(NEEDED)}")
    parts = [_chosen(place, part, vendor) for part in ("system", "user")]
    texts = [_read(path) for path in (*parts, place / "schema.json", place / "meta.toml")]
    return Template(
        call=call,
        meta=_meta(place / "meta.toml", texts[3]),
        digest=hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12],
        schema=_schema(place / "schema.json", texts[2]),
        source=place,
        _parts=tuple((path, _compile(path, text)) for path, text in zip(parts, texts[:2], strict=True)),
    )


def _printed(value: object) -> object:
    """What an expression prints: numbers and lines as they are, everything else as a line."""
    return value if isinstance(value, Line | int | float) else line(value)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # prompts are no HTML; `line` neutralises what could break them
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = line
    return environment


ENVIRONMENT = _environment()


def _folders(own: str) -> list[Path]:
    if own and not Path(own).is_dir():
        raise PromptError(f"{own}: no such folder of prompts")
    return ([Path(own)] if own else []) + [folder("prompts")]


def _chosen(place: Path, part: str, vendor: str) -> Path:
    special = place / f"{part}.{vendor}.j2"
    return special if vendor and special.is_file() else place / f"{part}.j2"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PromptError(f"{path}: not UTF-8 text") from error


def _meta(path: Path, text: str) -> Meta:
    try:
        return msgspec.convert(tomllib.loads(text), Meta, strict=True)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PromptError(f"{path}: {error}") from error


def _schema(path: Path, text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{path}: {error}", hint="it must be JSON") from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise PromptError(f"{path}: the schema of a reply must be of type object")
    return schema


def _compile(path: Path, text: str) -> jinja2.Template:
    try:
        return ENVIRONMENT.from_string(text)
    except jinja2.TemplateSyntaxError as error:
        raise PromptError(f"{path}:{error.lineno}: {error.message}") from error


def _render(path: Path, template: jinja2.Template, values: dict[str, object]) -> str:
    try:
        return template.render(values).strip()
    except FAULTS as error:
        raise PromptError(f"{path}: {error}") from error
