"""The cache in memory: bounded by its bytes."""

from fedkg.cache.memory import MemoryStore


def test_what_was_put_longest_ago_makes_room() -> None:
    """Beyond the bound the oldest values go, and the bytes are counted."""
    store = MemoryStore(most=10)
    store.put_many("n", {"a": b"1234", "b": b"1234"})
    store.put_many("n", {"a": b"12"})
    store.put_many("n", {"c": b"1234", "d": b"1"})
    assert store.get_many("n", ["a", "b", "c", "d"]) == {"a": b"12", "c": b"1234", "d": b"1"}
    assert store.size() == 7


def test_dropped_and_cleared_values_are_no_longer_counted() -> None:
    """A namespace that is cleared leaves the others."""
    store = MemoryStore()
    store.put_many("n", {"a": b"1234", "b": b"12"})
    store.put_many("m", {"a": b"1"})
    store.drop("n", ["a", "gone"])
    assert (store.size(), store.clear("n"), store.size(), store.clear()) == (3, 1, 1, 1)
    assert store.count() == {}


def test_a_value_larger_than_the_bound_is_not_kept() -> None:
    """It would drive out all others, and itself."""
    store = MemoryStore(most=3)
    store.put_many("n", {"a": b"1234"})
    assert (store.size(), store.get_many("n", ["a"])) == (0, {})
