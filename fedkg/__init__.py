"""fedkg: grounded answers, with a proof, from knowledge graphs that stay where they are.

    import fedkg

    answer = fedkg.ask("Who are the children of Marie Curie?", "sample", depth=1)
    print(answer.text())

`aask` is the same for asynchronous programs; a `Session` serves many questions over one set of connections.
docs/python.md tells the rest.
"""

import importlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from fedkg.errors import (
    BudgetError,
    CacheError,
    EndpointError,
    FedkgError,
    InputError,
    ModelError,
    PluginError,
    SessionClosedError,
)

if TYPE_CHECKING:
    from fedkg.cache.store import Store
    from fedkg.config.dialects import Dialect
    from fedkg.config.endpoint_spec import CachedEndpoint, Endpoint, SparqlWrapper
    from fedkg.config.keywords import SettingsKeywords
    from fedkg.config.settings import Budget, SearchSettings, Settings, Ttl
    from fedkg.core.answer import Answer
    from fedkg.core.caveat import Caveat, CaveatKind
    from fedkg.core.conversation import Turn
    from fedkg.core.events import (
        Answered,
        Chosen,
        Computed,
        Event,
        Fetched,
        Judged,
        Linked,
        Planned,
        Proposed,
        Ranked,
        Reached,
        Scored,
        Verified,
        Warned,
    )
    from fedkg.core.meter import Meter
    from fedkg.core.operation import Computation, Condition, Deciding, SetChain
    from fedkg.core.path import Neighbourhood
    from fedkg.core.proof import AnswerValue, Path, PathEdge, Status
    from fedkg.core.question import Kind, Match, Plan
    from fedkg.core.rendering import Span
    from fedkg.core.terms import Blank, DirectedRelation, Direction, Edge, Iri, Literal, Qualifier, Term, Through
    from fedkg.core.usage import Gap, ModelCall, Usage
    from fedkg.display.walk_progress import NotebookProgress
    from fedkg.embed.base import Embedder, IndexedLabels, Similarity
    from fedkg.engine.conversation import FollowUp
    from fedkg.engine.documents import PathsDocument
    from fedkg.engine.estimate import Cost, Estimate
    from fedkg.engine.lookup import Checked
    from fedkg.engine.query_check import QueryCheck
    from fedkg.engine.transcript import Transcript, TranscriptSink
    from fedkg.graph.base import Graph
    from fedkg.graph.hidden_edges import HiddenEdges
    from fedkg.graph.identity import Identity
    from fedkg.llm.base import ChatModel
    from fedkg.llm.ledger import Account
    from fedkg.methods.base import Method
    from fedkg.reasoner.base import Call, ReasonerFactory, ReasoningModel
    from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext, Retriever
    from fedkg.session import Session
    from fedkg.transport.base import Transport
    from fedkg.transport.host_state import HostRegistry
    from fedkg.wiring.check.report import EndpointReport, Finding, Grade
    from fedkg.wiring.session_keywords import SessionKeywords

    __version__: str

__all__ = [
    "Account",
    "Answer",
    "AnswerValue",
    "Answered",
    "Blank",
    "Budget",
    "BudgetError",
    "CacheError",
    "CachedEndpoint",
    "Call",
    "Caveat",
    "CaveatKind",
    "ChatModel",
    "Checked",
    "Chosen",
    "Computation",
    "Computed",
    "Condition",
    "Cost",
    "Deciding",
    "Dialect",
    "DirectedRelation",
    "Direction",
    "Edge",
    "Embedder",
    "Endpoint",
    "EndpointError",
    "EndpointReport",
    "Estimate",
    "Event",
    "FedkgError",
    "Fetched",
    "Finding",
    "FollowUp",
    "Gap",
    "Grade",
    "Graph",
    "HiddenEdges",
    "HostRegistry",
    "Identity",
    "IndexedLabels",
    "InputError",
    "Iri",
    "Judged",
    "Kind",
    "Linked",
    "Literal",
    "Match",
    "Meter",
    "Method",
    "ModelCall",
    "ModelError",
    "Neighbourhood",
    "NotebookProgress",
    "Path",
    "PathEdge",
    "PathsDocument",
    "Plan",
    "Planned",
    "PluginError",
    "Proposed",
    "Qualifier",
    "QueryCheck",
    "Ranked",
    "Ranking",
    "RankingRequest",
    "Reached",
    "ReasonerFactory",
    "ReasoningModel",
    "RetrievalContext",
    "Retriever",
    "Scored",
    "SearchSettings",
    "Session",
    "SessionClosedError",
    "SessionKeywords",
    "SetChain",
    "Settings",
    "SettingsKeywords",
    "Similarity",
    "Span",
    "SparqlWrapper",
    "Status",
    "Store",
    "Term",
    "Through",
    "Transcript",
    "TranscriptSink",
    "Transport",
    "Ttl",
    "Turn",
    "Usage",
    "Verified",
    "Warned",
    "__version__",
    "aask",
    "ask",
]

