"""`fedkg mcp`: the session as tools of the Model Context Protocol."""

import asyncio
import signal
import sys

import click

from fedkg.cli import options
from fedkg.cli.contact import contacted
from fedkg.errors import MissingExtraError
from fedkg.session import Session

__all__ = ["mcp"]

RESULT = click.IntRange(500, 100_000)
"""Tokens of a result: with fewer an answer and its first path may not fit."""


@click.command(cls=options.SectionedCommand)
@options.option("Server", "--offer", multiple=True, metavar="NAME", help="A further method to ask for; several times.")
@options.option(
    "Server",
    "--result-tokens",
    type=RESULT,
    default=4_000,
    show_default=True,
    metavar="N",
    help="Most tokens of a tool's result; what is left out is told.",
)
@options.option(
    "Server", "--at-once", type=options.PARALLEL, default=4, show_default=True, help="Questions answered at a time."
)
@options.option(
    "Server",
    "--waiting",
    type=click.IntRange(0, 10_000),
    default=16,
    show_default=True,
    help="Questions that wait for their turn; more are told to come back.",
)
@options.connection
@options.model
@options.search
@options.option("Search", "--depth", "search__depth", type=int, metavar="N", help="Most steps of a path.")
@options.budget
@options.run_budget
def mcp(  # click gives all of them by name
    offer: tuple[str, ...],
    result_tokens: int,
    at_once: int,
    waiting: int,
    file: str | None,
    **flags: object,
) -> int:
    """Give agents tools to ask, search, look around and verify: a server of the Model Context Protocol.

    It speaks the protocol over stdin and stdout, so an agent's program starts it. All endpoints, models and bounds are
    those that are given here.

    \b
    fedkg mcp -e sample
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    try:
        from fedkg.mcp import server  # noqa: PLC0415  # its packages are an extra, which is needed from here on
        from fedkg.mcp.tools import Toolbox  # noqa: PLC0415
        from fedkg.serve.clients import ClientBook  # noqa: PLC0415
        from fedkg.serve.desk import Desk  # noqa: PLC0415
        from fedkg.serve.gate import Gate  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the tools need {error.name}", hint="pip install 'fedkg[mcp]'") from error
    session = Session(settings=contacted(options.settings(file, flags)))
    desk = Desk(session, offer, Gate(at_once, waiting), ClientBook({}), None)
    if sys.stdin.isatty():
        click.echo("an MCP client is expected at stdin and stdout; docs/mcp.md tells how to register this", err=True)
    # a thread waits for the next line of stdin and cannot be interrupted: Ctrl-C ends the process, as SIGTERM does
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(server.over_stdio(Toolbox(desk, result_tokens)))
    return 0
