"""Who may ask a server, by token, and what each of them may spend in a day."""

import asyncio
import hashlib
import hmac
import ipaddress
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from fedkg.common import toml
from fedkg.config.settings import DAY
from fedkg.core.usage import Usage
from fedkg.errors import OverLimitError, SettingsError

__all__ = ["ANYONE", "Client", "ClientBook", "ClientShare", "digest", "is_loopback", "read_clients"]

PAUSE = 2.0
"""Seconds after which a client with too many questions under way may ask the next one."""
HAIR = 0.001
"""Seconds by which a question outlives its client's time: at its very end there is still some left."""
ANYONE = "anyone"
"""What the one client of a server without tokens is called."""
Positive = Annotated[float, msgspec.Meta(gt=0, le=1_000_000_000)]
HINT = 'a table for each client: [NAME], sha256 = "…" of its token, and if wanted money, seconds, at_once'


@dataclass(frozen=True, slots=True)
class ClientCost:
    """US dollars of model calls, and seconds of answering."""

    money: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "ClientCost") -> "ClientCost":
        return ClientCost(self.money + other.money, self.seconds + other.seconds)


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One client: the SHA-256 of its token, and its bounds, None for none.

    `money` (US dollars) and `seconds` of answering are for a day (UTC), `at_once` for questions at the same time.
    """

    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] = ""
    money: Positive | None = None
    seconds: Positive | None = None
    at_once: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None


def is_loopback(host: str) -> bool:
    """Whether that name or address is this machine's own, which no other machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def digest(token: str) -> str:
    """The SHA-256 of a token, which a file of clients keeps in its place."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_clients(path: Path) -> dict[str, Client]:
    """The clients of a TOML file by name. Raises SettingsError, naming file and key."""
    clients = toml.read(path, dict[str, Client], SettingsError, hint=HINT)
    if missing := [name for name, client in clients.items() if not client.sha256]:
        raise SettingsError(f"{path}: {missing[0]} has no sha256", hint=HINT)
    if not clients:
        raise SettingsError(f"{path}: there is no client in it", hint=HINT)
    return clients


class ClientBook:
    """The clients by name, and what each has spent today; without any, all who ask are one client without bounds."""

    def __init__(
        self,
        clients: Mapping[str, Client],
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients = {**clients} or {ANYONE: Client()}
        self._clock = clock
        self._timer = timer
        self._day = 0
        self._spent: defaultdict[str, ClientCost] = defaultdict(ClientCost)
        self._under_way: defaultdict[str, list[ClientShare]] = defaultdict(list)

    @property
    def open(self) -> bool:
        """Whether no token is asked for."""
        return not any(client.sha256 for client in self._clients.values())

    def name_of(self, token: str) -> str | None:
        """Whose token it is; None where it is none. All tokens are compared, in constant time."""
        if self.open:
            return ANYONE
        given = digest(token)
        names = [name for name, client in self._clients.items() if hmac.compare_digest(client.sha256, given)]
        return names[0] if names else None

    @contextmanager
    def asking(self, name: str) -> Iterator["ClientShare"]:
        """A question of that client, which is booked as it goes on, and at its end, however that comes.

        Raises OverLimitError where the client may ask no more now, or today.
        """
        client, under_way = self._clients[name], self._under_way[name]
        if client.at_once is not None and len(under_way) >= client.at_once:
            raise OverLimitError(f"{name} has {client.at_once} questions under way already", wait=PAUSE)
        self.check(name)
        share = ClientShare(self, name, self._timer)
        under_way.append(share)
        try:
            yield share
        finally:
            under_way.remove(share)
            self._begin_day()
            self._spent[name] += share.cost

    def check(self, name: str) -> None:
        """Raises OverLimitError where the client has spent its share of today, on questions under way as well."""
        left, client, cost = self._begin_day(), self._clients[name], self._cost(name)
        for spent, bound, unit in ((cost.money, client.money, "dollars"), (cost.seconds, client.seconds, "seconds")):
            if bound is not None and spent >= bound:
                raise OverLimitError(f"{name} has spent its {bound:,g} {unit} of today", wait=left)

    def seconds_left(self, name: str) -> float | None:
        """The seconds that the client may still take today; None where they have no bound."""
        bound = self._clients[name].seconds
        return None if bound is None else bound - self._cost(name).seconds

    def _cost(self, name: str) -> ClientCost:
        return sum((share.cost for share in self._under_way[name]), start=self._spent[name])

    def _begin_day(self) -> float:
        """Forgets what was spent on another day; the seconds that are left of this one."""
        now = self._clock()
        if (day := int(now // DAY)) != self._day:
            self._day = day
            self._spent.clear()
        return (day + 1) * DAY - now


class ClientShare:
    """What one question takes of its client's share of the day, from its turn on."""

    def __init__(self, book: ClientBook, name: str, timer: Callable[[], float]) -> None:
        self._book, self._name, self._timer = book, name, timer
        self._money = 0.0
        self._begun: float | None = None

    def begin(self) -> None:
        """Its turn has come: its time counts from now on."""
        self._begun = self._timer()

    @property
    def cost(self) -> "ClientCost":
        """What it has cost so far."""
        return ClientCost(self._money, 0.0 if self._begun is None else self._timer() - self._begun)

    def book(self, usage: Usage) -> None:
        """Notes its money so far; a price that is not known is beyond every bound, and kept replies cost nothing."""
        self._money = math.inf if usage.price is None else usage.price - usage.replayed_price

    def charge(self, usage: Usage) -> None:
        """Notes its money so far. Raises OverLimitError where that, with all else of today, is the client's share."""
        self.book(usage)
        self._book.check(self._name)

    @asynccontextmanager
    async def time(self) -> AsyncIterator[None]:
        """The time that the client has left. Raises OverLimitError once it has taken all its seconds of today."""
        left = self._book.seconds_left(self._name)
        try:
            async with asyncio.timeout(None if left is None else left + HAIR):
                yield
        except TimeoutError:
            self._book.check(self._name)
            raise