# a library is silent until the program that uses it says where its log goes
logging.getLogger(__name__).addHandler(logging.NullHandler())

PLACES = {
    "fedkg.cache.store": "Store",
    "fedkg.config.dialects": "Dialect",
    "fedkg.config.endpoint_spec": "CachedEndpoint Endpoint SparqlWrapper",
    "fedkg.config.keywords": "SettingsKeywords",
    "fedkg.config.settings": "Budget SearchSettings Settings Ttl",
    "fedkg.core.answer": "Answer",
    "fedkg.core.caveat": "Caveat CaveatKind",
    "fedkg.core.conversation": "Turn",
    "fedkg.core.events": (
        "Answered Chosen Computed Event Fetched Judged Linked Planned Proposed Ranked Reached Scored Verified Warned"
    ),
    "fedkg.core.meter": "Meter",
    "fedkg.core.operation": "Computation Condition Deciding SetChain",
    "fedkg.core.path": "Neighbourhood",
    "fedkg.core.proof": "AnswerValue Path PathEdge Status",
    "fedkg.core.question": "Kind Match Plan",
    "fedkg.core.rendering": "Span",
    "fedkg.core.terms": "Blank DirectedRelation Direction Edge Iri Literal Qualifier Term Through",
    "fedkg.core.usage": "Gap ModelCall Usage",
    "fedkg.display.walk_progress": "NotebookProgress",
    "fedkg.embed.base": "Embedder IndexedLabels Similarity",
    "fedkg.engine.conversation": "FollowUp",
    "fedkg.engine.documents": "PathsDocument",
    "fedkg.engine.estimate": "Cost Estimate",
    "fedkg.engine.transcript": "Transcript TranscriptSink",
    "fedkg.graph.base": "Graph",
    "fedkg.graph.hidden_edges": "HiddenEdges",
    "fedkg.graph.identity": "Identity",
    "fedkg.llm.base": "ChatModel",
    "fedkg.llm.ledger": "Account",
    "fedkg.methods.base": "Method",
    "fedkg.reasoner.base": "Call ReasonerFactory ReasoningModel",
    "fedkg.retrieval.base": "Ranking RankingRequest RetrievalContext Retriever",
    "fedkg.engine.lookup": "Checked",
    "fedkg.engine.query_check": "QueryCheck",
    "fedkg.session": "Session",
    "fedkg.transport.base": "Transport",
    "fedkg.transport.host_state": "HostRegistry",
    "fedkg.wiring.check.report": "EndpointReport Finding Grade",
    "fedkg.wiring.session_keywords": "SessionKeywords",
}
"""Where the public names live; a module is imported when one of its names is first used (PEP 562)."""
LAZY = {name: module for module, names in PLACES.items() for name in names.split()}


async def aask(
    question: str,
    endpoints: "Endpoint | Sequence[Endpoint]",
    topics: str | Sequence[str] = (),
    *,
    kind: "Kind | None" = None,
    options: Sequence[str] = (),
    **settings: "Unpack[SessionKeywords]",
) -> "Answer":
    """The answer to one question, with its proof.

    `endpoints` is one endpoint or a list of them: profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE, or
    SPARQLWrapper objects. `topics` are labels or IRIs (one, or several) of the entities where the walk starts;
    without them they are looked for in the question. `kind` says what is asked for where the question leaves that
    open, `options` are those of a multiple choice. `settings` are those of `Session`, by name: `depth=2`,
    `max_calls=5`, `model="anthropic:…"`.

    Raises InputError for what cannot be asked, also for a setting that there is not, EndpointError and ModelError for
    what failed. A spent budget raises nothing: the answer then holds what was found, and `usage.spent` names the
    budget.
    """
    async with _session(endpoints, settings) as session:
        return await session.ask(question, topics, kind=kind, options=options)


def ask(
    question: str,
    endpoints: "Endpoint | Sequence[Endpoint]",
    topics: str | Sequence[str] = (),
    *,
    kind: "Kind | None" = None,
    options: Sequence[str] = (),
    **settings: "Unpack[SessionKeywords]",
) -> "Answer":
    """`aask` for callers that are not asynchronous. Raises InputError also where an event loop runs already."""
    with _session(endpoints, settings) as session:
        return session.run(session.ask(question, topics, kind=kind, options=options))


def _session(endpoints: "Endpoint | Sequence[Endpoint]", settings: "SessionKeywords") -> "Session":
    from fedkg.session import Session  # noqa: PLC0415  # importing fedkg stays cheap

    return Session(endpoints, **settings)


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("fedkg")
    if name not in LAZY:
        raise AttributeError(f"module 'fedkg' has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
