"""`fedkg search` and `fedkg neighbours`: what an endpoint knows of a name and of an entity."""

from collections.abc import Sequence
from typing import Literal

import click
from rich.table import Table
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.core.answer import PathEdge
from fedkg.core.encoding import encode
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Direction
from fedkg.core.usage import Gap
from fedkg.errors import QuestionError

__all__ = ["neighbours", "search"]

WAYS: dict[str, tuple[Direction, ...]] = {"out": ("out",), "in": ("in",), "both": ("out", "in")}
NO_MODEL = {"model": "local"}
SHORT, LONG = 50, 80


@click.command(cls=options.SectionedCommand)
@click.argument("text")
@click.option("--limit", default=10, type=click.IntRange(1), show_default=True, help="Most entities.")
@click.option("--meaning", is_flag=True, help="By meaning, among all labels that earlier walks have shown.")
@options.connection
@options.as_json
def search(text: str, limit: int, meaning: bool, file: str | None, as_json: bool, **flags: object) -> int:
    """Find entities that TEXT may mean: those with that label or alias, then those that a search by words finds.

    Each with its label, type, description, IRI and a score: 1 for exactly that label, less than 0.8 for a similar one.
    With --meaning: entities and relations whose label means something similar, as far as walks over these endpoints have
    shown them.
    """
    if not text.strip():
        raise QuestionError("there is no text to search for", hint="give a label, such as 'Marie Curie'")
    with opened(options.settings(file, flags | NO_MODEL)) as session:
        found = session.run(session.similar(text, limit) if meaning else session.search(text, limit))
    if as_json:
        click.echo(encode(found))
        return 0 if found else 1
    out = show.console()
    if found:
        show.table(out, _candidates(found))
    else:
        out.print(Text(f"Nothing is called {plain(text)!r}, and nothing similar is known."))
        if not meaning:
            out.print(Text("hint: --meaning looks among all labels that earlier walks have shown", "dim"))
    return 0 if found else 1


@click.command(cls=options.SectionedCommand)
@click.argument("entity")
@click.option("--direction", type=click.Choice(list(WAYS)), default="both", show_default=True, help="Which edges.")
@click.option("--limit", default=100, type=click.IntRange(1), show_default=True, help="Most edges that are printed.")
@options.connection
@options.as_json
def neighbours(
    entity: str, direction: Literal["out", "in", "both"], limit: int, file: str | None, as_json: bool, **flags: object
) -> int:
    """Show the edges of ENTITY, an IRI or a label."""
    with opened(options.settings(file, flags | NO_MODEL)) as session:
        match, found, names = session.run(session.neighbours(entity, WAYS[direction]))
    walked = dict.fromkeys(step for near in found for edge in near.edges for step in edge.walk)
    edges = [PathEdge.of(edge, names) for edge in walked]
    gaps = [Gap(near.endpoint, f"{near.entity.value} ({near.direction})", why) for near in found if (why := _why(near))]
    if as_json:
        more = max(0, len(edges) - limit)
        click.echo(encode({"entity": match, "edges": edges[:limit], "more": more, "gaps": gaps}))
    else:
        _print(match, edges, limit, gaps)
    return 3 if all(near.failed for near in found) else 0 if edges else 1


def _print(match: Match, edges: Sequence[PathEdge], limit: int, gaps: Sequence[Gap]) -> None:
    out = show.console()
    out.print(_match(match))
    for edge in edges[:limit]:
        out.print(show.edge(edge, "  "))
    if len(edges) > limit:
        out.print(Text(f"… and {len(edges) - limit} more edges; --limit shows more", "dim"))
    if not edges:
        out.print("No edges.")
    show.gaps(out, gaps)


def _candidates(found: Sequence[Match]) -> Table:
    table = Table(
        "label", "type", "description", "IRI", box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim"
    )
    table.add_column("score", justify="right")
    for match in found:
        texts = (
            Text(plain(match.label, SHORT), "bold"),
            Text(plain(match.type, SHORT)),
            Text(plain(match.description, LONG)),
        )
        table.add_row(*texts, Text(f"<{plain(match.iri.value, 500)}>", "dim"), f"{match.score:.2f}")
    return table


def _match(match: Match) -> Text:
    line = Text(plain(match.label), "bold")
    line.append(f"  <{plain(match.iri.value, 500)}>", "dim")
    if match.description:
        line.append(f"  {plain(match.description)}")
    return line


def _why(near: Neighbourhood) -> str:
    return near.failed or near.cut
