"""An answer's query asked at its endpoint, and what it returns held against the document.

Who wrote the document wrote the query, too: it is sent only where it is a SELECT or an ASK, and where its SERVICE
clauses name endpoints that are asked anyway.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal as OneOf

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.caveat import CaveatKind
from fedkg.core.proof import AT_LEAST, Status
from fedkg.core.question import JUDGED
from fedkg.core.terms import Literal, Term
from fedkg.engine.answer_query import endpoint_urls, endpoints
from fedkg.errors import EndpointError, OfflineError
from fedkg.graph.base import Graph

__all__ = ["Outcome", "QueryCheck", "check_query", "compared", "no_query"]

Outcome = OneOf["same", "more", "fewer", "other", "not run"]
HEAD = re.compile(r"(?:\s*(?:#[^\r\n]*|PREFIX\s+\w*:\s*<[^<>]*>)\n)*\s*(SELECT|ASK)\b", re.IGNORECASE)
FORBIDDEN = re.compile(r"\b(?:INSERT|DELETE|LOAD|CLEAR|DROP|CREATE|COPY|MOVE|ADD|FROM|GRAPH|CONSTRUCT|DESCRIBE)\b")
ASK = re.compile(r"^ASK \{", re.MULTILINE)
SERVICE = re.compile(r"\bSERVICE\b\s*(?:SILENT\b)?\s*(<[^<>]*>)?", re.IGNORECASE)
TEXT = re.compile(r'"(?P<string>(?:[^"\\\r\n]|\\.)*)"(?!")|(?P<iri><[^\x00-\x20<>"{}|^`\\]*>)|#[^\r\n]*')
"""What is no syntax, as the grammar of SPARQL 1.1 has it: strings as fedkg writes them, IRIs, comments."""
ESCAPED = re.compile(r"\\([uU][0-9A-Fa-f]{4}|.)")
CONTROLS = {f"u{code:04X}" for code in (*range(0x20), 0x7F, 0x85, 0x2028, 0x2029)}
"""What fedkg escapes by its code; another character could hide a quotation mark or a word from those who read it."""
NOT_OURS = "it is no query that fedkg writes"
IS_CUT = "the document admits that not all of it was fetched"


class QueryCheck(msgspec.Struct, frozen=True):
    """What the query of a document returned, beside its answers.

    `missing` are those that it did not return, `further` is how many others it did. `why` it was not run, or returns
    more than a document that admits that it is cut.
    """

    outcome: Outcome
    missing: tuple[str, ...] = ()
    further: int = 0
    why: str = ""


def no_query(answer: Answer) -> str:
    """Why a document has no query, as far as it can be seen in it; "" where it has one."""
    if answer.query:
        return ""
    edges = [edge for path in answer.paths for edge in path.edges]
    reasons = {
        "nothing was found": not answer.answers,
        "a model remembers the answer": any(caveat.kind is CaveatKind.RECALLED for caveat in answer.caveats),
        "the answer is a judgement": answer.kind in JUDGED and answer.operation is None,
        "no path leads to the answers": not any(value.paths for value in answer.answers),
        "an identifier stands for an entity": any(edge.identifies for edge in edges),
        "an answer is a node without a name": any(value.term and not value.term.queryable for value in answer.answers),
        "the search ended before its end": answer.status is not Status.ANSWERED,
        "what was computed no query can say": answer.operation is not None,
        "it crosses endpoints": len({edge.endpoint for edge in edges}) > 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "too many ends would have to be named")


async def check_query(graph: Graph, answer: Answer) -> QueryCheck | None:
    """What the answer's query returns; None where the document has none."""
    if not answer.query:
        return None
    home = next((edge.endpoint for path in answer.paths for edge in path.edges), "")
    sources = endpoints(graph)
    member = next((one for one in sources if one.name == home), sources[0] if len(sources) == 1 else None)
    if member is None or not _ours(answer.query, endpoint_urls(graph).values()):
        return QueryCheck("not run", why=NOT_OURS if member else f"no endpoint is called {home}")
    try:
        rows = (await member.source.select.select(_as_select(answer.query), "verify")).rows
    except (EndpointError, OfflineError) as error:
        return QueryCheck("not run", why=str(error))
    return compared(answer, rows)


def compared(answer: Answer, rows: Sequence[Mapping[str, Term]]) -> QueryCheck:
    """The rows of the query against the document's answers."""
    if numbers := [row[name] for row in rows for name in ("count", "value") if name in row]:
        return _numbers(answer, numbers)
    if ASK.search(answer.query):
        said = {value.value for value in answer.answers}
        return QueryCheck("same" if said == {"yes" if rows else "no"} else "other")
    returned = {row["answer"] for row in rows if "answer" in row}
    stated = {value.term: value.value for value in answer.answers if value.term is not None}
    missing = tuple(value for term, value in stated.items() if term not in returned)
    further = len(returned - set(stated))
    outcome: Outcome = "other" if missing and further else "fewer" if missing else "more" if further else "same"
    cut = outcome == "more" and any(caveat.kind is CaveatKind.CUT for caveat in answer.caveats)
    return QueryCheck(outcome, missing, further, IS_CUT if cut else "")


def _numbers(answer: Answer, numbers: Sequence[Term]) -> QueryCheck:
    """One number against that of the document, which may be a bound."""
    stated = answer.answers[0].value if answer.answers else ""
    returned = {_number(term) for term in numbers}
    bound = stated.startswith(AT_LEAST)
    number = _number(Literal(stated.removeprefix(AT_LEAST)))
    if number in returned or (bound and number is not None and any((one or 0) >= number for one in returned)):
        return QueryCheck("same")
    return QueryCheck("other", (stated,), len(returned))


def _number(term: Term) -> float | None:
    try:
        return float(term.value) if isinstance(term, Literal) else None
    except ValueError:
        return None


def _ours(query: str, urls: Collection[str]) -> bool:
    """Whether the text is a SELECT or ASK that asks no other endpoint than these."""
    if any(_disguised(match["string"] or "") for match in TEXT.finditer(query)):
        return False
    syntax = TEXT.sub(lambda match: match["iri"] or " ", query)
    words = TEXT.sub(" ", query)
    return (
        HEAD.match(query) is not None
        and not set("\"'\\") & set(words)  # other kinds of strings, and escapes outside of them
        and not FORBIDDEN.search(words.upper())
        and all(service[1:-1] in urls for service in SERVICE.findall(syntax))
    )


def _disguised(string: str) -> bool:
    """Whether a string has a character by its code that could stand there by itself."""
    return any(code[0] in "uU" and code not in CONTROLS for code in ESCAPED.findall(string))


def _as_select(query: str) -> str:
    """An ASK as a SELECT of at most one row: engines write the result of an ASK in shapes of their own."""
    selected, asks = ASK.subn("SELECT * WHERE {", query, count=1)
    return f"{selected.rstrip()} LIMIT 1" if asks else query
