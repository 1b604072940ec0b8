"""Prompt templates: one folder per call under `prompts/`; files in the user's own folder take the place of the bundled ones.

A call's folder holds `system.j2` (what never changes, so that vendors can cache it), `user.j2` (the question and the
data), `schema.json` (JSON schema of the reply), `meta.toml` (version, paper section, what the reply is) and, where it has
examples, `examples.toml`. Another wording is another file and no code: `system.KIND.j2`, `user.KIND.j2` and
`schema.KIND.json` take the place of the plain ones for one kind of question, `system.VENDOR.j2` and `user.VENDOR.j2` for
one vendor, `system.KIND.VENDOR.j2` for both. The calls are those of the bundled folder: nothing would ask another.

An example is what `user.j2` makes of its values, with the reply to that: so it always looks like the task. The examples of
the question's kind follow the system text. Both are made once, without any value of a question.

Templates run in a sandbox. They can include what lies in the folder `shared`, by its name, and nothing else. Whatever an
expression prints is one bounded line: text from a graph cannot leave the place that the template gives it.
"""

import hashlib
import json
import re
import tomllib
import traceback
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import jinja2
import jinja2.meta
import msgspec
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fedkg.data import folder
from fedkg.errors import PromptError
from fedkg.records import Kind, Offer, Plan
from fedkg.tokens import estimate

__all__ = [
    "OFFERED",
    "SHARED",
    "Example",
    "Line",
    "Meta",
    "Template",
    "Wordings",
    "line",
    "load",
    "names",
    "values",
    "variants",
    "vendors",
]

Made = TypeVar("Made", bound=msgspec.Struct)

NAME = re.compile(r"[a-z][a-z0-9_-]*")
KINDS: tuple[Kind, ...] = get_args(Kind)
NEEDED = ("system.j2", "user.j2", "schema.json", "meta.toml")
_KIND = rf"(\.({'|'.join(KINDS)}))?"
FILE = re.compile(rf"(system|user){_KIND}(\.{NAME.pattern})?\.j2|schema{_KIND}\.json|(meta|examples)\.toml")
HOLDS = f"a prompt folder holds {', '.join(NEEDED)} and may hold examples.toml, system.KIND.j2, user.VENDOR.j2, …"
# what reads as a template, a schema or a table; notes and an editor's copies are passed over
ENDINGS = (".j2", ".jinja", ".jinja2", ".json", ".toml")
SHARED = "shared"
"""The folder of what several templates include."""
# format and control characters, lone surrogates; line separators count as white space and become blanks
DROPPED = {"Cc", "Cf", "Cs"}
# drawn as nothing although Unicode files them under letters and marks: they can carry hidden text
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# the delimiters of our own prompts, replaced by characters that look alike
DELIMITERS = {"<": "‹", ">": "›", "`": "'"}
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
    seen = head if head.isprintable() else "".join(filter(_drawn, head))
    plain = TILDES.sub("~~", " ".join(INVISIBLE.sub("", seen).split()))
    for delimiter, alike in DELIMITERS.items():  # several times as fast as one translation
        plain = plain.replace(delimiter, alike)
    if len(plain) <= limit and len(head) == len(raw):
        return Line(plain)
    return Line(plain[: max(0, limit - 1)].rstrip() + "…")


def _drawn(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) not in DROPPED


class Meta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `meta.toml` says: `version` of the wording, `paper` section that defines the call, what the call `returns`."""

    version: str
    returns: str
    paper: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError for a version that is not one word: it stands in answers, ledgers and lists."""
        if not self.version.isprintable() or len(self.version.split()) != 1:
            raise ValueError("the version must be one word")


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `examples.toml`: the values that `user.j2` is `shown`, and the `reply`; for these `kinds`, none for all."""

    shown: dict[str, Any]
    reply: str
    kinds: tuple[Kind, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a reply that is no JSON object."""
        try:
            fits = isinstance(json.loads(self.reply), dict)
        except (ValueError, RecursionError):
            fits = False
        if not fits:
            raise ValueError(f"the reply is no JSON object: {line(self.reply, 80)}")


