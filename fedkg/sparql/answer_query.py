"""One SPARQL 1.1 query that gives an answer's ends at the endpoint: what a walk did hop by hop, said at once."""

from collections.abc import Sequence
from typing import NamedTuple

from fedkg.core.terms import Term
from fedkg.sparql.query_writer import ANSWER, ANSWERS, COUNT, QueryChain, QueryStep, QueryWriter

__all__ = ["Check", "answer_query"]


class Check(NamedTuple):
    """A condition on the answers: a step from them leads to one of these values."""

    step: QueryStep
    values: tuple[Term, ...]


def answer_query(
    alternatives: Sequence[Sequence[QueryChain]],
    writer: QueryWriter,
    *,
    checks: Sequence[Check] = (),
    picked: Sequence[Term] = (),
    count: bool = False,
    about: Sequence[str] = (),
) -> str:
    """A query with a row (answer) for each end of the alternatives: of the chains of one, what all of them lead to.

    `picked` are the only ones of these that answer, where some were picked; the answers meet all `checks`. `count`: one
    row (count) with their number instead. `about` stands before it. Raises TermError where a term is unwritable, and
    KeyError where an endpoint has no URL.
    """
    body = writer.union([[one for chain in chains for one in writer.chain(chain)] for chains in alternatives])
    for check in checks:
        value = writer.variable()
        body += [writer.is_one(value, check.values), *writer.step(check.step, ANSWER, value)]
    if picked:
        body.append(writer.is_one(ANSWER, picked))
    return writer.whole(COUNT if count else ANSWERS, body, about)
