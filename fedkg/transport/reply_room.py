"""How much memory the replies of one endpoint may take at the same time, however many are under way."""

import threading

__all__ = ["NO_ROOM", "ReplyRoom", "RoomShare"]

NO_ROOM = "sent more bytes in replies at the same time than there is room for"
"""What an error tells of it."""

LEAST = 16_000_000
"""Bytes that there are at least: replies that are small have room beside each other."""


class ReplyRoom:
    """The room for all replies of an endpoint that are held at once: as much as for one of `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._left = max(max_bytes, LEAST)
        # reentrant: a share may be freed wherever memory is allocated
        self._lock = threading.RLock()

    def take(self, size: int) -> bool:
        """Takes so many bytes, or gives them back where `size` is negative; False where they are not there."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True


class RoomShare:
    """The part of the room that one reply takes; it is given back when nothing holds it any more."""

    def __init__(self, room: ReplyRoom) -> None:
        self._room = room
        self._taken = 0

    def take(self, size: int) -> bool:
        """Takes so many bytes more; False where they are not there."""
        has_room = self._room.take(size)
        self._taken += size if has_room else 0
        return has_room

    def __del__(self) -> None:
        self._room.take(-self._taken)
