"""A table that does not grow for ever."""

from fedkg.common.bounded import BoundedDict


def test_what_was_put_longest_ago_makes_room() -> None:
    """An entry that is put again is as new as the last."""
    table: BoundedDict[str, int] = BoundedDict(2)
    table["a"] = 1
    table["b"] = 2
    table["a"] = 3
    table["c"] = 4
    assert table.snapshot() == {"a": 3, "c": 4}
    assert ("b" in table, len(table), table.get("b")) == (False, 2, None)


def test_of_many_at_once_the_last_stay() -> None:
    """More than there is room for leave as many as there is."""
    table: BoundedDict[int, int] = BoundedDict(3)
    table.keep({number: number for number in range(10)})
    assert list(table) == [7, 8, 9]
    del table[8]
    assert list(table) == [7, 9]
