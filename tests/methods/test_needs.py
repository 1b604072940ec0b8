"""A need declares its reply: what mypy proves of it, and that the generator passes it on."""

import ast
import inspect
import typing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import fedkg.methods
from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, Verdict
from fedkg.core.path import PartialPath
from fedkg.methods import base
from fedkg.methods.base import (
    Answering,
    AskingModelOnly,
    Choosing,
    Completing,
    Decoded,
    Decoding,
    Deducing,
    Expanding,
    Expansion,
    Judging,
    Need,
    Picking,
    PlannedChain,
    Planning,
    Scoring,
    SearchResult,
    Task,
    Walk,
    ask,
)

if TYPE_CHECKING:
    from typing import assert_type

    def proven(task: Task) -> Walk:
        """Never run: mypy checks that each reply has the type that its need declares."""
        assert_type((yield from ask(Expanding(1, ()))), Expansion)
        assert_type((yield from ask(Choosing(1, (), 1))), Decision)
        assert_type((yield from ask(Decoding((), 1))), Decoded | None)
        assert_type((yield from ask(Picking(1, PartialPath(task.topics[0]), (), 1))), tuple[Choice, ...])
        assert_type((yield from ask(Deducing(1, ()))), tuple[Verdict, ...])
        assert_type((yield from ask(Completing(()))), tuple[PartialPath, ...])
        assert_type((yield from ask(Answering(()))), Conclusion)
        assert_type((yield from ask(Scoring(1, "relations", (), ()))), tuple[float, ...])
        assert_type((yield from ask(Judging(()))), bool)
        assert_type((yield from ask(Planning((), 1, 1))), tuple[PlannedChain, ...])
        assert_type((yield from ask(AskingModelOnly("io"))), ModelOnlyAnswer | None)
        wrong: str = yield from ask(Judging(()))  # type: ignore[assignment]  # a warning of its own if mypy took it
        return SearchResult(note=wrong)


KINDS = [kind for _, kind in inspect.getmembers(base, inspect.isclass) if issubclass(kind, Need) and kind is not Need]


class Counting(Need[int], frozen=True):
    """A need of a method from elsewhere."""

    most: int


def test_the_reply_comes_back() -> None:
    """The need goes out as it is, and what is sent in is the value of `yield from`."""

    def walk() -> Walk:
        count = yield from ask(Counting(3))
        return SearchResult(measures={"count": count})

    walking = walk()
    assert next(walking) == Counting(3)
    with pytest.raises(StopIteration) as end:
        walking.send(2)
    assert end.value.value == SearchResult(measures={"count": 2})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_every_need_is_a_frozen_record_with_a_reply(kind: type[Need[object]]) -> None:
    """It can be compared and kept in a list, as the tests of the methods do, and none is declared without its reply."""
    assert msgspec.inspect.type_info(kind)
    assert kind.__struct_config__.frozen
    (declared,) = kind.__orig_bases__  # type: ignore[attr-defined]  # set by typing.Generic
    assert typing.get_origin(declared) is Need
    assert not isinstance(typing.get_args(declared)[0], typing.TypeVar)


def test_nothing_is_untyped_between_a_method_and_the_engine() -> None:
    """No `Any` in the methods, in the interpreter, and in its handlers."""
    folder = Path(next(iter(fedkg.methods.__path__)))
    engine = folder.parent / "engine"
    files = [*folder.glob("*.py"), *(engine / "handlers").glob("*.py"), engine / "interpreter.py", engine / "walk.py"]
    names = {
        (path.name, node.id)
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    }
    assert len(files) > 20
    assert names == set()
