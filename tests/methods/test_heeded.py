"""Which settings of a search concern which method, held against what the walks of the methods read."""

import sys
from pathlib import Path

import pytest

from fedkg.config.settings import SearchSettings
from fedkg.errors import MethodError
from fedkg.methods.heeded import HEEDED, unheeded
from fedkg.methods.registry import METHODS, check_last_step
from fedkg.session import Session
from tests.support.habits import Chat, everything

GRAPH = """
@prefix : <http://x/> .
@prefix r: <http://x/r/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh .
:walsh r:born 1959 .
"""
READERS = ("/fedkg/methods/", "/fedkg/retrieval/", "/fedkg/engine/handlers/choosing", "/fedkg/engine/handlers/planning")


def test_every_method_and_every_setting_is_listed() -> None:
    """A field that no method heeds would be one that nothing uses."""
    assert set(HEEDED) == set(METHODS)
    assert set().union(*HEEDED.values()) == set(SearchSettings.__struct_fields__)


def test_a_method_of_another_package_is_not_judged() -> None:
    """Nobody but its package can tell what it heeds; of one's own methods what they do not read is named, in order."""
    assert unheeded("theirs", ["weights"]) == ()
    assert unheeded("kaping", ["weights", "candidates", "verifier"]) == ("weights", "verifier")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The settings of a search that methods, retrievers and the handlers of choices and plans have read."""
    names: set[str] = set()

    def recorded(name: str) -> property:
        descriptor = vars(SearchSettings)[name]

        def read(search: SearchSettings) -> object:
            reader = sys._getframe(1).f_code.co_filename
            if any(part in reader for part in READERS) and "registry" not in reader:  # it checks them all
                names.add(name)
            return descriptor.__get__(search)

        return property(read)

    for field in SearchSettings.__struct_fields__:
        monkeypatch.setattr(SearchSettings, field, recorded(field))
    return names


@pytest.mark.parametrize("method", METHODS)
async def test_a_walk_reads_what_its_method_heeds(tmp_path: Path, method: str, reads: set[str]) -> None:
    """And none of what the command line says has no effect with it."""
    (tmp_path / "graph.ttl").write_text(GRAPH)
    async with Session(tmp_path / "graph.ttl", chat=Chat(everything), method=method, cache=False, embedder="bm25") as s:
        reads.clear()
        await s.ask("Who is the spouse of the director of King Kong?", ["http://x/kong"])
    assert reads <= HEEDED[method]
    assert reads or not METHODS[method].graph


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_call_is_left_out_or_that_is_refused(method: str) -> None:
    """What is refused names the methods that can do without it; nothing is refused where it is made."""
    search = SearchSettings(last_step=False)
    check_last_step(METHODS[method], SearchSettings())
    if "last_step" in HEEDED[method]:
        check_last_step(METHODS[method], search)
        assert sum(METHODS[method].calls(search, 1).values()) < sum(METHODS[method].calls(SearchSettings(), 1).values())
        return
    with pytest.raises(MethodError, match=f"the method {method} has no answer without its answer call") as caught:
        check_last_step(METHODS[method], search)
    assert "fidelis, gcr, eperm, tog, rog" in caught.value.hint


def test_the_page_of_settings_has_the_same_table() -> None:
    """Each field in one row, with the methods that heed it."""
    page = (Path(__file__).parents[2] / "docs/settings.md").read_text()
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in page.splitlines() if row.startswith("| ")]
    start = next(number for number, row in enumerate(rows) if row[0] == "settings of `search")
    methods, table = rows[start][1:], rows[start + 1 :]
    heeding = {
        name.strip("`"): {method for method, mark in zip(methods, marks, strict=True) if mark == "yes"}
        for names, *marks in table
        for name in names.split(", ")
    }
    for field in SearchSettings.__struct_fields__:
        assert heeding[field] == {name for name, heeded in HEEDED.items() if field in heeded}
