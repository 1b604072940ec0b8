"""Replies that are made to fill a client's memory or time, and the server on loopback that sends them.

Each shape is the beginning of a reply, something that is repeated until the size is reached, and an end; the size is
just under what one reply may have after it is unpacked.
"""

import asyncio
import contextlib
import itertools
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

from aiohttp import web

from eval.support.loopback import loopback

__all__ = ["SHAPES", "TOPIC", "Bomb", "Shape", "body"]

SIZE, CHUNK = 63_000_000, 1 << 18
TOPIC = "http://bombs.example/topic"
OTHER = "http://bombs.example/other"
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"


class Shape(NamedTuple):
    """`start`, then `part` as often as it goes into `size` bytes, then `end`; `#` in a part is its number.

    `packed`: sent as gzip. `every`: seconds between two bytes. `endless`: the part comes until the client hangs up.
    """

    kind: str
    start: bytes
    part: bytes = b""
    end: bytes = b""
    packed: bool = True
    size: int = SIZE
    every: float = 0.0
    endless: bool = False


def _uri(value: bytes) -> bytes:
    return b'{"type":"uri","value":"' + value + b'"}'


TOPIC_TERM, OTHER_TERM = _uri(TOPIC.encode()), _uri(OTHER.encode())
HEAD = b'{"head":{"vars":["s","p","o"]},"results":{"bindings":['
END = b"]}}"
SUBJECT, RELATION, CLOSE = b'{"e":' + TOPIC_TERM + b',"s":' + TOPIC_TERM + b',"p":', b',"o":', b"}"
EDGE = SUBJECT + _uri(b"http://bombs.example/relation") + RELATION + OTHER_TERM + CLOSE
LITERAL, LITERAL_END = (
    SUBJECT + _uri(b"http://bombs.example/says") + RELATION + b'{"type":"literal","value":"',
    b'"' + CLOSE + CLOSE,
)
RELATION_START = SUBJECT + b'{"type":"uri","value":"http://bombs.example/'
RELATION_END = b'"}' + RELATION + OTHER_TERM + CLOSE + END
XML_HEAD = b'<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><results>'
XML_END = b"</results></sparql>"
XML_S = b"<result>" + b"".join(
    b'<binding name="%s"><uri>%s</uri></binding>' % (name, TOPIC.encode()) for name in (b"e", b"s")
)
XML_P = b'<binding name="p"><uri>http://bombs.example/says</uri></binding>'
XML_LITERAL = XML_S + XML_P + b'<binding name="o"><literal>'
XML_LITERAL_END = b"</literal></binding></result>"
LAUGHS = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))


def _json(part: bytes, *, start: bytes = HEAD, end: bytes = END, first: bytes = b"") -> Shape:
    """A result with that part over and over, after `first`."""
    return Shape(JSON, start + first, part, end)


def _xml(part: bytes, start: bytes = XML_HEAD, end: bytes = XML_END, first: bytes = b"") -> Shape:
    return Shape(XML, start + first, part, end)


