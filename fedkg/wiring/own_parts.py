"""What a caller brings along, in place of what the settings would name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fedkg.cache.store import Store
from fedkg.config.settings import Settings, load, masked
from fedkg.embed.base import Similarity
from fedkg.engine.transcript import TranscriptSink
from fedkg.errors import InputError, SettingsError
from fedkg.graph.base import Graph
from fedkg.llm.base import ChatModel
from fedkg.methods import registry as methods
from fedkg.methods.base import Method
from fedkg.reasoner.base import ReasonerFactory, ReasoningModel
from fedkg.retrieval import registry as retrievers
from fedkg.retrieval.base import Retriever
from fedkg.transport.base import Transport
from fedkg.wiring.endpoints import EndpointObject

__all__ = ["OwnParts", "chosen_settings"]


@dataclass(frozen=True, slots=True)
class OwnParts:
    """The caller's own objects, None for what the settings name; the caller closes them."""

    endpoints: Sequence[EndpointObject] = ()
    transport: Transport | None = None
    graph: Graph | None = None
    reasoner: ReasoningModel | ReasonerFactory | None = None
    chat: ChatModel | None = None
    similarity: Similarity | None = None
    store: Store | None = None
    retriever: Retriever | None = None
    method: Method | None = None
    transcript: str | Path | TranscriptSink | None = None

    @property
    def whole_reasoner(self) -> ReasoningModel | None:
        """The caller's reasoner, where it is one that sees to its calls by itself, and stands for the model, too."""
        # None first: it is asked for with each question, and a look at all that a protocol demands takes its time
        return self.reasoner if self.reasoner is not None and isinstance(self.reasoner, ReasoningModel) else None

    def check(self, specs: Sequence[str]) -> None:
        """Raises InputError where two of them, or one and the endpoints' names, exclude each other."""
        if self.graph is not None and (specs or self.endpoints or self.transport is not None):
            raise InputError("a graph is given, and endpoints besides", hint="leave one of them out")
        if self.chat is not None and self.whole_reasoner is not None:
            raise InputError("a chat model is given, and a reasoning model besides", hint="leave one of them out")

    def in_settings(self, settings: Settings) -> Settings:
        """The settings with the names of what stands in for theirs, so that an answer says who was asked."""
        model = self.chat or self.whole_reasoner
        settings = msgspec.structs.replace(settings, model=masked(model.name)) if model else settings
        if self.similarity is not None:
            settings = msgspec.structs.replace(settings, embedder=masked(self.similarity.name))
        settings = msgspec.structs.replace(settings, endpoints=()) if self.graph is not None else settings
        if self.retriever is not None:
            search = msgspec.structs.replace(settings.search, retriever=retrievers.name_of(self.retriever))
            settings = msgspec.structs.replace(settings, search=search)
        return msgspec.structs.replace(settings, method=methods.name_of(self.method)) if self.method else settings


def chosen_settings(specs: Sequence[str], settings: Settings | None, options: Mapping[str, object]) -> Settings:
    """What the caller gave: ready settings, or options by name; endpoints go with both."""
    chosen = _chosen(specs, settings, options)
    if chosen.refresh and chosen.mode == "offline":
        raise SettingsError("nothing can be refreshed in offline mode", hint="leave out --refresh, or --mode offline")
    return chosen


def _chosen(specs: Sequence[str], settings: Settings | None, options: Mapping[str, object]) -> Settings:
    if settings is None:
        return load(flags={"endpoints": specs, **options})
    if given := ", ".join(sorted(name for name, value in options.items() if value is not None)):
        raise SettingsError(f"settings are given, and options besides: {given}", hint="put them into the settings")
    return msgspec.structs.replace(settings, endpoints=tuple(specs)) if specs else settings