class Examples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file `examples.toml`."""

    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Template:
    """A call's wording and reply schema.

    `digest` is the head of the SHA-256 over the text of all `files` that it was made of, so two wordings under one version
    number are still told apart. `system` is the system text: the `instructions`, and the `examples`, each like the task and
    with its reply. It is the same whatever is asked.
    """

    call: str
    meta: Meta
    digest: str
    schema: dict[str, Any]
    files: tuple[Path, ...]
    examples: tuple[Example, ...]
    instructions: str
    _user: tuple[Path, jinja2.Template] = field(repr=False)
    system: str = field(init=False)

    def __post_init__(self) -> None:
        """Makes the system text. Raises PromptError for an example that does not fit."""
        told = [f"{self._example(one)}\n{one.reply.strip()}" for one in self.examples]
        parts = [self.instructions, *(["Examples", *told] if told else [])]
        object.__setattr__(self, "system", "\n\n".join(filter(None, parts)))

    @property
    def version(self) -> str:
        """The version with the digest, such as `1-3f2a9c01d4e5`."""
        return f"{self.meta.version}-{self.digest}"

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of what is the same in every call: system text and schema."""
        return estimate(self.system) + estimate(json.dumps(self.schema))

    def render(self, **values: object) -> tuple[str, str]:
        """The system text, and the user text with these values; `left_out` is 0 where it is not given.

        Raises PromptError where the template needs a value that it is not given.
        """
        path, user = self._user
        try:
            return self.system, _render(user, values)
        except FAULTS as error:
            raise PromptError(f"{_place(error, path)}: {error}") from error

    def _example(self, one: Example) -> str:
        source = next(path for path in self.files if path.name == "examples.toml")
        shown = f"the example in {source} with the reply {line(one.reply, 80)}"
        path, user = self._user
        try:
            return _render(user, values(one.shown))
        except FAULTS as error:
            raise PromptError(f"{_place(error, path)}: {error}, given the values of {shown}") from error
        except PromptError as error:
            raise PromptError(f"{shown}: {error}") from error


class Wordings:
    """The templates of one vendor and one user's folder, each read once, when it is first asked for.

    With a folder of the user's own all are read at once: a file that cannot be used is said before anything is asked. Raises
    PromptError.
    """

    def __init__(self, own: str = "", vendor: str = "") -> None:
        self._own, self._vendor = own, vendor
        self._known: dict[tuple[str, Kind | None], Template] = {}
        for call in names() if own else ():
            for kind in (None, *variants(call, own)):
                self.get(call, kind)

    def get(self, call: str, kind: Kind | None = None) -> Template:
        """The template of a call, for that kind of question. Raises PromptError."""
        if (call, kind) not in self._known:
            self._known[call, kind] = load(call, self._own, self._vendor, kind)
        return self._known[call, kind]


def names() -> list[str]:
    """The calls, sorted."""
    found = (path.name for path in folder("prompts").iterdir() if path.is_dir())
    return sorted(name for name in found if NAME.fullmatch(name) and name != SHARED)


def variants(call: str, own: str = "") -> list[Kind]:
    """The kinds of question for which a call has files of their own. Raises PromptError."""
    return [kind for kind in KINDS if kind in _marks(call, own)]


def vendors(call: str, own: str = "") -> list[str]:
    """The vendors for whose models a call has files of their own, sorted. Raises PromptError."""
    return sorted(_marks(call, own).difference(KINDS))


def _marks(call: str, own: str) -> set[str]:
    return {mark for name in _files(call, own) for mark in name.split(".")[1:-1]}


def load(call: str, own: str = "", vendor: str = "", kind: Kind | None = None) -> Template:
    """The template of a call: each file from the folder `own` where that has it, else the bundled one.

    Without `kind` it has the examples that are for all kinds. Raises PromptError, naming the file, where the call is
    unknown, a file malformed or empty, or would not be used, its schema lacks a key of the bundled one, or the system text
    asks for a value.
    """
    if not NAME.fullmatch(call) or call == SHARED or (vendor and not NAME.fullmatch(vendor)):
        raise PromptError(f"not the name of a call and vendor: {line(call, 60)!r}, {line(vendor, 60)!r}")
    files = _files(call, own)
    if own:
        _check(Path(own))
    system, user = (_chosen(files, part, ".j2", vendor, kind) for part in ("system", "user"))
    schema, meta, examples = _chosen(files, "schema", ".json", "", kind), files["meta.toml"], files.get("examples.toml")
    texts = {path: _read(path) for path in (system, user, schema, meta, examples) if path}
    if empty := next((path for path in (system, user) if not texts[path].strip()), None):
        raise PromptError(f"{empty}: it is empty")
    shared = _shared(own)
    environment = _environment(tuple(shared.items()))
    texts |= _included(environment, {path: texts[path] for path in (system, user)}, shared)
    return Template(
        call=call,
        meta=_meta(meta, texts[meta]),
        digest=hashlib.sha256(json.dumps(list(texts.values())).encode()).hexdigest()[:12],
        schema=_schema(schema, texts[schema], _chosen(_files(call, ""), "schema", ".json", "", kind)),
        files=tuple(texts),
        examples=_examples(examples, texts[examples], kind) if examples else (),
        instructions=_stable(system, _compile(environment, system, texts[system])),
        _user=(user, _compile(environment, user, texts[user])),
    )


