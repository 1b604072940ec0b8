"""What comes back from an endpoint: a raw reply, and the accepted rows of one."""

from collections.abc import Mapping

import msgspec

from fedkg.core.terms import Literal, Term

__all__ = ["EndpointReply", "Rows", "counted"]

DIGITS = 10
"""Of a count, from which on it is not read: no entity has so many edges, and Python refuses very long numbers."""


class EndpointReply(msgspec.Struct, frozen=True):
    """What an endpoint sent back, unjudged: HTTP status, lower-cased headers, body, seconds until the last byte.

    `most` is how many rows it may have, by what was asked for (0: any number): of one with more none are read.
    `share` is freed with the reply: what its transport keeps of the memory that it takes.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0
    most: int = 0
    share: object = None

    @property
    def content_type(self) -> str:
        """The media type without parameters, lower case."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


class Rows(msgspec.Struct, frozen=True):
    """An accepted result: one dict per solution, variable name to term.

    `bytes` as received, `format` the media type that they came in, `seconds` until the last byte.
    """

    rows: tuple[Mapping[str, Term], ...] = ()
    bytes: int = 0
    format: str = ""
    seconds: float = 0.0


def counted(term: Term | None, unknown: int = 0) -> int:
    """The number that an endpoint counts in this term; `unknown` where that is none."""
    written = term.value if isinstance(term, Literal) else ""
    return int(written) if written.isdecimal() and len(written) < DIGITS else unknown
