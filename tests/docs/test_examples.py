"""The notebooks in examples/: each runs from its first cell to its last, and shows what it tells of."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))
SHOWN = {
    "ask_and_check": ["Lantern Room", "<svg", "sameAs", "J. R. R. Tolkien"],
    "compare_methods": ["films: 4 questions in both runs", "vanilla", "Wellington"],
}
"""What stands in the outputs."""


@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq.*", "ignore::ResourceWarning")
def test_a_notebook_runs(notebook: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with a real kernel; what it shows is not kept in the file."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas", reason="needs fedkg[notebook]")
    shutil.copytree(notebook.parent, here / "examples")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(here / "ipython"))
    document = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in document.cells)
    client.NotebookClient(document, timeout=60, resources={"metadata": {"path": str(here / "examples")}}).execute()
    shown = "".join(_shown(output) for cell in document.cells for output in cell.get("outputs", ()))
    assert [text for text in SHOWN[notebook.stem] if text not in shown] == []


def test_every_notebook_is_told_of() -> None:
    """There are two, and no file without its outputs looked at."""
    assert [path.stem for path in EXAMPLES] == sorted(SHOWN)


def _shown(output: Any) -> str:
    """The texts of a cell's output."""
    return "".join(str(text) for kind, text in output.get("data", {}).items() if kind.startswith("text/"))
