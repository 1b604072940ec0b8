"""`fedkg verify`: asks for every edge of a saved answer again."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.core.answer import Answer, decode_answer
from fedkg.core.encoding import encode
from fedkg.core.rendering import edge_line
from fedkg.engine.documents import VerifyDocument
from fedkg.engine.lookup import Checked
from fedkg.engine.query_check import QueryCheck
from fedkg.errors import DocumentError, GraphFileError, ProfileError
from fedkg.session import Session

__all__ = ["print_checked", "verify"]

MOST_MISSING = 5
OTHER = "Its query returns another verdict."
MARKS = {True: ("holds  ", "green"), False: ("GONE   ", "bold red"), None: ("not asked  ", "bold red")}


@click.command(cls=options.SectionedCommand)
@click.argument("document", metavar="FILE")
@options.connection
@options.as_json
def verify(document: str, file: str | None, as_json: bool, **flags: object) -> int:
    """Ask for every edge of the answer document FILE again (- is stdin).

    The endpoints are those that the document names, unless -e names others: who wrote the document decides whom this
    command asks. The query of the document is asked, too, and compared with its answers. Labels and qualifiers
    are not verified. Exit code 1: an edge no longer holds or could not be asked for, no path leads to an answer, or the
    query does not return one.
    """
    answer = _read(document)
    from_document = not flags["endpoints"]
    flags |= {"model": "local", "endpoints": _endpoints(answer) if from_document else flags["endpoints"]}
    with opened(options.settings(file, flags)) as session:
        checked = session.run(_checked(session, answer, from_document=from_document))
        query = session.run(session.check_query(answer))
    unproven = [value.value for value in answer.unproven(session.identity.allows)]
    result = VerifyDocument.of(answer, checked, unproven, query)
    if as_json:
        click.echo(encode(result))
    else:
        print_checked(answer, checked)
        if query:
            show.console().print(Text(*_returned(query)))
        for value in unproven:
            show.console().print(Text(f"No path of the document leads to its answer {show.plain(value)}.", "bold red"))
    return 0 if result.proven else 1


def print_checked(answer: Answer, checked: Sequence[Checked]) -> None:
    """Prints every edge with a mark whether it holds, without its qualifiers, which are not asked; then the counts."""
    out = show.console()
    edges = [edge for path in answer.paths for edge in path.edges]
    for edge, check in zip(edges, checked, strict=True):
        line = Text(*MARKS[check.holds])
        bare = msgspec.structs.replace(edge, qualifiers=())
        out.print(line.append_text(show.line(edge_line(bare))))
    holds, asked = [check.holds for check in checked], show.counted(len(checked), "edge")
    if gone := holds.count(False):
        out.print(Text(f"{gone} of {asked} no longer {'holds' if gone == 1 else 'hold'}.", "bold red"))
    if unasked := holds.count(None):
        out.print(
            Text(f"{unasked} of {asked} could not be asked for: no query can say it, or it is rejected.", "bold red")
        )
    if not checked:
        out.print("The document shows no edges.")
    elif all(holds):
        out.print(Text("The one edge holds." if len(checked) == 1 else f"All {asked} hold.", "bold"))


def _returned(query: QueryCheck) -> tuple[str, str]:
    """What is said of the document's query, and in which style."""
    missing = ", ".join(show.plain(value) for value in query.missing[:MOST_MISSING])
    why = f": {query.why}" if query.why else ""
    return {
        "same": ("Its query returns the same answers.", "bold"),
        "more": (f"Its query returns all answers, and {query.further:,} more{why}.", "bold"),
        "fewer": (f"Its query does not return {missing}.", "bold red"),
        "other": (f"Its query returns another answer than {missing}." if missing else OTHER, "bold red"),
        "not run": (f"Its query was not run: {show.plain(query.why)}", "bold yellow"),
    }[query.outcome]


def _read(file: str) -> Answer:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise DocumentError(f"{file}: {error.strerror}") from error
    try:
        return decode_answer(data)
    except DocumentError as error:
        error.add_note(f"read from: {'standard input' if file == '-' else file}")
        raise


def _endpoints(answer: Answer) -> tuple[str, ...]:
    try:
        return msgspec.convert(answer.settings.get("endpoints"), tuple[str, ...])
    except msgspec.ValidationError as error:
        raise DocumentError("the document names no endpoints", hint="name them with -e") from error


async def _checked(session: Session, answer: Answer, *, from_document: bool) -> list[Checked]:
    """The edges asked again. Raises DocumentError where it is not known which endpoint to ask for one of them."""
    try:
        graph = await session.graph()
    except (ProfileError, GraphFileError) as error:
        if from_document:
            error.hint = "a document keeps no folders, passwords and queries; name its endpoints with -e"
        raise
    names = {endpoint.name for endpoint in await session.kept()}
    named = {edge.endpoint for path in answer.paths for edge in path.edges}
    if (from_document or len(names) > 1) and (unknown := named - names):
        raise DocumentError(
            f"edges of {', '.join(sorted(unknown))}, which is none of {graph.name}", hint="name it with -e"
        )
    return await session.verify(answer)
