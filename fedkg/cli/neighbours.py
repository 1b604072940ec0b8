"""`fedkg neighbours`: the edges of an entity."""

from collections.abc import Sequence
from typing import Literal

import click
import msgspec
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.show import plain
from fedkg.core.answer import PathEdge
from fedkg.core.encoding import encode
from fedkg.core.question import Match
from fedkg.core.rendering import edge_line, gap_line
from fedkg.core.terms import Direction, Iri
from fedkg.engine.documents import NeighboursDocument
from fedkg.graph.hidden_edges import HiddenEdges

__all__ = ["neighbours"]

MOST_NAMED = 3
"""Hidden predicates that are named."""
DIRECTIONS: dict[str, tuple[Direction, ...]] = {"out": ("out",), "in": ("in",), "both": ("out", "in")}


@click.command(cls=options.SectionedCommand)
@click.argument("entity")
@click.option(
    "--direction", type=click.Choice(list(DIRECTIONS)), default="both", show_default=True, help="Which edges."
)
@click.option("--limit", default=100, type=options.COUNT, show_default=True, help="Most edges that are printed.")
@options.connection
@options.as_json
def neighbours(
    entity: str, direction: Literal["out", "in", "both"], limit: int, file: str | None, as_json: bool, **flags: object
) -> int:
    """Show the edges of ENTITY, an IRI or a label."""
    with opened(options.settings(file, flags | {"model": "local"})) as session:
        match, neighbourhoods, names = session.run(session.neighbours(entity, DIRECTIONS[direction]))
        gone = all(neighbourhood.failed for neighbourhood in neighbourhoods)
        counted = [] if gone else session.run(session.hidden(match.iri, DIRECTIONS[direction]))
    document = NeighboursDocument.of(match, neighbourhoods, names, counted, limit)
    if as_json:
        click.echo(encode(document))
    else:
        _print(document)
        _print_hidden(match, counted, nothing=not document.edges and not document.gaps)
    return 3 if gone else 0 if document.edges else 1


def _print(document: NeighboursDocument) -> None:
    out = show.console()
    out.print(_heading(document.entity))
    show.lines(out, (edge_line(edge, "  ") for edge in _told_apart(document.edges)))
    if document.more:
        out.print(Text(f"… and {document.more} more edges; --limit shows more", "dim"))
    show.lines(out, map(gap_line, document.gaps))


def _told_apart(edges: Sequence[PathEdge]) -> list[PathEdge]:
    """The edges; relations that are called alike have their IRI beside the label."""
    called: dict[str, set[Iri]] = {}
    for edge in edges:
        called.setdefault(edge.label(edge.relation), set()).add(edge.relation)
    return [_with_iri(edge) if len(called[edge.label(edge.relation)]) > 1 else edge for edge in edges]


def _with_iri(edge: PathEdge) -> PathEdge:
    label = f"{edge.label(edge.relation)} <{edge.relation.value}>"
    return msgspec.structs.replace(edge, labels={**edge.labels, edge.relation.text: label})


def _print_hidden(match: Match, counted: Sequence[HiddenEdges], *, nothing: bool) -> None:
    """What profiles hide, and, where there is nothing to see, why.

    An entity that no endpoint has is not one without edges.
    """
    out = show.console()
    absent = counted and not any(part.held for part in counted)
    if nothing:
        out.print(f"{plain(match.iri.value, 500)} is not in the graph." if absent else "No edges.")
    for part in counted:
        if part.hidden:
            out.print(Text(hidden_text(part), "yellow"))


def hidden_text(count: HiddenEdges) -> str:
    """How many edges a profile hides, with the predicates of the most."""
    some = ", ".join(f"<{predicate}> {number:,}" for predicate, number in [*count.hidden.items()][:MOST_NAMED])
    more = f", and {len(count.hidden) - MOST_NAMED} more predicates" if len(count.hidden) > MOST_NAMED else ""
    number = show.counted(count.number, "edge")
    return plain(f"the profile {count.profile} hides {number} at {count.endpoint}: {some}{more}", 1_000)


def _heading(match: Match) -> Text:
    line = Text(plain(match.label), "bold")
    line.append(f"  <{plain(match.iri.value, 500)}>", "dim")
    if match.description:
        line.append(f"  {plain(match.description)}")
    return line
