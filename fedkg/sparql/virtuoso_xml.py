"""SPARQL results in XML as Virtuoso writes them, read row by row without an XML parser.

Virtuoso writes its XML in a third of the time that its JSON takes, where that is most of the time of a query; a parser
of all XML would take longer than is gained. And what Virtuoso writes is not always what XML means by it: line ends as
they are, which a parser makes all alike; control characters by their numbers, which no XML 1.0 document may have; and
in a CDATA section, escapes. Here they are read as they are meant.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from fedkg.core import deadline
from fedkg.core.terms import Iri, Term
from fedkg.sparql.pieces import LARGEST, TimeIsUpError
from fedkg.sparql.solutions import LONGEST, VARIABLES, Binding, Solutions, bounded

__all__ = ["read"]

START = re.compile(
    rb'<sparql xmlns="http://www\.w3\.org/2005/sparql-results#"[^<>]{0,1000}>\n'
    rb' <head>\n(?:  <variable name="\w{1,50}"/>\n){0,%d} </head>\n'
    rb' <results distinct="(?:true|false)" ordered="(?:true|false)">\n' % VARIABLES
)
ROW, ROW_END, BINDING_END, END = b"  <result>\n", b"  </result>\n", b"</binding>\n", b" </results>\n</sparql>"
IRI_BINDING = b'   <binding name="%s"><uri>([^<&]{1,%d})</uri>' + BINDING_END
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
FORMS = 64
"""Sets of variables whose rows are remembered."""


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
    alike, look = _AlikeRows(solutions), place
    while body.startswith(ROW, place):
        if place >= look:
            look = place + BETWEEN_LOOKS
            if not deadline.left():
                raise TimeIsUpError
        solutions.expect()
        if end := alike.read(body, place):
            place = end
            continue
        end = body.find(ROW_END, place)
        if not 0 <= end - place <= LARGEST:
            raise _NotVirtuosoError
        row = _row(body[place + len(ROW) : end], known, solutions)
        solutions.put(row)
        alike.learn(row)
        place = end + len(ROW_END)
    return place


class _AlikeRows:
    """Rows that bind the variables of an earlier one to IRIs, as most do: each is read in one go."""

    def __init__(self, solutions: Solutions) -> None:
        self._solutions = solutions
        self._names: tuple[str, ...] = ()
        self._form: re.Pattern[bytes] | None = None
        self._iris: dict[bytes, Term] = {}

    def learn(self, row: Mapping[str, Term]) -> None:
        """Takes the row for an example, where it has IRIs alone."""
        if row and all(isinstance(term, Iri) for term in row.values()):
            self._names = tuple(row)
            self._form = _form(self._names)

    def read(self, body: bytes, place: int) -> int:
        """Reads the row that begins at that place, and returns where it ends; 0 where it is another one."""
        match = self._form.match(body, place) if self._form else None
        if match is None:
            return 0
        iris = self._iris
        terms = [iris.get(value) or iris.setdefault(value, self._iri(value)) for value in match.groups()]
        self._solutions.put(dict(zip(self._names, terms, strict=True)))
        return match.end()

    def _iri(self, value: bytes) -> Term:
        return self._solutions.term(self._names[0], Binding("uri", value.decode()))


@lru_cache(FORMS)
def _form(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """What a row looks like that binds these variables to IRIs without escapes, none of them too long."""
    return re.compile(ROW + b"".join(IRI_BINDING % (name.encode(), LONGEST) for name in names) + ROW_END)


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
