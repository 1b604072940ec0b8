import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import json, sys
from pathlib import Path
import fedkg
from fedkg.config import profiles, resources as data
from typing import get_args
sample = profiles.find("sample")
print(json.dumps({
    "package": fedkg.__file__,
    "folders": {name: str(data.folder(name)) for name in get_args(data.Folder)},
    "files": {
        name: sorted(p.relative_to(data.folder(name)).as_posix() for p in data.folder(name).rglob("*") if p.is_file())
        for name in get_args(data.Folder)
    },
    "profiles": [profiles.find(name).name for name in profiles.names()],
    "sample": str((Path(sample.source).parent / sample.file).resolve()),
}))
"""


def run(*command: str | Path, cwd: Path, **environ: str) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the built wheel was installed into."""
    place = tmp_path_factory.mktemp("installed")
    offline = ["--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "install", *offline, "--target", place / "site", wheel, cwd=place)
    return place / "site"


@pytest.fixture(scope="module")
def seen(installed: Path) -> dict[str, dict[str, str] | list[str] | str]:
    """What a program sees that imports the installed package, far from the checkout."""
    listing: dict[str, dict[str, str] | list[str] | str] = json.loads(
        run(sys.executable, "-c", SCRIPT, cwd=installed.parent, PYTHONPATH=str(installed))
    )
    return listing


def test_the_wheel_itself_is_imported(installed: Path, seen: dict[str, str]) -> None:
    """The program runs the wheel's code, not the checkout's."""
    assert Path(seen["package"]) == installed / "fedkg" / "__init__.py"


def test_data_folders_lie_inside_the_package(installed: Path, seen: dict[str, dict[str, str]]) -> None:
    """Every data folder is found inside the installed package."""
    assert seen["folders"] == {name: str(installed / "fedkg" / "_data" / name) for name in seen["folders"]}


def test_data_files_are_all_there(seen: dict[str, dict[str, list[str]]]) -> None:
    """The wheel carries each data file of the checkout, but not the measurements: they need the checkout."""
    for name, files in seen["files"].items():
        kept = ("benchmarks", "ablations", "published.toml") if name == "eval" else ("",)
        paths = [path for part in kept for path in ((ROOT / name / part), *(ROOT / name / part).rglob("*"))]
        here = {path.relative_to(ROOT / name).as_posix() for path in paths if path.is_file()}
        assert set(files) == {path for path in here if "__pycache__" not in path}, name


def test_profiles_load_from_the_wheel(seen: dict[str, list[str]]) -> None:
    """All bundled profiles load, under their names in the checkout; the tables beside them are none."""
    assert seen["profiles"] == sorted(seen["profiles"])
    assert {*seen["profiles"], "identity", "unhelpful"} == {path.stem for path in (ROOT / "endpoints").glob("*.toml")}


def test_the_sample_graph_is_reached_through_its_profile(installed: Path, seen: dict[str, str]) -> None:
    """The profile's relative path leads to the graph inside the wheel."""
    assert Path(seen["sample"]) == (installed / "fedkg" / "_data" / "sample" / "graph.ttl").resolve()
    assert Path(seen["sample"]).is_file()


def test_the_page_comes_along(installed: Path) -> None:
    """Every file of it, its library's licence included: it works without a network."""
    [source, copy] = (folder / "fedkg" / "serve" / "page" for folder in (ROOT, installed))
    names = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    assert {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()} == names
    assert Path("vendor/cytoscape.LICENSE") in names


def test_types_are_declared(installed: Path) -> None:
    """The wheel says that it is typed, and holds no tests."""
    assert (installed / "fedkg" / "py.typed").is_file()
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info" and path.name != "bin") == [
        "fedkg"
    ]


def test_the_licence_comes_along(installed: Path) -> None:
    """The wheel carries the text of the licence that its metadata name."""
    [licence] = installed.glob("fedkg-*.dist-info/licenses/LICENSE")
    assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()
