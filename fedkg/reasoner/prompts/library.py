"""Prompt templates: one folder per call under `prompts/`.

Files in the user's own folder take the place of the bundled ones.

A call's folder holds `system.j2` (what never changes, so that vendors can cache it), `user.j2` (the question and the
data), `schema.json` (JSON schema of the reply), `meta.toml` (version, paper section, what the reply is) and, where it
has examples, `examples.toml`. Another wording is another file and no code: `system.KIND.j2`, `user.KIND.j2` and
`schema.KIND.json` take the place of the plain ones for one kind of question, `system.VENDOR.j2` and `user.VENDOR.j2`
for one vendor, `system.KIND.VENDOR.j2` for both. The calls are those of the bundled folder: nothing would ask
another.

An example is what `user.j2` makes of its values, with the reply to that: so it always looks like the task. The
examples of the question's kind follow the system text. Both are made once, without any value of a question.

The folder `_paper` holds forms of the papers' prompts that differ from ours (`FORMS`), each a folder like a user's own:
settings lay them over the bundled calls, and the user's files over them.

Templates run in a sandbox. They can include what lies in the folder `shared`, by its name, and nothing else. Whatever
an expression prints is one bounded line: text from a graph cannot leave the place that the template gives it.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import get_args

import jinja2
import jinja2.meta

from fedkg.common.file_cache import FileCache
from fedkg.common.one_line import line
from fedkg.config.resources import folder, layers
from fedkg.config.settings import SearchSettings
from fedkg.core.question import Kind
from fedkg.errors import PromptError
from fedkg.reasoner import path_format
from fedkg.reasoner.path_format import PathForm
from fedkg.reasoner.prompts.sandbox import sandbox
from fedkg.reasoner.prompts.template import SHARED, PromptTemplate, compiled, stable
from fedkg.reasoner.prompts.validation import read_examples, read_meta, read_schema, read_text

__all__ = ["FORMS", "PromptLibrary", "forms_of", "load", "names", "variants", "vendors"]

NAME = re.compile(r"[a-z][a-z0-9_-]*")
PAPER = "_paper"
FORMS = ("exhaustive", "filled", "demonstrations")
"""Forms of the papers' prompts, a folder each in PAPER; a later one lies over those before it."""
KINDS: tuple[Kind, ...] = get_args(Kind)
NEEDED = ("system.j2", "user.j2", "schema.json", "meta.toml")
_KIND = rf"(\.({'|'.join(KINDS)}))?"
FILE = re.compile(rf"(system|user){_KIND}(\.{NAME.pattern})?\.j2|schema{_KIND}\.json|(meta|examples|form)\.toml")
HOLDS = f"a prompt folder holds {', '.join(NEEDED)} and may hold examples.toml, system.KIND.j2, user.VENDOR.j2, …"
# what reads as a template, a schema or a table; notes and an editor's copies are passed over
ENDINGS = (".j2", ".jinja", ".jinja2", ".json", ".toml")
LOADED: FileCache[tuple[str, str, str, Kind | None, tuple[str, ...]], PromptTemplate] = FileCache()


def forms_of(search: SearchSettings) -> tuple[str, ...]:
    """The forms of the papers' prompts that the settings switch on."""
    chosen = {
        "exhaustive": search.exhaustive,
        "filled": search.statement == "filled",
        "demonstrations": search.demonstrations,
    }
    return tuple(form for form in FORMS if chosen[form])


