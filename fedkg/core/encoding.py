"""Records as JSON and back: terms are their N-Triples text."""

from typing import Any, TypeVar

import msgspec

from fedkg.core.terms import Term, parse_term
from fedkg.errors import TermError

__all__ = ["decode", "decode_hook", "encode", "encode_hook", "to_builtins"]

T = TypeVar("T")


def encode_hook(value: object) -> str:
    """A term's N-Triples text, for msgspec. Raises TypeError for what is no record."""
    if isinstance(value, Term):
        return value.text
    raise TypeError(f"no JSON for {type(value).__name__}")


def decode_hook(kind: type, value: object) -> Term:
    """The term of N-Triples text, for msgspec. Raises TermError."""
    term = parse_term(str(value))
    if not isinstance(term, kind):
        raise TermError(f"expected an IRI, got {value!r}")
    return term


def encode(record: object) -> bytes:
    """Any record as JSON, UTF-8; terms as N-Triples text."""
    return msgspec.json.encode(record, enc_hook=encode_hook)


def to_builtins(record: object) -> Any:
    """Any record as plain dicts, lists and strings."""
    return msgspec.to_builtins(record, enc_hook=encode_hook)


def decode(data: bytes, kind: type[T]) -> T:
    """The record that JSON stands for. Raises msgspec.MsgspecError or TermError where it is another."""
    return msgspec.json.decode(data, type=kind, dec_hook=decode_hook)
