"""What a question asks to be computed over the ends of its paths: the quick look whether it is anything at all."""

import re
from functools import lru_cache

from fedkg.reasoner.local.degrees import degrees
from fedkg.reasoner.local.operation_record import OperationReading

__all__ = ["read"]

CUE = re.compile(
    r"\d|[\"“]|\b(?:how|number|count|most|fewest|least|more|less|fewer|than|before|after|since|not|without|except|or|"
    r"difference|between|first|last|earlier|later|\w+est)\b|n['’]t\b",
    re.IGNORECASE,
)
"""One of these, or a comparative, stands in every question that has an operator; most have none, and are read no
further."""
COMPARATIVE = re.compile(r"\b[a-z]+er\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 10)
def read(question: str, topics: tuple[str, ...]) -> OperationReading | None:
    """What the question asks to be computed; None where it is nothing, or cannot be read.

    `topics` are its topics as it names them.
    """
    if not (CUE.search(question) or any(word.lower() in degrees().forms for word in COMPARATIVE.findall(question))):
        return None
    from fedkg.reasoner.local.operation_grammar import computed  # noqa: PLC0415  # its patterns take long to compile

    return computed(question, [name for name in topics if name.strip()])
