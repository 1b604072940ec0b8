"""One place where an endpoint is served: whether it may be asked now, and which engine answers there."""

import logging

import msgspec

from fedkg.config.dialects import Dialect, Format
from fedkg.config.settings import masked
from fedkg.core import deadline
from fedkg.errors import EndpointError, EndpointTimeoutError, RefusedError
from fedkg.sparql.detect import detect
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.base import FormatTransport, Transport
from fedkg.transport.host_state import MOST_ERRORS, PAUSE, Clock, HostRegistry, HostState, origin

__all__ = ["Replica", "RequestAttempt"]

REST = 300.0
"""Seconds for which a replica that failed is asked only after the others."""
STALLS = 2
"""So many waves of requests without a reply, and no answer in between, shut a replica for this process."""
PATIENT = 2.0
"""So many times as long as a reply takes of late a request has to wait before its silence means anything."""
TICK = 0.1
"""Seconds between two looks at whether the request that finds out has come back."""
TRIAL = 10.0
"""Most seconds for which the others wait for that request: who sent it may have ended silently."""
UNBOUNDED = MOST_ERRORS + 1

log = logging.getLogger(__name__)


class RequestAttempt(msgspec.Struct):
    """One query on its way.

    What it is waiting for, and the replica that has it since when (None: it has not been sent).
    """

    doing: str = "waiting for a slot behind other requests"
    asked: "Replica | None" = None
    since: float = 0.0


