"""LlamaIndex: a retriever whose nodes are the paths of a proof; docs/adapters.md shows it at work."""

from collections.abc import Sequence

from fedkg.adapters.passages import Passage, completed, passages
from fedkg.core.answer import Answer
from fedkg.errors import MissingExtraError
from fedkg.session import Session

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"the adapter for LlamaIndex needs {error.name}", hint="pip install 'fedkg[llamaindex]'"
    ) from error

__all__ = ["KnowledgeGraphNodes"]

SHOWN = {"endpoints", "caveats"}
"""Metadata that a model is shown with the text."""


class KnowledgeGraphNodes(BaseRetriever):
    """The paths that prove the answer to a question, as nodes: the text is the path in words, an edge a line.

    The metadata are those of `fedkg.adapters.langchain`; a model is shown the endpoints and the caveats. At most `k`
    nodes; none where there is no proof. `topics`, `method` and `endpoints` are those of `Session.ask`. The session is
    the caller's, who closes it.

    Raises fedkg's own errors: InputError for what cannot be asked, EndpointError and ModelError for what failed.
    """

    def __init__(
        self,
        session: Session,
        k: int = 10,
        *,
        topics: Sequence[str] = (),
        method: str = "",
        endpoints: Sequence[str] = (),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._session = session
        self._k = k
        self._topics, self._method, self._endpoints = topics, method, endpoints
        super().__init__(callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(completed(self._session, self._ask(query_bundle)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(await self._ask(query_bundle))

    async def _ask(self, query: QueryBundle) -> Answer:
        return await self._session.ask(query.query_str, self._topics, method=self._method, endpoints=self._endpoints)

    def _nodes(self, answer: Answer) -> list[NodeWithScore]:
        return [_node(passage) for passage in passages(answer, self._k)]


def _node(passage: Passage) -> NodeWithScore:
    names = list(passage.metadata)
    node = TextNode(
        text=passage.text,
        metadata=passage.metadata,
        excluded_embed_metadata_keys=names,
        excluded_llm_metadata_keys=[name for name in names if name not in SHOWN],
    )
    return NodeWithScore(node=node, score=passage.score)
