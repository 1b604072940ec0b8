"""The description of the interface: paths as the routes have them, records as msgspec writes and reads them."""

import inspect
from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Request
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from fedkg.core.answer import Answer
from fedkg.core.question import Match
from fedkg.core.terms import Term
from fedkg.engine.documents import NeighboursDocument, VerifyDocument
from fedkg.engine.proof_queries import ProofQuery
from fedkg.serve.records import AskRequest, Health, Offer, Problem

__all__ = ["answer_schema", "config", "is_term"]

RECORDS = (AskRequest, Answer, Match, NeighboursDocument, VerifyDocument, ProofQuery, Offer, Health, Problem)
"""All that goes over HTTP; the records within them follow by themselves."""
TERM = {
    "type": "string",
    "description": "a term in N-Triples syntax",
    "pattern": r'^(<[^<>]+>|_:.+|"([^"\\\n\r]|\\.)*"(@.+|\^\^<.+>)?)$',
}


def config() -> OpenAPIConfig:
    """What Litestar is told; the description lies at /schema/openapi.json, and there are no pages around it."""
    token = SecurityScheme(type="http", scheme="bearer", description="Needed where the server has tokens.")
    return OpenAPIConfig(
        title="fedkg",
        version=version("fedkg"),
        description="Grounded answers, with a proof, from knowledge graphs that stay where they are.",
        components=Components(security_schemes={"token": token}),
        security=[{}, {"token": []}],
        render_plugins=[Description()],
        path="/schema",
        use_handler_docstrings=True,
    )


class Description(JsonRenderPlugin):
    """The description with msgspec's schemas of the records: Litestar's own leave out what it does not know."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The description as JSON."""
        template = "#/components/schemas/{name}"
        _, schemas = msgspec.json.schema_components(RECORDS, schema_hook=_term_schema, ref_template=template)
        components = {**openapi_schema["components"], "schemas": schemas}
        return self.render_json(request, {**openapi_schema, "components": components})


def answer_schema() -> dict[str, Any]:
    """The JSON schema of the answer document."""
    return msgspec.json.schema(Answer, schema_hook=_term_schema)


def is_term(kind: Any) -> bool:
    """Whether that is the class of a term."""
    return inspect.isclass(kind) and issubclass(kind, Term)


def _term_schema(kind: type) -> dict[str, str]:
    """The schema of a term. Raises NotImplementedError for what is none, as msgspec wants it."""
    if not is_term(kind):
        raise NotImplementedError
    return TERM
