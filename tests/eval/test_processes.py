"""What servers take of the processor, as the system tells it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.support.processes import processor_seconds

STARTED = """
import subprocess, sys

child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_what_a_child_has_started_counts() -> None:
    """A server may have a worker that does all the work; programs of another name do not count."""
    program, end = Path(sys.executable).name, time.monotonic() + 30
    with subprocess.Popen([sys.executable, "-c", STARTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout
        server.stdout.readline()
        own = processor_seconds(program)
        while processor_seconds(program) < own + 0.1 and time.monotonic() < end:
            time.sleep(0.02)
        assert processor_seconds(program) >= own + 0.1
        assert processor_seconds("no-such-program") == 0.0
        server.communicate(b"")
