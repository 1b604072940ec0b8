"""What graphs keep: keys that tell contents apart, and values that are read or missed."""

from fedkg.cache.memory import MemoryStore
from fedkg.core.encoding import decode
from fedkg.graph.cache_keys import digest, load


async def test_what_nobody_can_read_is_a_miss() -> None:
    """Of what is asked for comes what is there and can be read, by what its key stands for."""
    store = MemoryStore()
    store.put_many("numbers", {"one": b"1", "two": b"{damaged"})
    keys = {"one": "I", "two": "II", "three": "III"}
    assert await load(store, "numbers", keys, lambda value, name: (name, decode(value, int))) == {"I": ("I", 1)}


def test_a_digest_tells_contents_apart() -> None:
    """Equal contents have one digest, others another."""
    assert digest(("a", 1)) == digest(("a", 1)) != digest(("a", 2))
