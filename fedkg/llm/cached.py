"""Replies that models gave, kept in the cache.

What was asked once is not paid for again, and replays without a model.
"""

import contextlib
import hashlib
import json
from collections.abc import Sequence

import msgspec

from fedkg.cache.off_loop import keep, look_up, off_loop
from fedkg.cache.store import Store
from fedkg.config.settings import DAY
from fedkg.llm.base import ChatModel, Completion, Request

__all__ = ["NAMESPACE", "CachedModel"]

NAMESPACE = "replies"
SECONDS = 36_500 * DAY
"""A reply does not get stale; what the cache holds for ever, though, could not be asked for again."""
MOST = 1 << 40
"""More tokens than any reply can have cost."""


class CachedModel:
    """A ChatModel that asks the one behind it only for replies that the store does not hold.

    A reply is kept under all that it depends on: the model's name, with the URL of its server, and a SHA-256 over the
    request (messages, schema, template, call) and over how the model's record says that it is sent. No key is part of
    it. What fails, is refused or cut raises, so it is never kept; nor is an empty reply. What cannot be read in the
    store is a miss.

    Two questions that ask the same at the same time both pay for it.
    """

    def __init__(self, model: ChatModel, store: Store) -> None:
        self.name = model.name
        self.capability = model.capability
        self._model = model
        self._store = store

    async def complete(self, request: Request) -> Completion:
        """The kept reply, marked so, with the tokens that it cost at first; else the model's.

        Raises what the model raises.
        """
        key = self._key(request)
        values = await look_up(self._store, NAMESPACE, [key])
        if kept := _read(values.get(key)):
            return kept
        reply = await self._model.complete(request)
        if reply.text.strip():
            await keep(self._store, NAMESPACE, {key: _json(reply)}, SECONDS)
        return reply

    async def forget(self, requests: Sequence[Request]) -> None:
        """Drops the replies to these: what could not be used must not be the answer for ever."""
        await off_loop(self._store, self._store.drop, NAMESPACE, [self._key(request) for request in requests])

    async def close(self) -> None:
        """Closes the model behind."""
        await self._model.close()

    def _key(self, request: Request) -> str:
        can = self.capability
        # a whole reply does not depend on how long it might have been, and one that was cut is not kept
        unbound = msgspec.structs.replace(request, most=0, lengths={})
        asked = _json((unbound, can.structured, can.system, can.output))
        return f"{self.name} {hashlib.sha256(asked).hexdigest()}"


def _json(record: object) -> bytes:
    """Also of text that is no Unicode: of a reply that holds some, nothing is read back later."""
    return json.dumps(msgspec.to_builtins(record)).encode()


def _read(value: bytes | None) -> Completion | None:
    """The reply in a value of the store; None where there is none that could have been kept."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        reply = msgspec.json.decode(value or b"", type=Completion)
        counts = [part for part in msgspec.structs.astuple(reply) if isinstance(part, int)]
        if reply.text.strip() and 0 <= min(counts) <= max(counts) < MOST:
            return msgspec.structs.replace(reply, replayed=True)
    return None
