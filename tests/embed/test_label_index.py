"""Global keyword search over the labels that walks have shown."""

from pathlib import Path

from fedkg.cache.memory import MemoryStore
from fedkg.core.terms import Iri, Literal, Term
from fedkg.embed.label_index import LabelIndex
from fedkg.embed.lazy import LazySimilarity
from fedkg.testing import HashingEmbedder

LABELS: dict[Term, str] = {
    Iri("http://x/P57"): "director",
    Iri("http://x/Q1"): "film director award",
    Iri("http://x/Q2"): "spouse",
    Literal("2005"): "2005",
}


def recall_in(folder: Path | None, graph: str = "films", size: int = 256) -> LabelIndex:
    """An index over shared words."""
    return LabelIndex(folder, graph, LazySimilarity(HashingEmbedder(size), MemoryStore()))


async def test_the_nearest_labels_come_first(tmp_path: Path) -> None:
    """Entities and relations by cosine; literals are no entities."""
    recall = recall_in(tmp_path)
    assert await recall.add(LABELS) == 3
    matches = await recall.nearest("director", 2)
    assert [(match.iri.value, match.label) for match in matches] == [
        ("http://x/P57", "director"),
        ("http://x/Q1", "film director award"),
    ]
    assert matches[0].score > matches[1].score


async def test_no_labels_are_no_work(tmp_path: Path) -> None:
    """Literals alone are no entities."""
    assert await recall_in(tmp_path).add({Literal("2005"): "2005"}) == 0


async def test_a_label_is_added_once(tmp_path: Path) -> None:
    """The second walk over the same entities embeds nothing."""
    recall = recall_in(tmp_path)
    await recall.add(LABELS)
    assert await recall.add(LABELS) == 0


async def test_it_outlives_the_process_and_keeps_graphs_apart(tmp_path: Path) -> None:
    """A saved index is found again, by the same graph only."""
    recall = recall_in(tmp_path)
    await recall.add(LABELS)
    assert (await recall_in(tmp_path).nearest("spouse", 1))[0].iri == Iri("http://x/Q2")
    assert await recall_in(tmp_path, "other").nearest("spouse", 1) == []


async def test_vectors_of_another_length_start_anew(tmp_path: Path) -> None:
    """The model behind an embedder's name may change: what it embeds now is kept, and nothing is raised."""
    old = recall_in(tmp_path, size=64)
    await old.add(LABELS)
    new = recall_in(tmp_path)
    assert await new.add(LABELS) == 3
    assert await new.add({**LABELS, Iri("http://x/Q3"): "studio"}) == 1
    assert (await recall_in(tmp_path).nearest("spouse", 1))[0].iri == Iri("http://x/Q2")


async def test_a_search_with_vectors_of_another_length_finds_nothing(tmp_path: Path) -> None:
    """Lengths that differ do not compare; the next labels fill the index."""
    old = recall_in(tmp_path, size=64)
    await old.add(LABELS)
    new = recall_in(tmp_path)
    assert await new.nearest("spouse", 1) == []
    assert await new.add(LABELS) == 3


async def test_without_a_folder_it_forgets(tmp_path: Path) -> None:
    """In memory it works alike, and writes nothing."""
    recall = recall_in(None)
    await recall.add(LABELS)
    assert (await recall.nearest("spouse", 1))[0].iri == Iri("http://x/Q2")
    assert list(tmp_path.iterdir()) == []
