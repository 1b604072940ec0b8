"""The HTTP interface: routes, who may call them, and what an error looks like.

Litestar, because it reads and writes msgspec's records, which all of fedkg's documents are, and describes them in
OpenAPI: there is no second set of models.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from litestar import Litestar, MediaType, Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.datastructures import ResponseHeader, State
from litestar.di import NamedDependency, Provide
from litestar.exceptions import (
    HTTPException,
    NotAuthorizedException,
    NotFoundException,
    PermissionDeniedException,
)
from litestar.handlers import HTTPRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult, DefineMiddleware
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from litestar.types import ASGIApp

from fedkg.core.answer import Answer
from fedkg.core.encoding import decode, decode_hook, encode_hook
from fedkg.core.events import Answered, Reached
from fedkg.core.question import Match
from fedkg.core.terms import Direction, Term
from fedkg.engine.documents import NeighboursDocument, VerifyDocument
from fedkg.engine.proof_queries import ProofQuery
from fedkg.errors import CacheError, FedkgError, OverLimitError
from fedkg.serve import openapi
from fedkg.serve.assets import asset, page
from fedkg.serve.clients import is_loopback
from fedkg.serve.connections import ClientGoneError, EventResponse, EventStream, until_gone
from fedkg.serve.desk import Desk
from fedkg.serve.metrics import CONTENT_TYPE
from fedkg.serve.records import EVENT_STREAM, MOST_EDGES, MOST_MATCHES, AskRequest, Health, Kept, Offer, Problem, told

__all__ = ["application"]

CLIENT_GONE = 499
"""The status in a log for a client that went away; it reads none."""
MOST_BYTES = 4 << 20
"""Bytes of a request; an answer document to verify is the longest."""
DIRECTIONS: dict[str, tuple[Direction, ...]] = {"out": ("out",), "in": ("in",), "both": ("out", "in")}
PROBLEMS = {
    status: ResponseSpec(Problem, generate_examples=False, description=text)
    for status, text in {
        400: "The request cannot be used.",
        401: "No token, or one that is not known.",
        403: "A page of another site asks, or another name than localhost is used, and there are no tokens.",
        404: "No entity, method or endpoint is called so.",
        413: "The body is too long.",
        415: "The body is not called JSON.",
        429: "Too much at once, or more than the client may spend today.",
        500: "A fault of the server's own.",
        502: "An endpoint or the model did not answer as it should.",
        503: "The server is ending, or lacks what it needs.",
        504: "The endpoints took too long.",
    }.items()
}
LOCATION = ResponseHeader(
    name="Location", value="/answers/NAME", description="Where the answer is kept.", documentation_only=True
)
Text = Annotated[str, QueryParameter(min_length=1, max_length=500)]

log = logging.getLogger(__name__)


class StrictRequest(Request[str, None, State]):
    """A request whose body is its record to the letter: Litestar itself would take true and "5" for numbers."""

    async def json(self) -> Any:
        """The record that the route takes. Raises MsgspecError, TermError."""
        record = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        return decode(await self.body(), record)


TheDesk = NamedDependency[Desk]


@post("/ask", status_code=200, responses=PROBLEMS, response_headers=[LOCATION])
async def ask(data: JSONBody[AskRequest], request: StrictRequest, desk: TheDesk) -> Response[Answer]:
    """The answer to a question, with its proof.

    With `Accept: text/event-stream` the walk as it happens: server-sent events, each called by its kind (Planned,
    Linked, Fetched, Ranked, Chosen, Verified, …); the last is Answered, with the document, or Problem.
    """
    if EVENT_STREAM in request.headers.get("accept", ""):
        stream = EventStream(_records(desk, data, request.user))
        return EventResponse(stream, await until_gone(stream.begun(), request.receive))  # type: ignore[return-value]  # documented as the answer
    answer = await until_gone(desk.answer(data, request.user), request.receive)
    return Response(answer, headers=await _address(desk, answer))


@get(
    "/answers/{name:str}",
    responses=PROBLEMS,
)
async def kept_answer(name: FromPath[str], desk: TheDesk) -> Answer:
    """An answer that was kept, by the address that the reply to its question named."""
    answer = await asyncio.to_thread(desk.shelf.get, name) if desk.shelf else None
    if answer is None:
        raise NotFoundException("no answer is kept there")
    return answer


@get("/search", responses=PROBLEMS)
async def search(
    text: Text, request: StrictRequest, desk: TheDesk, limit: Annotated[int, QueryParameter(ge=1, le=MOST_MATCHES)] = 10
) -> list[Match]:
    """The entities that a text may mean, the best first."""
    return await until_gone(desk.search(text, limit, request.user), request.receive)


@get("/neighbours", responses=PROBLEMS)
async def neighbours(
    entity: Text,
    request: StrictRequest,
    desk: TheDesk,
    direction: FromQuery[Literal["out", "in", "both"]] = "both",
    limit: Annotated[int, QueryParameter(ge=1, le=MOST_EDGES)] = 100,
) -> NeighboursDocument:
    """The edges of an entity, which is given by IRI or label."""
    looking = desk.neighbours(entity, DIRECTIONS[direction], limit, request.user)
    return await until_gone(looking, request.receive)


@post("/verify", status_code=200, responses=PROBLEMS)
async def verify(data: JSONBody[Answer], request: StrictRequest, desk: TheDesk) -> VerifyDocument:
    """Every edge of an answer document asked for again, at the endpoints of this server."""
    return await until_gone(desk.verify(data, request.user), request.receive)


@post("/sparql", status_code=200, responses=PROBLEMS)
async def sparql(data: JSONBody[Answer], request: StrictRequest, desk: TheDesk) -> list[ProofQuery]:
    """The queries that `/verify` asks the endpoints with: for the edges of an answer document. None is sent."""
    return await until_gone(desk.queries(data, request.user), request.receive)


@get("/methods", responses=PROBLEMS)
async def methods(desk: TheDesk) -> Offer:
    """The methods, endpoints and the model that this server was started with."""
    return await desk.offer()


@get("/health", exclude_from_auth=True)
async def health(desk: TheDesk) -> Health:
    """Whether the server answers, and how busy it is."""
    return desk.health()


@get("/metrics", media_type=MediaType.TEXT, include_in_schema=False)
async def metrics(desk: TheDesk) -> Response[bytes]:
    """The counters, in Prometheus' text format."""
    return Response(desk.metrics.text(), media_type=CONTENT_TYPE)