def values(shown: Mapping[str, Any]) -> dict[str, object]:
    """What a template is given, from texts and tables: offers are numbered from 1, a plan needs no keywords.

    Raises PromptError where they do not fit, or say what a plan or an offer does not have.
    """
    made: dict[str, object] = dict(shown)
    try:
        if "plan" in shown:
            made["plan"] = _record({"keywords": (), **shown["plan"]}, Plan)
        if shown.get("path"):
            made["path"] = _offer(1, shown["path"])
        for name in shown.keys() & set(OFFERED):
            made[name] = [_offer(number, item) for number, item in enumerate(shown[name], 1)]
    except (msgspec.ValidationError, TypeError) as error:
        raise PromptError(f"these are no values of a prompt: {error}") from error
    return made


def _printed(value: object) -> object:
    """What an expression prints: numbers and lines as they are, everything else as a line."""
    return value if isinstance(value, Line | int | float) else line(value)


@lru_cache(maxsize=16)
def _environment(shared: tuple[tuple[Path, str], ...]) -> ImmutableSandboxedEnvironment:
    """Where templates run that include these files, each under its name."""
    sources = {path.name: (text, str(path), None) for path, text in shared}
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(sources.get),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # prompts are no HTML; `line` neutralises what could break them
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # of what is included; the ends are stripped
    )
    environment.filters["line"] = line
    return environment


def _shared(own: str) -> dict[Path, str]:
    """What templates may include; the user's own files take the place of the bundled ones of their names."""
    found = {path.name: path for place in reversed(_folders(own)) for path in sorted((place / SHARED).glob("*.j2"))}
    return {path: _read(path) for path in found.values()}


def _included(
    environment: jinja2.Environment, templates: Mapping[Path, str], shared: Mapping[Path, str]
) -> dict[Path, str]:
    """The files that these templates include, and what those include, in the order of their names."""
    known = {path.name: path for path in shared}
    found: dict[Path, str] = {}
    left = dict(templates)
    while left:
        path, text = left.popitem()
        _compile(environment, path, text)
        for name in _includes(environment, text):
            if name not in known:
                raise PromptError(f"{path}: it can only include, by name, what lies in {SHARED!r}: {line(name)}")
            if known[name] not in found:
                found[known[name]] = left[known[name]] = shared[known[name]]
    return dict(sorted(found.items(), key=lambda item: item[0].name))


@lru_cache(maxsize=512)
def _includes(environment: jinja2.Environment, text: str) -> tuple[str, ...]:
    """The names that a template includes; a name that is an expression is none."""
    return tuple(name or "?" for name in jinja2.meta.find_referenced_templates(environment.parse(text)))


def _files(call: str, own: str) -> dict[str, Path]:
    """The files of a call by name: the user's own take the place of the bundled ones. Raises PromptError."""
    if not (folder("prompts") / call).is_dir():
        raise PromptError(f"no prompt is called {call!r}", hint=f"known: {', '.join(names())}")
    places = [place / call for place in reversed(_folders(own))]
    found = {path.name: path for place in places for path in sorted(place.glob("*")) if path.suffix in ENDINGS}
    for name, path in found.items():
        # a file under a mistaken name would silently not be used
        if not FILE.fullmatch(name):
            raise PromptError(f"{path}: no file of a prompt is called so", hint=HOLDS)
    return found


def _check(own: Path) -> None:
    """Raises PromptError for what lies in the user's folder and would silently not be used."""
    for path in sorted(own.iterdir()):
        if path.is_dir() and path.name[0] not in "._" and not (folder("prompts") / path.name).is_dir():
            raise PromptError(f"{path}: no prompt is called so", hint=f"known: {', '.join(names())}")
        if path.is_file() and (path.suffix == ".j2" or FILE.fullmatch(path.name)):
            raise PromptError(f"{path}: it must lie in the folder of a call, or in {SHARED!r}")
    bundled = sorted(path.name for path in (folder("prompts") / SHARED).glob("*.j2"))
    for part in sorted((own / SHARED).glob("*")):
        if part.suffix in ENDINGS and part.name not in bundled and not _named(part, own):
            raise PromptError(f"{part}: no template includes it", hint=f"bundled: {', '.join(bundled)}")


