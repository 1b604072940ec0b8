"""Prompt templates: one folder per call under `prompts/`, or in the user's own folder.

A call's folder holds `system.j2` (what never changes, so that vendors can cache it), `user.j2` (the question and the
data), `schema.json` (JSON schema of the reply), `meta.toml` (version, paper section, what the reply is) and, where it has
examples, `examples.toml`. Another wording is another file and no code: `system.KIND.j2`, `user.KIND.j2` and
`schema.KIND.json` take the place of the plain ones for one kind of question, `system.VENDOR.j2` and `user.VENDOR.j2` for
one vendor, `system.KIND.VENDOR.j2` for both.

An example is what `user.j2` makes of its values, with the reply to that: so it always looks like the task. The examples of
the question's kind follow the system text.

Templates run in a sandbox. They can include what lies in the folder `shared` and nothing else. Whatever an expression prints
is one bounded line: text from a graph cannot leave the place that the template gives it.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import msgspec
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fedkg.data import folder
from fedkg.errors import PromptError
from fedkg.records import Kind, Offer, Plan

__all__ = ["SHARED", "Example", "Line", "Meta", "Template", "Wordings", "line", "load", "names"]

NAME = re.compile(r"[a-z][a-z0-9_-]*")
NEEDED = ("system.j2", "user.j2", "schema.json", "meta.toml")
SHARED = "shared"
"""The folder of what several templates include."""
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


OFFERED = ("offers", "paths", "kept", "relations")
"""The values of a template that are lists of offers."""


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


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `examples.toml`: the values that `user.j2` is `shown`, and the `reply`; for these `kinds`, none for all."""

    shown: dict[str, Any]
    reply: str
    kinds: tuple[Kind, ...] = ()


class Examples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file `examples.toml`."""

    examples: tuple[Example, ...] = ()


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
    examples: tuple[Example, ...]
    _parts: tuple[tuple[Path, jinja2.Template], ...] = field(repr=False)

    @property
    def version(self) -> str:
        """The version with the digest, such as `1-3f2a9c01d4e5`."""
        return f"{self.meta.version}-{self.digest}"

    def render(self, **values: object) -> tuple[str, str]:
        """The system text, with the examples, and the user text.

        Raises PromptError where the template needs a value that it is not given.
        """
        (path, system), user = self._parts
        shown = [f"{_render(*user, _values(one.shown))}\n{one.reply.strip()}" for one in self.examples]
        told = "\n\n".join(["Examples", *shown]) if shown else ""
        return "\n\n".join(filter(None, [_render(path, system, values), told])), _render(*user, values)


class Wordings:
    """The templates of one vendor and one user's folder, each read once.

    Making one reads all plain ones: a folder that cannot be used is said before anything is asked. Raises PromptError.
    """

    def __init__(self, own: str = "", vendor: str = "") -> None:
        self._own, self._vendor = own, vendor
        self._known: dict[tuple[str, Kind | None], Template] = {(name, None): self._load(name) for name in names(own)}

    def get(self, call: str, kind: Kind | None = None) -> Template:
        """The template of a call, for that kind of question. Raises PromptError."""
        if (call, kind) not in self._known:
            self._known[call, kind] = self._load(call, kind)
        return self._known[call, kind]

    def _load(self, call: str, kind: Kind | None = None) -> Template:
        return load(call, self._own, self._vendor, kind)


def names(own: str = "") -> list[str]:
    """The calls that have a template, sorted; `own` is a further folder."""
    found = (path for place in _folders(own) for path in place.iterdir() if path.is_dir())
    return sorted({path.name for path in found if NAME.fullmatch(path.name)} - {SHARED})


def load(call: str, own: str = "", vendor: str = "", kind: Kind | None = None) -> Template:
    """The template of a call: from the folder `own` where that has the call, else the bundled one.

    Without `kind` it has the examples of all kinds. Raises PromptError, naming the file, where the call is unknown, its
    folder incomplete or a file malformed.
    """
    if not NAME.fullmatch(call) or call == SHARED or (vendor and not NAME.fullmatch(vendor)):
        raise PromptError(f"not the name of a call and vendor: {line(call, 60)!r}, {line(vendor, 60)!r}")
    place = next((place / call for place in _folders(own) if (place / call).is_dir()), None)
    if place is None:
        raise PromptError(f"no prompt is called {call!r}", hint=f"known: {', '.join(names(own))}")
    if missing := [name for name in NEEDED if not (place / name).is_file()]:
        raise PromptError(f"{place}: {missing[0]} is missing", hint=f"a prompt folder holds {', '.join(NEEDED)}")
    parts = [_chosen(place, part, ".j2", vendor, kind) for part in ("system", "user")]
    files = [*parts, _chosen(place, "schema", ".json", "", kind), place / "meta.toml", place / "examples.toml"]
    texts = [_read(path) if path.is_file() else "" for path in files]
    environment = _environment(_shared(own))
    compiled = tuple((path, _compile(environment, path, text)) for path, text in zip(parts, texts[:2], strict=True))
    included = [text for part in texts[:2] for text in _included(environment, part)]
    examples = _examples(files[4], texts[4])
    return Template(
        call=call,
        meta=_meta(files[3], texts[3]),
        digest=hashlib.sha256(json.dumps([*texts, *included]).encode()).hexdigest()[:12],
        schema=_schema(files[2], texts[2]),
        source=place,
        examples=tuple(one for one in examples if not (kind and one.kinds) or kind in one.kinds),
        _parts=compiled,
    )


def _printed(value: object) -> object:
    """What an expression prints: numbers and lines as they are, everything else as a line."""
    return value if isinstance(value, Line | int | float) else line(value)


def _environment(shared: Mapping[str, str]) -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.DictLoader(shared),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # prompts are no HTML; `line` neutralises what could break them
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # of what is included; the ends are stripped
    )
    environment.filters["line"] = line
    return environment


def _shared(own: str) -> dict[str, str]:
    """What templates may include, by file name; the user's own files first."""
    found = [path for place in reversed(_folders(own)) for path in sorted((place / SHARED).glob("*.j2"))]
    return {path.name: _read(path) for path in found}


