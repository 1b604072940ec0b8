import pytest

from fedkg.core.meter import Meter
from fedkg.errors import EndpointError, OfflineError
from fedkg.transport.offline import OfflineClient


async def test_it_says_what_would_have_been_asked() -> None:
    """The error names the endpoint, the purpose and the query, and no request is counted."""
    meter = Meter()
    offline = OfflineClient("wikidata", meter)
    with pytest.raises(OfflineError, match=r"wikidata is not asked .* \(labels\)") as caught:
        await offline.select("SELECT ?l\n  {<http://x/a> ?p ?l}", "labels")
    assert caught.value.asked == "SELECT ?l {<http://x/a> ?p ?l}"
    assert "cache import" in caught.value.hint
    assert meter.usage().requests == 0
    await offline.close()


async def test_a_query_that_is_made_per_dialect() -> None:
    """It is shown as the generic dialect puts it, and cut where it is long."""
    with pytest.raises(OfflineError) as caught:
        await OfflineClient("x", Meter()).select(lambda dialect: f"ASK {dialect.engine} " + "y" * 9_000, "search")
    [note] = caught.value.__notes__
    assert note.startswith("asked: ASK generic yyy")
    assert len(note) < 400


async def test_it_is_no_gap() -> None:
    """Whoever makes gaps of endpoints' failures does not make one of this."""
    assert not issubclass(OfflineError, EndpointError)