@get("/schema/answer.json", include_in_schema=False)
async def answer_schema() -> dict[str, Any]:
    """The JSON schema of the answer document."""
    return openapi.answer_schema()


ROUTES: list[HTTPRouteHandler] = [
    page,
    asset,
    ask,
    kept_answer,
    search,
    neighbours,
    verify,
    sparql,
    methods,
    health,
    metrics,
    answer_schema,
]


def application(desk: Desk) -> Litestar:
    """The application around a desk; the session is opened with it, and closed when it ends."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with desk.session:
            await desk.open()
            yield

    return Litestar(
        ROUTES,
        dependencies={"desk": Provide(lambda: desk, sync_to_thread=False)},
        middleware=[DefineMiddleware(Doorkeeper, desk=desk)],
        exception_handlers={
            FedkgError: _refused(desk),
            ClientGoneError: _left,
            HTTPException: _http_problem,
            msgspec.MsgspecError: _malformed,
            RecursionError: _too_deep,
            Exception: _failed,
        },
        type_encoders={Term: encode_hook},
        type_decoders=[(openapi.is_term, decode_hook)],
        request_max_body_size=MOST_BYTES,
        openapi_config=openapi.config(),
        lifespan=[lifespan],
        logging_config=None,
        request_class=StrictRequest,
    )


class Doorkeeper(AbstractAuthenticationMiddleware):
    """Lets in those with a token; a server without tokens, which only this machine reaches, no other web site's pages.

    A page of any site can make a browser send requests to this machine; it cannot set the header that says so.
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        super().__init__(app)
        self._clients = desk.clients

    async def authenticate_request(self, connection: ASGIConnection[Any, Any, Any, Any]) -> AuthenticationResult:
        """The client's name. Raises NotAuthorizedException, PermissionDeniedException."""
        if self._clients.open:
            _check_local(connection)
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        name = self._clients.name_of(token.strip() if scheme.lower() == "bearer" else "")
        if name is None:
            raise NotAuthorizedException("a token is needed: Authorization: Bearer TOKEN")
        return AuthenticationResult(name, None)


