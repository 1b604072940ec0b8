"""`fedkg mcp`: the session as tools of the Model Context Protocol."""

import asyncio
import signal
import sys
from pathlib import Path

import click

from fedkg.cli import options
from fedkg.cli.contact import contacted
from fedkg.cli.tokens import given_clients
from fedkg.errors import MissingExtraError
from fedkg.session import Session

__all__ = ["mcp"]

RESULT = click.IntRange(500, 100_000)
"""Tokens of a result: with fewer an answer and its first path may not fit."""


@click.command(cls=options.SectionedCommand)
@options.option("Server", "--http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@options.server(at_once=4, waiting=16, where=", with --http")
@options.option(
    "Server",
    "--result-tokens",
    type=RESULT,
    default=4_000,
    show_default=True,
    metavar="N",
    help="Most tokens of a tool's result; what is left out is told.",
)
@options.session
def mcp(  # noqa: PLR0917  # click gives all of them by name
    http: bool,
    host: str,
    port: int,
    clients: Path | None,
    offer: tuple[str, ...],
    result_tokens: int,
    at_once: int,
    waiting: int,
    file: str | None,
    **flags: object,
) -> int:
    """Give agents tools to ask, search, look around and verify: a server of the Model Context Protocol.

    It speaks the protocol over stdin and stdout, so an agent's program starts it; with --http it listens instead, on
    this machine only unless there are tokens, as `fedkg serve` has them. Endpoints, models and bounds are those that
    are given here, and no client can name others.

    \b
    fedkg mcp -e sample
    fedkg mcp -e sample --http --port 8080
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    try:
        from fedkg.mcp.http import PATH, http_application  # noqa: PLC0415  # its packages are an extra
        from fedkg.mcp.server import over_stdio  # noqa: PLC0415
        from fedkg.mcp.tools import Toolbox  # noqa: PLC0415
        from fedkg.serve import server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the tools need {error.name}", hint="pip install 'fedkg[mcp]'") from error
    tokens = given_clients(clients) if http else {}
    limits = server.ServerSettings(host if http else "127.0.0.1", port, offer, at_once, waiting, tokens)
    session = Session(settings=contacted(options.settings(file, flags)))
    if http:
        server.serve(
            session,
            limits,
            lambda desk: http_application(Toolbox(desk, result_tokens), host),
            lambda url: click.echo(f"listening at {url}{PATH}", err=True),
        )
        return 0
    if sys.stdin.isatty():
        click.echo("an MCP client is expected at stdin and stdout; docs/mcp.md tells how to register this", err=True)
    # a thread waits for the next line of stdin and cannot be interrupted: Ctrl-C ends the process, as SIGTERM does
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(over_stdio(Toolbox(limits.desk(session), result_tokens)))
    return 0
