"""One call of a reasoning model as it happens: each request with its reply, and what the call came to."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fedkg.common.one_line import line
from fedkg.errors import BudgetError, ModelReplyError
from fedkg.llm.base import Completion, Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.ledger import Ledger

__all__ = ["Attempt", "CallObserver", "Exchange", "observed"]

log = logging.getLogger(__name__)


@dataclass
class Attempt:
    """A request as it was sent, and its reply.

    `error` is what came instead of a reply, or why the reply could not be used; `seconds` are wall-clock time.
    """

    request: Request
    reply: Completion | None = None
    error: BaseException | None = None
    seconds: float = 0.0


@dataclass
class Exchange:
    """One call by its name: its attempts, and its `result`, or the `error` that it ended with."""

    call: str
    model: BudgetedModel
    ledger: Ledger
    attempts: list[Attempt] = field(default_factory=list)
    result: object = None
    error: BaseException | None = None
    _entry: int = 0

    async def send(self, request: Request) -> Completion:
        """The model's reply to the request. Raises ModelError, and BudgetError where nothing was sent."""
        attempt, started = Attempt(request), time.perf_counter()
        self.attempts.append(attempt)
        try:
            attempt.reply, self._entry = await self.model.complete(request)
        except BaseException as error:
            attempt.error = error
            if isinstance(error, BudgetError):
                self.attempts.pop()
            raise
        finally:
            attempt.seconds = time.perf_counter() - started
            _log(self.model.name, attempt)
        return attempt.reply

    def refuse(self, fault: ModelReplyError) -> None:
        """Notes, in the ledger too, that the last reply cannot be used."""
        self.attempts[-1].error = fault
        self.ledger.refuse(self._entry, fault)
        log.info("%s: the reply to %s is unusable: %s", self.model.name, self.call, line(fault, 300))


CallObserver = Callable[[Exchange], None]
"""Is handed each call of a model once, when the call has ended, whatever it ended with."""


@contextmanager
def observed(exchange: Exchange, observer: CallObserver) -> Iterator[Exchange]:
    """Runs one call, and hands it to the observer at its end."""
    try:
        yield exchange
    except BaseException as error:
        exchange.error = error
        raise
    finally:
        observer(exchange)


def _log(model: str, attempt: Attempt) -> None:
    """A line for who debugs: what was asked, what it cost, and what it failed with."""
    request, reply, error = attempt.request, attempt.reply, attempt.error
    if reply:
        source = ", replayed" if reply.replayed else ""
        tokens = (reply.tokens_in, reply.tokens_out)
        log.debug("%s: %s: %d + %d tokens, %.2f s%s", model, request.call, *tokens, attempt.seconds, source)
    else:
        log.debug("%s: %s: %s after %.2f s", model, request.call, type(error).__name__, attempt.seconds)
