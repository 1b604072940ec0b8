"""RDF terms and edges; the only place where a term becomes text that enters a query.

Terms are written as N-Triples text in both directions (RDF 1.1 N-Triples, W3C 2014). A term that cannot be written
safely, such as an IRI with a quote in it, exists (endpoints do return them) but refuses to enter a query.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal as OneOf
from typing import Self

import msgspec

from fedkg.core.literals import readable
from fedkg.errors import TermError

__all__ = [
    "BOTH",
    "OPPOSITE",
    "UNKNOWN",
    "Blank",
    "DirectedRelation",
    "Direction",
    "Edge",
    "Iri",
    "Literal",
    "Qualifier",
    "Term",
    "Through",
    "own_name",
    "parse_term",
    "relation_name",
    "relation_text",
    "typed_name",
]

Direction = OneOf["out", "in"]
BOTH: tuple[Direction, Direction] = ("out", "in")
"""The directions in which an edge can be walked, along it first."""
OPPOSITE: Mapping[Direction, Direction] = {"out": "in", "in": "out"}
"""The other way."""

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
ILLEGAL_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
ABSOLUTE_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# tag and datatype may be malformed, as an endpoint sent them: such a literal can be read back, but not be queried
LITERAL = re.compile(r'"((?:[^"\\\n\r]|\\.)*)"(?:@(.+)|\^\^<(.+)>)?', re.DOTALL)
SURROGATE = re.compile(r"[\ud800-\udfff]")
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
UNESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
TYPED = re.compile(r"(?<=/)[a-z0-9_]+(?:\.{1,2}[a-z0-9_]+){2,}$")
IRIS = 10_000
"""IRIs of which is remembered what their text tells, such as whether a query can carry them: asked several times."""
TO_ESCAPE = re.compile(r'[\x00-\x1f\x7f"\\\x85\u2028\u2029\ud800-\udfff]')


class Term:
    """An IRI, a literal or a blank node; equal, hashed and ordered by its N-Triples text."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def queryable(self) -> bool:
        """Whether the term may be written into a query."""
        return True

    def n3(self) -> str:
        """The term as it is written into a query. Raises TermError where that would not be safe or not mean it."""
        if not self.queryable:
            raise TermError(f"this term cannot be written into a query: {self.text[:200]!r}")
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.text == other.text

    def __lt__(self, other: "Term") -> bool:
        return self.text < other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


class Iri(Term):
    """An IRI; `value` is its text without the angle brackets."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.text = f"<{value}>"
        self.value = value

    @classmethod
    def parse(cls, text: str) -> Self:
        """The IRI that a person wrote, with or without angle brackets. Raises TermError where it is none."""
        value = text.strip().removeprefix("<").removesuffix(">")
        if not ABSOLUTE_IRI.match(value) or ILLEGAL_IN_IRI.search(value):
            raise TermError(f"not an IRI: {text[:200]!r}")
        return cls(value)

    @property
    def queryable(self) -> bool:
        """False for IRIs that no query can carry; endpoints do return such."""
        return _can_be_queried(self.value)

    @property
    def local_name(self) -> str:
        """What follows the last `#`, `/` or `:`, as words: the label of last resort."""
        return _local_name(self.value)


@lru_cache(IRIS)
def _local_name(iri: str) -> str:
    value = iri.rstrip("#/")
    tail = value[max(map(value.rfind, "#/:")) + 1 :]
    return " ".join(tail.replace(".", " ").replace("_", " ").split()) or iri


@lru_cache(IRIS)
def _can_be_queried(iri: str) -> bool:
    return bool(ABSOLUTE_IRI.match(iri)) and not ILLEGAL_IN_IRI.search(iri)


class Literal(Term):
    """A literal with its `value`, `datatype` IRI ("" for plain strings) and `language` ("" for none)."""

    __slots__ = ("datatype", "language", "value")

    def __init__(self, value: str, datatype: str = "", language: str = "") -> None:
        self.value = value
        self.datatype = "" if language or datatype == XSD_STRING else datatype
        self.language = language.lower()
        tag = f"@{self.language}" if language else f"^^<{self.datatype}>" if self.datatype else ""
        self.text = f'"{TO_ESCAPE.sub(_escape, value)}"{tag}'

    @property
    def queryable(self) -> bool:
        """False where datatype or language are malformed, or the value holds half a character (a lone surrogate)."""
        if SURROGATE.search(self.value):
            return False
        if self.language and not LANGUAGE.fullmatch(self.language):
            return False
        return not self.datatype or Iri(self.datatype).queryable


class Blank(Term):
    """A blank node: known within one reply only, so it can be shown but never asked for again."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(f"_:{name}")

    @property
    def queryable(self) -> bool:
        """Always False: in a query a blank node is a variable."""
        return False


UNKNOWN = Blank("unknown-value")
"""A value that is there and is unknown (Wikidata marks it so); all of them are one, and none is walked on from."""


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}.get(char)
    return short or f"\\u{ord(char):04X}"


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code not in ESCAPES:
        raise TermError(f"unknown escape in a literal: \\{code}")
    return ESCAPES[code]


