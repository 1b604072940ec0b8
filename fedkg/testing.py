"""Fakes that need no service: a chat model, an endpoint, an embedder, and a reasoning model that knows the way."""

from fedkg.embed.hashing import HashingEmbedder
from fedkg.llm.scripted import ScriptedModel
from fedkg.reasoner.gold import GoldChain, GoldChat, GoldCheck, GoldReasoner
from fedkg.transport.fake import FakeTransport

__all__ = ["FakeTransport", "GoldChain", "GoldChat", "GoldCheck", "GoldReasoner", "HashingEmbedder", "ScriptedModel"]
