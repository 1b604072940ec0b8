"""What comes back from an endpoint: a raw reply, and the accepted rows of one."""

from collections.abc import Mapping

import msgspec

from fedkg.core.terms import Term

__all__ = ["EndpointReply", "Rows"]


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
