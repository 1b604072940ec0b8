"""The protocol over HTTP (streamable HTTP), within the rules of `fedkg serve`.

Without tokens only programs of this machine may ask, by a name of this machine: the SDK refuses other names, which a
web site may have made ours (DNS rebinding), and requests that a page of any site makes a browser send. With tokens
each request has one, which no page knows.
"""

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from fedkg.mcp.server import protocol_server
from fedkg.mcp.tools import Toolbox
from fedkg.serve.clients import ClientBook
from fedkg.serve.server import Application

__all__ = ["PATH", "http_application"]

PATH = "/mcp"
NAMES = ("127.0.0.1", "localhost", "[::1]")
MOST_SESSIONS = 1_000
"""Clients of the protocol's older era that are connected at a time."""
SILENCE = 120.0
"""Seconds without a request after which such a session ends: one that is left behind soon makes room again."""
ISSUER = AnyHttpUrl("https://fedkg.invalid")
"""There is no service that gives out tokens: the server's operator does. The SDK wants a URL, and tells it nobody."""


class ClientTokens:
    """Checks tokens for the SDK: those of the clients of the server."""

    def __init__(self, clients: ClientBook) -> None:
        self._clients = clients

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is; None where it is none."""
        name = self._clients.name_of(token.strip())
        return AccessToken(token=token, client_id=name, scopes=[]) if name else None


def http_application(box: Toolbox, host: str = "127.0.0.1") -> Application:
    """The application at PATH around the tools; the session is opened with it, and closed when it ends.

    Without tokens it answers by the names of this machine, and by `host`, the address where it listens.
    """
    clients = box.desk.clients
    bare = dict.fromkeys((*NAMES, f"[{host}]" if ":" in host else host))
    names = [*bare, *(f"{name}:*" for name in bare)]
    return protocol_server(box).streamable_http_app(
        streamable_http_path=PATH,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=SILENCE,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=clients.open, allowed_hosts=names),
        auth=None if clients.open else AuthSettings(issuer_url=ISSUER, resource_server_url=None),
        token_verifier=None if clients.open else ClientTokens(clients),
    )
