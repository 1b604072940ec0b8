"""Global keyword search over the labels that walks have shown."""

from pathlib import Path

from fedkg.embed.base import HashingEmbedder
from fedkg.embed.lazy import LazySimilarity
from fedkg.recall import Recall
from fedkg.store import MemoryStore
from fedkg.terms import Iri, Literal, Term

LABELS: dict[Term, str] = {
    Iri("http://x/P57"): "director",
    Iri("http://x/Q1"): "film director award",
    Iri("http://x/Q2"): "spouse",
    Literal("2005"): "2005",
}


def recall_in(folder: Path, graph: str = "films") -> Recall:
    """An index over shared words."""
    return Recall(folder, graph, LazySimilarity(HashingEmbedder(), MemoryStore()))


async def test_the_nearest_labels_come_first(tmp_path: Path) -> None:
    """Entities and relations by cosine; literals are no entities."""
    recall = recall_in(tmp_path)
    assert await recall.add(LABELS) == 3
    found = await recall.nearest("director", 2)
    assert [(match.iri.value, match.label) for match in found] == [
        ("http://x/P57", "director"),
        ("http://x/Q1", "film director award"),
    ]
    assert found[0].score > found[1].score


async def test_a_label_is_added_once(tmp_path: Path) -> None:
    """The second walk over the same entities embeds nothing."""
    recall = recall_in(tmp_path)
    await recall.add(LABELS)
    assert await recall.add(LABELS) == 0


async def test_it_outlives_the_process_and_keeps_graphs_apart(tmp_path: Path) -> None:
    """A saved index is found again, by the same graph only."""
    recall = recall_in(tmp_path)
    await recall.add(LABELS)
    recall.save()
    assert (await recall_in(tmp_path).nearest("spouse", 1))[0].iri == Iri("http://x/Q2")
    assert await recall_in(tmp_path, "other").nearest("spouse", 1) == []