def _check_local(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
    """Raises PermissionDeniedException for another site's page, and for a name that another site made ours."""
    host = connection.headers.get("host", "localhost")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    if not is_loopback(name.removeprefix("[").removesuffix("]")):
        raise PermissionDeniedException("without tokens the server answers to localhost only")
    if connection.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise PermissionDeniedException("pages of other sites may not ask")
    if connection.scope.get("method") == "POST" and not _is_json(connection.headers.get("content-type", "")):
        raise HTTPException("the body must be application/json", status_code=415)


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


async def _records(desk: Desk, asked: AskRequest, client: str) -> AsyncGenerator[msgspec.Struct, None]:
    """The events of a walk, without what is for measuring; then where the answer is kept, if it is."""
    begun = False
    try:
        async with contextlib.aclosing(desk.events(asked, client)) as walk:
            async for event in walk:
                if not isinstance(event, Reached):
                    begun = True
                    yield event
                if isinstance(event, Answered) and (address := await _address(desk, event.answer)):
                    yield Kept(address["Location"])
    except FedkgError as error:
        if begun:  # an error before is a reply of its own, which counts it
            desk.metrics.failed(type(error).__name__)
        raise


async def _address(desk: Desk, answer: Answer) -> dict[str, str]:
    """The header with the address where the answer is kept; none where it is not. A full disk costs no answer."""
    try:
        return {"Location": f"/answers/{await asyncio.to_thread(desk.shelf.put, answer)}"} if desk.shelf else {}
    except CacheError as error:
        log.warning("%s", error)
        return {}


def _refused(desk: Desk) -> Any:
    def handler(_: Request[Any, Any, Any], error: FedkgError) -> Response[Problem]:
        desk.metrics.failed(type(error).__name__)
        problem = told(error)
        wait = {"Retry-After": str(math.ceil(error.wait))} if isinstance(error, OverLimitError) else {}
        return Response(problem, status_code=problem.status, headers=wait)

    return handler


def _http_problem(_: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    faults = error.extra if isinstance(error.extra, list) else []
    hint = "; ".join(str(fault.get("message", "")) for fault in faults if isinstance(fault, dict))
    problem = Problem(error.status_code, type(error).__name__.removesuffix("Exception"), error.detail[:500], hint=hint)
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotAuthorizedException) else error.headers
    return Response(problem, status_code=error.status_code, headers=headers)


def _malformed(_: Request[Any, Any, Any], error: msgspec.MsgspecError) -> Response[Problem]:
    return Response(Problem(400, "Validation", "the body cannot be used", hint=str(error)[:500]), status_code=400)


def _too_deep(_: Request[Any, Any, Any], _error: RecursionError) -> Response[Problem]:
    return Response(Problem(400, "Validation", "the body is nested too deeply"), status_code=400)


def _left(_: Request[Any, Any, Any], _error: ClientGoneError) -> Response[None]:
    return Response(None, status_code=CLIENT_GONE, media_type=MediaType.TEXT)


def _failed(_: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """A fault of fedkg's own: the log has it, the client learns no more than that."""
    problem = told(error)
    return Response(problem, status_code=problem.status)
