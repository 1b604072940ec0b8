"""Who may ask a server, by token, and what each of them may spend in a day."""

import hashlib
import hmac
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec

from fedkg.common import toml
from fedkg.config.settings import DAY
from fedkg.core.usage import Usage
from fedkg.errors import OverLimitError, SettingsError

__all__ = ["ANYONE", "Client", "ClientBook", "digest", "read_clients"]

PAUSE = 2.0
"""Seconds after which a client with too many questions under way may ask the next one."""
ANYONE = "anyone"
"""What the one client of a server without tokens is called."""
Positive = Annotated[float, msgspec.Meta(gt=0, le=1_000_000_000)]
HINT = 'a table for each client: [NAME], sha256 = "…" of its token, and if wanted money, seconds, at_once'


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One client: the SHA-256 of its token, and its bounds, None for none.

    `money` (US dollars) and `seconds` of answering are for a day (UTC), `at_once` for questions at the same time.
    """

    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] = ""
    money: Positive | None = None
    seconds: Positive | None = None
    at_once: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None


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

    def __init__(self, clients: Mapping[str, Client], clock: Callable[[], float] = time.time) -> None:
        self._clients = {**clients} or {ANYONE: Client()}
        self._clock = clock
        self._day = 0
        self._money: defaultdict[str, float] = defaultdict(float)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._under_way: Counter[str] = Counter()

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
    def asking(self, name: str) -> Iterator[None]:
        """A question of that client is under way. Raises OverLimitError where it may ask no more now, or today."""
        self._check(name)
        self._under_way[name] += 1
        try:
            yield
        finally:
            self._under_way[name] -= 1

    def spend(self, name: str, usage: Usage) -> None:
        """Notes what a question of that client has cost; a price that is not known is beyond every bound."""
        self._begin_day()
        self._money[name] += math.inf if usage.price is None else usage.price
        self._seconds[name] += usage.seconds

    def _check(self, name: str) -> None:
        client, left = self._clients[name], self._begin_day()
        if client.at_once is not None and self._under_way[name] >= client.at_once:
            raise OverLimitError(f"{name} has {client.at_once} questions under way already", wait=PAUSE)
        for spent, bound, unit in ((self._money, client.money, "dollars"), (self._seconds, client.seconds, "seconds")):
            if bound is not None and spent[name] >= bound:
                raise OverLimitError(f"{name} has spent its {bound:,g} {unit} of today", wait=left)

    def _begin_day(self) -> float:
        """Forgets what was spent on another day; the seconds that are left of this one."""
        now = self._clock()
        if (day := int(now // DAY)) != self._day:
            self._day = day
            self._money.clear()
            self._seconds.clear()
        return (day + 1) * DAY - now
