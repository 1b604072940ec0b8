"""Bundles: a result with all that its questions are asked again from, without data folder or endpoint.

A bundle is a document of a pack; what endpoints, embedder and model returned are the pack's entries. It names neither
folders nor passwords, and what comes out of a pack is checked before it is used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run import runner
from fedkg.bench.run.record import SCHEMA, VERSION, Header, QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.cache.memory import MemoryStore
from fedkg.cache.pack import Content
from fedkg.cache.store import Store
from fedkg.config.endpoint_spec import CachedEndpoint
from fedkg.config.settings import Settings, masked, restored
from fedkg.core.encoding import decode, encode
from fedkg.errors import DatasetError, PackError
from fedkg.llm.base import Capability
from fedkg.session import Session
from fedkg.wiring.adapters import chat_model

__all__ = ["Bundle", "Model", "bundled", "packed", "settings_of", "unpacked"]

HERE = frozenset({*VERSION, "templates", "pack"})
"""What a header says of who asked, and not of what was asked."""


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language model as its replies are kept: by its name, and by what it can do."""

    name: str
    capability: Capability


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result, the questions with their gold answers, and the names of endpoints, embedder and models in the cache.

    `model` is None where none was asked, `writer` where none but that one wrote paths.
    """

    header: Header
    definition: Definition
    questions: tuple[BenchmarkQuestion, ...]
    records: tuple[QuestionRecord, ...]
    endpoints: tuple[CachedEndpoint, ...]
    embedder: str
    model: Model | None = None
    writer: str = ""


async def bundled(
    result: BenchmarkResult,
    definition: Definition,
    data: Path | None,
    local: Settings,
    store: Store,
    *,
    named: Mapping[str, Any] = MappingProxyType({}),
) -> Bundle:
    """The bundle of a result.

    `local` are the settings here, `named` those of the run that its header has without their folders. Nothing is sent,
    but the files of graphs are read. Raises DatasetError where questions, graph or settings are not those of the run,
    and PackError where the pack would contain a secret.
    """
    job = _job(result.header, definition, data, local, named)
    settings = job.work.settings
    asked = {record.id for record in result.records}
    if unknown := asked - {question.id for question in job.questions}:
        raise DatasetError(
            f"{result.header.benchmark} has no question with the id {min(unknown)[:100]!r}, which the result has",
            hint="remove that line of the result file, or name the files of the run by --data",
        )
    async with Session(settings=settings, store=store) as session:
        endpoints, embedder = tuple(map(_bare, await session.kept())), session.similarity.name
    model = _model(settings, settings.model)
    writer = _model(settings, settings.path_model or "local")
    names = [known.name for known in (model, writer) if known]
    _check_public([embedder, *names, *(kept.identity for kept in endpoints)])
    return Bundle(
        header=result.header,
        definition=msgspec.structs.replace(definition, questions=Path(definition.questions).name),
        questions=tuple(question for question in job.questions if question.id in asked),
        records=result.records,
        endpoints=endpoints,
        embedder=embedder,
        model=model,
        writer=writer.name if writer else "",
    )


def settings_of(header: Header, local: Settings) -> Settings:
    """The settings of a run, offline.

    Of what a header does not tell, such as the folder of prompts, they are one's own.
    """
    return msgspec.structs.replace(restored(header.settings, local), mode="offline", refresh=False)


def packed(bundle: Bundle) -> Content:
    """The bundle as a document of a pack, with the licence of its questions."""
    return Content(encode(bundle), bundle.definition.source.licence)


def unpacked(documents: Mapping[str, bytes]) -> dict[str, Bundle]:
    """The bundles of a pack by name. Raises PackError where it has none, and for whatever is none."""
    if not documents:
        raise PackError("this pack holds no results", hint="`fedkg cache import` takes packs of other questions")
    return {name: _read(name, value) for name, value in documents.items()}


def _job(header: Header, definition: Definition, data: Path | None, local: Settings, named: Mapping[str, Any]) -> Job:
    """The run that would give this header. Raises DatasetError where it would be another one."""
    fields = {"endpoints": _endpoints(header, definition)} | dict(named)
    settings = msgspec.structs.replace(settings_of(header, local), **fields)
    job = runner.prepared(
        settings,
        msgspec.structs.replace(definition, depth=settings.search.depth),  # an ablation may have changed it
        data,
        limit=header.limit,
        seed=header.seed,
        skip_bad=bool(header.left_out),
        verify=header.verified,
    )
    names = [name for name in Header.__struct_fields__ if getattr(job.header, name) != getattr(header, name)]
    if differing := ", ".join(name for name in names if name not in HERE):
        hint = "--data, -e and --model name the files of the run, --definition a benchmark of one's own"
        raise DatasetError(f"{header.benchmark}: what is here is not what was asked (other {differing})", hint=hint)
    return job


def _endpoints(header: Header, definition: Definition) -> tuple[str, ...]:
    """The endpoints of a run; none where that was the benchmark's own graph, which is found by itself."""
    endpoints = tuple(header.settings.get("endpoints", ()))
    return () if endpoints == (f"{definition.profile}@{Path(definition.graph).name}",) else endpoints


def _model(settings: Settings, name: str) -> Model | None:
    named = msgspec.structs.replace(settings, model=name)
    if named.local:
        return None
    model = chat_model(named, MemoryStore)  # offline, so that it is only a name
    return Model(model.name, model.capability)


def _bare(kept: CachedEndpoint) -> CachedEndpoint:
    """Without what only matters to who asks."""
    lookup = msgspec.structs.replace(kept.profile.lookup, url=masked(kept.profile.lookup.url))
    return msgspec.structs.replace(
        kept, profile=msgspec.structs.replace(kept.profile, urls=(), file="", source="", lookup=lookup)
    )


def _check_public(names: Sequence[str]) -> None:
    """Raises PackError where the cache knows something by a name with a secret in it."""
    for name in names:
        if masked(name) != name:
            raise PackError(
                f"{masked(name)[:200]} cannot be packed: what is kept of it lies under its full name",
                hint="run it with a URL without password and query, and with models that are no folder",
            )


def _read(name: str, value: bytes) -> Bundle:
    try:
        bundle = decode(value, Bundle)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise PackError(f"the document {name!r} is no result: {error}") from error
    if bundle.header.schema != SCHEMA:
        raise PackError(f"the document {name!r}: schema {bundle.header.schema} is not known (this is {SCHEMA})")
    asked, recorded = ([entry.id for entry in entries] for entries in (bundle.questions, bundle.records))
    if len(set(asked)) != len(asked) or sorted(asked) != sorted(recorded):
        raise PackError(f"the document {name!r}: the questions are not those of the records")
    return bundle
