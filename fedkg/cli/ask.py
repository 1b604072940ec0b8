"""`fedkg ask`: a question's answer with its proof."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import click

from fedkg.cli import options
from fedkg.core.question import LONGEST_QUESTION, Kind
from fedkg.errors import QuestionError

__all__ = ["ask"]

LONGEST_INPUT = 10 * LONGEST_QUESTION
"""Characters that are read of standard input: blanks and line ends are folded before a question is measured."""


@click.command(cls=options.SectionedCommand)
@click.argument("question", required=False)
@options.option(
    "Question",
    "--questions",
    metavar="FILE",
    help='Answer the questions of FILE instead (- is stdin), one a line: {"question": …}; `id`, `topics`, `kind`, '
    "`options`, `method` and `endpoints` may stand beside it.",
)
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
@options.run_budget
@options.as_json
@options.option(
    "Output",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --questions: write the answers into FILE. The same command goes on from there, whatever ended it.",
)
@options.option(
    "Output",
    "--at-once",
    type=options.PARALLEL,
    default=4,
    show_default=True,
    metavar="N",
    help="With --questions: so many are asked at a time.",
)
@options.option(
    "Output", "--sparql", is_flag=True, help="Print the SPARQL query that gives the same answers, and nothing else."
)
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
    question: str | None,
    questions: str | None,
    topics: tuple[str, ...],
    kind: Kind | None,
    choices: tuple[str, ...],
    file: str | None,
    as_json: bool,
    out: Path | None,
    at_once: int,
    sparql: bool,
    transcript: str | None,
    dry_run: bool,
    verbose: bool,
    **flags: object,
) -> int:
    """Answer QUESTION (- is stdin) from the endpoints, with a proof; or the --questions of a file.

    With --questions each answer is one line, the JSON document with the question's id (without one the number of its
    line), in the order of the questions. A question that fails is a line with its error, and the others go on; the exit
    code is the highest that one of them would have alone.

    Exit codes: 0 answered, 1 no answer found, 2 bad input, 3 an endpoint, the model or the cache failed, 4 the budget
    is spent, 5 with --strict: answered or not, with a caveat.

    The model `local` scores all candidates itself: with it --beam, --candidates, --alpha and --verifier none have no
    effect.
    """
    from fedkg.cli.answer import Shown, answered  # noqa: PLC0415  # the help page needs nothing of it

    settings = options.settings(file, flags)
    options.warn_of_unheeded(settings, flags)
    if questions is not None:
        alone = {"QUESTION": question, "--topic": topics, "--kind": kind, "--option": choices, "--dry-run": dry_run}
        alone |= {"--sparql": sparql}
        _check_absent("--questions", alone)
        from fedkg.cli.questions import all_answered  # noqa: PLC0415  # one question needs nothing of it

        return all_answered(settings, questions, out, at_once, transcript)
    _check_absent("one question", {"--out": out})
    text = _text(question)
    if dry_run:
        from fedkg.cli.estimate import priced  # noqa: PLC0415  # most questions are asked

        return priced(settings, text, topics, kind, choices, as_json=as_json)
    if sparql and as_json:
        raise QuestionError("--sparql cannot be combined with --json", hint="the document has it: `query`")
    shown: Shown = "json" if as_json else "sparql" if sparql else "text"
    return answered(settings, text, topics, kind, choices, transcript=transcript, shown=shown, verbose=verbose)


def _check_absent(beside: str, given: Mapping[str, object]) -> None:
    """Raises QuestionError for an option that makes no sense beside the other."""
    if names := [name for name, value in given.items() if value]:
        hint = "topics, kind and options stand on the lines of --questions"
        raise QuestionError(f"{names[0]} cannot be combined with {beside}", hint=hint)


def _text(question: str | None) -> str:
    """The question, of standard input where it is -. Raises QuestionError where there is none."""
    if question is None:
        raise QuestionError("no question is given", hint='fedkg ask "Who …?" -e ENDPOINT, or --questions FILE')
    return sys.stdin.read(LONGEST_INPUT) if question == "-" else question
