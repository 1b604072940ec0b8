"""What model calls cost in US dollars, by a dated table that users can edit: `models/prices.toml`.

A model that no entry names has no price (None), which is never taken for 0.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from fedkg.common import toml
from fedkg.common.file_cache import FileCache
from fedkg.config.resources import layers
from fedkg.config.settings import Budget, Tokens, masked
from fedkg.core.usage import ModelCall
from fedkg.errors import SettingsError
from fedkg.llm.capability import fits

__all__ = ["PRICES", "Price", "find", "load", "parse", "price", "table"]

PRICES = "prices.toml"
HINT = "models/prices.toml shows how prices are written"
MILLION = 1_000_000
DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")

Dollars = Annotated[float, msgspec.Meta(ge=0, le=MILLION)]
"""Finite, since no tokens at an endless price cost no number, and what is no number reaches no budget."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the table, in US dollars per million tokens: `cost_in` of the prompt, `cost_out` of the reply.

    `names` are patterns of VENDOR:MODEL or VENDOR:MODEL@URL, as for capabilities. `cached` and `written` are for what
    of the prompt came out of the vendor's cache and went into it (None: as `cost_in`), `up_to` is the longest prompt in
    tokens for which the entry holds.
    """

    names: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    date: dt.date
    cost_in: Dollars = msgspec.field(name="in")
    cost_out: Dollars = msgspec.field(name="out")
    cached: Dollars | None = None
    written: Dollars | None = None
    up_to: Tokens | None = None

    def fits(self, model: str, prompt: int) -> bool:
        """Whether the entry holds for a prompt of so many tokens to that model.

        With a date at its end it is the same.
        """
        named = any(fits(pattern, name) for pattern in self.names for name in (model, DATED.sub("", model)))
        return named and (self.up_to is None or prompt <= self.up_to)

    def of(self, call: ModelCall) -> float:
        """What the call costs by this entry."""
        cached = self.cost_in if self.cached is None else self.cached
        written = self.cost_in if self.written is None else self.written
        plain = max(0, call.tokens_in - call.cached - call.written)
        prompt = plain * self.cost_in + call.cached * cached + call.written * written
        return (prompt + call.tokens_out * self.cost_out) / MILLION


class _PriceTable(msgspec.Struct, forbid_unknown_fields=True):
    price: tuple[Price, ...] = ()


LOADED: FileCache[str, tuple[Price, ...]] = FileCache()


def find(model: str, entries: Sequence[Price], prompt: int = 0) -> Price | None:
    """The first entry that holds for a prompt of so many tokens to the model of that name; None where none does."""
    return next((entry for entry in entries if entry.fits(model, prompt)), None)


def price(call: ModelCall, entries: Sequence[Price]) -> float | None:
    """What the call costs in US dollars; None where no entry knows it."""
    entry = find(call.model, entries, call.tokens_in)
    return entry.of(call) if entry else None


def table(model: str, limits: Iterable[Budget], user_folder: str = "") -> tuple[Price, ...]:
    """The price table, as `load`.

    Raises SettingsError where a budget limits money and the model has no price, since none can hold then, and for a
    folder that is not there.
    """
    loaded = load(user_folder)
    if any(limit.money is not None for limit in limits) and not find(model, loaded):
        hint = f"write one into {PRICES} in a folder that the setting models_dir names, or limit calls and tokens"
        raise SettingsError(f"no budget in money can hold: the price of {masked(model)} is not known", hint=hint)
    return loaded


def load(user_folder: str = "") -> tuple[Price, ...]:
    """The bundled table, behind that of the user's own folder where it has one.

    Raises SettingsError, naming file and key, and for a folder that is not there.
    """
    hint = f"models_dir is the folder of your own {PRICES}"
    folders = layers("models", user_folder, SettingsError, what="models", hint=hint)[::-1]
    files = [file for place in folders if (file := place / PRICES).is_file()]
    return LOADED.get(user_folder, files, lambda: tuple(entry for file in files for entry in _read(file)))


def parse(text: str, source: str) -> tuple[Price, ...]:
    """The entries that TOML text holds, in its order; `source` is named in errors. Raises SettingsError."""
    return toml.parse(text, source, _PriceTable, SettingsError, hint=HINT).price


def _read(file: Path) -> tuple[Price, ...]:
    return toml.read(file, _PriceTable, SettingsError, hint=HINT).price