SHAPES = {
    # what any server sends, to compare with
    "a good reply": Shape(JSON, HEAD + EDGE, end=END),
    "a good reply, XML": Shape(XML, XML_HEAD + XML_LITERAL + b"x" + XML_LITERAL_END, end=XML_END),
    # rows
    "empty rows": _json(b",{}", first=b"{}"),
    "small rows": _json(b"," + EDGE.replace(b"/other", b"/#"), first=EDGE),
    "rows without a type": _json(b',{"s":{}}', first=EDGE),
    "rows of variables of their own": _json(b',{"v#":' + OTHER_TERM + b"}", first=EDGE),
    "a million variables in a row": _json(b',"v#":' + OTHER_TERM, first=b'{"s":' + TOPIC_TERM, end=b"}" + END),
    "the same variable over and over": _json(b',"s":' + OTHER_TERM, first=b'{"s":' + TOPIC_TERM, end=b"}" + END),
    "rows of long literals": _json(
        b"," + LITERAL + b"# " + b"x" * 900 + "\U0001f4a3".encode() + LITERAL_END, first=EDGE
    ),
    "members of a term": _json(b',"a#":0', first=b'{"s":{"type":"uri","value":"a:b"', end=b"}}" + END),
    "numbers as rows": _json(b",1", first=b"1"),
    # the head
    "variables of the head": _json(b',"v#"', start=b'{"head":{"vars":["s"', end=b']},"results":{"bindings":[]}}'),
    "links of the head": _json(b',"h:#"', start=b'{"head":{"link":["h:"', end=b']},"results":{"bindings":[]}}'),
    "other members": _json(b'"m#":[],', start=b"{", end=b'"head":{},"results":{"bindings":[]}}'),
    # depth
    "arrays in arrays": _json(b"[", start=b'{"head":{"link":', end=b""),
    "objects in objects": _json(b'{"a":', start=b'{"head":{"link":', end=b""),
    # one long text
    "one literal": _json(b"x" * 1000, first=LITERAL, end=LITERAL_END + END),
    "one literal of escapes": _json(b"\\n\\u00e9" * 100, first=LITERAL, end=LITERAL_END + END),
    "one literal of halves": _json(b"\\ud83d" * 100, first=LITERAL, end=LITERAL_END + END),
    "one literal of backslashes": _json(b"\\\\" * 100, first=LITERAL + b"\x01", end=LITERAL_END + END),
    "one literal of control characters": _json(b"\x01" * 100, first=LITERAL, end=LITERAL_END + END),
    "one literal, not UTF-8": _json(b"\xff\xfe" * 100, first=LITERAL, end=LITERAL_END + END),
    "one key": _json(b"k" * 1000, first=b'{"', end=b'":' + OTHER_TERM + b"}" + END),
    "one number": _json(b"1" * 1000, start=b'{"head":{"n":', end=b'},"results":{"bindings":[]}}'),
    "white space": _json(b" \n" * 100),
    "a relation of 10 MB": _json(b"r" * 1000, first=RELATION_START, end=RELATION_END)._replace(size=10_000_000),
    "a relation of 10 MB of words": _json(b"/a_b.c-", first=RELATION_START, end=RELATION_END)._replace(size=10_000_000),
    "a datatype of 10 MB": _json(
        b"d" * 1000, first=LITERAL + b'1","datatype":"http://bombs.example/', end=LITERAL_END + END
    )._replace(size=10_000_000),
    "a language tag of 10 MB": _json(
        b"-abcdefg", first=LITERAL + b'1","xml:lang":"en', end=LITERAL_END + END
    )._replace(size=10_000_000),
    # no result
    "an ASK with much beside": _json(b',"m#":[true]', start=b'{"head":{},"boolean":true', end=b"}"),
    "an error with much beside": _json(b',"m#":[{}]', start=b'{"error":"no"', end=b"}")._replace(kind="text/plain"),
    "gzip of zeros": _json(b"\0" * 1000, start=b"", end=b""),
    "gzip of 1 GB": Shape(JSON, HEAD + EDGE, b" " * 1000, END, size=1_000_000_000),
    # XML
    "XML: empty rows": _xml(b"<result/>"),
    "XML: small rows": _xml(XML_LITERAL + b"#" + XML_LITERAL_END),
    "XML: variables of the head": _xml(b'<variable name="v#"/>', start=XML_HEAD.replace(b"/><results>", b">"),
                                       end=b"</head><results/></sparql>"),
    "XML: links of the head": _xml(b'<link href="h:#"/>', start=XML_HEAD.replace(b"/><results>", b">"),
                                   end=b"</head><results/></sparql>"),
    "XML: bindings of a row": _xml(b'<binding name="v#"><uri>a:b</uri></binding>', first=b"<result>",
                                   end=b"</result>" + XML_END),
    "XML: one literal": _xml(b"x" * 1000, first=XML_LITERAL, end=XML_LITERAL_END + XML_END),
    "XML: one literal of references": _xml(b"&#65;" * 200, first=XML_LITERAL, end=XML_LITERAL_END + XML_END),
    "XML: depth": _xml(b"<a>", first=b"<result>", end=b""),
    "XML: names of elements": _xml(b"<a#/>", first=b"<result>", end=b"</result>" + XML_END),
    "XML: rows of names of elements": _xml(b"<result><a#/></result>"),
    "XML: attributes": _xml(b' a#="1"', first=b"<result", end=b"/>" + XML_END),
    "XML: rows of attributes": _xml(b'<result a#="1"/>'),
    "XML: one attribute": _xml(b"x" * 1000, first=b'<result a="', end=b'"/>' + XML_END),
    "XML: one name": _xml(b"x" * 1000, first=b"<", end=b"/>" + XML_END),
    "XML: namespaces": _xml(b' xmlns:a#="b:#"', first=b"<result", end=b"/>" + XML_END),
    "XML: comments": _xml(b"<!-- # -->"),
    "XML: one comment": _xml(b"x" * 1000, first=b"<!--", end=b"-->" + XML_END),
    "XML: instructions": _xml(b"<?a #?>"),
    "XML: white space": _xml(b" \n" * 100),
    "XML: billion laughs": Shape(XML, b'<!DOCTYPE sparql [<!ENTITY a0 "ha">' + LAUGHS + b"]><sparql><head/><results>"
                                 + XML_LITERAL + b"&a9;" + XML_LITERAL_END, end=XML_END),
    "XML: a document type": _xml(b"x" * 1000, start=b"<!DOCTYPE ", end=b"><sparql/>"),
    "XML: not UTF-8": _xml(b"\xff" * 1000, first=XML_LITERAL, end=XML_LITERAL_END + XML_END),
    # time
    "a byte a second": Shape(JSON, HEAD, b" ", every=1.0, packed=False, endless=True),
    "fifty bytes a second": Shape(JSON, HEAD + EDGE, b"," + EDGE, every=0.02, packed=False, endless=True),
    "never ending": Shape(JSON, HEAD, b" \n" * 100_000, packed=False, endless=True),
    "never ending, packed": Shape(JSON, HEAD, b" \n" * 100_000, endless=True),
}  # fmt: skip


