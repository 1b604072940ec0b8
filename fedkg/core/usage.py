"""What a question cost, call by call and in all, and what is missing from its walk."""

import msgspec

__all__ = ["Gap", "ModelCall", "Usage"]


class ModelCall(msgspec.Struct, frozen=True):
    """One call of a model: a line of the ledger.

    `template` is the version and digest of its wording, `model` VENDOR:MODEL; tokens as the vendor counts them
    (`cached` and `written`, read from its prompt cache and put into it, are parts of `tokens_in`, `reasoning` of
    `tokens_out`); wall-clock `seconds`; `retries` after failures; `price` in US dollars, None where the price table
    does not know the model; `replayed`: the reply was kept from an earlier time, with the tokens that it cost then;
    `error` is the class of what it ended with, also of a reply that could not be used. `uncounted_in` and
    `uncounted_out` are the tokens by which our own estimate of what was sent and received is above the vendor's count:
    budgets count them too, since a server may understate what it takes.
    """

    call: str
    template: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    reasoning: int = 0
    seconds: float = 0.0
    retries: int = 0
    price: float | None = None
    replayed: bool = False
    error: str = ""
    written: int = 0
    uncounted_in: int = 0
    uncounted_out: int = 0


class Gap(msgspec.Struct, frozen=True):
    """Something that is missing from the walk: who left it out, what it was, and why."""

    endpoint: str
    asked: str
    reason: str


class Usage(msgspec.Struct, frozen=True):
    """What a question cost, apart from others that the session is asked at the same time.

    `requests` to endpoints, by kind in `by_kind`; `round_trips` = waves of requests that were waited for one after the
    other; `bytes` received; `cache_hits` = neighbourhoods and labels that needed no request; `labels_embedded`;
    `model_calls`; tokens as the vendor counts them (`cached` are part of `tokens_in`); wall-clock `seconds`; `spent`
    names the budget that ended the question: "calls", "tokens", "money" or "seconds", "run calls" and so on where it
    was that of the whole run, "" where none did. `price` of the model calls in US dollars, None where it is not known.
    `replayed_calls`, `replayed_tokens` and `replayed_price` are the parts of these that kept replies answered, at no
    cost now.
    """

    requests: int = 0
    round_trips: int = 0
    bytes: int = 0
    cache_hits: int = 0
    labels_embedded: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    by_kind: dict[str, int] = {}
    spent: str = ""
    cached: int = 0
    price: float | None = None
    replayed_calls: int = 0
    replayed_tokens: int = 0
    replayed_price: float = 0.0

    def since(self, before: "Usage") -> "Usage":
        """The counts that came on top of `before`; time and budget are not counts."""
        old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(self)
        counts = {name: new[name] - old[name] for name in old if isinstance(old[name], int)}
        by_kind = {kind: count - before.by_kind.get(kind, 0) for kind, count in sorted(self.by_kind.items())}
        price = None if self.price is None or before.price is None else self.price - before.price
        kinds = {kind: count for kind, count in by_kind.items() if count}
        replayed = self.replayed_price - before.replayed_price
        return Usage(**counts, by_kind=kinds, price=price, replayed_price=replayed)
