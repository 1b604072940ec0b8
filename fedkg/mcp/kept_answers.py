"""The answers of this process that can be gone back to: the latest of each client, under short names."""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping

from fedkg.core.answer import Answer
from fedkg.errors import DocumentError

__all__ = ["KeptAnswers"]

MOST = 50
"""Answers that are kept of a client; a document of very many paths has a megabyte."""


class KeptAnswers:
    """The latest `most` answers of each client, as a1, a2 and so on; no client sees those of another."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._count = 0
        self._by_client: defaultdict[str, OrderedDict[str, Answer]] = defaultdict(OrderedDict)

    def put(self, client: str, answer: Answer) -> str:
        """Keeps the answer, and forgets the client's oldest beyond the most; returns its name."""
        self._count += 1
        name = f"a{self._count}"
        kept = self._by_client[client]
        kept[name] = answer
        while len(kept) > self._most:
            kept.popitem(last=False)
        return name

    def get(self, client: str, name: str) -> Answer:
        """The client's answer of that name. Raises DocumentError where none is kept."""
        kept = self.of(client)
        if name not in kept:
            names = ", ".join(kept) or "none yet"
            raise DocumentError(f"no answer is kept as {name[:40]!r}", hint=f"kept are: {names}; `ask` makes new ones")
        return kept[name]

    def of(self, client: str) -> Mapping[str, Answer]:
        """All that is kept of the client, the oldest first."""
        return self._by_client.get(client, {})
