"""What goes over HTTP beside the documents: what may be asked, what the server has, and what went wrong."""

import logging
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import msgspec

from fedkg.core.question import LONGEST_OPTION, LONGEST_QUESTION, MOST_OPTIONS, Kind
from fedkg.engine.documents import MethodDocument
from fedkg.errors import FedkgError

__all__ = [
    "EVENT_STREAM",
    "MOST_EDGES",
    "MOST_MATCHES",
    "AskRequest",
    "Health",
    "Kept",
    "Offer",
    "Ping",
    "Problem",
    "ServedEndpoint",
    "of_nearest",
    "told",
]

log = logging.getLogger(__name__)

T = TypeVar("T")

EVENT_STREAM = "text/event-stream"
MOST_NAMES = 20
MOST_EDGES, MOST_MATCHES = 1_000, 100
"""Edges of one entity and entities of one search that a reply has at most."""
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
VISIBLE = r"[^\s\x1c-\x1f\x85\ufeff]"
"""A character that is no white space, neither in Python nor in JSON schemas, whose \\s differ."""
Option = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_OPTION, pattern=VISIBLE)]


class AskRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question: `topics` are labels or IRIs where the walk starts, `options` those of a choice.

    `endpoints` are some of those that the server has, by name (none: all of them); `method` one of its methods ("": its
    own choice).
    """

    question: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=LONGEST_QUESTION,
            pattern=VISIBLE,
            description="One question, as a full sentence.",
        ),
    ]
    topics: Annotated[
        tuple[Name, ...],
        msgspec.Meta(max_length=MOST_NAMES, description="Where to start: IRIs or labels; none: found in the question."),
    ] = ()
    kind: Annotated[Kind | None, msgspec.Meta(description="What is asked for; null: seen from the question.")] = None
    options: Annotated[
        tuple[Option, ...], msgspec.Meta(max_length=MOST_OPTIONS, description="The options of a multiple choice.")
    ] = ()
    method: Annotated[str, msgspec.Meta(max_length=100, description="How to search; empty: the server's choice.")] = ""
    endpoints: Annotated[
        tuple[Name, ...], msgspec.Meta(max_length=MOST_NAMES, description="Only these endpoints; none: all of them.")
    ] = ()


class ServedEndpoint(msgspec.Struct, frozen=True):
    """An endpoint of the server: the name that proofs have, and what the endpoint's profile calls it."""

    name: str
    title: str


class Offer(msgspec.Struct, frozen=True):
    """What the server was started with: methods (the first is asked where none is named), endpoints, the model."""

    methods: tuple[MethodDocument, ...]
    endpoints: tuple[ServedEndpoint, ...]
    model: str
    version: str


class Kept(msgspec.Struct, frozen=True):
    """Where the answer is kept on the server: the last event of a walk that the server keeps."""

    address: str


class Ping(msgspec.Struct, frozen=True):
    """That the walk goes on: proxies close a connection over which nothing comes."""


class Health(msgspec.Struct, frozen=True):
    """That the server answers: `ok`, or `draining` while it ends; how many questions are under way and wait."""

    status: Literal["ok", "draining"]
    under_way: int
    waiting: int


class Problem(msgspec.Struct, frozen=True):
    """Why there is no answer: the HTTP status, the error's name, what is wrong, what was asked, and what helps.

    `retryable`: the same request may work later.
    """

    status: int
    error: str
    message: str
    asked: str = ""
    hint: str = ""
    retryable: bool = False


STATUSES = {
    "SessionClosedError": 503,
    "OfflineError": 503,
    "TopicError": 404,
    "MethodError": 404,
    "ProfileError": 404,
    "InputError": 400,
    "EndpointTimeoutError": 504,
    "EndpointError": 502,
    "ModelError": 502,
    "BudgetError": 429,
    "OverLimitError": 429,
    "DrainingError": 503,
    **dict.fromkeys(
        (
            "SettingsError",
            "ModelNameError",
            "PromptError",
            "PluginError",
            "MissingExtraError",
            "GraphFileError",
            "PackError",
            "CacheError",
        ),
        500,
    ),
}
"""The HTTP status of an error, by the nearest of its classes that stands here; 500 for all others."""
HINTS = {"TopicError": "GET /search?text=NAME lists what a name may mean; pass the IRI that fits as a topic"}
"""What helps a client of the server, where an error's own hint names options of the command line."""

OWN_FAULT = Problem(500, "InternalError", "a fault of the server's own; its log has it")


def told(error: Exception) -> Problem:
    """The error as a reply: the sentence, the hint, and the status that HTTP has for it.

    What is wrong with the server itself, its settings, files and packages, or its code, is told to its log alone.
    """
    status = of_nearest(STATUSES, error, OWN_FAULT.status)
    if status == OWN_FAULT.status or not isinstance(error, FedkgError):
        log.error("a request failed: %s", error, exc_info=error)
        return OWN_FAULT
    hint = of_nearest(HINTS, error, error.hint)
    return Problem(status, type(error).__name__, error.message, error.asked, hint, error.retryable)


def of_nearest(table: Mapping[str, T], error: Exception, otherwise: T) -> T:
    """What the table has for the nearest of the error's classes, by their names."""
    return next((table[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in table), otherwise)
