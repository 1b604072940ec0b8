import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

import fedkg
from fedkg import errors, session
from fedkg.config import settings
from fedkg.core import answer
from fedkg.graph import base

SAMPLE: dict[str, Any] = {"model": "local", "embedder": "bm25", "cache": False}
SOURCE = Path(fedkg.__file__).read_text(encoding="utf-8")
CAPITAL = "What is the capital of New Zealand?"


def test_public_names_are_sorted_and_there() -> None:
    """The list is sorted, without doubles, and each name on it exists."""
    assert sorted(set(fedkg.__all__)) == fedkg.__all__
    assert [name for name in fedkg.__all__ if not hasattr(fedkg, name)] == []
    assert set(fedkg.__all__) <= set(dir(fedkg))


def test_public_names_are_the_real_things() -> None:
    """A public name is the class that the rest of the package uses."""
    assert (fedkg.Answer, fedkg.Path) == (answer.Answer, answer.Path)
    assert (fedkg.Session, fedkg.Settings, fedkg.Graph) == (session.Session, settings.Settings, base.Graph)
    assert fedkg.FedkgError is errors.FedkgError
    for name in (name for name in fedkg.__all__ if name.endswith("Error")):
        assert getattr(fedkg, name) is getattr(errors, name)
    assert {"CacheError", "PluginError", "SessionClosedError"} <= set(fedkg.__all__)
    assert fedkg.__version__


def test_other_names_are_no_attributes() -> None:
    """A name that is not public raises AttributeError, as for any module."""
    with pytest.raises(AttributeError, match="'fedkg' has no attribute 'answer'"):
        fedkg.answer  # noqa: B018  # the access is what is tested


def test_import_is_cheap() -> None:
    """`import fedkg` loads none of the heavy packages, nor anything of fedkg but its errors."""
    code = "import fedkg, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert (
        loaded & set("aiohttp numpy pyoxigraph diskcache usearch click rich jinja2 msgspec torch asyncio".split())
        == set()
    )
    assert {name for name in loaded if name.startswith("fedkg")} == {"fedkg", "fedkg.errors"}


@pytest.mark.parametrize("endpoints", ["sample", ["sample"], ("sample",)])
def test_ask(endpoints: str | list[str] | tuple[str, ...]) -> None:
    """One call gives the answer with its paths, for one endpoint or a list of them."""
    answer = fedkg.ask(CAPITAL, endpoints, **SAMPLE)
    assert [value.value for value in answer.answers] == ["Wellington"]
    assert answer.paths[answer.answers[0].paths[0]].edges


def test_ask_for_a_kind() -> None:
    """The kind and the options of a choice are those of `Session.ask`; without a language model nothing is answered."""
    choice = fedkg.ask(CAPITAL, "sample", options=["Wellington", "Oslo"], **SAMPLE)
    assert (choice.kind, choice.status) == ("choice", answer.Status.ABSTAINED)
    with pytest.raises(fedkg.InputError, match="no options"):
        fedkg.ask(CAPITAL, "sample", kind="yesno", options=["Wellington", "Oslo"], **SAMPLE)


async def test_aask() -> None:
    """The same without blocking, from given topics."""
    answer = await fedkg.aask(CAPITAL, "sample", ["http://www.wikidata.org/entity/Q664"], kind="entities", **SAMPLE)
    assert [value.value for value in answer.answers] == ["Wellington"]


async def test_ask_inside_an_event_loop() -> None:
    """A notebook's user is told what to write instead."""
    with pytest.raises(fedkg.InputError, match="running already") as caught:
        fedkg.ask(CAPITAL, "sample", **SAMPLE)
    assert "fedkg.aask" in caught.value.hint


def test_ask_takes_a_path(tmp_path: Path) -> None:
    """A graph may be given as a path, and errors are those of the tree."""
    with pytest.raises(fedkg.InputError, match="No such file"):
        fedkg.ask("Who is Ada?", tmp_path / "gone.ttl", **SAMPLE)


