"""The answer to one question, on the terminal: found, watched and shown."""

from collections.abc import Sequence
from typing import Literal

import click

from fedkg.cli import show
from fedkg.cli.connect import opened
from fedkg.cli.progress import watched
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.question import Kind
from fedkg.engine.history import History
from fedkg.engine.query_check import no_query

__all__ = ["BUDGET_SPENT", "Shown", "answered", "exit_code", "outcome_code"]

Shown = Literal["text", "json", "sparql"]
"""What of an answer is printed: its text, the document, or its query."""
BUDGET_SPENT = 4
DOUBTFUL = 5
CODES = {Status.ANSWERED: 0, Status.FAILED: 3}


def exit_code(answer: Answer, *, strict: bool = False) -> int:
    """0 answered, 1 no answer, 3 an endpoint failed, 4 a budget ended the search, whatever was found until then.

    `strict`: 5 instead of 0 or 1 where the answer has a caveat.
    """
    return outcome_code(answer.status, answer.usage.spent, caveats=bool(answer.caveats), strict=strict)


def outcome_code(status: Status, spent: str, *, caveats: bool, strict: bool = False) -> int:
    """The exit code of a question that ended so; `spent` names the budget that ended it, "" where none did."""
    code = BUDGET_SPENT if spent else CODES.get(status, 1)
    return DOUBTFUL if strict and caveats and code in {0, 1} else code


def answered(
    settings: Settings,
    question: str,
    topics: Sequence[str],
    kind: Kind | None,
    choices: Sequence[str],
    *,
    transcript: str | None,
    shown: Shown,
    verbose: bool,
) -> int:
    """Answers the question and prints that; returns the exit code."""
    with opened(settings, transcript) as session:
        with watched(verbose=verbose) as on_event:
            answer = session.run(session.ask(question, topics, on_event, kind=kind, options=choices))
        # before the session closes: that waits for labels to be embedded and kept, and the question had a time limit
        if shown == "json":
            click.echo(answer.to_json())
        elif shown == "sparql":
            click.echo(answer.query or f"No query: {no_query(answer)}.\n", nl=False, err=not answer.query)
        else:
            show.answer(show.console(), answer, everything=verbose)
        History(settings).add(answer, "ask")
    return exit_code(answer, strict=settings.strict)
