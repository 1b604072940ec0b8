import pytest

from fedkg.core.event_lines import described
from fedkg.core.events import Event
from tests.support.events import EVENTS


@pytest.mark.parametrize(("event", "line"), EVENTS)
def test_events_as_lines(event: Event, line: str) -> None:
    """Each kind of event has its line."""
    assert described(event) == line
