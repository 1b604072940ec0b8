"""The description of the interface: paths as the routes have them, records as msgspec writes and reads them."""

import copy
import inspect
from importlib.metadata import version
from typing import Any, get_args

import msgspec
from litestar import Request
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from fedkg.core.answer import Answer
from fedkg.core.events import Event, Reached
from fedkg.core.question import FEWEST_OPTIONS, Match
from fedkg.core.terms import Iri, Term
from fedkg.engine.documents import NeighboursDocument, VerifyDocument
from fedkg.engine.proof_queries import ProofQuery
from fedkg.serve.records import EVENT_STREAM, AskRequest, Health, Kept, Offer, Ping, Problem

__all__ = ["answer_schema", "config", "is_term"]

RECORDS = (AskRequest, Answer, Match, NeighboursDocument, VerifyDocument, ProofQuery, Offer, Health, Problem)
"""All that goes over HTTP; the records within them follow by themselves."""
STREAMED = (*(kind for kind in get_args(Event) if kind is not Reached), Kept, Ping, Problem)
"""The records of a walk's stream; each message is called by its record's class."""
STREAM = {
    "type": "array",
    "description": "Server-sent events; the last is Answered, or Kept after it, or Problem.",
    "items": {"$ref": "#/components/schemas/StreamedEvent"},
}
IRI = r"<[\s\S]+>"
ESCAPE = r"\\(?:[tbnrf\"'\\]|u[0-9A-Fa-f]{4}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})"
LITERAL = rf'"(?:[^"\\\n\r]|{ESCAPE})*"(?:@[\s\S]+|\^\^{IRI})?'
"""What is read back: whatever an endpoint returned, also where no query could carry it."""
ONE_CHOICE = [
    {"properties": {"options": {"maxItems": 0}}},
    {
        "required": ["options"],
        "properties": {
            "options": {"minItems": FEWEST_OPTIONS, "uniqueItems": True},
            "kind": {"enum": [None, "choice"]},
        },
    },
]
"""What a question's type does not tell: that options are those of a choice, and one is none."""


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
        """The description as JSON, with the events of a walk, which no type of a route tells."""
        schemas = {**_schemas(), "StreamedEvent": {"oneOf": [_message(record) for record in STREAMED]}}
        paths = copy.deepcopy(openapi_schema["paths"])
        paths["/ask"]["post"]["responses"]["200"]["content"][EVENT_STREAM] = {"schema": STREAM}
        components = {**openapi_schema["components"], "schemas": schemas}
        return self.render_json(request, {**openapi_schema, "paths": paths, "components": components})


def _schemas() -> dict[str, Any]:
    """The schema of each record by its name."""
    template = "#/components/schemas/{name}"
    records = (*RECORDS, *STREAMED)
    schemas = msgspec.json.schema_components(records, schema_hook=_term_schema, ref_template=template)[1]
    return {**schemas, "AskRequest": {**schemas["AskRequest"], "anyOf": ONE_CHOICE}}


def _message(record: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one server-sent event: what it is called, and the JSON that it holds."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": f"#/components/schemas/{record.__name__}"},
    }
    event = {"const": record.__name__}
    return {"type": "object", "required": ["event", "data"], "properties": {"event": event, "data": data}}


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
    if issubclass(kind, Iri):
        return {"type": "string", "description": "an IRI in N-Triples syntax", "pattern": f"^{IRI}$"}
    pattern = rf"^(?:{IRI}|_:[\s\S]+|{LITERAL})$"
    return {"type": "string", "description": "a term in N-Triples syntax", "pattern": pattern}
