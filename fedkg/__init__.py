"""fedkg: grounded answers, with a proof, from knowledge graphs that stay where they are.

    import fedkg

    answer = fedkg.ask("Who are the children of Marie Curie?", "sample")
    for value in answer.answers:
        print(value.value, [edge.labels for path in value.paths for edge in answer.paths[path].edges])

`aask` is the same for asynchronous programs; a `Session` serves many questions over one set of connections.
"""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fedkg.errors import BudgetError, EndpointError, FedkgError, InputError, ModelError

if TYPE_CHECKING:
    from fedkg.config.settings import Settings
    from fedkg.core.answer import Answer, Path
    from fedkg.core.question import Kind
    from fedkg.graph.base import Graph
    from fedkg.session import Session

    __version__: str

__all__ = [
    "Answer",
    "BudgetError",
    "EndpointError",
    "FedkgError",
    "Graph",
    "InputError",
    "ModelError",
    "Path",
    "Session",
    "Settings",
    "__version__",
    "aask",
    "ask",
]

# where a public name lives; its module is imported when the name is first used (PEP 562)
LAZY = {
    "Answer": "fedkg.core.answer",
    "Graph": "fedkg.graph.base",
    "Path": "fedkg.core.answer",
    "Session": "fedkg.session",
    "Settings": "fedkg.config.settings",
}


async def aask(
    question: str,
    endpoints: Any,
    topics: Sequence[str] = (),
    *,
    kind: "Kind | None" = None,
    options: Sequence[str] = (),
    **settings: Any,
) -> "Answer":
    """The answer to one question, with its proof.

    `endpoints` is one endpoint or a list of them: profile names, URLs, RDF files, PROFILE@URL, PROFILE@FILE, or
    SPARQLWrapper objects. `topics` are labels or IRIs of the entities where the walk starts; without them they are looked
    for in the question. `kind` says what is asked for where the question leaves that open, `options` are those of a multiple
    choice. `settings` are the further arguments of `Session`: settings by name, such as `model="anthropic:…"`.

    Raises InputError for what cannot be asked, EndpointError and ModelError for what failed. A spent budget raises
    nothing: the answer then holds what was found, and `usage.spent` names the budget.
    """
    async with _session(endpoints, settings) as session:
        return await session.ask(question, topics, kind=kind, options=options)


def ask(
    question: str,
    endpoints: Any,
    topics: Sequence[str] = (),
    *,
    kind: "Kind | None" = None,
    options: Sequence[str] = (),
    **settings: Any,
) -> "Answer":
    """`aask` for callers that are not asynchronous. Raises InputError also where an event loop runs already."""
    with _session(endpoints, settings) as session:
        return session.run(session.ask(question, topics, kind=kind, options=options))


def _session(endpoints: Any, settings: dict[str, Any]) -> "Session":
    several = isinstance(endpoints, list | tuple | set | frozenset)
    session: Session = __getattr__("Session")(*(endpoints if several else [endpoints]), **settings)
    return session


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("fedkg")
    if name not in LAZY:
        raise AttributeError(f"module 'fedkg' has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
