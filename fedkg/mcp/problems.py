"""Errors as a model can use them: what is wrong, and what to call next; never a traceback."""

import math
from collections.abc import Iterable

import msgspec

from fedkg.errors import FedkgError, OverLimitError
from fedkg.mcp.results import safe
from fedkg.serve.records import of_nearest, told

__all__ = ["LONGEST", "ToolProblem", "problem", "unusable"]

HINTS = {
    "TopicError": "call `search` with the name, and pass the IRI that fits, whole as it returns it: a short identifier "
    "such as Q42 is none",
    "QuestionError": "ask one question in one or two sentences, of the kind and with the options that it has",
    "ProfileError": "the resource fedkg://endpoints lists the endpoints that this server has",
    "MethodError": "the resource fedkg://methods lists the methods that this server has; leave method out for its own",
    "TermError": "pass a full IRI as `search` returns it",
    "BudgetError": "the bounds are the server's: ask a smaller question, or have its operator raise them",
    "EndpointTimeoutError": "ask for less, such as fewer hops or one direction, or try again later",
    "EndpointError": "an endpoint failed, which says nothing about the answer: try again later",
    "ModelError": "the language model behind the server failed, which says nothing about the answer: try again later",
}
"""What helps, by the nearest of an error's classes; the others tell it themselves."""
LONGEST = 500
"""Most characters of a message, and of a hint."""


class ToolProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a tool returns no result, and what helps; `retry_after` seconds, where the same call may work then."""

    error: str
    message: str
    hint: str = ""
    retryable: bool = False
    retry_after: int = 0


def problem(error: Exception) -> ToolProblem:
    """The error for a model; a fault of the server's own is told to its log alone."""
    shown = told(error)
    hint = of_nearest(HINTS, error, shown.hint)
    wait = math.ceil(error.wait) if isinstance(error, OverLimitError) else 0
    hint = f"wait {wait} seconds, then call again" if wait else hint
    name = shown.error if isinstance(error, FedkgError) else "InternalError"
    return ToolProblem(name, safe(shown.message, LONGEST), safe(hint, LONGEST), shown.retryable, wait)


def unusable(error: msgspec.ValidationError, arguments: Iterable[str]) -> ToolProblem:
    """Arguments that do not fit those of the tool."""
    hint = f"the tool takes {', '.join(arguments)}, as its input schema says"
    return ToolProblem("ArgumentsError", safe(str(error), LONGEST), hint)
