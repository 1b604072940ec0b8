"""`fedkg index`: the labels of a whole graph are embedded beforehand."""

import click

from fedkg.cli import options
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.core.encoding import encode

__all__ = ["index"]


@click.command(cls=options.SectionedCommand)
@click.option("--limit", default=1_000_000, type=options.COUNT, show_default=True, help="Most entities.")
@options.connection
@options.embedder
@options.as_json
def index(limit: int, file: str | None, as_json: bool, **flags: object) -> int:
    """Embed the labels of all entities and relations of the endpoints, and keep them in the cache.

    The retriever `global` makes its candidates of what is nearest among them, and search --meaning looks through them.
    The endpoints have to list what they hold: small ones and files do, large public ones take too long for it. What one
    cannot list is left out, with a note, and `global` needs the relations of at least one. What is embedded already is
    not embedded again. Exit code 3: nothing could be listed.
    """
    with opened(options.settings(file, flags | {"model": "local"})) as session:
        made = session.run(session.index(limit))
    if as_json:
        click.echo(encode(made))
    else:
        click.echo(f"{made.entities:,} entities and {made.relations:,} relations; {made.new:,} labels are new")
    for gap in made.missing:
        click.echo(f"left out: {plain(gap.endpoint)} cannot list {gap.asked}: {plain(gap.reason, 300)}", err=True)
    if made.missing and not made.relations:
        click.echo("hint: search --meaning has the entities; --retriever global needs relations, too", err=True)
    return 0
