"""What an answer cost."""

import msgspec
import pytest

from fedkg.core.usage import Usage


def test_records_are_frozen() -> None:
    """No step can change what another step handed over."""
    with pytest.raises(AttributeError):
        Usage().requests = 1  # type: ignore[misc]  # that is the point
    assert msgspec.structs.replace(Usage(), requests=1).requests == 1