class PromptLibrary:
    """The templates of one vendor and one user's folder, each read once, when it is first asked for.

    `forms` are those of the papers that lie between the bundled calls and the user's folder (`forms_of`). With a folder
    of the user's own all are read at once: a file that cannot be used is said before anything is asked. Raises
    PromptError.
    """

    def __init__(self, user_folder: str = "", vendor: str = "", forms: tuple[str, ...] = ()) -> None:
        self._user_folder, self._vendor, self._forms = user_folder, vendor, forms
        self._known: dict[tuple[str, Kind | None], PromptTemplate] = {}
        for call in filter(path_format.has_form, names() if user_folder else ()):
            self.form(call)
        for call in names() if user_folder else ():
            for kind in (None, *variants(call, user_folder)):
                self.get(call, kind)

    def form(self, call: str) -> PathForm:
        """How a model is asked to write what that call asks for. Raises PromptError."""
        return path_format.read(call, self._user_folder)

    def get(self, call: str, kind: Kind | None = None) -> PromptTemplate:
        """The template of a call, for that kind of question. Raises PromptError."""
        if (call, kind) not in self._known:
            self._known[call, kind] = load(call, self._user_folder, self._vendor, kind, self._forms)
        return self._known[call, kind]


def names() -> list[str]:
    """The calls, sorted."""
    folders = (path.name for path in folder("prompts").iterdir() if path.is_dir())
    return sorted(name for name in folders if NAME.fullmatch(name) and name != SHARED)


def variants(call: str, user_folder: str = "") -> list[Kind]:
    """The kinds of question for which a call has files of their own. Raises PromptError."""
    return [kind for kind in KINDS if kind in _marks(call, user_folder)]


def vendors(call: str, user_folder: str = "") -> list[str]:
    """The vendors for whose models a call has files of their own, sorted. Raises PromptError."""
    return sorted(_marks(call, user_folder).difference(KINDS))


def _marks(call: str, user_folder: str) -> set[str]:
    return {mark for name in _files(call, user_folder) for mark in name.split(".")[1:-1]}


def load(
    call: str, user_folder: str = "", vendor: str = "", kind: Kind | None = None, forms: tuple[str, ...] = ()
) -> PromptTemplate:
    """The template of a call: each file from the folder `user_folder` where that has it, else of the last of the forms.

    What none of these has is the bundled file.

    Without `kind` it has the examples that are for all kinds. Raises PromptError, naming the file, where the call is
    unknown, a file malformed or empty, or would not be used, its schema lacks a key of the bundled one, or the system
    text asks for a value.
    """
    if not NAME.fullmatch(call) or call == SHARED or (vendor and not NAME.fullmatch(vendor)):
        raise PromptError(f"not the name of a call and vendor: {line(call, 60)!r}, {line(vendor, 60)!r}")
    folders = [place / part for place in _folders(user_folder, forms) for part in (call, SHARED)]
    key = call, user_folder, vendor, kind, forms
    template = LOADED.get(key, folders, lambda: _made(call, user_folder, vendor, kind, forms))
    if user_folder:
        _check(Path(user_folder))
    return template


def _made(call: str, user_folder: str, vendor: str, kind: Kind | None, forms: tuple[str, ...]) -> PromptTemplate:
    files = _files(call, user_folder, forms)
    system, user = (_chosen(files, part, ".j2", vendor, kind) for part in ("system", "user"))
    schema, meta, examples = _chosen(files, "schema", ".json", "", kind), files["meta.toml"], files.get("examples.toml")
    texts = {path: read_text(path) for path in (system, user, schema, meta, examples) if path}
    if empty := next((path for path in (system, user) if not texts[path].strip()), None):
        raise PromptError(f"{empty}: it is empty")
    shared = _shared(user_folder, forms)
    environment = sandbox(tuple(shared.items()))
    texts |= _included(environment, {path: texts[path] for path in (system, user)}, shared)
    return PromptTemplate(
        call=call,
        meta=read_meta(meta, texts[meta]),
        digest=hashlib.sha256(json.dumps(list(texts.values())).encode()).hexdigest()[:12],
        schema=read_schema(schema, texts[schema], _chosen(_files(call, ""), "schema", ".json", "", kind)),
        files=tuple(texts),
        examples=read_examples(examples, texts[examples], kind) if examples else (),
        instructions=stable(system, compiled(environment, system, texts[system])),
        _user=(user, compiled(environment, user, texts[user])),
    )


