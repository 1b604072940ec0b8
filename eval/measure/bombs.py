"""What replies that are made to fill a client's memory or time do to it: one question each, in a process of its own.

A real server on loopback sends the reply to every request; a real Session asks, with a time limit. Shown are the bytes
of one reply on the wire, the peak of the process's resident memory, the seconds of the question and how it ended. With
`--package FOLDER` it is another version of fedkg that asks; `--as NAME` keeps the figures under another name.
"""

import asyncio
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from eval.support.bombs import SHAPES, TOPIC, Bomb
from eval.support.report import FOLDER, Report, options
from fedkg.session import Session

SECONDS, MORE, MEMORY = 6.0, 2.0, 400.0
"""The question's time limit, how much longer it may take, and megabytes that it may take."""
PATIENCE, MOST = 20.0, 8 << 30
"""Seconds and bytes after which the process is ended: for versions that keep no limit."""
COLUMNS = ("shape", "bytes on the wire", "requests", "peak, MB", "seconds", "outcome")


class Outcome(msgspec.Struct, frozen=True):
    """What became of the question, and the peak of its process's memory in megabytes."""

    peak: float
    seconds: float
    outcome: str


def main() -> None:
    """Asks over each shape, or, as the process that the script starts, once."""
    parser = options(__doc__ or "")
    parser.add_argument("--package", type=Path, default=FOLDER.parent, help="folder of the fedkg that asks")
    parser.add_argument("--as", dest="name", default="bombs", help="name of the result file")
    parser.add_argument("--only", default="", help="shapes with this in their name")
    parser.add_argument("--ask", metavar="URL", help="asks once; for the script itself")
    chosen = parser.parse_args()
    if chosen.ask:
        print(msgspec.json.encode(question(chosen.ask)).decode())
        return
    report = Report(chosen.name, write=chosen.write)
    report.add("limits", {"question, s": SECONDS, "more, s": MORE, "memory, MB": MEMORY})
    rows = []
    for name in SHAPES:
        if chosen.only in name:
            rows.append(asyncio.run(measured(name, chosen.package)))
            print(*rows[-1].values(), sep=" | ", flush=True)
    over = [row["shape"] for row in rows if row["peak, MB"] > MEMORY or row["seconds"] > SECONDS + MORE]
    report.figures["shapes"] = rows
    report.add("beyond the limits", over)
    report.attach("md", table(rows))
    report.close()


async def measured(name: str, package: Path) -> dict[str, Any]:
    """The row of that shape."""
    bomb = Bomb(SHAPES[name])
    async with bomb.running() as url:
        outcome = await asyncio.to_thread(asked, url, package)
    wire = bomb.sent // max(1, bomb.requests)
    figures = (name, wire, bomb.requests, outcome.peak, outcome.seconds, outcome.outcome)
    return dict(zip(COLUMNS, figures, strict=True))


def asked(url: str, package: Path) -> Outcome:
    """What became of a question in a process of its own."""
    command = [sys.executable, __file__, "--ask", url]
    path = os.pathsep.join((str(package), str(FOLDER.parent)))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST, MOST))
    assert process.stdout, "it is a pipe"
    process.stdout.readline()
    started = time.monotonic()
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        peak = resident(process.pid)
        process.kill()
        process.communicate()
        return Outcome(peak, round(time.monotonic() - started, 1), "had to be ended")
    try:
        return msgspec.json.decode(output, type=Outcome)
    except msgspec.MsgspecError:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        return Outcome(0.0, round(time.monotonic() - started, 1), f"crashed: {last[0][:200]}")


def question(url: str) -> Outcome:
    """What becomes of a question to that endpoint, until nothing of it is left to be done."""
    print("ready", flush=True)
    started = time.monotonic()
    try:
        outcome = asyncio.run(ask(url))
    except Exception as error:  # noqa: BLE001  # whatever gets out here is what the run looks for
        outcome = f"{type(error).__name__}: {error}"[:200]
    return Outcome(resident(os.getpid()), round(time.monotonic() - started, 1), outcome)


async def ask(url: str) -> str:
    """Status and first gap of the answer."""
    chosen: dict[str, Any] = {"budget.seconds": SECONDS}
    async with Session(url, model="local", embedder="bm25", cache=False, **chosen) as session:
        answer = await session.ask("Who is the spouse of the topic?", [TOPIC])
    return f"{answer.status}{''.join(f'; {gap.reason}' for gap in answer.gaps[:1])}"[:200]


def resident(process: int) -> float:
    """The peak of the resident memory in megabytes, as Linux counts it."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3, 1)


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown, beside the memory and the time of an earlier version where these are kept."""
    kept = FOLDER / "results" / "bombs_before.json"
    figures = msgspec.json.decode(kept.read_bytes())["figures"]["shapes"] if kept.is_file() else []
    before = {row["shape"]: (row["peak, MB"], row["seconds"]) for row in figures}
    columns = (*COLUMNS, "peak before, MB", "seconds before")
    lines = [columns, ["---"] * len(columns), *([*row.values(), *before.get(row["shape"], "  ")] for row in rows)]
    return "".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
