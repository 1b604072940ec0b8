import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fedkg
from fedkg import errors, session
from fedkg.config import settings
from fedkg.core import answer
from fedkg.graph import base

SAMPLE: dict[str, Any] = {"model": "local", "embedder": "bm25", "cache": False}
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
    """The kind and the options of a choice are those of `Session.ask`; without a language model they are not answered."""
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
    with fedkg.Session("sample", **SAMPLE) as one:
        first, second = (one.run(one.ask(CAPITAL, ["New Zealand"])) for _ in range(2))
    assert first.answers == second.answers
    assert second.usage.requests < first.usage.requests
