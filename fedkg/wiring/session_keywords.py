"""All that a Session takes by name: its settings, and the objects that stand in for what settings name."""

from pathlib import Path

from fedkg.cache.store import Store
from fedkg.config.keywords import SettingsKeywords
from fedkg.config.settings import Settings
from fedkg.embed.base import Similarity
from fedkg.engine.transcript import TranscriptSink
from fedkg.graph.base import Graph
from fedkg.llm.base import ChatModel
from fedkg.llm.ledger import Account
from fedkg.methods.base import Method
from fedkg.reasoner.base import ReasonerFactory, ReasoningModel
from fedkg.retrieval.base import Retriever
from fedkg.transport.base import Transport

__all__ = ["SessionKeywords"]


class SessionKeywords(SettingsKeywords, total=False):
    """The keyword arguments of `Session`, `ask` and `aask`.

    `settings` are ready ones, instead of single settings. `transport` is one more endpoint, `graph` is used as it is,
    instead of endpoints. `reasoner` decides instead of the model that is named, or makes one around it for each
    question; `chat` is asked instead of that model, `similarity` instead of the embedder, `store` instead of the cache;
    `retriever` and `method` are names or objects. `account` is that of several sessions that share a budget;
    `transcript` is a file, or a sink of your own, for each call of the model.
    """

    settings: Settings | None
    transport: Transport | None
    graph: Graph | None
    reasoner: ReasoningModel | ReasonerFactory | None
    chat: ChatModel | None
    similarity: Similarity | None
    store: Store | None
    retriever: str | Retriever | None
    method: str | Method | None
    account: Account | None
    transcript: str | Path | TranscriptSink | None
