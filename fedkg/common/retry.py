"""How what failed is tried again: after growing waits, and without a warning for each.

That a service is asked again is daily business and a line for those who debug; giving up is an error of its own.
"""

from collections.abc import AsyncIterable, Callable

import stamina
from stamina import instrumentation

from fedkg.errors import FedkgError

__all__ = ["LONGEST", "retrying"]

LONGEST = 5.0
"""Seconds of the longest wait that is not one that the other side asked for."""


def retrying(on: Callable[[Exception], bool | float], attempts: int) -> AsyncIterable[stamina.Attempt]:
    """At most that many attempts, each a context manager, until one ends without an exception.

    `on` says of an exception whether to try again, or after how many seconds; otherwise it is raised.
    """
    return stamina.retry_context(on=on, attempts=attempts, timeout=None, wait_max=LONGEST)


def _quiet(hook: instrumentation.RetryHook) -> instrumentation.RetryHook:
    """The hook for everybody else's retries."""
    return lambda details: None if isinstance(details.caused_by, FedkgError) else hook(details)


instrumentation.set_on_retry_hooks(map(_quiet, instrumentation.get_on_retry_hooks()))
