"""Records as JSON and back: terms are their N-Triples text."""

from typing import Any, TypeVar

import msgspec

from fedkg.core.terms import Term, parse_term
from fedkg.errors import TermError

__all__ = ["decode", "encode", "to_builtins"]

T = TypeVar("T")


def _encode_hook(value: object) -> str:
    if isinstance(value, Term):
        return value.text
    raise TypeError(f"no JSON for {type(value).__name__}")


def _decode_hook(kind: type, value: object) -> Term:
    term = parse_term(str(value))
    if not isinstance(term, kind):
        raise TermError(f"expected an IRI, got {value!r}")
    return term


def encode(record: object) -> bytes:
    """Any record as JSON, UTF-8; terms as N-Triples text."""
    return msgspec.json.encode(record, enc_hook=_encode_hook)


def to_builtins(record: object) -> Any:
    """Any record as plain dicts, lists and strings."""
    return msgspec.to_builtins(record, enc_hook=_encode_hook)


def decode(data: bytes, kind: type[T]) -> T:
    """The record that JSON stands for. Raises msgspec.MsgspecError or TermError where it is another."""
    return msgspec.json.decode(data, type=kind, dec_hook=_decode_hook)
