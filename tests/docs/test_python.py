"""docs/python.md: its programs print what is shown, and its signatures are those of the source."""

import ast
import asyncio
import contextlib
import re
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest

import fedkg
from fedkg.core.events import Event
from fedkg.errors import FedkgError
from tests import signatures
from tests.support.documents import check_shown, programs, read, rows, sections

PYTHON = read("python")


@pytest.mark.parametrize(("program", "printed"), programs(PYTHON))
def test_the_programs_print_what_is_shown(here: Path, program: str, printed: str) -> None:
    """Each by itself, as in a script or, where it awaits, in a cell of a notebook; typed names are all there."""
    code = compile(program, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    out = StringIO()
    with contextlib.redirect_stdout(out):
        waiting = eval(code, {"__name__": "__main__"})
        if waiting is not None:
            asyncio.run(waiting)
    assert printed, "a program shows what it prints"
    check_shown(printed.splitlines(), out.getvalue())


def test_the_signatures_are_those_of_the_source() -> None:
    """`python tests/signatures.py` writes them anew."""
    assert signatures.regenerated(PYTHON) == PYTHON


def test_every_error_is_told_with_its_exit_code() -> None:
    """Each class directly below FedkgError."""
    documented = rows(sections(PYTHON)["Errors"])
    assert {name: int(cells[-1]) for name, cells in documented.items()} == {
        kind.__name__: kind.exit_code for kind in FedkgError.__subclasses__()
    }


def test_every_event_is_told() -> None:
    """By the name that it has in `fedkg`."""
    documented = set(re.findall(r"`(\w+)`", sections(PYTHON)["Watch a walk"]))
    assert {kind.__name__ for kind in get_args(Event)} <= documented & set(fedkg.__all__)
