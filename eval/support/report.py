"""What a measurement leaves: its figures with the date, the machine's cores and load, versions and command, as JSON."""

import argparse
import datetime as dt
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedkg.bench.run import provenance

__all__ = ["Report", "options", "quantiles", "require"]

FOLDER = Path(__file__).resolve().parents[1]
DATA = FOLDER.parents[1] / "shared" / "data"
PACKAGES = ("fedkg", "aiohttp", "diskcache", "oxigraph", "pyoxigraph", "SPARQLWrapper")


def options(about: str) -> argparse.ArgumentParser:
    """The options that every measurement has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public graphs and question sets")
    parser.add_argument("--write", action="store_true", help="keep the figures in eval/results/")
    return parser


def require(data: Path, *names: str) -> None:
    """Ends the program where a file that it needs is absent."""
    if absent := [name for name in names if not (data / name).is_file()]:
        sys.exit(f"{Path(sys.argv[0]).name}: not in --data: {', '.join(absent)}; the data sets are no part of fedkg")


class Report:
    """The figures of one measurement, shown as they come and kept at the end where that is wanted."""

    def __init__(self, name: str, *, write: bool) -> None:
        self._name = name
        self._write = write
        self._started = time.monotonic()
        self._load = round(os.getloadavg()[0], 2)
        self.figures: dict[str, Any] = {}

    def add(self, name: str, figures: Mapping[str, Any] | Sequence[Any] | str) -> None:
        """Shows and keeps some figures, or the reason why there are none."""
        self.figures[name] = figures
        print(f"{name}: {json.dumps(figures, indent=2, ensure_ascii=False)}", flush=True)

    def attach(self, suffix: str, text: str) -> None:
        """Keeps a table or a plot beside the result file, where that is wanted."""
        if self._write:
            (FOLDER / "results").mkdir(exist_ok=True)
            (FOLDER / "results" / f"{self._name}.{suffix}").write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Shows how long it took; writes the result file where that is wanted."""
        document = {
            "measured": self._name,
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "cores": os.cpu_count(),
            "load_before": self._load,
            "versions": _versions(),
            "command": f"python {_script(self._name)}",
            "seconds": round(time.monotonic() - self._started, 1),
            "figures": self.figures,
        }
        print(f"{self._name}: {document['seconds']} s, load before {self._load} on {os.cpu_count()} cores")
        if self._write:
            (FOLDER / "results").mkdir(exist_ok=True)
            text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
            (FOLDER / "results" / f"{self._name}.json").write_text(text, encoding="utf-8")


def quantiles(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """The median, the 99th percentile and the largest of some values."""
    ordered = sorted(values)
    at = {"median": 0.5, "p99": 0.99, "max": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], digits) for name, part in at.items()}


def _script(name: str) -> str:
    """The script that runs, from the project's folder; where another program runs it, the name of what it measures."""
    script = Path(sys.argv[0]).resolve()
    return str(script.relative_to(FOLDER.parent)) if script.is_relative_to(FOLDER) else f"eval/{name}.py"


def _versions() -> dict[str, str]:
    versions = {package: provenance.version(package) for package in PACKAGES}
    return {"python": platform.python_version()} | {
        package: version for package, version in versions.items() if version
    }
