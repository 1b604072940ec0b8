import zlib

import pytest

from fedkg.cache.entries import SHORT, SKEW, Entry, deflated, inflated

DAY = 86_400.0
EVER = float("inf")


@pytest.mark.parametrize(
    ("now", "stored", "fresh", "usable"),
    [
        (100 * DAY, 99 * DAY, 106 * DAY, True),
        (100 * DAY, 90 * DAY, 97 * DAY, False),
        (100 * DAY, 100 * DAY + SKEW / 2, 107 * DAY, True),
        (100 * DAY, 500 * DAY, 507 * DAY, False),
        (0, 100 * DAY, 107 * DAY, False),
        (100 * DAY, 500 * DAY, EVER, True),
        (900 * DAY, 0, EVER, True),
    ],
)
def test_what_was_stored_by_a_clock_that_was_wrong_is_stale(
    now: float, stored: float, fresh: float, usable: bool
) -> None:
    """What was stored later than now is fetched anew like what is too old, unless it lasts for ever."""
    assert Entry(b"", stored, fresh).is_fresh(now) == usable


@pytest.mark.parametrize("size", [0, 1, SHORT - 1, SHORT, 70_000])
def test_values_of_any_length_lie_in_the_format_of_zlib(size: int) -> None:
    """Short ones are no exception, and grow by a few bytes at most."""
    value = bytes(number * number % 251 for number in range(size))
    assert inflated(deflated(value)) == zlib.decompress(deflated(value)) == value
    assert len(deflated(value)) <= size + 11


def test_a_short_value_that_was_changed_is_refused() -> None:
    """Its checksum tells."""
    with pytest.raises(ValueError, match="damaged"):
        inflated(deflated(b"Berlin").replace(b"B", b"M"))