def _included(environment: jinja2.Environment, text: str) -> list[str]:
    """The texts that a template includes, and what these include."""
    found: dict[str, str] = {}
    left = [text]
    while left:
        for name in jinja2.meta.find_referenced_templates(environment.parse(left.pop())):
            if name and name not in found and isinstance(environment.loader, jinja2.DictLoader):
                found[name] = environment.loader.mapping.get(name, "")
                left.append(found[name])
    return [found[name] for name in sorted(found)]


def _folders(own: str) -> list[Path]:
    if own and not Path(own).is_dir():
        raise PromptError(f"{own}: no such folder of prompts")
    return ([Path(own)] if own else []) + [folder("prompts")]


def _chosen(place: Path, part: str, suffix: str, vendor: str, kind: str | None) -> Path:
    """The file that fits kind and vendor best; a kind may have another reply, so it counts for more."""
    special = [(part, kind, vendor), (part, kind), (part, vendor)]
    named = [place / (".".join(map(str, parts)) + suffix) for parts in special if all(parts)]
    return next((path for path in named if path.is_file()), place / f"{part}{suffix}")


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


def _examples(path: Path, text: str) -> tuple[Example, ...]:
    try:
        return msgspec.convert(tomllib.loads(text), Examples, strict=True).examples
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PromptError(f"{path}: {error}") from error


def _values(shown: Mapping[str, Any]) -> dict[str, object]:
    """The values of an example: offers as texts or tables, numbered from 1, and a plan as a table."""
    made: dict[str, object] = dict(shown)
    for name, value in shown.items():
        if name == "plan":
            made[name] = msgspec.convert({"keywords": (), **value}, Plan)
        elif isinstance(value, list) and value and name in OFFERED:
            made[name] = [_offer(number, item) for number, item in enumerate(value, 1)]
    return made


def _offer(number: int, item: Any) -> Offer:
    return msgspec.convert({"number": number, **(item if isinstance(item, dict) else {"text": item})}, Offer)


def _compile(environment: jinja2.Environment, path: Path, text: str) -> jinja2.Template:
    try:
        return environment.from_string(text)
    except jinja2.TemplateSyntaxError as error:
        raise PromptError(f"{path}:{error.lineno}: {error.message}") from error


def _render(path: Path, template: jinja2.Template, values: dict[str, object]) -> str:
    try:
        return template.render(values).strip()
    except FAULTS as error:
        raise PromptError(f"{path}: {error}") from error