def parse_term(text: str) -> Term:
    """The term that N-Triples text stands for; reads back whatever a term was written as. Raises TermError."""
    if len(text) > 2 and text[0] == "<" and text[-1] == ">":
        return Iri(text[1:-1])
    if text.startswith("_:") and len(text) > 2:
        return Blank(text[2:])
    match = LITERAL.fullmatch(text)
    if not match:
        raise TermError(f"not an N-Triples term: {text[:200]!r}")
    body, language, datatype = match.groups()
    try:
        return Literal(UNESCAPED.sub(_unescape, body), datatype or "", language or "")
    except (ValueError, OverflowError) as error:
        raise TermError(f"not an N-Triples term: {text[:200]!r}") from error


def own_name(term: Term) -> str:
    """A name for a term that has no label: local name, readable value, or its text."""
    if isinstance(term, Iri):
        return term.local_name
    if isinstance(term, Literal):
        return readable(term.value, term.datatype)
    return "unknown value" if term == UNKNOWN else term.text


# gc=False: records that are made of finished ones are in no cycle, and the garbage collector need not look for one


class DirectedRelation(msgspec.Struct, frozen=True, gc=False):
    """A relation as it is walked: `out` from subject to object, `in` against it; `via` is a mediator's second leg.

    Ordered by relation, direction and mediator, plain relations first.
    """

    relation: Iri
    direction: Direction
    via: Iri | None = None

    @property
    def inverse(self) -> "DirectedRelation":
        """The same relation walked the other way."""
        return DirectedRelation(self.relation, OPPOSITE[self.direction], self.via)

    def __lt__(self, other: "DirectedRelation") -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, str, str]:
        return self.relation.text, self.direction, self.via.text if self.via else ""


def relation_name(relation: DirectedRelation, names: Mapping[Term, str]) -> str:
    """The relation's label; with the mediator's second leg where there is one."""
    first = names.get(relation.relation) or relation.relation.local_name
    return first if relation.via is None else f"{first} {names.get(relation.via) or relation.via.local_name}"


def relation_text(relation: DirectedRelation, names: Mapping[Term, str]) -> str:
    """What a relation is ranked by: its label, or its whole local name where that only says more.

    Freebase's names say domain and type ("people person place of birth"), which separates relations that share a label.
    """
    whole = (relation.relation, *([relation.via] if relation.via else []))
    texts = [(names.get(part) or part.local_name, part.local_name) for part in whole]
    return " ".join(name if name.endswith(f" {label}") else label for label, name in texts)


def typed_name(relation: DirectedRelation) -> str:
    """Domain, type and property, as Freebase's IRIs say them: `film.film.directed_by`; "" for other relations.

    A mediator's second leg follows behind two dots: `film.actor.film..film.performance.film`.
    """
    first = _typed(relation.relation.value)
    return f"{first}..{_typed(relation.via.value)}" if first and relation.via else first


@lru_cache(IRIS)
def _typed(relation: str) -> str:
    match = TYPED.search(relation)
    return match.group() if match else ""


class Through(msgspec.Struct, frozen=True, gc=False):
    """The mediator that an edge was collapsed over: its `node`, and the `relation` that leads from it to the object."""

    node: Term
    relation: Iri


class Qualifier(msgspec.Struct, frozen=True, gc=False):
    """What a statement or mediator says beside its main value, such as (start time, 1990)."""

    relation: Iri
    value: Term


class Edge(msgspec.Struct, frozen=True, gc=False):
    """One fact that an endpoint returned: subject, relation and object as they stand in the graph.

    `direction` tells how it was walked, `endpoint` who said it, `retrieved_at` when (UTC, ISO 8601), `through` the
    mediator that was collapsed (None for a plain triple). Two fields are a federation's: `identifies` is the entity
    that the object, a literal, is an identifier of by the table of identities, and stands for it in a walk; `same` is
    the link over which the walk came from an entity to the copy of it that this edge is about.
    """

    subject: Term
    relation: Iri
    object: Term
    direction: Direction
    endpoint: str
    retrieved_at: str = ""
    qualifiers: tuple[Qualifier, ...] = ()
    through: Through | None = None
    identifies: Iri | None = None
    same: "Edge | None" = None

    @property
    def start(self) -> Term:
        """The node that the walk came from."""
        if self.same:
            return self.same.start
        return self.subject if self.direction == "out" else self.identifies or self.object

    @property
    def end(self) -> Term:
        """The node that the walk leads to."""
        return self.identifies or self.object if self.direction == "out" else self.subject

    @property
    def back(self) -> "Edge":
        """The same fact, walked the other way; the edge came over no link."""
        return msgspec.structs.replace(self, direction=OPPOSITE[self.direction])

    @property
    def walk(self) -> tuple["Edge", ...]:
        """The edge as a walk shows it: after the link that led to it, if there was one."""
        return (self.same, msgspec.structs.replace(self, same=None)) if self.same else (self,)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms that the edge shows: subject, relation, object, qualifiers, and what stands for any of them."""
        qualifiers = (term for leg in self.qualifiers for term in (leg.relation, leg.value))
        via = (self.through.relation,) if self.through else ()
        copies = (*((self.identifies,) if self.identifies else ()), *(self.same.terms if self.same else ()))
        return (self.subject, self.relation, self.object, *qualifiers, *via, *copies)

    @property
    def walked(self) -> DirectedRelation:
        """The relation with the direction it was walked in."""
        return DirectedRelation(self.relation, self.direction, self.through.relation if self.through else None)
