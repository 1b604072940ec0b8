"""Batches of texts for a model: all texts, each once, hardly filled up."""

from hypothesis import given
from hypothesis import strategies as st

from fedkg.embed.encoder import BATCH, UNLIKE, batches

TEXTS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12).map(tuple), max_size=200)


@given(TEXTS)
def test_each_text_is_in_one_batch(texts: list[tuple[int, ...]]) -> None:
    """Batches have all texts in their order, none is empty or too large, and hardly any text is filled up."""
    ordered = sorted(texts, key=len)
    made = list(batches(ordered))
    assert [text for batch in made for text in batch] == ordered
    assert all(0 < len(batch) <= BATCH for batch in made)
    assert all(len(batch[-1]) - len(batch[0]) <= UNLIKE for batch in made)


def test_texts_of_one_length_share_a_batch() -> None:
    """No batch is smaller than it must be."""
    assert list(map(len, batches([(1, 2)] * (BATCH + 1)))) == [BATCH, 1]
    assert list(map(len, batches([(1,), (1, 2), (1, 2, 3)]))) == [2, 1]
