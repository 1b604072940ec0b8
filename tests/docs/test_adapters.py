"""docs/adapters.md: its programs print what is shown, and its table has the metadata that documents have."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from fedkg.adapters.passages import passages
from tests.adapters.test_passages import answer
from tests.support.documents import check_shown, programs, read, rows, sections
from tests.support.extras import needs

ADAPTERS = read("adapters")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("langchain", marks=needs("langchain", "langchain_core")),
        pytest.param("llamaindex", marks=needs("llamaindex", "llama_index")),
    ],
)
def test_the_programs_print_what_is_shown(here: Path, program: str) -> None:
    """Each as a script of its own."""
    [(code, printed)] = [part for part in programs(ADAPTERS) if f"adapters.{program}" in part[0]]
    out = StringIO()
    with redirect_stdout(out):
        exec(code, {"__name__": "__main__"})
    check_shown(printed.splitlines(), out.getvalue())


def test_the_metadata_are_all_told() -> None:
    """Each key has its row, and there are no others."""
    keys = {key for cell in rows(sections(ADAPTERS)["Metadata"]) for key in re.findall(r"\w+", cell)}
    assert keys == set(passages(answer(), 1)[0].metadata)
