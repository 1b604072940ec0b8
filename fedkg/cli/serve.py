"""`fedkg serve`: the session's questions over HTTP."""

from pathlib import Path

import click

from fedkg.cli import options
from fedkg.cli.contact import contacted
from fedkg.cli.tokens import given_clients
from fedkg.errors import MissingExtraError
from fedkg.session import Session

__all__ = ["serve"]


@click.command(cls=options.SectionedCommand)
@options.server(at_once=16, waiting=64)
@options.option(
    "Server",
    "--connections",
    type=click.IntRange(1, 100_000),
    default=512,
    show_default=True,
    help="Connections at a time; further ones are closed.",
)
@options.option("Server", "--keep", type=click.Path(path_type=Path), metavar="DIR", help="Folder to keep answers in.")
@options.session
def serve(  # noqa: PLR0917  # click gives all of them by name
    host: str,
    port: int,
    offer: tuple[str, ...],
    at_once: int,
    waiting: int,
    connections: int,
    clients: Path | None,
    keep: Path | None,
    file: str | None,
    **flags: object,
) -> int:
    """Answer questions over HTTP, from the endpoints, with the model and within the bounds that are given here.

    A page at / for people; POST /ask, GET /search, /neighbours, POST /verify, /sparql, GET /methods, /health, /metrics
    for programs, which /schema/openapi.json describes. Without tokens it listens on this machine only. Tokens: one in
    the variable FEDKG_SERVE_TOKEN, or a file of clients, each with the SHA-256 of its token and what it may spend in a
    day.

    \b
    fedkg serve -e sample --port 8080
    """  # noqa: D301  # click's mark for lines that it leaves as they are
    try:
        from fedkg.serve import app, server  # noqa: PLC0415  # their packages are an extra, needed from here on
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the server needs {error.name}", hint="pip install 'fedkg[serve]'") from error
    limits = server.ServerSettings(host, port, offer, at_once, waiting, given_clients(clients), keep, connections)
    session = Session(settings=contacted(options.settings(file, flags)))
    server.serve(session, limits, app.application, lambda url: click.echo(f"listening at {url}"))
    return 0
