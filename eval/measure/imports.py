"""What a command costs before it does anything: processor time and memory of help pages and of a question, and imports.

Each command is a process of its own; the least of several runs counts, since other work on the machine only adds. The
question is asked over the bundled sample with MiniLM, cold (nothing kept, the model not exported yet) and warm.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from eval.support.report import Report, options
from fedkg.bench.report import markdown

QUESTION = "Where was the spouse of the director of King Kong born?"
TARGETS = {"--help": 0.1, "ask, warm": 0.6, "ask, cold": 3.0}
"""Seconds of processor time at most."""
EMBEDDED = 50
"""New labels that the cold question embeds at least."""
TIMES = 9
LINE = re.compile(r"import time: +(\d+) \| +(\d+) \|( *)(\S+)")
SHOWN = 20


class Cost(NamedTuple):
    """What one process took."""

    seconds: float
    megabytes: float


def main() -> None:
    """Measures the commands and shows what the warm question imports."""
    chosen = options(__doc__ or "").parse_args()
    report = Report("imports", write=chosen.write)
    report.add("target, seconds of processor time", TARGETS)
    python = [sys.executable, "-m", "fedkg"]
    ask = [*python, "ask", QUESTION, "-e", "sample", "--embedder", "minilm"]
    with tempfile.TemporaryDirectory() as cache:
        cold = cost(ask, cache)
        with tempfile.TemporaryDirectory() as other:
            shown = subprocess.run([*ask, "--json"], env=environment(other), capture_output=True, check=True).stdout
        labels = json.loads(shown)["usage"]["labels_embedded"]
        if labels < EMBEDDED:
            raise RuntimeError(f"the cold question embeds {labels} labels; another one is needed")
        report.add("labels that the cold question embeds", {"labels": labels, "at least": EMBEDDED})
        rows = {
            "python -c pass": least([sys.executable, "-c", "pass"], cache),
            "--help": least([*python, "--help"], cache),
            "ask --help": least([*python, "ask", "--help"], cache),
            "ask, cold": cold,
            "ask, warm": least(ask, cache),
        }
        imported = min((imports(ask, cache) for _ in range(TIMES)), key=lambda rows: rows[0]["ms"])
    figures = [{"command": name, "processor s": row.seconds, "peak MB": row.megabytes} for name, row in rows.items()]
    report.add("commands", figures)
    report.add("imports of the warm question, ms", imported)
    report.attach("md", page(figures, imported))
    report.close()


def least(command: list[str], cache: str) -> Cost:
    """The least of several runs."""
    costs = [cost(command, cache) for _ in range(TIMES)]
    return Cost(min(cost.seconds for cost in costs), min(cost.megabytes for cost in costs))


def cost(command: list[str], cache: str) -> Cost:
    """Processor time and peak memory of one run. Raises RuntimeError where it fails."""
    process = subprocess.Popen(command, env=environment(cache), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(round(usage.ru_utime + usage.ru_stime, 3), round(usage.ru_maxrss / 1024, 1))


def imports(command: list[str], cache: str) -> list[dict[str, Any]]:
    """The packages that take longest to import, by `python -X importtime`: wall time of their modules by themselves."""
    traced = [command[0], "-X", "importtime", *command[1:]]
    done = subprocess.run(traced, env=environment(cache), capture_output=True, text=True, check=True)
    taken, modules = Counter[str](), Counter[str]()
    for match in map(LINE.match, done.stderr.splitlines()):
        if match:
            package = match[4].partition(".")[0]
            taken[package] += int(match[1])
            modules[package] += 1
    rows = [("all", taken.total(), modules.total())]
    rows += [(name, micros, modules[name]) for name, micros in taken.most_common(SHOWN)]
    return [{"package": name, "ms": round(micros / 1000, 1), "modules": count} for name, micros, count in rows]


def environment(cache: str) -> dict[str, str]:
    """As a user's, with a cache of its own, and what was compiled kept."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"FEDKG_CACHE_DIR": str(Path(cache) / "cache"), "XDG_CONFIG_HOME": str(Path(cache) / "config")}


NOTE = f"""# Start of the command

Least of {TIMES} runs; `python eval/measure/imports.py --write`. A peak below that of the measuring process, some 30 MB,
is not seen.
"""
IMPORTED = "What the warm question imports, ms of each package's own modules (`-X importtime`, which adds some):\n"


def page(figures: list[dict[str, Any]], imported: list[dict[str, Any]]) -> str:
    """The tables."""
    return "\n".join([NOTE, markdown.records(figures), IMPORTED, markdown.records(imported)])


if __name__ == "__main__":
    main()
