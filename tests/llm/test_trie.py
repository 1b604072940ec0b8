"""The trie against the plain set of its sequences, and the bytes that it is kept as."""

import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import Iri
from fedkg.llm.trie import Trie

TOKENS = st.integers(0, 3)
SEQUENCES = st.lists(st.lists(TOKENS, max_size=4).map(tuple), max_size=12)


@given(sequences=SEQUENCES, prefix=st.lists(TOKENS | st.just(9), max_size=5).map(tuple))
def test_it_says_what_the_set_of_its_sequences_says(sequences: list[tuple[int, ...]], prefix: tuple[int, ...]) -> None:
    """Any prefix, also one that is unknown, longer than all, or a whole sequence: its children are those that occur."""
    trie = Trie.of(sequences)
    width = len(prefix)
    following = {sequence[width] for sequence in sequences if sequence[:width] == prefix and len(sequence) > width}
    assert len(trie) == len(set(sequences))
    assert (prefix in trie) == (prefix in sequences)
    assert set(trie.children(prefix)) == following
    assert len(trie.children(prefix)) == len(following)


@given(sequences=SEQUENCES.filter(bool), data=st.data())
def test_whoever_follows_it_to_where_it_ends_has_walked_a_sequence(
    sequences: list[tuple[int, ...]], data: st.DataObject
) -> None:
    """From the start on only children are taken, and where there are none the walk is one of the sequences."""
    trie = Trie.of(sequences)
    walked: tuple[int, ...] = ()
    while children := trie.children(walked):
        walked = (*walked, data.draw(st.sampled_from(children)))
    assert walked in sequences


@given(sequences=SEQUENCES)
def test_it_is_read_back_from_its_bytes(sequences: list[tuple[int, ...]]) -> None:
    """What was kept has the same sequences; equal sets of them need not have equal bytes."""
    again = Trie.from_bytes(Trie.of(sequences).to_bytes())
    assert again is not None
    assert len(again) == len(set(sequences))
    assert all(sequence in again for sequence in sequences)
    starts = {sequence[:width] for sequence in sequences for width in range(len(sequence) + 1)}
    assert all(set(again.children(start)) == set(Trie.of(sequences).children(start)) for start in starts)


@pytest.mark.parametrize("damaged", [b"", b"nothing", Trie.of([(1, 2)]).to_bytes()[:-1]])
def test_damaged_bytes_are_no_trie(damaged: bytes) -> None:
    """Whoever kept it builds it again."""
    assert Trie.from_bytes(damaged) is None


@pytest.mark.parametrize(
    "parts",
    [
        ([1, 2], [-4], b"\0" * 8),
        ([1], [3], b"\0" * 3),
        ([1], [4, 4], b"\0" * 4),
        ([1], [4], b"\0" * 8),
        ([1], [4], b"\0\0\0\1"),
    ],
)
def test_what_fits_no_trie_is_none(parts: tuple[list[int], list[int], bytes]) -> None:
    """Lengths, rows and tokens that contradict one another, as somebody who shares the cache may have put there."""
    assert Trie.from_bytes(zlib.compress(msgspec.msgpack.encode(parts))) is None


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_lets_nothing_in(place: int, bit: int) -> None:
    """Bytes that went bad on a disk are no trie, or still the one that was kept."""
    sequences = [(1, 2, 3), (1, 2), (7, 2, 3)]
    kept = bytearray(Trie.of(sequences).to_bytes())
    kept[place % len(kept)] ^= 1 << bit
    again = Trie.from_bytes(bytes(kept))
    assert again is None or (len(again) == 3 and all(sequence in again for sequence in sequences))


@pytest.mark.parametrize("start", [(), (5,), (5, 6)])
def test_an_empty_trie_has_no_continuation(start: Any) -> None:
    """Without a path nothing may be written: the vocabulary is never freed."""
    trie: Trie[int] = Trie.of([])
    assert (trie.children(start), start in trie, len(trie)) == ((), False, 0)


def test_tokens_are_whatever_can_be_told_apart() -> None:
    """Terms and tuples of them serve as well as numbers."""
    a, b = Iri("http://x/a"), Iri("http://x/b")
    trie = Trie.of([(a, (b, a)), (a, (b, b)), (b,)])
    assert set(trie.children([a])) == {(b, a), (b, b)}
    assert trie.children([b]) == ()


def test_more_tokens_than_fit_one_byte_keep_their_order_and_their_ends(*, every_case: bool) -> None:
    """Three hundred tokens, each after one beginning; the same holds of seventy thousand."""
    for count in (300, 70_000) if every_case else (300,):
        trie = Trie.of((0, token) for token in range(count))
        assert sorted(trie.children((0,))) == list(range(count))
        assert (0, count - 1) in trie
        assert (0, count) not in trie
