"""The tools and resources on the wire: the official SDK's server, over stdin and stdout.

The SDK's lower layer, because the schemas come from fedkg's own records, and errors are fedkg's own.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from fedkg.core.encoding import encode, to_builtins
from fedkg.errors import FedkgError
from fedkg.mcp import resources
from fedkg.mcp.problems import ToolProblem, problem, unusable
from fedkg.mcp.resources import ANSWERS
from fedkg.mcp.results import safe
from fedkg.mcp.schemas import schema
from fedkg.mcp.tools import INSTRUCTIONS, Toolbox, ToolSpec
from fedkg.serve.clients import ANYONE
from fedkg.serve.desk import Desk

__all__ = ["over_stdio", "protocol_server"]

JSON = "application/json"
Context = ServerRequestContext[Desk, Any]

log = logging.getLogger(__name__)


def protocol_server(box: Toolbox) -> Server[Desk]:
    """The protocol's server around the tools; the session is opened with it, and closed when it ends."""
    handlers = Handlers(box)
    return Server(
        "fedkg",
        version=version("fedkg"),
        title="fedkg",
        instructions=INSTRUCTIONS,
        lifespan=_lifespan(box.desk),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )


async def over_stdio(box: Toolbox) -> None:
    """Serves the client at the other end of stdin and stdout until it closes them.

    Raises the session's error where it cannot be opened. What else is printed in this process goes to stderr.
    """
    server = protocol_server(box)
    await box.desk.open()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _lifespan(desk: Desk) -> Any:
    @asynccontextmanager
    async def lifespan(_: Server[Desk]) -> AsyncIterator[Desk]:
        async with desk.session:
            await desk.open()
            yield desk

    return lifespan


class Handlers:
    """What the protocol's requests become."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """All tools, with the schemas of their arguments and results."""
        return types.ListToolsResult(tools=[_tool(tool) for tool in self._box.tools.values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What a tool returns, as a record and as its JSON; an error is a result, too, which a model can read."""
        progress = ProgressLine(context)
        try:
            record = await self._box.call(params.name, params.arguments or {}, _client(context), progress)
        except msgspec.ValidationError as error:
            return _refused(unusable(error, self._box.tools[params.name].arguments.__struct_fields__))
        except Exception as error:  # noqa: BLE001  # whatever it is: the log has it, the client a sentence
            return _refused(problem(error))
        text = types.TextContent(text=encode(record).decode())
        return types.CallToolResult(content=[text], structured_content=to_builtins(record))

    async def list_resources(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The endpoints, the methods, and the answers that are kept of the client."""
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=entry.uri, name=entry.name, description=entry.description, mime_type=JSON)
                for entry in resources.listed(self._box, _client(context))
            ]
        )

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The address of an answer."""
        about = "The whole document of an answer, by the answer_id that `ask` returned."
        template = types.ResourceTemplate(
            uri_template=f"{ANSWERS}{{answer_id}}", name="answer", description=about, mime_type=JSON
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The resource as JSON. Raises MCPError where there is none."""
        uri = str(params.uri)
        try:
            text = await resources.read(self._box, _client(context), uri)
        except FedkgError as error:
            shown = problem(error)
            raise MCPError(types.INVALID_PARAMS, f"{shown.message}; {shown.hint}") from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=text)])


class ProgressLine:
    """Tells the client how a call goes on, a line at a time, where it asked to be told."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._count = 0

    async def __call__(self, line: str) -> None:
        """Sends the line; a client that is gone is told nothing."""
        self._count += 1
        await self._context.session.report_progress(self._count, message=safe(line, LONGEST))


LONGEST = 300
"""Most characters of a line of progress."""


def _tool(tool: ToolSpec) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=True)
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.arguments),
        output_schema=schema(tool.result),
        annotations=hints,
    )


def _refused(shown: ToolProblem) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=encode(shown).decode())], is_error=True)


def _client(context: Context) -> str:
    """The name of the client whose token came with the request; without tokens all are one."""
    user = context.request.scope.get("user") if context.request else None
    return user.access_token.client_id if isinstance(user, AuthenticatedUser) else ANYONE
