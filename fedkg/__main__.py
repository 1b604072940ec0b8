"""The command `fedkg`, and `python -m fedkg`, as a process of its own."""

import gc
import signal

__all__ = ["run"]

ALLOCATIONS = 200_000
"""Objects made between two looks for garbage; a question and its imports make some 100,000, nearly all of which
stay, and a look at so many takes 20 ms and more."""


def run() -> None:
    """Runs the command; Ctrl-C ends the process in silence before the command begins and after it has ended."""
    gc.set_threshold(ALLOCATIONS)
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules load nothing is under way
    from fedkg.cli.main import main  # noqa: PLC0415  # loads under the handler above

    try:
        main(prog_name="fedkg")
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is printed and closed
        gc.freeze()  # the process ends: nothing is looked through once more


if __name__ == "__main__":
    run()
