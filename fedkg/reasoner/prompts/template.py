"""A prompt template: its texts and examples, and how they are rendered with values, in a sandbox."""

import json
import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import jinja2
import msgspec

from fedkg.common.one_line import line
from fedkg.common.tokens import estimate
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Kind, Plan
from fedkg.errors import PromptError
from fedkg.reasoner.prompts.sandbox import rendered

__all__ = ["OFFERED", "SHARED", "PromptExample", "PromptExamples", "PromptMeta", "PromptTemplate", "values"]

Made = TypeVar("Made", bound=msgspec.Struct)
SHARED = "shared"
"""The folder of what several templates include."""
# what a template can run into, apart from Jinja's own errors, when an expression does not fit its value
FAULTS = (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
OFFERED = ("offers", "paths", "kept", "relations")
"""The values of a template that are lists of offers."""


class PromptMeta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `meta.toml`: `version` of the text, section of the `paper`, what the call `returns`."""

    version: str
    returns: str
    paper: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError for a version that is not one word: it stands in answers, ledgers and lists."""
        if not self.version.isprintable() or len(self.version.split()) != 1:
            raise ValueError("the version must be one word")


class PromptExample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `examples.toml`: the values that `user.j2` is `shown`, and the `reply`.

    It is for these `kinds`, none for all.
    """

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


class PromptExamples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file `examples.toml`."""

    examples: tuple[PromptExample, ...] = ()


@dataclass(frozen=True)
class PromptTemplate:
    """A call's wording and reply schema.

    `digest` is the head of the SHA-256 over the text of all `files` that it was made of, so two wordings under one
    version number are still told apart. `system` is the system text: the `instructions`, and the `examples`, each
    like the task and with its reply. It is the same whatever is asked.
    """

    call: str
    meta: PromptMeta
    digest: str
    schema: dict[str, Any]
    files: tuple[Path, ...]
    examples: tuple[PromptExample, ...]
    instructions: str
    _user: tuple[Path, jinja2.Template] = field(repr=False)
    system: str = field(init=False)

    def __post_init__(self) -> None:
        """Makes the system text. Raises PromptError for an example that does not fit."""
        examples = [f"{self._example(example)}\n{example.reply.strip()}" for example in self.examples]
        parts = [self.instructions, *(["Examples", *examples] if examples else [])]
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
        """The system text, and the user text with these values, those of USUAL where they are not given.

        Raises PromptError where the template needs a value that it is not given.
        """
        path, user = self._user
        try:
            return self.system, rendered(user, values)
        except FAULTS as error:
            raise PromptError(f"{place(error, path)}: {error}") from error

    def without(self, keys: Collection[str]) -> "PromptTemplate":
        """The template that does not ask for these keys of the reply: schema and examples lack them.

        So do the lines of the instructions that tell what a key is: `- "kind": …`.
        """
        schema = {
            **self.schema,
            "properties": {key: part for key, part in self.schema["properties"].items() if key not in keys},
            "required": [key for key in self.schema["required"] if key not in keys],
        }
        heads = tuple(f'- "{key}":' for key in keys)
        told = [text for text in self.instructions.splitlines() if not text.startswith(heads)]
        examples = tuple(msgspec.structs.replace(each, reply=_lacking(each.reply, keys)) for each in self.examples)
        return replace(self, schema=schema, instructions="\n".join(told), examples=examples)

    def _example(self, example: PromptExample) -> str:
        source = next(path for path in self.files if path.name == "examples.toml")
        shown = f"the example in {source} with the reply {line(example.reply, 80)}"
        path, user = self._user
        try:
            return rendered(user, values(example.shown))
        except FAULTS as error:
            raise PromptError(f"{place(error, path)}: {error}, given the values of {shown}") from error
        except PromptError as error:
            raise PromptError(f"{shown}: {error}") from error


def _lacking(reply: str, keys: Collection[str]) -> str:
    return json.dumps({key: value for key, value in json.loads(reply).items() if key not in keys}, ensure_ascii=False)


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


def _offer(number: int, item: Any) -> PromptCandidate:
    return _record({"number": number, **(item if isinstance(item, dict) else {"text": item})}, PromptCandidate)


def _record(table: dict[str, Any], kind: type[Made]) -> Made:
    known = [part.name for part in msgspec.structs.fields(kind)]
    if unknown := [name for name in table if name not in known]:
        raise PromptError(f"these are no values of a prompt: {unknown[0]!r} is none of {', '.join(known)}")
    return msgspec.convert(table, kind)


def compiled(environment: jinja2.Environment, path: Path, text: str) -> jinja2.Template:
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


def stable(path: Path, system: jinja2.Template) -> str:
    """The system text, which is given no values, so that nothing of a question can enter it."""
    try:
        return rendered(system, {})
    except FAULTS as error:
        hint = "the system text is the same for every question; what changes goes into user.j2"
        raise PromptError(f"{place(error, path)}: {error}", hint=hint) from error


def place(error: Exception, path: Path) -> str:
    """The file and line of the template that an error comes from: `path`, or what that includes."""
    frames = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(error.__traceback__)]
    return next((f"{file}:{number}" for file, number in reversed(frames) if file.endswith(".j2")), str(path))
