"""Acknowledging what has come of a reply at once.

Linux holds an acknowledgement back for some 40 ms, in the hope that data go the other way; a server that sends by
Nagle's algorithm (RFC 896), as Virtuoso 7 does, keeps the end of a long reply until all before it is acknowledged. Each
such reply then comes 40 ms late, which is more than the engine takes for a hop of fifty entities.
"""

import asyncio
import contextlib
import socket

__all__ = ["acknowledge"]

QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""Linux's option of a socket; other systems have none."""


def acknowledge(transport: asyncio.BaseTransport | None) -> None:
    """Acknowledges what has come, and what comes next as it is read; does nothing where the system has no such option.

    The option does not last (tcp(7)): this is for after the head of a reply, and after each piece of its body.
    """
    connection = transport.get_extra_info("socket") if transport and QUICK_ACK is not None else None
    if connection is not None:
        with contextlib.suppress(OSError):  # closed meanwhile, or no TCP
            connection.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)
