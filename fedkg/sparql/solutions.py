"""Bindings become rows, counted and bounded while they are read: nothing that a reply holds can fill the memory.

The rows of a reply, the length of each term and what all of them take together are bounded here; what one row may take
before it is a row is bounded where the body is read (`pieces`).
"""

import re
from collections.abc import Mapping

import msgspec

from fedkg.core.terms import Blank, Iri, Literal, Term

__all__ = [
    "LONGEST",
    "VARIABLES",
    "BadTermError",
    "Binding",
    "BrokenOffError",
    "NoResultError",
    "Solutions",
    "TooMuchError",
    "bounded",
]


LONGEST = 1_000
"""Most characters of a term. A longer literal is cut, a longer IRI is one that no query accepts."""
VARIABLE = re.compile(r"\w{1,50}")
VARIABLES = 1_000
"""Most variables of a reply."""
TAG = 100
"""Most characters of a language tag."""
CUT = " …"
"""The end of an IRI or tag that was cut: with a space in it, no query accepts it for another one's."""
ROW, ENTRY, TERM = 150, 30, 250
"""Bytes that a row takes at least, an entry of it, and a term without its text, which is held twice."""
LITERALS = {"literal", "typed-literal"}
ALLOWED, ALLOWED_A_ROW, ALLOWED_MOST = 16_000_000, 2_400, 96_000_000
"""Bytes that the rows of a reply may take, by how many were asked for."""
TOO_MUCH = "rows that take too much memory"


class TooMuchError(ValueError):
    """Raised for more than was asked for, or than can be held: less at once may be read."""


class BrokenOffError(ValueError):
    """Raised for what is not whole, or not well formed."""


class NoResultError(ValueError):
    """Raised for a document that is no result."""


class BadTermError(ValueError):
    """Raised for a result with a term or a variable that none has."""


class Binding(msgspec.Struct, gc=False):
    """What a variable is bound to in one row, as SPARQL 1.1 JSON results have it."""

    type: str
    value: str
    datatype: str | None = None
    language: str | None = msgspec.field(name="xml:lang", default=None)


class Solutions:
    """The rows of one reply so far: at most `most` (0: as many as come).

    Raises TooMuchError for more than that, BadTermError for what no row has.
    """

    def __init__(self, most: int = 0) -> None:
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Drops the rows, to begin anew."""
        self.rows: list[Mapping[str, Term]] = []
        self._left = min(ALLOWED + self.most * ALLOWED_A_ROW, ALLOWED_MOST) if self.most else float("inf")
        self._iris: dict[str, Iri] = {}
        self._names: set[str] = set()

    def expect(self, rows: int = 1) -> None:
        """Called before so many rows are added."""
        if self.most and len(self.rows) + rows > self.most:
            raise TooMuchError(f"more than {self.most:,} rows")

    def add(self, bindings: Mapping[str, Binding]) -> None:
        """One more row, after `expect`."""
        row: dict[str, Term] = {}
        iris, names = self._iris, self._names
        for name, binding in bindings.items():
            known = iris.get(binding.value) if binding.type == "uri" and name in names else None
            row[name] = known or self.term(name, binding)
        self.rows.append(row)
        self._left -= ROW + ENTRY * len(row)
        if self._left < 0:
            raise TooMuchError(TOO_MUCH)

    def put(self, row: dict[str, Term]) -> None:
        """One more row, of terms that were made by `term` and may stand in other rows too, after `expect`."""
        self.rows.append(row)
        self._left -= ROW + ENTRY * len(row)
        if self._left < 0:
            raise TooMuchError(TOO_MUCH)

    def term(self, name: str, binding: Binding) -> Term:
        """What a variable of that name is bound to."""
        if name not in self._names:
            self._check(name)
        value = binding.value
        if binding.type != "uri":
            term = _term(binding)
        elif (known := self._iris.get(value)) is not None:
            return known
        elif 0 < len(value) <= LONGEST:
            term = self._iris[value] = Iri(value)
        else:
            term = _odd_iri(value)
        text = term.text
        self._left -= TERM + len(text) * (2 if text.isascii() else 8)
        return term

    def _check(self, name: str) -> None:
        if not VARIABLE.fullmatch(name):
            raise BadTermError(f"a variable that no query has: {name[:40]!r}")
        if len(self._names) >= VARIABLES:
            raise BadTermError(f"more than {VARIABLES:,} variables")
        self._names.add(name)


def bounded(value: str) -> str:
    """The value, or as much of it as shows that it is too long."""
    return value if len(value) <= LONGEST else value[: LONGEST + 1]


def _odd_iri(value: str) -> Iri:
    """An IRI that is too long, as one that no query accepts."""
    if not value:
        raise BadTermError("an empty IRI")
    return Iri(value[:LONGEST] + CUT)


def _term(binding: Binding) -> Term:
    value, kind = binding.value, binding.type
    if kind in LITERALS:
        datatype, language = binding.datatype or "", binding.language or ""
        if len(value) + len(datatype) + len(language) <= TAG:
            return Literal(value, datatype, language)
        return Literal(bounded(value), _marked(datatype, LONGEST), _marked(language, TAG))
    if kind == "bnode" and 0 < len(value) <= LONGEST:
        return Blank(value)
    if kind == "bnode":
        raise BadTermError(f"a blank node with a name of {len(value):,} characters")
    raise BadTermError(f"a term of the unknown type {kind[:40]!r}")


def _marked(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT
