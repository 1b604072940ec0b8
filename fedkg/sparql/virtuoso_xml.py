"""SPARQL results in XML as Virtuoso writes them, read row by row without an XML parser.

Virtuoso writes its XML in a third of the time that its JSON takes, where that is most of the time of a query; a parser
of all XML would take longer than is gained. And what Virtuoso writes is not always what XML means by it: line ends as
they are, which a parser makes all alike; control characters by their numbers, which no XML 1.0 document may have; and
in a CDATA section, escapes. Here they are read as they are meant.
"""

import re

from fedkg.core import deadline
from fedkg.core.terms import Term
from fedkg.sparql.pieces import LARGEST, TimeIsUpError
from fedkg.sparql.solutions import LONGEST, VARIABLES, Binding, Solutions, bounded

__all__ = ["read"]

START = re.compile(
    rb'<sparql xmlns="http://www\.w3\.org/2005/sparql-results#"[^<>]{0,1000}>\n'
    rb' <head>\n(?:  <variable name="\w{1,50}"/>\n){0,%d} </head>\n'
    rb' <results distinct="(?:true|false)" ordered="(?:true|false)">\n' % VARIABLES
)
ROW, ROW_END, BINDING_END, END = b"  <result>\n", b"  </result>\n", b"</binding>\n", b" </results>\n</sparql>"
BINDING = re.compile(
    rb'   <binding name="(\w{1,50})"><(uri|bnode|literal)(?: xml:lang="([^"<]*)"| datatype="([^"<]*)")?>'
    rb"(?:<!\[CDATA\[([^<]*)\]\]>|([^<]*))</\2>"
)
ESCAPE = re.compile(r"&(?:#([0-9]{1,7});|(\w{2,4});)?")
NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
LAST = 0x10FFFF
"""The highest code point."""
WRITTEN = 10 * (LONGEST + 2)
"""Characters of a text with escapes, of ten each at most, that show that it is too long."""
CUT_ESCAPE = re.compile(r"&[^;]{0,9}\Z")
BETWEEN_LOOKS = 1 << 16
"""Bytes between two looks at the deadline."""


class _NotVirtuosoError(Exception):
    """Raised for what Virtuoso does not write."""


def read(body: bytes, solutions: Solutions) -> bool:
    """Reads the rows into `solutions`; False, and none, where the body is not as Virtuoso writes it to the last byte.

    Raises the errors of `Solutions`, and TimeIsUpError.
    """
    start = START.match(body)
    if not start:
        return False
    try:
        end = _rows(body, start.end(), solutions)
    except (_NotVirtuosoError, UnicodeDecodeError):
        end = 0
    if end + len(END) == len(body) and body.endswith(END):
        return True
    solutions.clear()
    return False


def _rows(body: bytes, place: int, solutions: Solutions) -> int:
    """Reads the rows that begin at that place; where they end."""
    known: dict[bytes, tuple[str, Term]] = {}
    look = place
    while body.startswith(ROW, place):
        if place >= look:
            look = place + BETWEEN_LOOKS
            if not deadline.left():
                raise TimeIsUpError
        solutions.expect()
        end = body.find(ROW_END, place)
        if not 0 <= end - place <= LARGEST:
            raise _NotVirtuosoError
        solutions.put(_row(body[place + len(ROW) : end], known, solutions))
        place = end + len(ROW_END)
    return place


def _row(written: bytes, known: dict[bytes, tuple[str, Term]], solutions: Solutions) -> dict[str, Term]:
    """The row of these bindings; `known` are those that were read before.

    Most come again: an entity with each of its edges, a relation with each of its tails.
    """
    *bindings, rest = written.split(BINDING_END, VARIABLES)
    row = dict([known.get(each) or known.setdefault(each, _binding(each, solutions)) for each in bindings])
    if rest or len(row) < len(bindings):
        raise _NotVirtuosoError
    return row


def _binding(written: bytes, solutions: Solutions) -> tuple[str, Term]:
    """A variable and what it is bound to."""
    match = BINDING.fullmatch(written)
    if not match:
        raise _NotVirtuosoError
    name, kind, language, datatype, escaped, value = match.groups()
    text = _text(value if escaped is None else escaped)
    tags = _text(datatype) if datatype else None, _text(language) if language else None
    variable = name.decode()
    return variable, solutions.term(variable, Binding(kind.decode(), text, *tags))


def _text(written: bytes) -> str:
    """What was written with escapes, or as much of it as shows that it is too long."""
    text = written.decode()
    if "&" in text:
        text = text if len(text) <= WRITTEN else CUT_ESCAPE.sub("", text[:WRITTEN])
        text = ESCAPE.sub(_character, text)
    return bounded(text)


def _character(escape: re.Match[str]) -> str:
    number, name = escape.groups()
    character = chr(int(number)) if number and int(number) <= LAST else NAMED.get(name or "")
    if not character or "\ud800" <= character <= "\udfff":
        raise _NotVirtuosoError
    return character
