"""`kill -9` at random moments of a run, 200 times: after resuming, the result equals that of a run that was left alone.

MetaQA's questions of one hop, all 2,000, with BM25, eight at a time. Each start is killed after half of to three times
as long as it takes to the first record; then the same command is started again. A run that comes to its end in between
is compared like the last one, and the next start begins a new one. Records are compared without what they cost.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from eval.support.report import Report, options, require
from fedkg.bench.run import results
from fedkg.bench.run.results import BenchmarkResult
from fedkg.core.usage import Usage

NAME = "metaqa-1hop"
SEED = 6


def main() -> None:
    """Kills, resumes and compares."""
    parser = options(__doc__ or "")
    parser.add_argument("--kills", type=int, default=200)
    chosen = parser.parse_args()
    require(chosen.data, f"{NAME}-test.jsonl.gz", "metaqa.nt.gz")
    report = Report("kills", write=chosen.write)
    with tempfile.TemporaryDirectory() as folder:
        for name, figures in measured(Runs(chosen.data, Path(folder)), chosen.kills).items():
            report.add(name, figures)
    report.close()


class Runs:
    """The same command, again and again, over one cache; `killed` is the file of the run that is killed."""

    def __init__(self, data: Path, folder: Path) -> None:
        self._data = data
        self._folder = folder
        self.killed = folder / "killed" / f"{NAME}.jsonl"
        self.whole = folder / "whole" / f"{NAME}.jsonl"

    def start(self, out: str) -> "subprocess.Popen[bytes]":
        """The command as a process."""
        command = [sys.executable, "-m", "fedkg", "eval", "run", NAME, "--data", str(self._data), "--embedder", "bm25"]
        environment = os.environ | {"FEDKG_CACHE_DIR": str(self._folder / "cache")}
        out_of_sight = subprocess.DEVNULL
        return subprocess.Popen(
            [*command, "--concurrency", "8", "--out", str(self._folder / out)],
            env=environment,
            stdout=out_of_sight,
            stderr=out_of_sight,
        )

    def finish(self, out: str) -> int:
        """Lets it come to its end; the exit code."""
        with self.start(out) as running:
            return running.wait()


def measured(runs: Runs, kills: int) -> dict[str, dict[str, float]]:
    """The figures of so many kills."""
    runs.finish("whole")
    expected = comparable(runs.whole)
    first = until_first_record(runs)
    draw, seen, equal = random.Random(SEED), Counter[str](), []
    while seen["kills"] < kills:
        seen.update(killed(runs, draw.uniform(0.5 * first, 3 * first)))
        if runs.killed.is_file() and runs.killed.read_bytes().count(b"\n") > len(expected[1]):
            equal.append(comparable(runs.killed) == expected)
            runs.killed.unlink()
    code = runs.finish("killed")
    equal.append(comparable(runs.killed) == expected)
    moments: dict[str, float] = {
        name: seen[name] for name in ("kills", "before the first record", "within a line", "too late")
    }
    outcome: dict[str, float] = {
        "questions": len(expected[1]),
        "runs that came to their end": len(equal),
        "of them equal": sum(equal),
        "last exit code": code,
    }
    return {"moments": moments | {"seconds to the first record": round(first, 2)}, "outcome": outcome}


def killed(runs: Runs, seconds: float) -> Counter[str]:
    """Starts the run and kills it after so long; what it was doing then."""
    before = size(runs.killed)
    with runs.start("killed") as running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(seconds)
        running.send_signal(signal.SIGKILL)
    if running.returncode not in {0, -signal.SIGKILL}:
        sys.exit(f"kills.py: a start ended with {running.returncode}")
    if running.returncode == 0:
        return Counter({"too late": 1})
    data = runs.killed.read_bytes() if runs.killed.is_file() else b""
    grown = data.rfind(b"\n") + 1 > before
    return Counter(
        {"kills": 1, "before the first record": not grown, "within a line": bool(data[data.rfind(b"\n") + 1 :])}
    )


def until_first_record(runs: Runs) -> float:
    """Seconds from the start to the first record; the run that shows it is killed and forgotten."""
    began = time.monotonic()
    with runs.start("killed") as running:
        while not runs.killed.is_file() or runs.killed.read_bytes().count(b"\n") < 2:
            time.sleep(0.01)
        taken = time.monotonic() - began
        running.send_signal(signal.SIGKILL)
    runs.killed.unlink()
    return taken


def size(file: Path) -> int:
    """Bytes of whole lines."""
    return file.read_bytes().rfind(b"\n") + 1 if file.is_file() else 0


def comparable(file: Path) -> tuple[object, dict[str, object]]:
    """Header and records of a result; the records by their questions and without what they cost. Each is there once."""
    result: BenchmarkResult = results.read(file)
    records = {record.id: msgspec.structs.replace(record, usage=Usage()) for record in result.records}
    assert file.read_bytes().count(b"\n") == 1 + len(records), "no question is there twice"
    return result.header, dict(records)


if __name__ == "__main__":
    main()
