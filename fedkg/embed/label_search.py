"""Search by meaning among all labels that walks over one graph have shown, in this session and in earlier ones.

`embed` takes in the labels of a whole graph, as the paper does beforehand (FiDeLiS v4, section 3.1, Initialization);
`top` are then its nearest entities and relations, E_m and R_m. An index of the relations alone tells which labels are
theirs.
"""

import asyncio
import itertools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from fedkg.core.question import Match
from fedkg.core.terms import Term
from fedkg.embed.base import NearestLabels, Similarity
from fedkg.embed.label_index import LabelIndex
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.shown_labels import ShownLabels, saved
from fedkg.errors import CacheError, FedkgError, InputError, OfflineError

__all__ = ["LabelSearch"]

log = logging.getLogger(__name__)

NEAR = 10
"""Labels that a name may be taken for."""


class LabelSearch:
    """The labels of one session's walks, and those in `folder` (None: nothing is read or written).

    What was shown is written down as text when the session closes, and embedded when it is searched. `offline` reads
    what is there and adds nothing.
    """

    def __init__(self, folder: Path | None, *, offline: bool = False) -> None:
        self.shown = ShownLabels()
        self._folder = folder
        self._offline = offline
        self._index: LabelIndex | None = None
        self._relations: LabelIndex | None = None

    async def nearest(self, text: str, limit: int, graph: str, similarity: Similarity) -> list[Match]:
        """At most `limit` entities and relations of that graph, the nearest in meaning first.

        Raises InputError where the similarity is lexical, and has no vectors.
        """
        similarity = _with_vectors(similarity)
        folder = self._folder if graph else None
        index = self._index or LabelIndex(folder, graph, similarity, read_only=self._offline)
        self._index = index
        try:
            await self._add(index, folder, graph)
        except CacheError as error:
            log.warning("the index of labels could not be kept: %s", error)
            self._index = index = LabelIndex(folder, graph, similarity, read_only=True)
            await self._add(index, folder, graph)
        return await index.nearest(text, limit)

    async def named(self, names: Sequence[str], graph: str, similarity: Similarity) -> dict[str, list[Match]]:
        """For each name what is near to it in meaning, among the labels that were embedded before; the nearest first.

        Labels that were only written down are not embedded for it. Nothing offline, so that a replay depends on no
        index, and nothing where the embedder fails.
        """
        if self._offline or not self._folder or not graph or not isinstance(similarity, LazySimilarity):
            return {}
        if self._index is None:
            self._index = await asyncio.to_thread(LabelIndex, self._folder, graph, similarity)
        index = self._index
        if not len(index):
            return {}
        try:
            return {name: await index.nearest(name, NEAR) for name in names}
        except FedkgError as error:
            log.info("no name was looked for by its meaning: %s", error)
            return {}

    async def embed(
        self, labels: Mapping[Term, str], relations: Mapping[Term, str], graph: str, similarity: Similarity
    ) -> int:
        """Embeds and keeps labels of a whole graph, those of its relations apart as well; returns how many are new.

        Raises InputError where the similarity has no vectors, what the embedder raises, and CacheError.
        """
        index, own = self._indexes(graph, similarity)
        added = await index.add({**labels, **relations})
        await own.add(relations)
        return added

    async def top(self, text: str, m: int, graph: str, similarity: Similarity) -> NearestLabels:
        """E_m and R_m of the text, among the labels that were embedded (Eq. 3 of FiDeLiS' first version).

        Raises InputError where the similarity has no vectors, or no relation was embedded.
        """
        index, own = self._indexes(graph, similarity)
        if not len(own):
            hint = "`fedkg index`, with the same endpoints, embedder and cache, embeds them; or use another retriever"
            raise InputError("the labels of these endpoints are not embedded", hint=hint)
        known = {match.iri for match in await own.nearest(text, len(own))}
        relations = [match.iri for match in await own.nearest(text, m)]
        entities = (match.iri for match in await index.nearest(text, m + len(known)) if match.iri not in known)
        return NearestLabels(frozenset(itertools.islice(entities, m)), frozenset(relations))

    def _indexes(self, graph: str, similarity: Similarity) -> tuple[LabelIndex, LabelIndex]:
        """The index of all labels, and that of the relations alone."""
        folder, checked = self._folder if graph else None, _with_vectors(similarity)
        self._index = self._index or LabelIndex(folder, graph, checked, read_only=self._offline)
        self._relations = self._relations or LabelIndex(folder, f"{graph}\nrelations", checked, read_only=self._offline)
        return self._index, self._relations

    def save(self, graph: str, similarity: Similarity) -> None:
        """Writes down what was shown, where that similarity can search it later; loads and embeds nothing."""
        if not (self._folder and graph and self.shown.all()) or self._offline:
            return
        if isinstance(similarity, LazySimilarity):
            try:
                self.shown.save(self._folder, graph)
            except OSError as error:
                log.warning("the labels that were shown could not be kept: %s", error)

    async def _add(self, index: LabelIndex, folder: Path | None, graph: str) -> None:
        """Embeds what this session has shown, and what earlier ones have written down.

        Offline only what was embedded before can be had.
        """
        if folder:
            try:
                await index.add(await asyncio.to_thread(saved, folder, graph))
            except OfflineError as error:
                log.info("labels of earlier sessions were not embedded: %s", error)
        await index.add(self.shown.all())


def _with_vectors(similarity: Similarity) -> LazySimilarity:
    """The similarity. Raises InputError for a lexical one."""
    if not isinstance(similarity, LazySimilarity):
        raise InputError(f"the embedder {similarity.name} has no vectors", hint="use --embedder minilm")
    return similarity
