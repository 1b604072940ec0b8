"""Replay: the questions of a bundle asked once more, offline, from what the cache holds, and how their records differ.

What is compared is what was answered, on which way, and what the model was asked for it. Left out is what depends on
the machine, on what had been kept before, and on the endpoint: time, requests, and which edges it confirmed when it was
asked again.
"""

import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from fedkg.bench.run import provenance
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.bundle import Bundle, settings_of
from fedkg.bench.run.executors import together
from fedkg.bench.run.record import VERSION, Header, QuestionRecord
from fedkg.cache.store import Store
from fedkg.config.settings import Budget, Settings
from fedkg.core.encoding import to_builtins
from fedkg.core.usage import Usage
from fedkg.llm.offline import OfflineModel
from fedkg.session import Session
from fedkg.wiring.adapters import kept_similarity

__all__ = ["ReplayDifference", "differences", "header", "notes", "replayed"]

REPEATED = ("model_calls", "tokens_in", "tokens_out", "cached", "price", "spent")
"""What of its cost a question has again."""
TOLERANCE = 1e-5
"""Scores are sums of 32-bit products, and processors add these in another order."""


class ReplayDifference(msgspec.Struct, frozen=True):
    """A field of a question's record that came out otherwise."""

    id: str
    field: str
    packed: Any
    replayed: Any


async def replayed(
    bundle: Bundle, store: Store, local: Settings, concurrency: int = 1
) -> AsyncIterator[QuestionRecord]:
    """The records as they finish, from `store` alone; `local` has the folder of prompts.

    A question that needs what the store does not hold ends in an error. Raises InputError where the bundle fits no
    session.
    """
    settings = msgspec.structs.replace(
        settings_of(bundle.header, local), endpoints=(), path_model=bundle.writer, cache=False, total_budget=Budget()
    )
    chat = OfflineModel(bundle.model.name, bundle.model.capability) if bundle.model else None
    with kept_similarity(bundle.embedder, store) as similarity:
        work = AskingTask(settings, bundle.definition, verify=False)
        async with Session(
            *bundle.endpoints, settings=settings, chat=chat, similarity=similarity, store=store
        ) as session:
            async for record in together(session, work, bundle.questions, concurrency):
                yield record


def header(bundle: Bundle, local: Settings, pack: str = "") -> Header:
    """The header of the replayed result: what runs here, and the digest of the pack that it comes from."""
    here = provenance.current(settings_of(bundle.header, local))
    return msgspec.structs.replace(bundle.header, **here, pack=pack, verified=False)


def notes(packed: Header, here: Header) -> list[str]:
    """What is otherwise here than where the result comes from, and may be why anything differs."""
    return [
        f"{name}: {before!r} in the pack, {now!r} here"
        for field in (*VERSION, "templates")
        for name, before, now in _pairs(field, getattr(packed, field), getattr(here, field))
    ]


def differences(packed: Sequence[QuestionRecord], again: Sequence[QuestionRecord]) -> list[ReplayDifference]:
    """Each field that differs, question by question in the order of the pack."""
    known = {record.id: record for record in again}
    return [difference for record in packed for difference in _differing(record, known[record.id])]


def _differing(packed: QuestionRecord, again: QuestionRecord) -> Iterator[ReplayDifference]:
    before, now = _comparable(packed), _comparable(again)
    for field in before:
        if not _same(before[field], now[field]):
            yield ReplayDifference(packed.id, field, before[field], now[field])


def _comparable(record: QuestionRecord) -> dict[str, Any]:
    """The record without what cannot come again.

    Of an error only its kind, as its message has guesses at what was meant.
    """
    bare = msgspec.structs.replace(
        record,
        answers=tuple(msgspec.structs.replace(given, confirmed=None) for given in record.answers),
        paths=tuple(tuple(msgspec.structs.replace(edge, confirmed=None) for edge in path) for path in record.paths),
        valid=None,
        usage=Usage(**{name: getattr(record.usage, name) for name in REPEATED}),
        error=record.error.partition(":")[0],
    )
    return {name: to_builtins(getattr(bare, name)) for name in QuestionRecord.__struct_fields__}


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, abs_tol=TOLERANCE)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same(value, second[name]) for name, value in first.items())
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)


def _pairs(field: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """What differs of a field, by name; of a mapping each of its keys."""
    if not isinstance(before, Mapping):
        before, now = {"": before}, {"": now}
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield f"{field} {name}".strip(), before.get(name), now.get(name)
