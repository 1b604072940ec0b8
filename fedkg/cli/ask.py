"""`fedkg ask`: a question's answer with its proof."""

from typing import get_args

import click

from fedkg.cli import options
from fedkg.core.question import Kind

__all__ = ["ask"]


@click.command(cls=options.SectionedCommand)
@click.argument("question")
@options.option(
    "Question",
    "--topic",
    "topics",
    multiple=True,
    metavar="LABEL|IRI",
    help="Entity where the walk starts; several times.",
)
@options.option(
    "Question",
    "--kind",
    type=click.Choice(get_args(Kind)),
    help="What is asked for: things, a value, how many, yes or no, whether a claim is right, one of the options; "
    "otherwise the model finds it out.",
)
@options.option(
    "Question",
    "--option",
    "choices",
    multiple=True,
    metavar="TEXT",
    help="One of the options of a choice; several times.",
)
@options.option("Search", "--depth", "search__depth", type=int, metavar="N", help="Most steps of a path.")
@options.connection
@options.model
@options.search
@options.budget
@options.as_json
@options.transcript
@options.option(
    "Output", "--strict", is_flag=True, default=None, help="End with exit code 5 where the answer has a caveat."
)
@options.option(
    "Output", "--dry-run", is_flag=True, help="Only estimate calls, tokens, requests and price; nothing is sent."
)
@options.option(
    "Output",
    "-v",
    "--verbose",
    is_flag=True,
    help="Show each event of the walk on stderr, and the ledger of the model's calls.",
)
def ask(  # noqa: PLR0917  # click gives all of them by name
    question: str,
    topics: tuple[str, ...],
    kind: Kind | None,
    choices: tuple[str, ...],
    file: str | None,
    as_json: bool,
    transcript: str | None,
    dry_run: bool,
    verbose: bool,
    **flags: object,
) -> int:
    """Answer QUESTION from the endpoints, with a proof.

    Exit codes: 0 answered, 1 no answer found, 2 bad input, 3 an endpoint, the model or the cache failed, 4 the budget
    is spent, 5 with --strict: answered or not, with a caveat.

    The model `local` scores all candidates itself: with it --beam, --candidates, --alpha and --verifier none have no
    effect.
    """
    from fedkg.cli.answer import answered, priced  # noqa: PLC0415  # the help page needs nothing of it

    settings = options.settings(file, flags)
    if dry_run:
        return priced(settings, question, topics, kind, choices, as_json=as_json)
    return answered(settings, question, topics, kind, choices, transcript=transcript, as_json=as_json, verbose=verbose)
