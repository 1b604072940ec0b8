"""A session for one command: what was tried is told where an endpoint fails, what is kept where it is interrupted."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fedkg.cli.contact import contacted
from fedkg.cli.show import counted
from fedkg.config.settings import Settings
from fedkg.errors import EndpointError, OfflineError

if TYPE_CHECKING:
    from fedkg.session import Session

__all__ = ["interruptible", "opened"]


@contextmanager
def opened(settings: Settings, transcript: str | None = None) -> Iterator["Session"]:
    """A session that is closed at the end; a missing contact is asked for first. `transcript` is the file of one.

    Raises InputError for settings that cannot be wired.
    """
    from fedkg.session import Session  # noqa: PLC0415  # a help page opens none

    started = time.monotonic()
    with interruptible(settings), Session(settings=contacted(settings), transcript=transcript) as session:
        try:
            yield session
        except EndpointError as error:
            requests = counted(session.meter.usage().requests, "request")
            asked = f", the last for {error.asked}" if error.asked else ""
            error.add_note(f"tried: {requests} in {time.monotonic() - started:.1f} s{asked}")
            raise
        except OfflineError as error:
            if not settings.cache:
                error.hint = "without its cache nothing can be had offline: leave out --no-cache, or --mode offline"
            raise


@contextmanager
def interruptible(settings: Settings) -> Iterator[None]:
    """Lets a person who presses Ctrl-C know what remains."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if settings.cache:
            stop.add_note("what was fetched until now stays cached; the same command goes on from there")
        raise