class Replica:
    """A transport with what is remembered of its host.

    `word` is the engine that its profile names. Where `detects` is set, the engine that its replies show counts more.
    What runs in this process has no host: nothing about it outlives it. `plain` holds the kinds of query that its
    engine failed over, and whether it helps to put them plainly; `json` is whether JSON was read where the quicker
    format of its engine was not (None: that one was read).
    """

    def __init__(
        self, transport: Transport, host_registry: HostRegistry, clock: Clock, word: str, *, detects: bool
    ) -> None:
        self.transport = transport
        self._formats = transport if isinstance(transport, FormatTransport) else None
        self.url = transport.url
        self.plain: dict[str, bool] = {}
        self.json: bool | None = None
        self._host_registry = host_registry if self.url else HostRegistry(clock=clock)
        self._origin = origin(self.url)
        self._clock = clock
        self._word = word
        self._detects = detects
        self._probed = not self.url
        self._stalls = 0
        self._slowest = self._fastest = 0.0
        self._stalled_at = self._stalled_until = self._rest_until = float("-inf")

    # ---- may it be asked? ----

    @property
    def resting(self) -> bool:
        """Whether the others are asked first."""
        return self._rest_until > self._clock.now()

    @property
    def shut(self) -> float:
        """Seconds for which it is not asked at all, as far as this process knows."""
        return max(self._host.shut(self._clock.wall()), self._stalled_until - self._clock.now(), 0.0)

    async def enter(self, attempt: RequestAttempt, endpoint: str) -> bool:
        """Waits until it may be asked; whether this is the request that finds out whether it is back.

        Raises RefusedError, with the time that is left, where it is shut or wants a longer wait than there is time for;
        EndpointTimeoutError where even the fastest of its replies took longer than there is time.
        """
        if (left := deadline.left()) < self._fastest:
            message = f"{endpoint} is not asked: its replies take {self._fastest:.3g} s, and {left:.3g} s are left"
            raise EndpointTimeoutError(message, endpoint=endpoint)
        while True:
            host, now = await self._host_registry.host(self._origin), self._clock.wall()
            delay = host.delay(now)
            if (wait := max(self.shut, delay)) and (self.shut or delay > deadline.left()):
                why = host.why if host.shut(now) or delay else "it has not replied in time"
                raise RefusedError(
                    f"{endpoint} is left alone for another {wait:.0f} s: {why}",
                    hint="wait; `fedkg endpoints forget SPEC` asks again at once, for when the reason is gone",
                    endpoint=endpoint,
                    wait=wait,
                )
            if delay:
                attempt.doing = f"the endpoint asked to wait: {host.why}"
                await self._clock.sleep(delay)
            elif not host.on_trial(now):
                return False
            elif await self._tries():
                return True
            else:
                attempt.doing = "waiting for another request to find out whether the endpoint is back"
                await self._clock.sleep(TICK)

    async def leave(self) -> None:
        """Lets another request find out, where this one has not."""
        await self._host_registry.change(self._origin, HostState.untried)

    # ---- how did it go? ----

    async def answered(self) -> None:
        """Notes that it is alive."""
        self._stalls = 0
        now = self._clock.wall()
        await self._host_registry.change(self._origin, lambda host: host.answered(now))

    async def failed(self, error: EndpointError, attempt: RequestAttempt, budget: int) -> None:
        """Notes an error; `budget` failed requests a minute are left to all processes together."""
        if isinstance(error, EndpointTimeoutError) and not error.status:
            self._stalled(attempt)
        elif error.status:
            self._stalls = 0
        now, most = self._clock.wall(), budget if self.url else UNBOUNDED
        await self._host_registry.change(self._origin, lambda host: host.failed(error, now, most))

    def asked(self, attempt: RequestAttempt) -> None:
        """Notes that a request goes out."""
        attempt.doing, attempt.asked, attempt.since = "no whole reply", self, self._clock.now()

    def replied(self, reply: EndpointReply) -> None:
        """Notes how long a reply takes of late, at most and at least."""
        self._slowest = max(reply.seconds, self._slowest / 2)
        self._fastest = min(reply.seconds, self._fastest * 2) if self._fastest else reply.seconds

    def given_up(self, attempt: RequestAttempt) -> None:
        """Notes that a request had no more time; where it had hardly any, that means nothing."""
        if self._clock.now() - attempt.since >= PATIENT * self._slowest:
            self._stalled(attempt)
        self.rest()

    def _stalled(self, attempt: RequestAttempt) -> None:
        """Notes a silence: that may be the query's fault, twice in a row not.

        Requests that went out together are one.
        """
        self.rest()
        if attempt.since < self._stalled_at:
            return
        self._stalls += 1
        self._stalled_at = self._clock.now()
        if self._stalls >= STALLS:
            self._stalled_until = self._stalled_at + PAUSE
            log.info("%s has not replied %d times in a row: not asked for %.0f s", masked(self.url), STALLS, PAUSE)

    def rest(self) -> None:
        """Lets the others go first for a while."""
        self._rest_until = self._clock.now() + REST

    # ---- who answers? ----

    @property
    def engine(self) -> str:
        """What is believed of it."""
        detected = self._host_registry.engine(self.url) if self._detects else None
        return detected if detected and detected != "generic" else self._word

    def format(self, dialect: Dialect) -> Format:
        """The format in which it is asked for results."""
        return dialect.format if self._formats and not self.json else "json"

    async def send(self, query: str, wanted: Format) -> EndpointReply:
        """Its reply to the query. Raises what its transport raises."""
        if self._formats and wanted != "json":
            return await self._formats.send_for(query, wanted)
        return await self.transport.send(query)

    async def recall(self) -> None:
        """Reads what earlier processes remember of its host."""
        await self._host_registry.host(self._origin)

    @property
    def puzzling(self) -> bool:
        """Whether nothing is known of its engine, and it has not been asked lately."""
        known = self._word != "generic" or self._host_registry.engine(self.url)
        return self._detects and not self._probed and not known

    async def learn(self, reply: EndpointReply) -> None:
        """Remembers the engine that the reply shows."""
        engine = detect(reply) if self._detects else None
        if engine and engine != self.engine:
            await self._host_registry.remember_engine(self.url, engine)

    def probing(self) -> None:
        """Notes that it is asked for its engine: this process does so once."""
        self._probed = True

    async def probed(self, reply: EndpointReply) -> None:
        """Notes what it said, also where that says nothing."""
        await self._host_registry.remember_engine(self.url, detect(reply) or "generic")

    @property
    def _host(self) -> HostState:
        return self._host_registry.known(self._origin)

    async def _tries(self) -> bool:
        """Whether this request is the one that finds out: of all processes only one is."""
        mine, now = False, self._clock.wall()

        def claim(host: HostState) -> HostState:
            nonlocal mine
            mine = (tried := host.tried(now, TRIAL)) is not host
            return tried

        await self._host_registry.change(self._origin, claim)
        return mine
