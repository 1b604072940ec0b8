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
        size, names, iris = ROW + ENTRY * len(bindings), self._names, self._iris
        for name, binding in bindings.items():
            if name not in names:
                self._check(name)
            is_iri = binding.type == "uri"
            if is_iri and (known := iris.get(binding.value)) is not None:
                row[name] = known
                continue
            row[name] = term = self._iri(binding.value) if is_iri else _term(binding)
            text = term.text
            size += TERM + len(text) * (2 if text.isascii() else 8)
        self.rows.append(row)
        self._left -= size
        if self._left < 0:
            raise TooMuchError("rows that take too much memory")

    def _check(self, name: str) -> None:
        if not VARIABLE.fullmatch(name):
            raise BadTermError(f"a variable that no query has: {name[:40]!r}")
        if len(self._names) >= VARIABLES:
            raise BadTermError(f"more than {VARIABLES:,} variables")
        self._names.add(name)

    def _iri(self, value: str) -> Iri:
        if not value:
            raise BadTermError("an empty IRI")
        if len(value) > LONGEST:
            return Iri(value[:LONGEST] + CUT)
        return self._iris.setdefault(value, Iri(value))


def bounded(value: str) -> str:
    """The value, or as much of it as shows that it is too long."""
    return value if len(value) <= LONGEST else value[: LONGEST + 1]


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
