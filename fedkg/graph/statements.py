"""Whether a graph of Wikidata's shape has statement nodes: many copies hold the truthy facts alone.

What an engine takes for a hop is for a third the work of looking for statements. So where a reply had edges and no
statement, the next query asks for edges alone, and for those that lead to a statement, which would show that there are
some. Then the same entities are asked for once more, with their statements, and those of all later requests; so is one
whose edges alone were too much for the endpoint. What is returned is the same either way.
"""

from collections.abc import Iterable, Mapping

from fedkg.cache.off_loop import keep, look_up
from fedkg.cache.store import Store
from fedkg.config.profiles import Mediators
from fedkg.config.settings import DAY
from fedkg.core.terms import Direction, Iri, Term

__all__ = ["StatementNodes"]

NAMESPACE = "statements"
DAYS = 7
SOME, NONE = b"some", b"none"


class StatementNodes:
    """What the replies of one endpoint have shown, kept under `key` for a week."""

    def __init__(self, store: Store, key: str, mediators: Mediators) -> None:
        self._store = store
        self._key = key
        self._mediators = mediators
        self._shown = b""
        self._loaded = False

    @property
    def wanted(self) -> bool:
        """Whether queries ask for statements, where the graph's shape has any: until replies have shown none."""
        return self._shown != NONE

    async def load(self) -> None:
        """Starts with what an earlier process has seen."""
        if self._mediators.statement and not self._loaded:
            self._loaded = True
            kept = await look_up(self._store, NAMESPACE, [self._key])
            self._shown = self._shown or kept.get(self._key, b"")

    async def learn(self, rows: Iterable[Mapping[str, Term]], direction: Direction, *, asked: bool) -> bool:
        """Notes what the rows of a reply show, to a query that has `asked` for statements or not.

        Returns whether it was not asked for statements, and there are some.
        """
        if not asked:
            prefix = self._mediators.towards(direction)
            shows = any(isinstance(p := row.get("p"), Iri) and p.value.startswith(prefix) for row in rows)
            if shows:
                await self._note(SOME)
            return shows
        if self._mediators.statement and self._shown != SOME:
            variables = {name for row in rows for name in row}
            if variables & {"c", "p"}:
                await self._note(SOME if "c" in variables else NONE)
        return False

    async def _note(self, shown: bytes) -> None:
        if shown != self._shown:
            self._shown = shown
            await keep(self._store, NAMESPACE, {self._key: shown}, DAYS * DAY)
