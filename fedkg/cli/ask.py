"""`fedkg ask`: a question's answer with its proof."""

import click

from fedkg.cli import options, show
from fedkg.cli.connect import opened
from fedkg.cli.progress import watched
from fedkg.records import Answer, Status

__all__ = ["ask", "exit_code"]

BUDGET_SPENT = 4
CODES = {Status.ANSWERED: 0, Status.FAILED: 3}


def exit_code(answer: Answer) -> int:
    """0 answered, 1 no answer, 3 an endpoint failed, 4 a budget ended the search, whatever was found until then."""
    return BUDGET_SPENT if answer.usage.spent else CODES.get(answer.status, 1)


@click.command()
@click.argument("question")
@click.option(
    "--topic", "topics", multiple=True, metavar="LABEL|IRI", help="Entity where the walk starts; several times."
)
@click.option("--depth", "search__depth", type=int, metavar="N", help="Most steps of a path.")
@options.connection
@options.model
@options.search
@options.budget
@options.as_json
@click.option("-v", "--verbose", is_flag=True, help="Show each event of the walk on stderr.")
def ask(question: str, topics: tuple[str, ...], file: str | None, as_json: bool, verbose: bool, **flags: object) -> int:
    """Answer QUESTION from the endpoints, with a proof.

    Exit codes: 0 answered, 1 no answer found, 2 bad input, 3 an endpoint or the model failed, 4 the budget is spent.

    The model `local` scores all candidates itself: with it --beam, --candidates, --alpha and --no-verifier have no effect.
    """
    with opened(options.settings(file, flags)) as session:
        with watched(verbose=verbose) as on_event:
            answer = session.run(session.ask(question, topics, on_event))
        # before the session closes: that waits for labels to be embedded and kept, and the question had a time limit
        if as_json:
            click.echo(answer.to_json())
        else:
            show.answer(show.console(), answer, everything=verbose)
    return exit_code(answer)
