"""`fedkg search`: the entities that a text may mean."""

from collections.abc import Sequence

import click
from rich.table import Table
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.core.encoding import encode
from fedkg.core.question import Match
from fedkg.errors import QuestionError

__all__ = ["search"]

SHORT, LONG, IRI = 50, 80, 500
"""Most characters of a label or type, of a description, and of an IRI."""


@click.command(cls=options.SectionedCommand)
@click.argument("text")
@click.option("--limit", default=10, type=options.COUNT, show_default=True, help="Most entities.")
@click.option("--meaning", is_flag=True, help="By meaning, among all labels that walks have shown.")
@options.connection
@options.as_json
def search(text: str, limit: int, meaning: bool, file: str | None, as_json: bool, **flags: object) -> int:
    """Find entities that TEXT may mean: those with that label or alias, then those that a search by words finds.

    Each with its label, type, description, IRI and a score: 1 for exactly that label, less than 0.8 for a similar
    one. With --meaning: entities and relations whose label means something similar, as far as walks over these
    endpoints have shown them. They are embedded at the first such search; names in questions that nothing is called
    are then looked for among them, too.
    """
    if not text.strip():
        raise QuestionError("there is no text to search for", hint="give a label, such as 'Marie Curie'")
    with opened(options.settings(file, flags | {"model": "local"})) as session:
        matches = session.run(session.similar(text, limit) if meaning else session.search(text, limit))
    if as_json:
        click.echo(encode(matches))
    else:
        _print(matches, text, meaning=meaning)
    return 0 if matches else 1


def _print(matches: Sequence[Match], text: str, *, meaning: bool) -> None:
    out = show.console()
    if matches:
        show.table(out, _table(matches))
        return
    out.print(Text(f"Nothing is called {plain(text)!r}, and nothing similar is known."))
    if not meaning:
        out.print(Text("hint: --meaning looks among all labels that earlier walks have shown", "dim"))


def _table(matches: Sequence[Match]) -> Table:
    columns = ("label", "type", "description", "IRI")
    table = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("score", justify="right")
    for match in matches:
        texts = (
            Text(plain(match.label, SHORT), "bold"),
            Text(plain(match.type, SHORT)),
            Text(plain(match.description, LONG)),
        )
        table.add_row(*texts, Text(f"<{plain(match.iri.value, IRI)}>", "dim"), f"{match.score:.2f}")
    return table