def _named(part: Path, own: Path) -> bool:
    """Whether another template in the user's folder names a shared part."""
    return any(part.name in _read(path) for path in own.glob("*/*.j2") if path != part)


def _folders(own: str) -> list[Path]:
    if own and not Path(own).is_dir():
        raise PromptError(f"{own}: no such folder of prompts")
    return ([Path(own)] if own else []) + [folder("prompts")]


def _chosen(files: Mapping[str, Path], part: str, suffix: str, vendor: str, kind: str | None) -> Path:
    """The file that fits kind and vendor best; a kind may have another reply, so it counts for more."""
    special = [(part, kind, vendor), (part, kind), (part, vendor)]
    named = [".".join(map(str, marks)) + suffix for marks in special if all(marks)]
    return files[next((name for name in named if name in files), part + suffix)]


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


def _schema(path: Path, text: str, bundled: Path) -> dict[str, Any]:
    """The schema, which has the keys of the bundled one: a reply is read under these names."""
    try:
        schema = json.loads(text)
        lost = _required(json.loads(_read(bundled))) - _required(schema)
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{path}: {error}", hint="it must be JSON") from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise PromptError(f"{path}: the schema of a reply must be of type object")
    if lost:
        raise PromptError(f"{path}: it must describe and require {', '.join(sorted(lost))}", hint=f"as {bundled} does")
    return schema


def _required(schema: Any) -> set[str]:
    """The keys that a schema describes and requires, at any depth."""
    match schema:
        case {"required": [*keys], "properties": {**known}}:
            return {str(key) for key in known if key in keys}.union(*map(_required, schema.values()))
        case dict():
            return set().union(*map(_required, schema.values()))
        case list():
            return set().union(*map(_required, schema))
    return set()


def _examples(path: Path, text: str, kind: Kind | None) -> tuple[Example, ...]:
    """The examples for that kind of question."""
    try:
        every = msgspec.convert(tomllib.loads(text), Examples, strict=True).examples
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PromptError(f"{path}: {error}") from error
    return tuple(one for one in every if not one.kinds or kind in one.kinds)


def _offer(number: int, item: Any) -> Offer:
    return _record({"number": number, **(item if isinstance(item, dict) else {"text": item})}, Offer)


def _record(table: dict[str, Any], kind: type[Made]) -> Made:
    known = [part.name for part in msgspec.structs.fields(kind)]
    if unknown := [name for name in table if name not in known]:
        raise PromptError(f"these are no values of a prompt: {unknown[0]!r} is none of {', '.join(known)}")
    return msgspec.convert(table, kind)


def _compile(environment: jinja2.Environment, path: Path, text: str) -> jinja2.Template:
    try:
        # a shared part once for all that include it
        return environment.get_template(path.name) if path.parent.name == SHARED else _compiled(environment, path, text)
    except jinja2.TemplateSyntaxError as error:
        raise PromptError(f"{path}:{error.lineno}: {error.message}") from error


@lru_cache(maxsize=512)
def _compiled(environment: jinja2.Environment, path: Path, text: str) -> jinja2.Template:
    """The template, which says in its errors from which file it is."""
    code = environment.compile(text, filename=str(path))
    return jinja2.Template.from_code(environment, code, environment.make_globals(None))


def _stable(path: Path, system: jinja2.Template) -> str:
    """The system text, which is given no values, so that nothing of a question can enter it."""
    try:
        return _render(system, {})
    except FAULTS as error:
        hint = "the system text is the same for every question; what changes goes into user.j2"
        raise PromptError(f"{_place(error, path)}: {error}", hint=hint) from error


def _place(error: Exception, path: Path) -> str:
    """The file and line of the template that an error comes from: `path`, or what that includes."""
    frames = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(error.__traceback__)]
    return next((f"{file}:{number}" for file, number in reversed(frames) if file.endswith(".j2")), str(path))


def _render(template: jinja2.Template, values: Mapping[str, object]) -> str:
    return template.render({"left_out": 0, **values}).strip()