def _shared(user_folder: str, forms: tuple[str, ...]) -> dict[Path, str]:
    """What templates may include; the user's own files take the place of the bundled ones of their names."""
    places = reversed(_folders(user_folder, forms))
    parts = {path.name: path for place in places for path in sorted((place / SHARED).glob("*.j2"))}
    return {path: read_text(path) for path in parts.values()}


def _included(
    environment: jinja2.Environment, templates: Mapping[Path, str], shared: Mapping[Path, str]
) -> dict[Path, str]:
    """The files that these templates include, and what those include, in the order of their names."""
    known = {path.name: path for path in shared}
    included: dict[Path, str] = {}
    left = dict(templates)
    while left:
        path, text = left.popitem()
        compiled(environment, path, text)
        for name in _includes(environment, text):
            if name not in known:
                raise PromptError(f"{path}: it can only include, by name, what lies in {SHARED!r}: {line(name)}")
            if known[name] not in included:
                included[known[name]] = left[known[name]] = shared[known[name]]
    return dict(sorted(included.items(), key=lambda item: item[0].name))


@lru_cache(maxsize=512)
def _includes(environment: jinja2.Environment, text: str) -> tuple[str, ...]:
    """The names that a template includes; a name that is an expression is none."""
    return tuple(name or "?" for name in jinja2.meta.find_referenced_templates(environment.parse(text)))


def _files(call: str, user_folder: str, forms: tuple[str, ...] = ()) -> dict[str, Path]:
    """The files of a call by name: the user's own take the place of the bundled ones. Raises PromptError."""
    if not (folder("prompts") / call).is_dir():
        raise PromptError(f"no prompt is called {call!r}", hint=f"known: {', '.join(names())}")
    places = [place / call for place in reversed(_folders(user_folder, forms))]
    files = {path.name: path for place in places for path in sorted(place.glob("*")) if path.suffix in ENDINGS}
    for name, path in files.items():
        # a file under a mistaken name would silently not be used
        if not FILE.fullmatch(name) or (name == path_format.FORM and not path_format.has_form(call)):
            raise PromptError(f"{path}: no file of a prompt is called so", hint=HOLDS)
    return files


def _check(user_folder: Path) -> None:
    """Raises PromptError for what lies in the user's folder and would silently not be used."""
    for path in sorted(user_folder.iterdir()):
        if path.is_dir() and path.name[0] not in "._" and not (folder("prompts") / path.name).is_dir():
            raise PromptError(f"{path}: no prompt is called so", hint=f"known: {', '.join(names())}")
        if path.is_file() and (path.suffix == ".j2" or FILE.fullmatch(path.name)):
            raise PromptError(f"{path}: it must lie in the folder of a call, or in {SHARED!r}")
    bundled = sorted(path.name for path in (folder("prompts") / SHARED).glob("*.j2"))
    for part in sorted((user_folder / SHARED).glob("*")):
        if part.suffix in ENDINGS and part.name not in bundled and not _named(part, user_folder):
            raise PromptError(f"{part}: no template includes it", hint=f"bundled: {', '.join(bundled)}")


def _named(part: Path, user_folder: Path) -> bool:
    """Whether another template in the user's folder names a shared part."""
    return any(part.name in read_text(path) for path in user_folder.glob("*/*.j2") if path != part)


def _folders(user_folder: str, forms: tuple[str, ...] = ()) -> list[Path]:
    """The user's own folder before the forms and the bundled one. Raises PromptError where the user's is none."""
    bundled, *own = layers("prompts", user_folder, PromptError, what="prompts")
    return [*own, *(bundled / PAPER / form for form in reversed(forms)), bundled]


def _chosen(files: Mapping[str, Path], part: str, suffix: str, vendor: str, kind: str | None) -> Path:
    """The file that fits kind and vendor best; a kind may have another reply, so it counts for more."""
    special = [(part, kind, vendor), (part, kind), (part, vendor)]
    named = [".".join(map(str, marks)) + suffix for marks in special if all(marks)]
    return files[next((name for name in named if name in files), part + suffix)]
