"""SPARQL results in JSON: the only importer of ijson.

A small body is parsed at once by msgspec, which is three times as fast; what it may hold is counted before. All others
are read as a stream of events, of which no more than one row is held.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

import ijson
import msgspec

from fedkg.sparql.pieces import LARGEST, Pieces
from fedkg.sparql.solutions import VARIABLES, Binding, BrokenOffError, NoResultError, Solutions, bounded

__all__ = ["read"]

Events = Iterator[tuple[str, Any]]

PIECE = 1 << 16
HEAD = 1 << 16
"""Most bytes of the head: a thousand variables, each with as long a name as it may have."""
EVENTS = 4_096
"""The same in names and values."""
DEPTH = 32
BRACES, SPARE = 10, 10_000
"""Braces for each row that was asked for, and besides, up to which a body is parsed at once."""
LONE = re.compile(rb"\\u[dD][89a-fA-F]")
TO_REPAIR = re.compile(
    r"\\(?:U(?P<long>[0-9A-Fa-f]{8})"
    r"|u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9A-Fa-f]{2})"
    r'|.)|(?P<control>[\x00-\x1f])|(?P<quote>")',
    re.DOTALL,
)
ESCAPE = 12
"""Characters of the longest escape."""
UNSAFE = PIECE
"""Most characters among which an end is looked for that is in no escape."""


class _Results(msgspec.Struct):
    bindings: list[dict[str, Binding]]


class _ResultsDocument(msgspec.Struct):
    head: msgspec.Raw
    results: _Results | None = None


DOCUMENT = msgspec.json.Decoder(_ResultsDocument)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read(body: bytes, solutions: Solutions) -> bool:
    """Reads the rows into `solutions`; whether there were results at all, as there are none in the reply to an ASK.

    Raises the errors of `Solutions` and `Pieces`, BrokenOffError and NoResultError.
    """
    if _small(body, solutions.most):
        try:
            document = DOCUMENT.decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _streamed(body, solutions, repaired=True)
        return _taken(document, solutions)
    # yajl makes a question mark of half a character
    repaired = LONE.search(body) is not None
    try:
        return _streamed(body, solutions, repaired=repaired)
    except BrokenOffError:
        if repaired:
            raise
    return _streamed(body, solutions, repaired=True)


def _small(body: bytes, most: int) -> bool:
    """Whether it may be parsed as a whole: each object that is made of it has a brace."""
    return not most or (len(body) <= LARGEST and body.count(b"{") <= BRACES * most + SPARE)


def _taken(document: _ResultsDocument, solutions: Solutions) -> bool:
    head = bytes(document.head)
    if head[:1] != b"{" or len(head) > HEAD:
        raise NoResultError(f"a head of {len(head):,} bytes" if head[:1] == b"{" else "its head is no object")
    if document.results is None:
        return False
    solutions.expect(len(document.results.bindings))
    for bindings in document.results.bindings:
        solutions.add(bindings)
    return True


# ---- as a stream ----


def _streamed(body: bytes, solutions: Solutions, *, repaired: bool) -> bool:
    solutions.clear()
    # where a string is open at the end, yajl does not object
    if not body[-PIECE:].rstrip().endswith((b"}", b"]")):
        raise BrokenOffError
    pieces = Pieces(body, end=b'"')
    source: _Readable = _Repaired(pieces) if repaired else pieces
    try:
        return _document(ijson.basic_parse(source, use_float=True, buf_size=PIECE), solutions, pieces)
    except ijson.JSONError as error:
        raise BrokenOffError(str(error)[:200]) from None


def _document(events: Events, solutions: Solutions, pieces: Pieces) -> bool:
    has_head = has_results = False
    _begin(events, "start_map", "the whole")
    for name in _names(events):
        if name == "head":
            _begin(events, "start_map", "its head")
            _skip(events, 1)
            has_head = True
        elif name == "results":
            has_results = _results(events, solutions, pieces)
        else:
            _skip(events)
        pieces.row()
    for _ in events:  # there is none, unless something follows: then the parser objects
        pass
    if not has_head:
        raise NoResultError("it has no head")
    return has_results


def _results(events: Events, solutions: Solutions, pieces: Pieces) -> bool:
    event, _ = next(events)
    if event == "null":
        return False
    has_bindings = False
    if event == "start_map":
        for name in _names(events):
            if name == "bindings":
                solutions.clear()
                _rows(events, solutions, pieces)
                has_bindings = True
            else:
                _skip(events)
    if not has_bindings:
        raise NoResultError("its results have no bindings")
    return True


def _rows(events: Events, solutions: Solutions, pieces: Pieces) -> None:
    _begin(events, "start_array", "its bindings")
    for event, _ in events:
        if event == "end_array":
            return
        if event != "start_map":
            raise NoResultError("a row is no object")
        solutions.expect()
        solutions.add(_row(events))
        pieces.row()


def _row(events: Events) -> dict[str, Binding]:
    row: dict[str, Binding] = {}
    for number, name in enumerate(_names(events), 1):
        if number > VARIABLES:
            raise NoResultError(f"more than {VARIABLES:,} variables in a row")
        row[name] = _binding(events)
    return row


def _binding(events: Events) -> Binding:
    _begin(events, "start_map", "a term")
    parts: dict[str, str] = {}
    for name in _names(events):
        event, value = next(events)
        if event == "string":
            if name in PARTS:
                parts[name] = bounded(value)
        elif event in NESTED:
            _skip(events, 1)
        elif name in NEEDED or (name in PARTS and event != "null"):
            raise NoResultError(f"the {name} of a term is no text")
    if not parts.keys() >= NEEDED:
        raise NoResultError("a term has no type or no value")
    return Binding(parts["type"], parts["value"], parts.get("datatype"), parts.get("xml:lang"))


NEEDED = {"type", "value"}
PARTS = NEEDED | {"datatype", "xml:lang"}
NESTED = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


def _names(events: Events) -> Iterator[str]:
    """The names of the object that has begun, to its end; the caller reads their values."""
    for event, name in events:
        if event == "end_map":
            return
        yield name


def _begin(events: Events, expected: str, place: str) -> None:
    event, _ = next(events)
    if event != expected:
        raise NoResultError(f"{place} is no {'object' if expected == 'start_map' else 'array'}")


def _skip(events: Events, depth: int = 0) -> None:
    """Leaves out a value; `depth` is 1 for one that has begun."""
    for number, (event, _) in enumerate(events):
        depth += NESTED.get(event, 0)
        if not depth:
            return
        if number > EVENTS or depth > DEPTH:
            raise NoResultError("it holds too much beside its rows")


# ---- repaired ----


class _Repaired:
    """The pieces without what engines write wrongly.

    Virtuoso's eight-digit escapes and raw control characters are made JSON; what is no Unicode becomes U+FFFD.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._in_string = False

    def read(self, size: int) -> bytes:
        """The next piece; b"" at the end."""
        if not size:
            return b""
        while True:
            piece = self._pieces.read(size)
            self._text += self._decoder.decode(piece, final=not piece)
            end = _outside_escapes(self._text) if piece else len(self._text)
            if end or not piece:
                text, self._text = self._text[:end], self._text[end:]
                return TO_REPAIR.sub(self._repair, text).encode()
            if len(self._text) > UNSAFE:
                raise BrokenOffError("it is all escapes")

    def _repair(self, match: re.Match[str]) -> str:
        if match["quote"]:
            self._in_string = not self._in_string
        elif match["control"] and self._in_string:
            return json.dumps(match["control"])[1:-1]
        elif match["long"]:
            code = int(match["long"], 16)
            return json.dumps(chr(code))[1:-1] if _is_character(code) else "\\ufffd"
        return "\\ufffd" if match["lone"] else match.group()


def _outside_escapes(text: str) -> int:
    """The last place in a text that begins outside of an escape where none is under way."""
    end = len(text)
    while end and (escape := text.rfind("\\", max(0, end - ESCAPE), end)) >= 0:
        end = escape
    return end


def _is_character(code: int) -> bool:
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