def test_session_serves_many_questions() -> None:
    """A Session is a context manager; its second question finds what the first has fetched."""
    with fedkg.Session("sample", **SAMPLE) as session:
        first, second = (session.run(session.ask(CAPITAL, ["New Zealand"])) for _ in range(2))
    assert first.answers == second.answers
    assert second.usage.requests < first.usage.requests


def test_settings_are_plain_keywords() -> None:
    """Search settings and budgets need no prefix; an unknown one is an InputError that names the nearest."""
    answer = fedkg.ask(CAPITAL, "sample", depth=1, max_seconds=60, **SAMPLE)
    assert (answer.settings["search"]["depth"], answer.settings["budget"]["seconds"]) == (1, 60)
    with pytest.raises(fedkg.InputError, match=r"^dept is no setting; did you mean depth\?$"):
        fedkg.Session("sample", **{"dept": 1, **SAMPLE})
    with pytest.raises(fedkg.InputError, match=r"^depth must be 1 or more$"):
        fedkg.ask(CAPITAL, "sample", depth=0, **SAMPLE)


def test_the_keywords_are_those_of_a_session() -> None:
    """What `ask` takes by name is what a Session takes: its own parameters, and every setting."""
    parameters = inspect.signature(fedkg.Session).parameters.values()
    named = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    keywords = get_type_hints(fedkg.SessionKeywords)
    assert set(keywords) == named | set(get_type_hints(fedkg.SettingsKeywords))
    hints = get_type_hints(fedkg.Session.__init__)
    assert {name: hints[name] for name in named} == {name: keywords[name] for name in named}


def test_what_a_type_checker_sees_is_what_is_loaded() -> None:
    """Each public name that is imported late is imported for type checkers from the same module."""
    [block] = [node for node in ast.parse(SOURCE).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == fedkg.LAZY
    assert set(fedkg.LAZY) <= set(fedkg.__all__)


OPAQUE = {fedkg.Account, fedkg.CachedEndpoint, fedkg.Method}
"""Records that are only handed on: what they hold is no concern of a caller."""


def types(hint: object) -> Iterator[type]:
    """The classes of the package in a type, also within its arguments."""
    if isinstance(hint, type) and hint.__module__.startswith("fedkg"):
        yield hint
    for argument in (*get_args(hint), *(hint if isinstance(hint, list) else ())):
        yield from types(argument)


def signatures(public: type) -> Iterator[dict[str, object]]:
    """The types of the public fields, methods and properties of a class."""
    yield {name: hint for name, hint in get_type_hints(public).items() if not name.startswith("_")}
    for name, member in vars(public).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            yield get_type_hints(function)


def is_record(public: type) -> bool:
    """Whether a caller reads its fields: documents, events, settings and reports, but no protocols and services."""
    return issubclass(public, msgspec.Struct | tuple | Enum) or public.__module__.startswith("fedkg.core")


def test_every_type_of_a_public_signature_is_public() -> None:
    """From the keywords and the members of a Session on, through the fields of all records that they give."""
    waiting, seen = [fedkg.Session, fedkg.SessionKeywords], set[type]()
    while waiting:
        public = waiting.pop()
        seen.add(public)
        assert getattr(fedkg, public.__name__, None) is public, f"{public} is not public"
        if (is_record(public) and public not in OPAQUE) or public in {fedkg.Session, fedkg.SessionKeywords}:
            hints = (hint for signature in signatures(public) for hint in signature.values())
            waiting += {kind for hint in hints for kind in types(hint)} - seen
    assert {fedkg.Answer, fedkg.Planned, fedkg.Gap, fedkg.Graph, fedkg.Similarity} <= seen


def test_no_public_signature_is_untyped() -> None:
    """Nothing of `ask` and `aask` is Any, and what other parameters are called has one type in both."""
    for function in (fedkg.ask, fedkg.aask):
        assert "Any" not in str(inspect.signature(function))
    assert inspect.signature(fedkg.ask) == inspect.signature(fedkg.aask)