def body(shape: Shape) -> Iterator[bytes]:
    """What the shape unpacks to, in pieces."""
    yield shape.start
    left, number = shape.size - len(shape.start) - len(shape.end), 0
    while shape.part and left > 0:
        times = max(1, CHUNK // len(shape.part))
        piece = shape.part * times
        if b"#" in shape.part:
            piece = b"".join(shape.part.replace(b"#", b"%d" % n) for n in range(number, number + times))
        number += times
        left -= len(piece)
        yield piece
    yield shape.end


class Bomb:
    """A server whose every reply has that shape; `requests` and `sent`, the bytes of all replies, are counted."""

    def __init__(self, shape: Shape) -> None:
        self.requests = self.sent = 0
        self._shape = shape
        self._packed = b"" if shape.endless else _packed(shape) if shape.packed else b"".join(body(shape))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The URL of the server as long as it runs."""
        async with loopback(self._answer) as url:
            yield url

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        headers = {"Content-Type": self._shape.kind} | ({"Content-Encoding": "gzip"} if self._shape.packed else {})
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            async for piece in self._pieces():
                await response.write(piece)
                self.sent += len(piece)
        return response

    async def _pieces(self) -> AsyncIterator[bytes]:
        if not self._shape.endless:
            yield self._packed
            return
        compressor = zlib.compressobj(wbits=31)
        parts = itertools.chain([self._shape.start], itertools.repeat(self._shape.part))
        for part in parts:
            if self._shape.every:
                for byte in part:
                    yield bytes([byte])
                    await asyncio.sleep(self._shape.every)
            elif piece := compressor.compress(part) if self._shape.packed else part:
                yield piece
                await asyncio.sleep(0)


def _packed(shape: Shape) -> bytes:
    compressor = zlib.compressobj(wbits=31)
    return b"".join([*map(compressor.compress, body(shape)), compressor.flush()])
