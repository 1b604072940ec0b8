"""Labels embedded per second: one process with one thread or more, and two processes at once.

The processes start together and embed for the same time; what they embed, distinct labels, is counted. Each case runs
in turn, several times, and the best counts, since other work on the machine only takes away.
"""

import os
import subprocess
import sys
from typing import Any

from eval.support.report import Report, options

SECONDS = 2.0
ROUNDS = 2
CASES = ((1, 1), (1, 2), (2, 1), (2, 2))
"""Processes at once, and threads of each."""
SCRIPT = """
import sys, time
from fedkg.embed import encoder
from fedkg.embed.minilm import minilm
threads, seconds = int(sys.argv[1]), float(sys.argv[2])
encoder._processors = lambda: threads
model = minilm()
model.embed(["warm"])
print("ready", flush=True)
sys.stdin.readline()
number, end = 0, time.monotonic() + seconds
while time.monotonic() < end:
    model.embed([f"label number {number + place} of some graph" for place in range(64)])
    number += 64
print(number / seconds, time.process_time())
"""


def main() -> None:
    """Measures all cases."""
    chosen = options(__doc__ or "").parse_args()
    report = Report("threads", write=chosen.write)
    best: dict[tuple[int, int], float] = {}
    for _ in range(ROUNDS):
        for case in CASES:
            best[case] = max(best.get(case, 0.0), rate(*case))
    report.add("labels per second", [row(*case, best[case]) for case in CASES])
    report.close()


def rate(processes: int, threads: int) -> float:
    """Labels per second of all processes together."""
    command = [sys.executable, "-c", SCRIPT, str(threads), str(SECONDS)]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ) for _ in range(processes)]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return sum(float(process.communicate()[0].split()[0]) for process in started)


def row(processes: int, threads: int, labels: float) -> dict[str, Any]:
    """A row of the table."""
    return {"processes": processes, "threads of each": threads, "labels per second": round(labels)}


if __name__ == "__main__":
    main()
